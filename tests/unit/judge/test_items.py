"""What is rated: pairs of a run or of a file."""

import pytest

from tests.unit.judge.annotation import references, write_pairs, write_run, write_unit
from workflow_scripts.apps.annotate.items import (
    Item,
    Wanted,
    bin_of,
    of_file,
    of_run,
    run_systems,
    run_units,
)
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import PairValueRow


def wanted(**changes):
    default = {
        **{"references": 100, "systems": ["one", "two"], "best": None, "corpora": None},
        **{"per_bin": None, "column": None, "seed": 1},
    }
    return Wanted(**{**default, **changes})


@pytest.fixture
def run(tmp_path):
    return write_run(tmp_path)


def test_a_pair_of_several_systems_is_there_once_and_counts_for_all(run):
    drawn = of_run(run, wanted())
    by_text = {(pair.reference, pair.paraphrase): pair for pair in drawn.items}
    assert len(by_text) == len(drawn.items) == 11 * 4
    assert by_text["c:3", "Same c:3"].systems == ("one", "two")
    assert by_text["c:3", "One c:3"].systems == ("one",)
    assert by_text["c:3", "Third"].systems == ("two",)


def test_what_is_known_of_a_pair_comes_along(run):
    drawn = of_run(run, wanted(systems=["one"]))
    assert Item("c:3", "One c:3", ("one",), forward_nll=0.5) in drawn.items
    reference = next(shown for shown in drawn.references if shown.id == "c:3")
    assert (reference.text, reference.source) == ("Reference number 3.", "Zdroj 3.")


@pytest.mark.slow
def test_references_are_drawn_by_the_seed_among_those_with_paraphrases(run):
    def drawn(**changes):
        return {reference.id for reference in of_run(run, wanted(**changes)).references}

    everything = {row["id"] for row in references()} - {"c:11"}
    assert drawn() == everything
    five = drawn(references=5)
    assert len(five) == 5
    assert five < everything
    assert drawn(references=5) == five
    assert five < drawn(references=6)
    assert drawn(references=5, seed=2) != five
    # The lot of a reference does not depend on the systems.
    assert drawn(references=5, systems=["two"]) == five


def test_ranks_and_corpora_can_be_chosen(run):
    best = of_run(run, wanted(best=1))
    assert {pair.paraphrase.split()[0] for pair in best.items} == {"Same"}
    news = of_run(run, wanted(corpora=["news"]))
    assert {int(reference.id[2:]) % 2 for reference in news.references} == {1}


def write_scores(run, system, score):
    """Write the paraphrase scores of a system: of a row and rank."""
    rows = [
        {"id": row["id"], "rank": rank, "value": score(row, rank)}
        for row in references()[:-1]
        for rank in (1, 2, 3)
    ]
    shards = [[row for row in rows if int(row["id"][2:]) % 2 == shard] for shard in (0, 1)]
    write_unit(run, "filter", f"cosine-{system}", PairValueRow, shards)


def test_bins_hold_so_many_pairs_each(run):
    write_scores(run, "two", lambda row, rank: [None, 0.1, 0.95][rank - 1])
    drawn = of_run(run, wanted(systems=["two"], column="cosine", per_bin=4))
    assert [pair.paraphrase_score for pair in drawn.items] == pytest.approx([0.1] * 4 + [0.95] * 4)
    assert {pair.paraphrase.split()[0] for pair in drawn.items} == {"Two", "Third"}


@pytest.mark.parametrize(
    ("score", "number"),
    [(-0.5, 0), (0.2, 0), (0.2001, 1), (0.4, 1), (0.8, 3), (0.81, 4), (1.0, 4), (1.0000001, 4)],
)
def test_a_bin_has_its_upper_end(score, number):
    assert bin_of(score) == number


@pytest.mark.slow
def test_units_tell_campaigns_of_different_selections_apart(run):
    assert run_units(run, wanted()) == ["select.one/v1-0123456789ab", "select.two/v1-0123456789ab"]
    write_scores(run, "two", lambda row, rank: 0.5)
    assert run_units(run, wanted(systems=["two"], column="cosine")) == [
        "select.two/v1-0123456789ab",
        "filter.cosine-two/v1-0123456789ab",
    ]


def test_faults_of_a_run_are_named(run, tmp_path):
    for refused, message in (
        (lambda: run_systems(run, ["three"]), "has no system three, but one, two"),
        (lambda: run_systems(tmp_path / "elsewhere", None), "no run there"),
        (lambda: of_run(run, wanted(corpora=["books"])), "has no corpus books"),
        (lambda: run_units(run, wanted(column="told")), "told is no paraphrase .* are: cosine"),
    ):
        with pytest.raises(InputError, match=message):
            refused()
    write_scores(run, "two", lambda row, rank: 0.5)
    with pytest.raises(InputError, match=r"makes no cosine of one; .* evaluate\.columns"):
        run_units(run, wanted(column="cosine"))
    (run / "select.two").resolve().joinpath("manifest.json").unlink()
    with pytest.raises(InputError, match=r"select\.two is not finished"):
        run_units(run, wanted())


def test_a_damaged_selection_is_refused(run):
    path = run / "select.one" / "0000.parquet"
    path.write_bytes(path.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match=r"0000\.parquet"):
        of_run(run, wanted())


def test_a_file_of_pairs_may_name_systems_and_repeat_pairs(tmp_path):
    file = tmp_path / "pairs.tsv"
    rows = [
        ("paraphrase", "id", "reference", "system", "forward_nll", "label"),
        ("One.", "r1", "Text.", "a", "0.5", "G"),
        ("One.", "r1", "Text.", "b c", "", "B"),
        ("Two.", "r1", "Text.", "b", "", "B"),
        ("Two.", "r1", "Text.", "c", "0.25", "B"),
    ]
    file.write_text("\n".join(map("\t".join, rows)) + "\n")
    drawn = of_file(file, None, 1)
    assert drawn.items == [
        Item("r1", "One.", ("a", "b", "c"), forward_nll=0.5),
        Item("r1", "Two.", ("b", "c"), forward_nll=0.25),
    ]


def test_labelled_pairs_can_be_labelled_anew(data_dir):
    drawn = of_file(data_dir / "labelled_pt_en" / "labels.tsv", None, 1)
    assert len(drawn.items) > 300
    assert all(reference.source for reference in drawn.references)
    assert {pair.systems for pair in drawn.items} == {("pairs",)}


def test_pairs_of_a_file_are_drawn_by_bins(tmp_path):
    file = write_pairs(tmp_path / "pairs.tsv", paraphrase_score=lambda r, n: 0.1 + 0.2 * n)
    drawn = of_file(file, 3, 1)
    assert [bin_of(pair.paraphrase_score or 0) for pair in drawn.items] == [
        number for number in range(5) for _ in range(3)
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "line 1: no column paraphrase"),
        ("\tparaphrase\na\tb", "line 2 has 2 fields, the header 3"),
        ("\tparaphrase\na\t\tc", "line 2: reference is empty"),
        ("\tparaphrase", "no paraphrase to rate"),
        ("\tparaphrase\na\tb\tc\na\tx\td", "line 3: the reference of a is another one than in lin"),
        (
            "\tparaphrase\tsource\na\tb\tc\ts\na\tb\td\tt",
            "line 3: the source of a is another one than",
        ),
        ("\tparaphrase\tsystem\na\tb\tc\t0", "line 2: system '0'"),
        *(
            (
                f"\tparaphrase\t{name}\na\tb\tc\t\na\tb\tc\t1\na\tb\tc\t0.5",
                f"line 4: {name} 0.5 of a pair that has 1.0 in line 3; correct",
            )
            for name in ("forward_nll", "backward_nll", "paraphrase_score")
        ),
        ("\tparaphrase\tforward_nll\na\tb\tc\tx", "line 2: forward_nll: 'x'"),
        ("\tparaphrase\na\tb\rb\tc", "a has a text with a tab or a line feed"),
    ],
)
def test_faults_of_a_file_are_named(tmp_path, content, message):
    file = tmp_path / "pairs.tsv"
    file.write_bytes(f"id\treference{content}\n".encode())
    with pytest.raises(InputError, match=message) as error:
        of_file(file, None, 1)
    assert str(file) in str(error.value)
