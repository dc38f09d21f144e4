"""Fixtures of all tests."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """The folder of real data, from PARALOOM_DATA; a test that needs it skips where it is absent.

    With PARALOOM_REQUIRE_DATA=1 an absent folder is a failure.
    """
    folder = Path(os.environ.get("PARALOOM_DATA", ROOT.parent / "shared" / "data")).resolve()
    if not folder.is_dir():
        message = f"no real data in {folder}: set PARALOOM_DATA to its folder"
        if os.environ.get("PARALOOM_REQUIRE_DATA") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return folder
