"""A corpus of very many files, and a run of very many corpora: no command is too long."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

PAIRS = 1600
SIDES = {"source": "cs", "reference": "en"}


def test_a_corpus_of_many_files_is_imported(bitext, tmp_path):
    data = tmp_path / "data in a folder whose name is long enough to fill a command line with"
    shutil.copytree(bitext, data)
    pairs = [micro.pair(meaning) for meaning in range(PAIRS)]
    names = [f"part-{number:04d}" for number in range(PAIRS)]
    for name, pair in zip(names, pairs, strict=True):
        micro.write_pairs(data, name, [pair])
    block = {side: [f"{name}.{end}" for name in names] for side, end in SIDES.items()}
    config = micro.merged(
        micro.config(data),
        {
            "run": {"corpora": ["many"]},
            "corpora": {"many": block},
            "train": {"corpora": ["many"]},
            "columns": {"fluency": {"language_model": {"corpora": ["many"]}}},
            "generate": {"limit": 8},
        },
    )
    pipeline = Pipeline(tmp_path / "work", config)
    # An argument holds 128 KiB at most.
    assert sum(len(str(data / name)) for name in names) > 2**17
    pipeline.run("corpus")
    manifest = pipeline.manifest("corpus.many")
    assert (manifest["rows_in"], manifest["rows_out"]) == (PAIRS, PAIRS)
    assert manifest["config"]["block"] == block
    assert not pipeline.planned("corpus")
    # A change of one file among them is seen.
    micro.write_pairs(data, names[-1], [micro.pair(PAIRS)])
    assert pipeline.planned("corpus")["corpus_import"] == 1


def with_more_corpora(data: Path, count: int) -> dict[str, Any]:
    """Return the micro configuration with so many further corpora of one pair each."""
    names = [f"small_{number}" for number in range(count)]
    for number, name in enumerate(names):
        micro.write_pairs(data, name, [micro.pair(number)])
    config = micro.config(data)
    config["run"]["corpora"] += names
    config["corpora"] |= {name: micro.text_corpus(name) for name in names}
    return config


def test_commands_take_long_lists_from_files(bitext, tmp_path):
    config = with_more_corpora(Path(shutil.copytree(bitext, tmp_path / "data")), 6)
    # With names as long as this a few are a long list.
    config["results"] = "/".join(["results" * 30] * 10)
    pipeline = Pipeline(tmp_path / "work", config)
    pipeline.run("clean")
    manifest = pipeline.manifest("clean")
    assert manifest["config"]["corpora"] and len(manifest["upstream"]) == 4 + 6
    expected = sum(micro.SIZES[name] for name in ("train", "held_out", "dev", "test")) + 6
    assert manifest["rows_in"] == expected
    lists = [
        json.loads(path.read_text("utf-8"))
        for path in (pipeline.folder / config["results"] / ".arguments").iterdir()
    ]
    # The shards of the corpora for each early shard, and the manifests of the corpora.
    assert sorted(len(each) for each in lists if isinstance(each, list)) == [10, 10, 10]


def test_no_command_of_a_thousand_corpora_is_too_long(bitext, tmp_path):
    config = with_more_corpora(Path(shutil.copytree(bitext, tmp_path / "data")), 1000)
    config["results"] = str(tmp_path / "a folder with a long name" / "results")
    pipeline = Pipeline(tmp_path / "work", config)
    output = pipeline.run("release", "--dry-run", "--printshellcmds")
    commands = [line for line in output.splitlines() if "python -m workflow_scripts." in line]
    assert len(commands) > 2 * 1000
    # A shell gets its command as one argument, of 128 KiB at most. Other words come before it.
    assert max(len(command.encode()) for command in commands) < 2**16
