"""Which model a name stands for; one that is not here is an error that says how to get it."""

import pytest

import paraloom
from paraloom import models
from workflow_scripts.core.errors import InputError


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("student_pt_eng", r"no model of this name is known; did you mean 'student_pt_en'"),
        ("firefox_cs_en", r"must be downloaded.*Get https://\S+model\.csen\S+, .*into one folder"),
        ("opus_en_pt", r"Helsinki-NLP/opus-mt-en-roa from the Hugging Face hub.*>>por<<"),
        ("somewhere/else", "somewhere/else: no such folder"),
    ],
)
def test_what_is_not_here_is_told(name, message):
    with pytest.raises(InputError, match=message):
        models.load(name, None, "int8")


def test_a_folder_without_a_model_is_told(tmp_path):
    with pytest.raises(InputError, match=str(tmp_path)):
        models.load(tmp_path, None, "fp32")


def test_a_language_without_models_is_told():
    with pytest.raises(InputError, match=r"no models for the language 'de'.*there=, back="):
        models.default_models("de")


def test_an_unknown_precision_is_told(small_model):
    with pytest.raises(InputError, match="precision 'int4'"):
        models.load(small_model, None, "int4")


@pytest.mark.parametrize("opened", [paraloom.Translator, paraloom.Rewriter])
@pytest.mark.parametrize(
    ("options", "message"), [({"precision": "int4"}, "'int4'"), ({"device": "tpu"}, "'tpu'")]
)
def test_wrong_options_do_not_end_the_process(small_model, opened, options, message):
    with pytest.raises(InputError, match=message):
        opened(small_model, **options)


def test_the_catalogue_has_all_models_that_a_recipe_can_name():
    names = models.catalogue()
    assert {"student_pt_en", "firefox_de_en", "opus_cs_en"} <= names.keys()
    assert "generation" not in names  # a shape to train
