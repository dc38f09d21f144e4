import functools
from collections import Counter
from collections.abc import Iterator
from dataclasses import fields, is_dataclass, replace
from itertools import pairwise
from typing import Any

import pytest

from workflow_scripts.core.seeding import generator
from workflow_scripts.testbed.checker import Checker
from workflow_scripts.testbed.clauses import stative
from workflow_scripts.testbed.english import forest, reference
from workflow_scripts.testbed.lexical_slots import NUMERALS
from workflow_scripts.testbed.meaning import meaning
from workflow_scripts.testbed.similarity import WEIGHTS, similarity
from workflow_scripts.testbed.structure import Clause, Meaning, NounPhrase, Place, Relative
from workflow_scripts.testbed.word_list import LEXICON


@functools.cache
def meanings():
    return [meaning(5, index) for index in range(1000)]


def text(what: Meaning, *keys) -> str:
    return reference(what, generator(1, "test", *keys)).text


def parts(value: Any) -> Iterator[Any]:
    """Yield a meaning and the parts it is made of."""
    yield value
    for field in fields(value):
        if is_dataclass(part := getattr(value, field.name)):
            yield from parts(part)


def seen(kind: type, name: str) -> list[Any]:
    """Return the values that an attribute has somewhere, but for structured ones."""
    found = {
        getattr(part, name): None for one in meanings() for part in parts(one) if type(part) is kind
    }
    return [value for value in found if value is not None and not is_dataclass(value)]


POOLS = {
    (kind, field.name): seen(kind, field.name)
    for kind in (Meaning, Clause, NounPhrase, Place, Relative)
    for field in fields(kind)
}


def fitting(part: Any, name: str, other: Any) -> bool:
    """Return whether an attribute may have another value without more being changed."""
    value = getattr(part, name)
    if other == value:
        return False
    if isinstance(part, NounPhrase):
        counted = part.determiner in NUMERALS
        return {
            "head": lambda: part.kind == "noun" and same_noun(part.head, other),
            "number": lambda: part.kind == "noun" and not counted,
            "determiner": lambda: (
                part.determiner is not None
                and part.determiner != "a"  # what exists is indefinite
                and (other not in NUMERALS or part.number == "plural")
            ),
            "adjective": lambda: part.kind == "noun",
        }.get(name, lambda: False)()
    if isinstance(part, Clause):
        return fitting_clause(part, name, other)
    if isinstance(part, Place):
        return part.phrase is not None and value in DIRECTIONS and other in DIRECTIONS
    if isinstance(part, Relative):
        return name == "verb" and LEXICON.verb[other].frame == LEXICON.verb[value].frame
    return name == "mood" and part.subordinate is None and part.main.attitude is None


DIRECTIONS = ("to", "towards", "from")
SIMPLE_TENSES = ("past", "present", "future")


def same_noun(one: str, other: str) -> bool:
    return other in LEXICON.noun and LEXICON.noun[one].kind == LEXICON.noun[other].kind


def fitting_clause(clause: Clause, name: str, other: Any) -> bool:
    value = getattr(clause, name)
    if name == "verb":
        return (
            value in LEXICON.verb
            and other in LEXICON.verb
            and LEXICON.verb[value].frame == LEXICON.verb[other].frame
            and stative(clause.frame, value) == stative(clause.frame, other)
        )
    if name == "tense":
        return clause.tense in SIMPLE_TENSES and other in SIMPLE_TENSES
    if name == "negative":
        return clause.tense != "habitual" and clause.frame != "existential"
    return name != "frame" and value is not None and not is_dataclass(value)


def changed(what: Any) -> Iterator[tuple[str, Any]]:
    """Yield (path, meaning) with one attribute changed, for each attribute that can be."""
    for field in fields(what):
        value = getattr(what, field.name)
        if is_dataclass(value):
            for path, part in changed(value):
                yield f"{field.name}.{path}", replace(what, **{field.name: part})
            continue
        options = [
            other for other in POOLS[type(what), field.name] if fitting(what, field.name, other)
        ]
        if options:
            rng = generator(1, "change", field.name, repr(what))
            other = options[int(rng.integers(len(options)))]
            yield field.name, replace(what, **{field.name: other})


@pytest.mark.slow
def test_two_realisations_mean_the_same():
    checker = Checker()
    for index, what in enumerate(meanings()):
        one, other = text(what, index, 1), text(what, index, 2)
        assert what in checker.parse(one)
        assert checker.same_meaning(one, other), (one, other)
        assert checker.same_meaning(one, one)


@pytest.mark.rest
def test_a_change_of_any_slot_is_another_meaning():
    checker = Checker()
    slots = Counter()
    for index, what in enumerate(meanings()[:250]):
        one = text(what, index, 1)
        for path, other in changed(what):
            if not forest(other).count:
                continue
            slots[path.rsplit(".", 1)[-1]] += 1
            said = text(other, index, path)
            assert not checker.same_meaning(one, said), (path, one, said)
            assert checker.variations(one, said) == set()
            assert 0 <= similarity(what, other) < 1
    assert min(slots.values()) >= 5
    assert set(slots) >= {
        "mood", "verb", "tense", "negative", "quality", "degree", "manner", "frequency", "time",
        "attitude", "head", "number", "determiner", "adjective", "relation",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("sentence", "kinds"),
    [
        ("The teacher signed the letter yesterday.", set()),
        ("The instructor signed the letter yesterday.", {"synonym"}),
        ("Yesterday, the teacher signed the letter.", {"fronting"}),
        ("The letter was signed by the teacher yesterday.", {"voice"}),
        ("Yesterday, the letter was signed by the instructor.", {"fronting", "synonym", "voice"}),
        ("The teacher didn't sign the letter yesterday.", set()),
        ("Nothing of the kind.", set()),
    ],
)
def test_variations(sentence, kinds):
    assert Checker().variations("The teacher signed the letter yesterday.", sentence) == kinds


@pytest.mark.parametrize(
    ("one", "other", "kind"),
    [
        ("He'll write the letter.", "He will write the letter.", "contraction"),
        ("He will sing.", "He is going to sing.", "future"),
        ("He must sing.", "He has to sing.", "modal"),
        ("Peter gave Jane the book.", "Peter gave the book to Jane.", "dative"),
        ("Peter picked the box up.", "Peter picked up the box.", "particle"),
        ("Peter broke Jane's cup.", "Peter broke the cup of Jane.", "possessive"),
        ("Peter knows that Jane is singing.", "Peter knows Jane is singing.", "that"),
        ("Someone broke the cup.", "The cup was broken.", "agent"),
        ("There is a dog in the garden.", "A dog is in the garden.", "existential"),
        ("Did Peter sing?", "Is it true that Peter sang?", "question"),
        ("Peter sang, right?", "Peter sang, didn't he?", "tag"),
        ("Peter sang because Jane shouted.", "Because Jane shouted, Peter sang.", "clause order"),
        ("Peter quickly broke the cup.", "Peter broke the cup quickly.", "adverb placement"),
        (
            "Peter sang in the garden yesterday.",
            "Peter sang yesterday in the garden.",
            "adverbial order",
        ),
        (
            "The man who was singing in the garden shouted.",
            "The man singing in the garden shouted.",
            "relative",
        ),
    ],
)
def test_each_kind_of_variation(one, other, kind):
    checker = Checker()
    assert checker.same_meaning(one, other)
    assert kind in checker.variations(one, other)
    assert checker.variations(one, other) == checker.variations(other, one)
    assert checker.variations(one, one) == set()


def test_choices_that_change_places_are_variations():
    """The multisets of choices are the same, but made at other words."""
    one = "Peter's dog frightened the cat of Jane."
    other = "The dog of Peter frightened Jane's cat."
    assert Checker().variations(one, other) == {"possessive"}


def test_similarity_is_graded():
    def clause(**more):
        return Clause("transitive", NounPhrase("teacher"), "sign", "past", **more)

    letter, book = NounPhrase("letter"), NounPhrase("book")
    base = Meaning("statement", clause(object=letter))
    red = Meaning("statement", clause(object=replace(letter, adjective="new")))
    other_object = Meaning("statement", clause(object=book))
    other = Meaning("question", Clause("intransitive", NounPhrase("dog"), "sleep", "present"))
    found = [similarity(base, one) for one in (base, red, other_object, other)]
    assert found[0] == 1
    assert found == sorted(found, reverse=True)
    assert len(set(found)) == 4
    assert found[1] > 0.9
    assert found[3] < 0.2


def test_similarity_is_symmetric_and_bounded():
    for one, other in pairwise(meanings()):
        value = similarity(one, other)
        assert value == pytest.approx(similarity(other, one))
        assert 0 <= value < 1
        assert similarity(one, one) == 1


def test_every_attribute_counts():
    for kind, weights in WEIGHTS.items():
        assert set(weights) == {field.name for field in fields(kind)}
        assert min(weights.values()) > 0
