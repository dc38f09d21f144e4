from collections import Counter
from pathlib import Path

import pytest

from workflow_scripts.testbed import word_list
from workflow_scripts.testbed.conjugation import PRESENT
from workflow_scripts.testbed.declension import CASES, NUMBERS, PARADIGMS
from workflow_scripts.testbed.word_list import LEXICON

CLASSES = ("nouns", "verbs", "adjectives", "adverbs", "names")
SELECTORS = {noun.kind for noun in LEXICON.nouns} | {noun.concept for noun in LEXICON.nouns}
GENDER_OF = {
    "ma": {"pán", "muž", "předseda", "soudce"},
    "mi": {"hrad", "stroj"},
    "f": {"žena", "růže", "píseň", "kost"},
    "n": {"město", "moře", "kuře", "stavení"},
}


def _surfaces(word_class):
    """Yield each English surface of a word class with its concept; verbs with their particle."""
    for entry in getattr(LEXICON, word_class):
        for english in [entry.english] if word_class == "names" else entry.english:
            if word_class == "nouns":
                yield english.singular, entry.concept
                if english.plural != english.singular:
                    yield english.plural, entry.concept
            elif word_class == "verbs":
                forms = {english.base, english.third, english.past, english.participle}
                for form in forms | {english.gerund}:
                    yield f"{form} {english.particle}".strip(), entry.concept
            else:
                yield getattr(english, "base", english), entry.concept


@pytest.mark.parametrize("word_class", CLASSES)
def test_an_english_word_belongs_to_one_concept(word_class):
    concepts = {}
    for surface, concept in _surfaces(word_class):
        assert concepts.setdefault(surface.lower(), concept) == concept, surface


@pytest.mark.parametrize("word_class", CLASSES)
def test_concepts_are_distinct(word_class):
    counts = Counter(entry.concept for entry in getattr(LEXICON, word_class))
    assert max(counts.values()) == 1


@pytest.mark.parametrize("word_class", ["nouns", "adjectives", "adverbs", "names"])
def test_czech_lemmas_are_distinct(word_class):
    counts = Counter(entry.czech for entry in getattr(LEXICON, word_class))
    assert [lemma for lemma, count in counts.items() if count > 1] == []


def test_czech_verbs_are_distinct():
    lemmas = Counter(
        (form.infinitive, form.clitic)
        for verb in LEXICON.verbs
        for form in (verb.imperfective, verb.perfective)
        if form
    )
    assert [lemma for lemma, count in lemmas.items() if count > 1] == []


def test_past_tense_is_never_the_base():
    """A verb such as put would leave the tense of "they put" open."""
    for verb in LEXICON.verbs:
        for english in verb.english:
            assert english.base != english.past, english


def test_several_hundred_lemmas_on_each_side():
    lemmas = sum(len(getattr(LEXICON, word_class)) for word_class in CLASSES)
    lemmas += sum(verb.perfective is not None for verb in LEXICON.verbs)
    surfaces = {surface for name in CLASSES for surface, _ in _base_forms(name)}
    assert lemmas >= 300
    assert len(surfaces) >= 500
    assert len(LEXICON.verbs) >= 70
    assert len(LEXICON.nouns) >= 80
    particles = [e for verb in LEXICON.verbs for e in verb.english if e.particle]
    assert len(particles) >= 10


def _base_forms(word_class):
    for entry in getattr(LEXICON, word_class):
        for english in [entry.english] if word_class == "names" else entry.english:
            surface = getattr(english, "singular", None) or getattr(english, "base", english)
            yield surface, entry.concept


def test_most_concepts_have_synonyms():
    for name in ("nouns", "verbs", "adjectives"):
        entries = getattr(LEXICON, name)
        assert sum(len(entry.english) > 1 for entry in entries) >= 0.8 * len(entries), name


@pytest.mark.parametrize("entry", LEXICON.nouns + LEXICON.names, ids=lambda entry: entry.concept)
def test_paradigms_are_known_and_fit_the_gender(entry):
    assert entry.paradigm in PARADIGMS
    assert entry.paradigm in GENDER_OF[entry.gender]
    for cell, form in entry.forms:
        case, number = cell.split(".")
        assert case in CASES
        assert number in NUMBERS
        assert form
    if entry.kind in ("building", "place", "city"):
        assert entry.place is not None
        assert entry.place.czech in ("v", "na")
        assert entry.place.english in ("in", "at", "on")
    else:
        assert entry.place is None


def test_every_paradigm_and_conjugation_is_used():
    assert {noun.paradigm for noun in LEXICON.nouns} == set(PARADIGMS)
    used = {verb.imperfective.verb_class for verb in LEXICON.verbs}
    used |= {verb.perfective.verb_class for verb in LEXICON.verbs if verb.perfective}
    assert used == set(PRESENT)


@pytest.mark.parametrize("verb", LEXICON.verbs, ids=lambda verb: verb.concept)
def test_frames_are_complete(verb):
    assert verb.subject
    assert set(verb.subject + verb.object) <= SELECTORS
    with_object = verb.frame in ("transitive", "ditransitive")
    assert bool(verb.object) == with_object == bool(verb.case)
    assert verb.case in ("", "acc", "dat", "gen", "ins")
    assert any(word_list.suits(noun, verb.subject) for noun in LEXICON.nouns)


@pytest.mark.parametrize("entry", LEXICON.adjectives, ids=lambda entry: entry.concept)
def test_adjectives_suit_some_noun(entry):
    assert entry.kind
    assert set(entry.kind) <= SELECTORS
    assert entry.comparative.endswith("í")
    assert entry.czech.endswith("í" if entry.type == "soft" else "ý")


def test_every_kind_of_thing_can_be_acted_on():
    wanted = {kind for verb in LEXICON.verbs for kind in verb.object}
    for noun in LEXICON.nouns:
        assert word_list.suits(noun, wanted), noun.concept


def test_charsets():
    """The English side encodes in latin-1, the Czech in latin-2, as the stage clean demands."""
    for path in sorted(word_list.FOLDER.glob("*.tsv")):
        lines = path.read_text(encoding="utf-8").splitlines()
        english = lines[0].split("\t").index("english")
        for line in lines:
            line.encode("iso8859-2")
            line.split("\t")[english].encode("latin-1")


def test_only_places_have_prepositions():
    assert word_list.place_of(LEXICON.noun["school"]) == LEXICON.noun["school"].place
    with pytest.raises(ValueError, match="'teacher' has no prepositions"):
        word_list.place_of(LEXICON.noun["teacher"])


def test_english_cells():
    verb = word_list.english_verb("throw:threw:thrown+away")
    assert verb == word_list.EnglishVerb("throw", "throws", "threw", "thrown", "throwing", "away")
    assert word_list.english_noun("man:men").plural == "men"
    assert word_list.english_adjective("good:better:best").superlative == "best"
    with pytest.raises(ValueError, match="base:past:participle"):
        word_list.english_verb("throw:threw")
    with pytest.raises(ValueError, match="base:comparative:superlative"):
        word_list.english_adjective("good:better")


def _copy(folder: Path, name: str, change) -> None:
    for path in word_list.FOLDER.glob("*.tsv"):
        text = path.read_text(encoding="utf-8")
        (folder / path.name).write_text(change(text) if path.name == name else text, "utf-8")


def test_the_tables_load_from_any_folder(tmp_path):
    _copy(tmp_path, "", str)
    assert word_list.load(tmp_path) == LEXICON


@pytest.mark.parametrize(
    ("name", "old", "new", "message"),
    [
        ("nouns.tsv", "\tma\t", "\tmasculine\t", r"nouns\.tsv, line 2: gender 'masculine'"),
        ("nouns.tsv", "nom.pl=šéfové", "šéfové", r"nouns\.tsv, line 9: form 'šéfové'"),
        ("verbs.tsv", "\ttransitive\t", "\tfactive\t", r"verbs\.tsv, line 2: frame 'factive'"),
        ("verbs.tsv", "\tpsát\t", "\t-\t", r"verbs\.tsv, line 2: the imperfective verb"),
        ("adjectives.tsv", "\thard\t", "\t", r"adjectives\.tsv, line 2: wrong number of columns"),
        ("adverbs.tsv", "\tpast\t", "\tperfect\t", r"adverbs\.tsv, line 2: tense 'perfect'"),
    ],
)
def test_a_broken_table_names_its_line(tmp_path, name, old, new, message):
    _copy(tmp_path, name, lambda text: text.replace(old, new, 1))
    with pytest.raises(ValueError, match=message):
        word_list.load(tmp_path)
