import getpass
import os
import subprocess
import sys

import pytest

from workflow_scripts.core.environment import (
    prepare_environment,
    require_folder,
    require_good_place,
    require_utf8,
    user_name,
)
from workflow_scripts.core.errors import InputError


def test_user_without_a_name_gets_one(monkeypatch):
    """As in `docker run --user 12345`: Snakemake asks the system, which raises."""
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME", "PYTHONSAFEPATH"):
        monkeypatch.setenv(name, "")

    def unknown(number):
        raise KeyError(f"getpwuid(): uid not found: {number}")

    monkeypatch.setattr("pwd.getpwuid", unknown)
    assert user_name() == f"uid-{os.getuid()}"
    prepare_environment()
    assert getpass.getuser() == f"uid-{os.getuid()}"
    assert os.environ["PYTHONSAFEPATH"] == "1"


def test_name_of_a_user_stays(monkeypatch):
    monkeypatch.setenv("LOGNAME", "someone")
    monkeypatch.setenv("PYTHONSAFEPATH", "")
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    prepare_environment()
    assert getpass.getuser() == "someone"
    assert "PYTHONDONTWRITEBYTECODE" not in os.environ


def test_a_python_of_another_encoding_is_refused(monkeypatch):
    require_utf8()
    monkeypatch.setattr(sys, "getfilesystemencoding", lambda: "iso8859-1")
    with pytest.raises(InputError, match=r"encoding is iso8859-1.*PYTHONUTF8=1"):
        require_utf8()


@pytest.mark.slow
def test_a_command_in_another_encoding_says_so():
    command = [sys.executable, "-m", "workflow_scripts.commands.status", "--help"]
    odd = {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    done = subprocess.run(command, env=os.environ | odd, capture_output=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(b"error: the locale's encoding is ascii")


def test_folders_that_the_workflow_can_run_from():
    require_good_place("/home/x y/quo'te/$(a)/\u010de\u0161tina")
    for folder in ("/a:b", "/a{b", "/a}/b"):
        with pytest.raises(InputError, match=rf"is {folder}, and '.' .*; rename the folder"):
            require_good_place(folder)


def test_a_folder_that_can_not_be_made_is_refused(tmp_path):
    path = tmp_path / "results"
    require_folder(str(path), "results")
    path.symlink_to(tmp_path / "disk")
    with pytest.raises(InputError, match=r"results: .* is a link to .*disk, which is not there"):
        require_folder(str(path), "results")
    (tmp_path / "disk").mkdir()
    require_folder(str(path), "results")
    path.unlink()
    path.write_text("no folder", encoding="utf-8")
    with pytest.raises(InputError, match=r"results: .* is no folder; name another one"):
        require_folder(str(path), "results")
