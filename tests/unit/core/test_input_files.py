"""Hashes of the user's files, and files that change between planning and reading."""

import hashlib
import json
import os
import shutil
import time

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files import input_files
from workflow_scripts.core.files.input_files import FileHashes, unchanged


@pytest.fixture
def planned(tmp_path):
    file = tmp_path / "a"
    file.write_text("x", encoding="utf-8")
    return file, {str(file): hashlib.sha256(b"x").hexdigest()}


def test_hashes_are_remembered_until_the_file_changes(planned, tmp_path, monkeypatch):
    monkeypatch.setattr(input_files, "_TICK_SECONDS", 0)
    file, cache = planned[0], tmp_path / "cache" / "hashes.json"
    hashes = FileHashes(cache)
    first = hashes.sha256(str(file), "key")
    hashes.save()
    monkeypatch.setattr(input_files, "_sha256", lambda path: "computed again")
    assert FileHashes(cache).sha256(str(file), "key") == first
    monkeypatch.undo()
    file.write_text("yy", encoding="utf-8")
    assert FileHashes(cache).sha256(str(file), "key") != first


def test_the_hash_of_a_file_that_was_just_written_is_not_remembered(tmp_path):
    """Its next edit may fall into the same tick of the file system's clock."""
    young, old, cache = tmp_path / "young", tmp_path / "old", tmp_path / "hashes.json"
    old.write_text("x", encoding="utf-8")
    time.sleep(max(0.0, 2.1 - (time.time() - old.stat().st_ctime)))
    young.write_text("x", encoding="utf-8")
    hashes = FileHashes(cache)
    assert hashes.sha256(str(young), "key") == hashes.sha256(str(old), "key")
    hashes.save()
    assert json.loads(cache.read_text("utf-8")).keys() == {str(old)}


@pytest.mark.parametrize("content", [b"[]", b"7", b"", b"\xff\x00", b'"text"'])
def test_damaged_memory_of_hashes_is_forgotten(planned, tmp_path, content):
    (file, hashes), cache = planned, tmp_path / "hashes.json"
    cache.write_bytes(content)
    assert FileHashes(cache).sha256(str(file), "key") == hashes[str(file)]


@pytest.mark.parametrize("known", ["", "x" * 64, 7, None, "ab" * 31])
def test_a_remembered_value_that_is_no_hash_is_forgotten(planned, tmp_path, known):
    (file, hashes), cache = planned, tmp_path / "hashes.json"
    cache.write_text(json.dumps({str(file): [*input_files.signature(file), known]}), "utf-8")
    assert FileHashes(cache).sha256(str(file), "key") == hashes[str(file)]


def test_hashes_that_may_not_be_remembered_are_computed(planned, tmp_path, monkeypatch):
    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(input_files, "write_text", refuse)
    file, expected = planned
    hashes = FileHashes(tmp_path / "hashes.json")
    assert hashes.sha256(str(file), "key") == expected[str(file)]
    hashes.save()


@pytest.mark.parametrize("how", ["same time", "other inode"])
def test_an_edit_that_keeps_size_and_time_is_seen(tmp_path, how):
    """As `rsync -t` and `touch -r` leave it."""
    file, cache = tmp_path / "a", tmp_path / "hashes.json"
    file.write_text("old", encoding="utf-8")
    times = (file.stat().st_atime_ns, file.stat().st_mtime_ns)
    hashes = FileHashes(cache)
    first = hashes.sha256(str(file), "key")
    hashes.save()
    if how == "other inode":
        (tmp_path / "b").write_text("new", encoding="utf-8")
        (tmp_path / "b").rename(file)
    else:
        file.write_text("new", encoding="utf-8")
    os.utime(file, ns=times)
    assert FileHashes(cache).sha256(str(file), "key") != first


@pytest.mark.parametrize("content", ["y", None])
def test_a_file_that_changed_after_planning_is_not_read(planned, content):
    file, hashes = planned
    file.write_text(content, encoding="utf-8") if content else file.unlink()
    with pytest.raises(InputError, match=str(file)), unchanged(hashes):
        pytest.fail("it was read")


def test_a_file_that_changes_while_it_is_read_fails_the_job(planned, tmp_path):
    """Even if it is put back as it was, with all its times."""
    file, hashes = planned
    shutil.copy2(file, tmp_path / "kept")
    with pytest.raises(InputError, match="changed while it was read"), unchanged(hashes):
        file.write_text("y", encoding="utf-8")
        shutil.copy2(tmp_path / "kept", file)


def test_a_file_that_appears_after_planning_or_while_the_others_are_read_is_refused(
    planned, tmp_path
):
    _, hashes = planned
    with unchanged(hashes, [str(tmp_path)]):
        pass
    with pytest.raises(InputError, match="b appeared since"), unchanged(hashes, [str(tmp_path)]):
        (tmp_path / "b").write_text("x", encoding="utf-8")
    with pytest.raises(InputError, match="b appeared since"), unchanged(hashes, [str(tmp_path)]):
        pytest.fail("it was read")
