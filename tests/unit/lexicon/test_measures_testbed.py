import pytest

from workflow_scripts.core.text.word_tokens import words_and_punctuation
from workflow_scripts.stages.lexicon.measures_testbed import Synonyms, exact, occurring


@pytest.fixture(scope="module")
def synonyms() -> Synonyms:
    return Synonyms(words_and_punctuation)


@pytest.mark.parametrize(
    ("phrase", "paraphrase", "same"),
    [
        *[("teacher", "instructor", True), ("teachers", "instructors", True)],
        ("teacher", "instructors", False),  # another number
        *[("bought", "purchased", True), ("bought", "purchases", False)],
        *[("because", "since", True), ("near", "close to", True)],
        *[("the teacher", "the instructor", True), ("a teacher", "an instructor", True)],
        *[("teacher bought", "instructor purchased", True), ("turned on", "switched on", True)],
        *[("near the teacher", "close to the", False), ("the teacher", "teacher", False)],
        ("teacher", "student", False),
        ("walked quux", "walked quux", True),  # the same words
    ],
)
def test_synonyms_part_by_part(synonyms, phrase, paraphrase, same):
    assert synonyms.same(phrase, paraphrase) is same
    assert synonyms.same(paraphrase, phrase) is same


def test_known_phrases_fall_into_those_of_the_vocabulary(synonyms: Synonyms) -> None:
    assert synonyms.known("the teacher") and synonyms.known("close to")
    assert synonyms.known("an instructor")
    assert not synonyms.known("must") and not synonyms.known("the quux")


def test_pairs_are_ordered_and_of_two_phrases(synonyms: Synonyms) -> None:
    pairs = synonyms.pairs()
    assert ("teacher", "instructor") in pairs and ("instructor", "teacher") in pairs
    assert all(first != second for first, second in pairs)
    assert all((second, first) in pairs for first, second in pairs)


def test_synonyms_that_occur_and_that_a_pair_aligns(synonyms: Synonyms) -> None:
    texts = [
        (["the", "teacher", "ate", "."], ["the", "instructor", "ate", "."]),
        (["the", "dog", "bought", "it"], ["the", "dog", "bought", "it"]),
        (["they", "purchased", "pies"], ["they", "ate", "pies"]),
    ]
    both, aligned = occurring(synonyms.pairs(), texts)
    assert {("teacher", "instructor"), ("bought", "purchased")} <= both
    assert ("teacher", "schoolteacher") not in both
    assert {("teacher", "instructor"), ("instructor", "teacher")} <= aligned
    # They stand in the texts, but on the two sides of no pair.
    assert ("bought", "purchased") not in aligned


def test_exact_figures(synonyms: Synonyms) -> None:
    entries = [
        (("teacher", "instructor"), 3.0),
        (("teacher", "instructor"), 2.5),  # with another tag: it counts once
        (("the teacher", "the instructor"), 2.0),
        (("teacher", "student"), 1.0),
        (("must", "has to"), 0.5),
    ]
    both = {("teacher", "instructor"), ("instructor", "teacher")}
    figures = exact(entries, synonyms, both, both | {("bought", "purchased")})
    (cut,) = figures["cuts"]
    assert cut == {
        "entries": 4,
        "score": 0.5,
        "known": 3,
        "right": 2,
        "precision": 0.5,
        "precision_known": pytest.approx(2 / 3, abs=1e-6),
        "recall": 0.5,
        "recall_aligned": pytest.approx(1 / 3, abs=1e-6),
    }
    assert (figures["occurring"], figures["aligned"]) == (2, 3)


def test_cuts_go_by_the_number_of_entries(synonyms: Synonyms) -> None:
    entries = [((f"x{number}", "y"), -float(number)) for number in range(120)]
    figures = exact(entries, synonyms, set(), set())
    assert [cut["entries"] for cut in figures["cuts"]] == [50, 100, 120]
    assert [cut["score"] for cut in figures["cuts"]] == [-49.0, -99.0, -119.0]
    assert figures["cuts"][0]["recall"] is None


def test_an_empty_lexicon_has_no_cuts(synonyms: Synonyms) -> None:
    assert exact([], synonyms, set(), set())["cuts"] == []
