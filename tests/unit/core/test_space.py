import errno
import shutil
from types import SimpleNamespace

import pytest

from workflow_scripts.core.cli import run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files import space
from workflow_scripts.core.files.atomic import atomic_path, write_text

FULL = OSError(errno.ENOSPC, "No space left on device")
# What libraries raise that hide the number of the error; seen on a full tmpfs.
HIDDEN = {
    "safetensors": RuntimeError("Error: I/O error: No space left on device (os error 28)"),
    "copytree": shutil.Error([("a", "b", "[Errno 28] No space left on device: 'a' -> 'b'")]),
}
CUT_SHORT = {
    "torch": RuntimeError("[enforce fail at inline_container.cc:672] . unexpected pos 576 vs 534"),
    "numpy": OSError("100000 requested and 16352 written"),
}


def raised_from(error, cause):
    error.__context__ = cause
    return error


@pytest.fixture
def no_space(monkeypatch):
    monkeypatch.setattr(space, "has_space", lambda folder: False)


@pytest.mark.parametrize("error", [FULL, *HIDDEN.values(), raised_from(ValueError("x"), FULL)])
def test_full_disk_is_told_and_the_file_named(tmp_path, error):
    path = tmp_path / "a.parquet"
    path.write_text("old", encoding="utf-8")
    message = r"/a\.parquet: no space left on device; free some space there and run the same"
    with pytest.raises(InputError, match=message), atomic_path(path) as temporary:
        temporary.write_text("half", encoding="utf-8")
        raise error
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("error", CUT_SHORT.values(), ids=CUT_SHORT)
def test_write_cut_short_without_a_reason_is_a_full_disk_where_no_space_is_left(
    tmp_path, no_space, error
):
    with pytest.raises(InputError, match="no space left"), space.explained(tmp_path):
        raise error


@pytest.mark.parametrize(
    "error", [*CUT_SHORT.values(), OSError(errno.EIO, "I/O error"), KeyError("a")]
)
def test_other_errors_stay_as_they_are(tmp_path, error):
    with pytest.raises(type(error)) as found, space.explained(tmp_path):
        raise error
    assert found.value is error


def test_message_about_another_disk_is_kept(tmp_path):
    with pytest.raises(InputError, match=r"^/tmp/runs: no space"), atomic_path(tmp_path / "a"):
        raise InputError(space.message("/tmp/runs"))


def test_command_ends_with_the_message_alone(capsys):
    def main():
        raise OSError(errno.ENOSPC, "No space left on device", "work/lock")

    with pytest.raises(SystemExit) as status:
        run(main)
    assert status.value.code == 2
    printed = capsys.readouterr().err
    assert printed == f"error: work/lock: no space left on device; {space.ADVICE}\n"


def test_command_shows_where_an_unknown_error_comes_from():
    with pytest.raises(OSError, match="I/O"):
        run(lambda: (_ for _ in ()).throw(OSError(errno.EIO, "I/O error")))


@pytest.mark.parametrize(
    ("log", "advised"), [("OSError: [Errno 28] No space left on device", True), ("KeyError", False)]
)
def test_advice_at_the_end_of_a_run_whose_log_is_about_space(tmp_path, capsys, log, advised):
    write_text(tmp_path / "log", log)
    space.advise_on_full_disks([str(tmp_path / "log")], [str(tmp_path)])
    assert (space.ADVICE in capsys.readouterr().err) == advised


def test_run_does_not_begin_without_space_for_its_own_files(tmp_path, monkeypatch):
    space.require(tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda folder: SimpleNamespace(free=4096))
    with pytest.raises(InputError, match=f"^{tmp_path}: no space left on device; free some"):
        space.require(tmp_path)


def test_advice_names_the_folder_that_is_full(tmp_path, capsys, no_space):
    write_text(tmp_path / "log", "")
    space.advise_on_full_disks([str(tmp_path / "log")], ["results"])
    assert capsys.readouterr().err.startswith("error: results, ")
