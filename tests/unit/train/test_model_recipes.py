"""The ready entries of finished models: each is planned in a run of its languages."""

import re
from importlib import metadata
from pathlib import Path

import pytest
import yaml

from tests.packages import STUDENTS, require_packages
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import sha256
from workflow_scripts.plan.catalogues.model_blocks import finished
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.train.stage import Train

ROOT = Path(__file__).resolve().parents[3]
FILES = sorted((ROOT / "recipes" / "models").glob("*.yaml"))
ENTRIES = {
    name: (path, block)
    for path in FILES
    for name, block in yaml.safe_load(path.read_text(encoding="utf-8"))["models"].items()
}
COMMIT = "0123456789abcdef0123456789abcdef01234567"


def recipe(name):
    """Return a run on a TSV file of two languages, with one entry forward and one backward."""
    source, target = name.split("_")[-2:]
    other = f"{name.rpartition('_')[0].rpartition('_')[0]}_{target}_{source}"
    other = other if other in ENTRIES else next(each for each in ENTRIES if each != name)
    forward, backward = (name, other) if target == "en" else (other, name)
    foreign = source if target == "en" else target
    languages = {
        "source": {"code": foreign, "charset": "utf-8"},
        "reference": {"code": "en", "charset": "utf-8"},
    }
    return {
        "run": {"name": "x", "corpora": ["own"], "systems": ["parabank2"], "embeddings": []},
        "languages": languages,
        "corpora": {"own": {"tsv": "own.tsv", "columns": {"source": 0, "reference": 1}}},
        "train": {"test": None, "models": {"forward": forward, "backward": backward}},
        "generate": {"corpora": None, "limit": None},
    }


@pytest.fixture
def written(tmp_path, monkeypatch):
    """Write the recipe of an entry, in an empty working directory."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.tsv").write_text("a\tb\n", encoding="utf-8")

    def write(name, pinned=True):
        found = recipe(name)
        roles = [found["train"]["models"][role] for role in ("forward", "backward")]
        hubs = [each for each in roles if "hub" in ENTRIES[each][1]]
        if pinned and hubs:
            found["models"] = {each: {"revision": COMMIT} for each in hubs}
        path = tmp_path / "recipe.yaml"
        path.write_text(yaml.safe_dump(found), encoding="utf-8")
        return [*FILES, path]

    return write


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_an_entry_is_planned(written, name):
    layout = run_layout(resolve(written(name), []))
    assert not [unit for unit in layout.units() if unit[0] == "subword"]
    assert all(finished(block) for _, block in ENTRIES.values())


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name, (_, block) in ENTRIES.items() if "hub" in block])
def test_an_entry_of_the_hub_says_how_it_is_pinned(written, name):
    with pytest.raises(InputError, match=r"revision of Helsinki-NLP/\S+ is not known yet.*pin"):
        run_layout(resolve(written(name, pinned=False), []))


@pytest.mark.parametrize("name", [name for name, (_, block) in ENTRIES.items() if "url" in block])
def test_addresses_of_students_name_a_commit_and_every_file_is_pinned(name):
    block = ENTRIES[name][1]
    way = "".join(name.split("_")[-2:])
    assert len(block["url"]) == len(set(block["sha256"])) == len(block["sha256"])
    for url in block["url"]:
        assert re.search(rf"/[0-9a-f]{{40}}/models/base-memory/{way}/\w+\.{way}\.", url)


def test_the_students_of_the_package_are_those_that_are_pinned():
    require_packages(STUDENTS)
    files = metadata.distribution(STUDENTS)
    for name in ("student_pt_en", "student_en_pt"):
        block = resolve([], [])["models"][name]
        folder = Path(files.locate_file(f"{block['package']}/{block['path']}"))
        assert {file: sha256(folder / file) for file in block["sha256"]} == block["sha256"]
        assert files.version == block["version"]


def test_the_folder_of_a_url_model_is_found_again_by_its_hash(written):
    stage = run_layout(resolve(written("firefox_cs_en"), [])).stage(Train)
    block = ENTRIES["firefox_cs_en"][1]
    for url, digest in zip(block["url"], block["sha256"], strict=True):
        assert stage.url(digest, url.rpartition("/")[2]) == url
