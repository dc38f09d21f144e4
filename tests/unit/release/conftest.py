import pytest


@pytest.fixture(scope="session")
def run(made_up_run):
    return made_up_run
