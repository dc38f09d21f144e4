import getpass
import os

from workflow_scripts.core.environment import prepare_environment, user_name


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
    prepare_environment()
    assert getpass.getuser() == "someone"
