import sys

import pytest
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.clean.checks import DETECTED
from workflow_scripts.stages.clean.language import confidence

SENTENCES = {
    "cs": "Včera jsme byli v lese na houbách.",
    "de": "Gestern waren wir im Wald und haben Pilze gesucht.",
    "en": "Yesterday we went to the forest to look for mushrooms.",
    "fr": "Hier, nous sommes allés en forêt chercher des champignons.",
    "pt": "Ontem fomos à floresta procurar cogumelos.",
}


@pytest.mark.slow
def test_the_known_codes_are_those_of_the_detector():
    labels = LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True).labels
    assert set(map(str, labels)) == {*DETECTED, "zxx"}  # no language


@pytest.mark.slow
@pytest.mark.parametrize("code", SENTENCES)
def test_a_sentence_is_in_its_own_language_alone(code):
    probability = confidence()
    for other in SENTENCES:
        assert (probability(SENTENCES[code], other) >= 0.1) == (other == code)


def test_a_missing_detector_is_named_with_the_remedy(monkeypatch):
    monkeypatch.setitem(sys.modules, "py3langid.langid", None)
    with pytest.raises(
        InputError, match=r"needs the package py3langid.*requirements/language\.txt"
    ):
        confidence()
