"""The recipes that download: what they name is pinned, or says how to pin it."""

from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.corpus.stage import Corpus

ROOT = Path(__file__).resolve().parents[3]


def recipe(name):
    return resolve([ROOT / "recipes" / f"{name}.yaml"], [])


def test_europarl_is_pinned():
    corpus = run_layout(recipe("europarl-de-en")).stage(Corpus)
    downloads = [each for name in corpus.instances() for each in corpus.downloads(name)]
    files = {each.path.rpartition("/")[2]: each for each in downloads}
    assert sorted(files) == [
        "dev.tgz",
        "training-parallel-europarl-v7.tgz",
        "training-parallel-nc-v13.tgz",
    ]
    assert all(len(each.sha256) == 64 for each in files.values())


def test_czeng_tells_how_to_pin_it_and_is_read_once_pinned():
    config = recipe("czeng")
    config["evaluate"]["syntax"] = None  # whose parser is not at hand
    with pytest.raises(InputError, match=r"corpora\.czeng: .*paraloom corpus pin"):
        run_layout(config)
    config["corpora"]["czeng"]["sha256"] = [f"{number:064x}" for number in range(10)]
    layout = run_layout(config)
    assert len(layout.stage(Corpus).input_files("czeng")) == 10
    block = layout.settings(("corpus", "czeng"))["block"]
    assert block["tsv"][3] == f"downloads/{3:064x}/data-plaintext-format.3.tar/*train.gz"
