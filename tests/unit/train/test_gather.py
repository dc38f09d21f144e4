"""Where the files of a finished model come from, and what goes wrong there."""

import gzip
import hashlib
import io
import sys
import tarfile
import zipfile

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.stages.train.gather import gather

FILES = {"model.pten.bin": b"weights", "vocab.pten.spm": b"pieces", "lex.pten.bin": b"shortlist"}
ABOUT = {"model_info.json": b"{}"}


def write(folder, files):
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (folder / name).write_bytes(content)
    return folder


def sha256(content):
    return hashlib.sha256(content).hexdigest()


@pytest.fixture
def gathered(tmp_path):
    """Gather a model, and return the content of its files by their names."""

    def call(**model):
        target = tmp_path / "target"
        target.mkdir()
        gather("the model of forward", model, target)
        return {path.name: path.read_bytes() for path in target.iterdir()}

    return call


def test_a_folder_gives_its_model_and_what_tells_of_it_and_nothing_else(gathered, tmp_path):
    write(tmp_path / "own", {**FILES, **ABOUT, "notes.txt": b"", "config.yml": b""})
    assert gathered(folder=tmp_path / "own") == {**FILES, **ABOUT}


def test_files_that_are_packed_one_by_one_are_unpacked(gathered, tmp_path):
    packed = {f"{name}.gz": gzip.compress(content) for name, content in FILES.items()}
    folder = write(tmp_path / "downloads", packed)
    assert gathered(files=[folder / name for name in packed]) == FILES


def test_a_file_that_is_cut_off_is_an_error(gathered, tmp_path):
    folder = write(tmp_path, {"model.pten.bin.gz": gzip.compress(b"weights" * 99)[:-9]})
    with pytest.raises(InputError, match=r"model\.pten\.bin\.gz: can't be unpacked .* delete it"):
        gathered(files=[folder / "model.pten.bin.gz"])


def tar(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, content in members.items():
            entry = tarfile.TarInfo(name)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return path


def zipped(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    return path


@pytest.mark.parametrize(("make", "name"), [(tar, "students.tar.gz"), (zipped, "students.zip")])
def test_an_archive_gives_the_one_model_in_it_wherever_it_is(gathered, tmp_path, make, name):
    members = {f"students/pten/{file}": content for file, content in FILES.items()}
    path = make(tmp_path / name, {"README": b"", "students/evaluation/bleu.txt": b"", **members})
    assert gathered(files=[path]) == FILES


def test_an_argos_package_is_a_model_with_what_lies_beside_it(gathered, tmp_path):
    inner = {"model.bin": b"w", "config.json": b"{}", "shared_vocabulary.json": b"[]"}
    beside = {"sentencepiece.model": b"pieces", "metadata.json": b"{}"}
    members = {f"pt_en/model/{name}": content for name, content in inner.items()}
    members |= {f"pt_en/{name}": content for name, content in beside.items()}
    package = zipped(tmp_path / "pt_en.argosmodel", {**members, "pt_en/stanza/en.pt": b""})
    assert gathered(files=[package]) == inner | beside


def test_of_several_models_in_an_archive_one_is_named(gathered, tmp_path):
    members = {f"{way}/{file}": each for way in ("pten", "enpt") for file, each in FILES.items()}
    path = zipped(tmp_path / "students.zip", members)
    with pytest.raises(InputError, match=r"holds several models; .* as `path`: enpt, pten"):
        gathered(files=[path])
    (tmp_path / "target").rmdir()
    assert gathered(files=[path], path="pten") == FILES


@pytest.mark.parametrize(
    ("name", "path", "message"),
    [
        ("pten/model.pten.bin", "deen", r"a\.zip has no folder deen; it has pten"),
        ("a/text.txt", None, r"a\.zip/a is no model folder that can be read"),
    ],
    ids=["another folder", "no model"],
)
def test_an_archive_without_the_model_says_what_it_has(gathered, tmp_path, name, path, message):
    archive = zipped(tmp_path / "a.zip", {name: b""})
    with pytest.raises(InputError, match=message):
        gathered(files=[archive], **({"path": path} if path else {}))


@pytest.mark.parametrize("make", [tar, zipped])
@pytest.mark.parametrize("bad", ["../model.pten.bin", "/model.pten.bin", "a/../../x"])
def test_an_archive_that_leads_outside_is_not_unpacked(gathered, tmp_path, make, bad):
    name = "bad.zip" if make is zipped else "bad.tar.gz"
    path = make(tmp_path / name, {**FILES, bad: b"evil"})
    with pytest.raises(InputError, match="leads out of the archive; nothing of it was unpacked"):
        gathered(files=[path])
    assert sorted(each.name for each in tmp_path.iterdir()) == [name, "target"]
    assert not list((tmp_path / "target").iterdir())


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("vocab.pten.spm", rf"vocab\.pten\.spm has .* {sha256(FILES['vocab.pten.spm'])}, but"),
        ("model.bin", r"names model\.bin, which the model does not have"),
    ],
    ids=["another", "of no file"],
)
def test_a_wrong_hash_is_told(gathered, tmp_path, name, message):
    folder = write(tmp_path / "own", FILES)
    right = {name: sha256(content) for name, content in FILES.items()}
    with pytest.raises(InputError, match=message):
        gathered(folder=folder, sha256={**right, name: "0" * 64})


# --- the hub --------------------------------------------------------------------------------


@pytest.fixture
def kept(tmp_path):
    """What a download from the hub leaves: a folder and its record."""
    folder = write(tmp_path / "hub" / "o--n" / ("a" * 40), FILES)
    record = {"files": {name: sha256(each) for name, each in FILES.items()}}
    write_json(folder.with_name(f"{folder.name}.json"), sealed(record))
    return folder


def test_a_download_from_the_hub_is_compared_with_its_record(gathered, kept):
    assert gathered(record=kept.with_name(f"{kept.name}.json")) == FILES


def test_a_damaged_download_from_the_hub_is_told(gathered, kept):
    (kept / "model.pten.bin").write_bytes(b"weight")
    with pytest.raises(InputError, match=r"model\.pten\.bin is not what was downloaded; delete"):
        gathered(record=kept.with_name(f"{kept.name}.json"))


# --- packages -------------------------------------------------------------------------------


@pytest.fixture
def package(tmp_path, monkeypatch):
    """An installed package whose code must not run, under another name than its distribution."""
    site = tmp_path / "site"
    write(site / "students_of_mine", {"__init__.py": b"raise SystemExit('was imported')"})
    write(site / "students_of_mine" / "models" / "pten", FILES)
    metadata = b"Metadata-Version: 2.1\nName: Students\nVersion: 1.2\n"
    record = b"students_of_mine/__init__.py,,\n"
    write(site / "Students-1.2.dist-info", {"METADATA": metadata, "RECORD": record})
    monkeypatch.syspath_prepend(site)
    return {"package": "students_of_mine", "version": "1.2", "path": "models/pten"}


@pytest.mark.slow
def test_the_files_of_a_package_are_read_and_its_code_is_not(gathered, package):
    assert gathered(**package) == FILES
    assert "students_of_mine" not in sys.modules


@pytest.mark.slow
@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"version": "1.3"}, r"version 1\.2 of the package students_of_mine is .* 1\.3"),
        (
            {"package": "no_students"},
            r"package no_students is not installed for .*python.*recipes/testbed\.yaml runs",
        ),
        ({"path": "models/deen"}, "has no folder models/deen; models are in models/pten"),
        ({"path": "../elsewhere"}, "has no folder"),
        ({"path": "link"}, "has no folder"),
        ({"sha256": {"model.pten.bin": "0" * 64}}, r"model\.pten\.bin has the SHA-256"),
    ],
    ids=["version", "not there", "layout", "leads out", "link out", "hash"],
)
def test_a_package_that_is_another_than_its_block_says_is_refused(
    gathered, package, tmp_path, change, message
):
    write(tmp_path / "site" / "elsewhere", FILES)
    (tmp_path / "site/students_of_mine/link").symlink_to(tmp_path / "site/elsewhere")
    with pytest.raises(InputError, match=message):
        gathered(**package | change)
