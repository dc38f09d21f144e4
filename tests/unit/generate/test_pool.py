"""What searches read, and the pool of what they find."""

from collections import Counter

from tests.tables import pair
from workflow_scripts.stages.generate.pool import Reading, readings, side_by_side, with_sources

ROW = pair("c:1", "Uma casa.", "A house.")


def written(*texts):
    sources = [{"text": text, "backward_nll": 1.0, "forward_nll": None} for text in texts]
    return {"id": "c:1", "reference": "A house.", "corpus": "c", "sources": sources}


def test_written_sources_differ_from_that_of_the_bitext_and_from_each_other():
    found = written("uma casa", "Um lar.", "…", "um lar!", "A casa.", "Casa.")

    def sources(human, count):
        row, sources = with_sources(ROW, found, {"human": human, "written": count})
        assert row is ROW
        return sources

    assert sources(True, 2) == [None, "Um lar.", "A casa."]
    assert sources(True, 9) == [None, "Um lar.", "A casa.", "Casa."]
    # Without that of the bitext a written one may say the same.
    assert sources(False, 2) == ["uma casa", "Um lar."]


def test_a_reading_has_its_text_its_name_and_a_seed_of_its_own():
    def read(sources, name=None, side="source"):
        return list(readings([(ROW, sources)], name, "mine", side))

    # The only search of the bitext's source is seeded by the reference alone.
    assert read([None]) == [Reading(ROW, "Uma casa.", "mine", "c:1")]
    assert read([None], side="reference")[0].text == "A house."
    both = read([None, "Um lar."], "beam")
    assert [(each.text, each.variant, each.source) for each in both] == [
        ("Uma casa.", "beam", None),
        ("Um lar.", "beam/1", "Um lar."),
    ]
    assert read(["Um lar."], "beam") == both[1:]
    assert read([None], "beam") == both[:1]
    seeds = {each.seed for name in (None, "a", "b") for each in read([None, "x", "y"], name)}
    assert len(seeds) == 9


def test_searches_take_turns_and_their_sets_count_through():
    rows = [({**ROW, "id": f"c:{number}"}, sources) for number, sources in enumerate(SOURCES)]
    ahead = []

    def search(name, sets):
        def found(copies):
            for number, (row, sources) in enumerate(copies):
                for source in sources:
                    ahead.append((name, number))
                    yield part(row, name, source, sets), Counter(candidates=sets, empty=0)

        return found

    pools = list(side_by_side(rows, [search("a", 2), search("b", 1)]))
    assert ahead == [
        (name, n) for n, sources in enumerate(SOURCES) for name in "ab" for _ in sources
    ]
    assert [row["id"] for row, _ in pools] == ["c:0", "c:1", "c:2"]
    assert [dict(counts) for _, counts in pools] == [
        {"candidates": 3, "empty": 0},
        {},
        {"candidates": 6, "empty": 0},
    ]
    first, none, last = (row for row, _ in pools)
    assert none == {**rows[1][0], "dropped": 0, "blocked": 0, "unmet": 0} | EMPTY
    assert [each["set"] for each in last["sets"]] == list(range(6))
    told = [(each["set"], each["text"]) for each in last["candidates"]]
    assert told == [(0, "a0"), (1, "a1"), (2, "ax0"), (3, "ax1"), (4, "b0"), (5, "bx0")]
    assert all(
        last["sets"][each["set"]]["variant"] == each["variant"] for each in last["candidates"]
    )
    assert (first["dropped"], last["dropped"]) == (2, 4)


SOURCES = [[None], [], [None, "x"]]
EMPTY = {"sets": [], "candidates": []}


def part(row, name, source, sets):
    """Return what a search finds in one reading: a candidate of each of its sets."""
    variant = f"{name}{source or ''}"
    numbers = range(sets)
    return {
        **row,
        "sets": [{"set": n, "variant": variant, "avoid": [], "want": []} for n in numbers],
        **{"dropped": 1, "blocked": 0, "unmet": 0},
        "candidates": [{"set": n, "variant": variant, "text": f"{variant}{n}"} for n in numbers],
    }
