import pytest

from tests.stanza_package import FOLDER, LANGUAGE, PACKAGE
from workflow_scripts.stages.syntax.parser import Parser


@pytest.fixture(scope="session")
def parser():
    """A small Stanza package of testbed English, loaded as any other."""
    return Parser(FOLDER, LANGUAGE, PACKAGE, "cpu")
