"""Parts of speech by a real Stanza package, a tiny one that knows the testbed's English."""

import shutil

import pytest

from tests.stanza_package import FOLDER, LANGUAGE, PACKAGE
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.generate.tagger import Tagger


@pytest.fixture(scope="module")
def tagger():
    return Tagger(FOLDER, LANGUAGE, PACKAGE)


def test_words_have_coarse_parts_of_speech(tagger):
    tags = tagger.tags("The old teacher gave\nthe boy a book.")
    assert tags["gave"] == {"VERB"}
    assert tags["The"] == tags["the"] == {"DET"}
    assert tags["boy"] == tags["book"] == {"NOUN"}


def test_a_package_without_a_parser_will_do(tmp_path):
    folder = tmp_path / "models"
    shutil.copytree(FOLDER, folder)
    (folder / "en" / "constituency" / "trees.pt").unlink()
    assert Tagger(folder, LANGUAGE, PACKAGE).tags("A boy ran.")["boy"] == {"NOUN"}


def test_a_folder_that_lacks_the_models_is_named(tmp_path):
    message = r"constraints\.tagger\.folder: .*processors='tokenize,pos'"
    with pytest.raises(InputError, match=message):
        Tagger(tmp_path, LANGUAGE, PACKAGE)
