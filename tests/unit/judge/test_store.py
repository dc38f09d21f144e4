"""The database of a campaign: pages, answers, and who sees what."""

import sqlite3
from collections import Counter
from contextlib import closing

import pytest

from tests.unit.judge.annotation import campaign, write_pairs
from workflow_scripts.apps.annotate.items import of_file
from workflow_scripts.apps.annotate.modes import Answer
from workflow_scripts.apps.annotate.store import LEASE, Progress, Store, create
from workflow_scripts.core.errors import InputError

GOOD = Answer(score=90.0, grammar=2)


def join(store, name):
    return store.annotator(store.token(name))[0]


def next_page(store, annotator, wanted=3, slots=5, controls=0):
    return store.next_page(annotator, wanted, slots, controls, seed=1)


def do_all(store, annotator, answer=lambda text: GOOD, pages=None, **options):
    """Answer pages until none is left; return how many."""
    done = 0
    while done != pages and (page := next_page(store, annotator, **options)):
        answers = [answer(slot.text) for slot in page.slots]
        assert store.answer(annotator, page.number, answers)
        done += 1
    return done


def texts(page):
    return [slot.text for slot in page.slots]


def test_a_page_has_the_paraphrases_of_one_reference_in_random_order(tmp_path):
    store = campaign(tmp_path, references=30)
    annotator = join(store, "a")
    orders = Counter()
    for _ in range(30):
        page = next_page(store, annotator)
        reference = page.reference.removesuffix(".").split()[-1]
        assert sorted(texts(page)) == [f"Paraphrase {n} of {reference}." for n in range(5)]
        orders[tuple(text.split()[1] for text in texts(page))] += 1
        store.answer(annotator, page.number, [GOOD] * 5)
    assert len(orders) > 20
    assert next_page(store, annotator) is None


def test_a_page_stays_the_same_until_it_is_answered(tmp_path):
    store = campaign(tmp_path)
    first = next_page(store, join(store, "a"))
    again = Store(store.path)
    assert next_page(again, join(again, "a")) == first
    assert next_page(again, join(again, "b")).number != first.number


def test_nobody_is_sent_to_what_others_have_on_their_page(tmp_path):
    store = campaign(tmp_path, references=6)
    pages = [next_page(store, join(store, f"p{n}"), wanted=1) for n in range(6)]
    assert len({page.reference for page in pages}) == 6


def test_a_page_that_nobody_sends_in_is_given_to_others_later(tmp_path):
    now = [1000.0]
    store = campaign(tmp_path, clock=lambda: now[0], references=3)
    gone, here = join(store, "gone"), join(store, "here")
    theirs = next_page(store, gone, wanted=1)
    for _ in range(2):
        other = next_page(store, here, wanted=1)
        assert other.reference != theirs.reference
        store.answer(here, other.number, [GOOD] * 5)
        now[0] += LEASE / 2 - 1
    now[0] += 3
    assert next_page(store, here, wanted=1).reference == theirs.reference
    # It is still theirs when they come back.
    assert next_page(store, gone, wanted=1) == theirs


def test_everything_is_judged_once_before_anything_twice(tmp_path):
    store = campaign(tmp_path, references=6)
    people = [join(store, f"p{n}") for n in range(3)]
    for round_ in range(2):
        for annotator in people:
            do_all(store, annotator, pages=1)
        counts = Counter(judgment.item for judgment in store.judged())
        assert set(counts.values()) == {1}
        assert len(counts) == 15 * (round_ + 1)


def test_then_what_people_are_unsure_of_comes_first(tmp_path):
    store = campaign(tmp_path, references=6)
    first = join(store, "first")
    unsure = "This is reference 4."
    do_all(store, first, lambda text: Answer(score=50.0 if "of 4" in text else 100.0, grammar=2))
    assert next_page(store, join(store, "second")).reference == unsure


def test_the_database_itself_refuses_a_paraphrase_to_the_same_person_twice(tmp_path):
    store = campaign(tmp_path)
    annotator = join(store, "a")
    next_page(store, annotator)
    database = sqlite3.connect(store.path)
    with pytest.raises(sqlite3.IntegrityError, match="UNIQUE"):
        database.execute(
            "INSERT INTO slot (page, position, annotator, item) "
            "SELECT page, 9, annotator, item FROM slot WHERE position = 1"
        )


def test_one_of_so_many_pages_has_a_control_that_looks_like_the_others(tmp_path):
    store = campaign(tmp_path, references=40)
    annotator = join(store, "a")
    places, positions = [], Counter()
    for number in range(40):
        page = next_page(store, annotator, controls=4)
        shown = texts(page)
        assert len(shown) <= 5
        if page.reference in shown:
            places.append(number)
            positions[shown.index(page.reference)] += 1
        store.answer(annotator, page.number, [GOOD] * len(shown))
    assert len(places) == 10
    # A control that was seen before gives way to one on a later page.
    assert all(0 <= place - 4 * block < 5 for block, place in enumerate(places))
    assert len({place % 4 for place in places}) > 1
    assert len(positions) > 2
    # The paraphrase whose place it took comes later.
    do_all(store, annotator)
    assert len({judgment.item for judgment in store.judged() if judgment.item}) == 200


def test_judgments_of_who_fails_controls_do_not_count(tmp_path):
    store = campaign(tmp_path, references=6)
    bad = join(store, "bad")
    do_all(store, bad, lambda text: Answer(score=10.0, grammar=2), wanted=1, controls=1)
    good = next_page(store, join(store, "good"), wanted=1)
    assert len(good.slots) == 5
    # Nobody else's judgment is needed where a careful person judged.
    do_all(store, join(store, "good"), lambda text: Answer(score=100.0, grammar=2), wanted=1)
    third = next_page(store, join(store, "third"), wanted=1)
    assert third.enough


def test_a_page_is_its_annotators_own_and_takes_all_its_answers(tmp_path):
    store = campaign(tmp_path)
    mine, other = join(store, "a"), join(store, "b")
    page = next_page(store, mine)
    assert store.page(other, page.number, 3) is None
    for who, number, count in ((other, page.number, 5), (mine, page.number, 4), (mine, 99, 0)):
        assert not store.answer(who, number, [GOOD] * count)
    assert store.judged() == []


def test_progress_counts_ones_own_and_what_enough_people_judged(tmp_path):
    store = campaign(tmp_path, references=2)
    one, two = join(store, "a"), join(store, "b")
    do_all(store, one)
    assert store.progress(one, 1) == Progress(pages=2, judgments=10, items=10, finished=10)
    assert store.progress(two, 2) == Progress(pages=0, judgments=0, items=10, finished=0)


def test_paraphrases_that_stand_alone_come_in_another_order_for_everyone(tmp_path):
    store = campaign(tmp_path, mode="labels", references=4, paraphrases=3)
    orders = []
    for name in "ab":
        annotator = join(store, name)
        order = []
        while page := next_page(store, annotator, wanted=1, slots=1):
            order += texts(page)
            store.answer(annotator, page.number, [Answer(label="G")])
        orders.append(order)
    assert sorted(orders[0]) == sorted(orders[1])
    assert len(orders[0]) == 12
    assert orders[0] != orders[1] != sorted(orders[1])


def test_a_name_has_one_secret(tmp_path):
    store = campaign(tmp_path)
    token = store.token("a")
    assert store.token("a") == token != store.token("b")
    assert len(token) >= 32
    assert store.annotator(token) == (1, "a")
    assert store.annotator("another") is None


def test_the_file_is_its_owners_and_every_transaction_is_on_disk_when_it_ends(tmp_path):
    store = campaign(tmp_path)
    assert store.path.stat().st_mode & 0o077 == 0
    connection = store._connection
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_a_database_of_others_is_refused(tmp_path):
    path = tmp_path / "other.sqlite"
    with closing(sqlite3.connect(path)) as other:
        other.execute("CREATE TABLE mine (a)")
    with pytest.raises(InputError, match="is no database of ratings"):
        Store(path)


def test_a_campaign_that_is_there_is_not_made_again(tmp_path):
    store = campaign(tmp_path)
    do_all(store, join(store, "a"), pages=1)
    others = of_file(write_pairs(tmp_path / "others.tsv", references=1), None, 1)
    create(store.path, {"mode": "labels"}, others)
    assert store.settings() == {"mode": "similarity", "seed": 1}
    assert len(Store(store.path).judged()) == 5
