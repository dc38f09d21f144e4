import pytest

import paraloom
from paraloom import ArgumentError
from tests.packages import STUDENTS, require_packages

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def translator():
    require_packages(STUDENTS)
    return paraloom.Translator("student_en_pt")


def test_the_best_comes_first(translator):
    found = translator.translate("The cat sleeps.", n=3)
    assert (found[0].text, len(found), found.why) == ("O gato dorme.", 3, None)
    assert [each.nll for each in found] == sorted(each.nll for each in found)


def test_a_stream(translator):
    found = list(translator.translate(iter(["The cat sleeps.", "", "A house."])))
    assert [[each.text for each in one] for one in found] == [["O gato dorme."], [], ["Uma casa."]]
    assert found[1].why.startswith("empty")


def test_words_to_keep_and_to_avoid(translator):
    (kept,) = translator.translate("The cat sleeps on the sofa.", keep=["felino"])
    assert "felino" in kept.text
    (other,) = translator.translate("The cat sleeps on the sofa.", avoid=["gato"])
    assert "gato" not in other.text.lower().split()


def test_samples_are_drawn_by_seed_and_text(translator):
    text = "The weather was nice on Sunday, so we went to the park."
    drawn = translator.translate(text, n=5, samples=5)
    assert len({each.text for each in drawn}) > 1
    assert drawn == translator.translate(text, n=5, samples=5)
    other = paraloom.Translator("student_en_pt", seed=2)
    assert drawn != other.translate(text, n=5, samples=5)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n": 0}, "n is 0"),
        ({"n": None}, "n is None"),
        ({"n": "x"}, "n is 'x'"),
        ({"beam": 0}, "beam is 0"),
        ({"samples": 0}, "samples is 0"),
        ({"samples": 2, "keep": ["gato"]}, "samples can't have words to keep"),
    ],
)
def test_what_can_not_be_is_refused(translator, options, message):
    with pytest.raises(ArgumentError, match=message):
        translator.translate("The cat sleeps.", **options)


def test_what_the_model_does_not_know_is_told(translator):
    found = translator.translate("Please send 500 mg to Dr. 王 by Friday.")
    assert (len(found), found.why, found.unknown) == (1, None, ["王"])


def test_a_text_of_the_other_language_is_told(translator):
    (same,) = found = translator.translate("O gato dorme no sofá.")
    assert same.text and found.why.startswith("untranslated: student_en_pt gives the text back")


def test_languages_and_licence_are_told(translator):
    assert (translator.languages, translator.licence) == (("en", "pt"), "unknown")


def test_a_model_in_a_folder(small_model):
    translator = paraloom.Translator(small_model, precision="fp32")
    (found,) = translator.translate("Muž opravuje kolo.")
    assert found.text == "The guy is fixing the bike."
