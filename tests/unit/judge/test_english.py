"""The grammar model of English that ships, and the sentences that it is trained on."""

import numpy as np
import pytest

from tests.english import kept_apart
from workflow_scripts.stages.judge.grammar import Grammar
from workflow_scripts.stages.judge.grammar.grammar_model import SHIPPED

# Sound, unsound: what translation models write, and learners.
PAIRS = [
    ("Tom isn't here.", "Tom aren't here."),
    ("I won't go there.", "I willn't go there."),
    ("I bought the shoes yesterday.", "I bought las sapatos yesterday."),
    ("The dress is contemporary.", "The dress is contemucious."),
    ("The woman was tired.", "The woman were tired."),
    ("She gave him a book.", "She gave a him book."),
    ("I like apples.", "I likes apples."),
    ("We have to go home now.", "We have to to go home now."),
    ("They are waiting for the bus.", "They are waiting of the bus."),
    ("There is an apple on the table.", "There is a apple on the table."),
    ("He told me the truth.", "He told me truth the."),
]


@pytest.fixture(scope="module")
def english():
    return Grammar.load("english")


@pytest.mark.parametrize(("sound", "unsound"), PAIRS)
def test_it_sees_errors(english, sound, unsound):
    first, second = english.log_odds([sound, unsound])
    assert first > second + 0.5


def test_what_it_hardly_sees_is_at_least_in_order(english):
    """The verb stands before its subject."""
    first, second = english.log_odds(["What was Tom doing?", "What were Tom doing?"])
    assert first > second


def test_a_rare_name_or_a_long_sentence_is_no_error(english):
    sound = english.log_odds([first for first, _ in PAIRS])
    frames = [
        "{} isn't here.",
        "I gave the book to {}.",
        "What was {} doing?",
        "We met {} in 1998.",
    ]
    names = ["Siobhan", "Brzezinski", "Ngozi", "Wojciechowska", "Thibodeaux", "Okonkwo"]
    rare = english.log_odds([frame.format(name) for frame in frames for name in names])
    long = english.log_odds(
        [
            "He said that he had never been to Boston before, and that he would like to see the "
            "city again when he had more time and more money.",
            "The government will have to decide before the end of the year whether the new law "
            "should apply to all of the people who work in this country.",
            "When I was young, I used to spend the summer in a small house near the sea with my "
            "brother, my two sisters and our old dog.",
        ]
    )
    unsound = np.median(english.log_odds([second for _, second in PAIRS]))
    middle = (np.median(sound) + unsound) / 2
    assert np.median(rare) > middle
    assert np.median(long) > middle


def test_it_is_small_and_says_where_it_comes_from(english):
    assert sum(path.stat().st_size for path in SHIPPED["english"].iterdir()) < 4.1e6
    about = english.description
    assert about["language"] == "en"
    assert "CC BY 2.0 FR" in about["licence"] and "public domain" in about["licence"]
    assert [source["file"] for source in about["sources"]] == ["tatoeba.txt", "speeches.txt"]


def test_what_judges_are_measured_on_is_kept_apart(tmp_path):
    (tmp_path / "tatoeba_tests").mkdir()
    (tmp_path / "labelled_pt_en").mkdir()
    (tmp_path / "tatoeba_tests/por-eng.tsv").write_text("Olá!\tHello!\n", "utf-8")
    (tmp_path / "tatoeba_tests/por-eng.extra.tsv").write_text("d\tOi.\tHi there.\n", "utf-8")
    labels = 'id\treference\tparaphrase\n1\tHe said "no.\tHe refused.\n'
    (tmp_path / "labelled_pt_en/labels.tsv").write_text(labels, "utf-8")
    assert kept_apart(tmp_path) == {"hello", "hithere", "hesaidno", "herefused"}
