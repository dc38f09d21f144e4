from pathlib import Path

import pytest

from tests.unit.lexicon.wordnet_files import write_wordnet
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.lexicon.measures_wordnet import FORM, HYPERNYM, SYNONYM, WordNet

DEBIAN = Path("/usr/share/wordnet")


@pytest.mark.parametrize(
    ("phrase", "paraphrase", "relation"),
    [
        ("bought", "purchased", SYNONYM),  # an exception, and a rule
        *[("buy", "purchase", SYNONYM), ("buying", "purchases", SYNONYM), ("dogs", "dog", FORM)],
        *[("dogs", "domestic dog", SYNONYM), ("domestic dogs", "dog", SYNONYM)],
        *[("gave up", "surrendered", SYNONYM), ("men", "adult male", SYNONYM)],
        *[("dog", "canine", HYPERNYM), ("canid", "dogs", HYPERNYM), ("dog", "unheard", None)],
        ("bigger", "large", None),  # 'bigg' is no lemma, and no exception stands in the list
        *[("big", "large", SYNONYM), ("rapidly", "quickly", SYNONYM)],
        ("canine", "pet", None),  # both above one synset
    ],
)
def test_relations_are_those_of_the_lemmas(wordnet, phrase, paraphrase, relation):
    assert wordnet.relation(phrase, paraphrase) == relation
    assert wordnet.relation(paraphrase, phrase) == relation


def test_knows_forms_of_its_lemmas_alone(wordnet: WordNet) -> None:
    assert wordnet.knows("dogs") and wordnet.knows("gives up")
    # An exception says what a form is of: the lemma must be there as well.
    assert not wordnet.knows("geese") and not wordnet.knows("of the") and not wordnet.knows("")


def test_antonyms_are_of_words_and_their_forms(wordnet: WordNet) -> None:
    assert wordnet.antonyms("boys", "girl") and wordnet.antonyms("girl", "boys")
    assert wordnet.antonyms("hot", "cold") and wordnet.antonyms("hotter", "cold") is False
    # Only the first word of the synset is opposed.
    assert not wordnet.antonyms("male child", "girl")


def test_a_missing_file_says_how_to_get_it(tmp_path: Path) -> None:
    write_wordnet(tmp_path)
    (tmp_path / "data.verb").unlink()
    with pytest.raises(InputError, match=r"data\.verb can't be read.*wordnet-base"):
        WordNet(tmp_path)


@pytest.mark.parametrize(
    "line",
    [
        "00000700 05 n 02 cat 0",
        "00000700 05 n zz cat 0 000 | of no number",
        "00000700 05 n 01 cat 0 001 @ 00000100 n | a pointer that is cut off",
        "00000700 05 n 01 cat 0 001 ! 00000100 n 0201 | of a word that is not there",
        "word without anything",
    ],
)
def test_a_damaged_line_is_named(tmp_path: Path, line: str) -> None:
    write_wordnet(tmp_path)
    path = tmp_path / "data.noun"
    path.write_text(path.read_text() + line + "\n")
    with pytest.raises(InputError, match=r"data\.noun, line 8: no synset"):
        WordNet(tmp_path)


def test_antonyms_of_another_version_are_refused(tmp_path: Path) -> None:
    write_wordnet(tmp_path)
    path = tmp_path / "data.adv"
    path.write_text("00000100 02 r 01 fast 0 001 ! 00009999 r 0101 | gone\n")
    with pytest.raises(InputError, match=r"'fast'.*different versions"):
        WordNet(tmp_path)


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    write_wordnet(tmp_path)
    (tmp_path / "data.adj").write_text("")
    with pytest.raises(InputError, match=r"data\.adj: no synset in it"):
        WordNet(tmp_path)


@pytest.mark.skipif(
    not (DEBIAN / "data.noun").is_file(), reason="no WordNet: apt-get install wordnet-base"
)
def test_the_real_files_are_read() -> None:
    wordnet = WordNet(DEBIAN)
    assert wordnet.relation("cars", "autos") == SYNONYM
    assert wordnet.relation("dog", "canine") == HYPERNYM
    assert wordnet.relation("gave up", "surrendered") == SYNONYM
    assert wordnet.antonyms("rise", "fall") and not wordnet.antonyms("big", "large")
