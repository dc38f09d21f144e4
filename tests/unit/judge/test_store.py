"""The database of a campaign: pages, answers, and who sees what."""

import sqlite3
from collections import Counter

import pytest

from tests.unit.judge.annotation import campaign, write_pairs
from workflow_scripts.apps.annotate.items import of_file
from workflow_scripts.apps.annotate.modes import Answer
from workflow_scripts.apps.annotate.store import LEASE, Progress, Store, create
from workflow_scripts.core.errors import InputError

GOOD = Answer(score=90.0, grammar=2)


class Clock:
    def __init__(self):
        self.now = 1000.0

    def __call__(self):
        return self.now


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
    clock = Clock()
    store = campaign(tmp_path, clock=clock, references=3)
    gone, here = join(store, "gone"), join(store, "here")
    theirs = next_page(store, gone, wanted=1)
    for _ in range(2):
        other = next_page(store, here, wanted=1)
        assert other.reference != theirs.reference
        store.answer(here, other.number, [GOOD] * 5)
        clock.now += LEASE / 2 - 1
    clock.now += 3
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


def test_each_paraphrase_is_judged_by_enough_distinct_people(tmp_path):
    store = campaign(tmp_path, references=4)
    people = [join(store, f"p{n}") for n in range(5)]
    open_ = set(people)
    for turn in range(100):
        annotator = people[turn % 5]
        page = next_page(store, annotator)
        if page is None or page.enough:
            open_.discard(annotator)
        elif annotator in open_:
            store.answer(annotator, page.number, [GOOD] * len(page.slots))
    people_of = {}
    for judgment in store.judged():
        people_of.setdefault(judgment.item, []).append(judgment.annotator)
    assert len(people_of) == 20
    for judged in people_of.values():
        assert len(judged) == len(set(judged)) >= 3


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


def test_controls_can_be_left_away(tmp_path):
    store = campaign(tmp_path)
    do_all(store, join(store, "a"), controls=0)
    assert all(judgment.item for judgment in store.judged())


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


def test_answers_may_be_changed_and_are_never_doubled(tmp_path):
    store = campaign(tmp_path, references=1)
    annotator = join(store, "a")
    page = next_page(store, annotator)
    for score in (10.0, 10.0, 70.0):
        assert store.answer(annotator, page.number, [Answer(score=score, grammar=2)] * 5)
    assert [judgment.answer.score for judgment in store.judged()] == [70.0] * 5
    shown = store.page(annotator, page.number, 3)
    assert shown.answered
    assert {slot.answer.score for slot in shown.slots} == {70.0}


def test_a_page_is_its_annotators_own(tmp_path):
    store = campaign(tmp_path)
    mine, other = join(store, "a"), join(store, "b")
    page = next_page(store, mine)
    assert store.page(other, page.number, 3) is None
    assert not store.answer(other, page.number, [GOOD] * 5)
    assert not store.answer(mine, page.number, [GOOD] * 4)
    assert not store.answer(mine, 99, [])
    assert store.judged() == []


def test_the_page_before_is_ones_own(tmp_path):
    store = campaign(tmp_path)
    mine, other = join(store, "a"), join(store, "b")
    first = next_page(store, mine)
    do_all(store, other, pages=1)
    assert store.page_before(mine, first.number) is None
    store.answer(mine, first.number, [GOOD] * 5)
    assert store.page_before(mine, next_page(store, mine).number) == first.number


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


def test_only_its_owner_may_read_the_file(tmp_path):
    assert campaign(tmp_path).path.stat().st_mode & 0o077 == 0


def test_every_transaction_is_on_disk_when_it_ends(tmp_path):
    store = campaign(tmp_path)
    connection = store._connection
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)  # FULL


def test_what_is_no_database_of_ratings_is_refused(tmp_path):
    path = tmp_path / "other.sqlite"
    with pytest.raises(InputError, match="no database there"):
        Store(path)
    path.write_text("something else, which is long enough to be a header of a file " * 3)
    with pytest.raises(InputError, match="is no database of ratings"):
        Store(path)
    path.unlink()
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE mine (a)")
    other.commit()
    other.close()
    with pytest.raises(InputError, match="is no database of ratings"):
        Store(path)


def test_a_campaign_that_is_there_is_not_made_again(tmp_path):
    store = campaign(tmp_path)
    do_all(store, join(store, "a"), pages=1)
    others = of_file(write_pairs(tmp_path / "others.tsv", references=1), None, 1)
    create(store.path, {"mode": "labels"}, others)
    assert store.settings() == {"mode": "similarity", "seed": 1}
    assert len(Store(store.path).judged()) == 5


def test_a_file_that_was_only_begun_is_made_anew(tmp_path):
    (tmp_path / "campaign.sqlite").touch()
    assert campaign(tmp_path).settings()["mode"] == "similarity"
