"""What people say of a system's paraphrases, its ranks, and the oracle systems."""

import json
import math

import pytest

from tests.golden.inputs import arguments as spelt
from tests.unit.judge.test_ratings import write as write_ratings
from tests.unit.pages import Reader
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.stages.evaluate import system_ratings, tables
from workflow_scripts.stages.evaluate.diversity import diversity
from workflow_scripts.stages.evaluate.stage import _ANNOTATORS
from workflow_scripts.stages.evaluate.system_ratings import of_pairs, rated_pairs, rows_of
from workflow_scripts.stages.evaluate.system_ratings import summary as summary_of
from workflow_scripts.stages.judge.annotators import MAX_FAILED_CONTROLS, MIN_JUDGMENTS
from workflow_scripts.stages.judge.rating_file import Rating
from workflow_scripts.stages.judge.ratings import aggregate

BEST = 5


class Reference:
    """A reference whose paraphrases have these scores; None: flagged as nonsense, no score."""

    def __init__(self, *scores, listed=None, text="the old dog sleeps in the house"):
        self.text, self.scores, self.listed = text, scores, listed or len(scores)

    def row_and_said(self, identifier):
        texts = [f"{self.text} {rank}" for rank in range(1, self.listed + 1)]
        row = {
            **{"id": identifier, "reference": self.text},
            "paraphrases": [{"text": text} for text in texts],
        }
        said = {
            (identifier, text): {
                "similarity": math.nan if score is None else score,
                "grammatical": score is not None,
            }
            for text, score in zip(texts, self.scores, strict=False)
        }
        return row, said


def table(*references):
    rows, said = zip(
        *(each.row_and_said(f"c:{n}") for n, each in enumerate(references)), strict=True
    )
    return rated_pairs(rows, {key: of for each in said for key, of in each.items()}, 9)


def rank_of(row):
    """The rank of the one paraphrase of a row; None if it has none."""
    (rank,) = row["rank"].tolist() or [None]
    return rank


@pytest.mark.parametrize(
    ("scores", "chosen"),
    [
        ((50, 90, 10, 70, 30), [2, 1, 3]),
        ((80, 80, 80), [1, 2, 3]),  # ties: the better rank is max, the worse one min
        ((90, 50), [1, 2, 2]),  # of two the lower one is the median
        ((50, 90), [2, 1, 1]),
        ((60, 60), [1, 2, 2]),
        ((90, 70, 70, 10), [1, 3, 4]),
        ((40,), [1, 1, 1]),
        ((None, 40, None, 60), [4, 2, 2]),  # what has no score takes no part
        ((None,), [None, None, None]),
    ],
)
def test_oracles_take_a_paraphrase_by_its_score(scores, chosen):
    rows = rows_of(table(Reference(*scores)), BEST)
    assert [rank_of(rows[name]) for name in ("max", "median", "min")] == chosen


def test_a_rank_beyond_the_last_repeats_it():
    two = rows_of(table(Reference(90, 50)), BEST)
    assert [rank_of(two[rank]) for rank in (1, 2, 3, 5)] == [1, 2, 2, 2]
    # The last one was not rated: it is not the one before.
    unrated = rows_of(table(Reference(90, listed=2)), BEST)
    assert [rank_of(unrated[rank]) for rank in (2, 3)] == [None, None]


def summarised(pairs, best, segmenter, samples=50, **more):
    config = {"best": best, "bootstrap": samples, "seed": 1, **more}
    return summary_of(pairs, config, segmenter)


def test_figures_of_all_pairs_ranks_and_oracles(segmenter):
    references = Reference(90, 50), Reference(None, 40, text="a b c")
    found = summarised(table(*references), 3, segmenter)
    shown = {
        name: (row["similarity"], row["grammatical"], row["pairs"], row["rated"])
        for name, row in [
            ("all", found["all"]),
            *((each["rank"], each) for each in found["ranks"]),
            *((each["oracle"], each) for each in found["oracles"]),
        ]
    }
    assert shown == {
        "all": (60.0, 75.0, 3, 4),
        1: (90.0, 50.0, 1, 2),
        2: (45.0, 100.0, 2, 2),
        3: (45.0, 100.0, 2, 2),
        "max": (65.0, 100.0, 2, 2),
        "median": (45.0, 100.0, 2, 2),
        "min": (45.0, 100.0, 2, 2),
    }
    spans = {(each["from"], each["to"]): each["similarity"] for each in found["by_length"]}
    assert spans == {(0, 5): 40.0, (6, 10): 70.0, (11, 20): None, (21, 40): None, (41, None): None}
    # The words of the pairs that a row has: four pairs, each with one word more.
    assert found["all"]["length_ratio"] == pytest.approx((8 / 7 + 4 / 3) / 2)
    assert found["oracles"][0]["one_minus_bleu"] > 0


def test_oracles_have_pieces_and_trees_and_are_compared_with_each_other(segmenter):
    """ParaBank 2, Tables 1 and 2."""
    row, said = Reference(50, 90, 10).row_and_said("c:1")
    flat, deep = "(ROOT (S (A a) (B b)))", "(ROOT (S (A a) (B (C b) (D d))))"
    trees = {"reference": flat, "paraphrases": [flat, deep, flat.replace("(B b)", "")]}
    pairs = rated_pairs([row], said, BEST, {"c:1": trees})
    found = summarised(pairs, BEST, segmenter, syntax={"levels": 3})
    texts = [each["text"] for each in row["paraphrases"]]
    oracles = {each["oracle"]: each for each in found["oracles"]}
    for oracle, place, distance in (("max", 1, 2), ("median", 0, 0), ("min", 2, 1)):
        of_pieces = diversity([(row["reference"], texts[place])], segmenter)
        each = oracles[oracle]
        assert each["intersection_over_union_pieces"] == of_pieces["intersection_over_union"]
        assert each["tree_edit_distance"] == distance
    against = found["max_against_min"]
    expected = diversity([(texts[1], texts[2])], segmenter)
    assert against["one_minus_bleu"] == expected["one_minus_bleu"]
    assert against["intersection_over_union_pieces"] == expected["intersection_over_union"]
    assert against["tree_edit_distance"] == 3
    unparsed = summarised(rated_pairs([row], said, BEST), BEST, segmenter)
    assert unparsed["max_against_min"] == against | {"tree_edit_distance": None}


def test_intervals_are_of_references(segmenter):
    many = [Reference(float(10 * (n % 10)), 50.0) for n in range(200)]
    found = summarised(table(*many), 2, segmenter, samples=300)
    first, second = (each["interval"]["similarity"] for each in found["ranks"])
    assert first["low"] < 45 < first["high"]
    assert second == {"low": 50.0, "high": 50.0}
    assert found["all"]["interval"]["grammatical"] == {"low": 100.0, "high": 100.0}


def test_a_rating_belongs_to_the_text_whatever_system_it_names():
    row = {
        "id": "c:1",
        "reference": "A text.",
        "paraphrases": [{"text": "Same."}, {"text": "A text."}, {"text": "Unrated."}],
    }
    given = of_pairs(
        [
            Rating("a", "c:1", "2", ("other",), "Same.", None, 80.0, 2),
            Rating("b", "c:1", "2", ("other",), "Same.", None, 60.0, 1),
            Rating("a", "c:1", "2", ("0",), "A text.", None, 100.0, 2),
            Rating("a", "c:2", "2", ("other",), "Unrated.", None, 10.0, 2),
        ]
    )
    columns = ["text", "listed", "rank", "paraphrase", "similarity", "grammatical"]
    found = rated_pairs([row], given, BEST)[columns]
    assert found.to_numpy().tolist() == [["A text.", 3, 1, "Same.", 70.0, False]]
    assert rated_pairs([{**row, "id": "c:3"}], given, BEST).empty
    assert rated_pairs([row], given, 1)["listed"].tolist() == [1]


def test_who_counts_is_the_same_as_in_the_command():
    assert _ANNOTATORS == {
        "min_judgments": MIN_JUDGMENTS,
        "max_failed_controls": MAX_FAILED_CONTROLS,
    }


def selected(run, system):
    """The rows of a system's selection whose texts can stand in a line of a file."""
    folder = run.folder("select", system)
    for path in sorted(folder.glob("[0-9]*.parquet")):
        for row in read_rows(path, ParaphrasesRow):
            if not {"\t", "\n"} & set(row["reference"]):
                yield row


@pytest.fixture(scope="module")
def rated_run(made_up_run, tmp_path_factory):
    """The made-up run with ratings of what one of its systems selected, and the other did not.

    Returns its FinishedRun, the folders by system, and the file.
    """
    folder = tmp_path_factory.mktemp("rated")
    others = {
        (row["id"], each["text"])
        for row in selected(made_up_run, "beam")
        for each in row["paraphrases"]
    }
    rows = []
    for row in list(selected(made_up_run, "parabank2"))[5:45]:
        for rank, each in enumerate(row["paraphrases"]):
            for who in ("a", "b") if (row["id"], each["text"]) not in others else ():
                score = "" if rank == 4 else 95 - 10 * rank - (who == "b")
                gm = 0 if rank == 4 else 1 if rank == 3 and who == "b" else 2
                same = (row["id"], 7, "parabank2", each["text"], 0.5)
                rows.append((who, *same, score, gm))
    rows += [("few", *rows[0][1:])]
    file = write_ratings(folder / "ratings.tsv", rows)
    folders = {system: folder / system for system in made_up_run.systems}
    for system in made_up_run.systems:
        system_ratings.main(arguments(made_up_run, system, file, folders[system] / "ratings.json"))
    more = {f"evaluate/{system}": at for system, at in folders.items()}
    return made_up_run.finished(more=more), folders, file


def arguments(run, system, file, output, **more):
    config = {"system": system, "best": BEST, "bootstrap": 50, "seed": 1, "ratings": _ANNOTATORS}
    files = {"folder": run.folder("select", system), "scored": run.folder("score", system)}
    files |= {"model": run.root, "ratings": file, "output": output}
    return spelt(config | more, shards=2, **files)


def figures(folders, system):
    return json.loads((folders[system] / "ratings.json").read_text())


@pytest.mark.slow
def test_figures_of_a_system_are_those_of_judge_ratings(rated_run):
    _, folders, file = rated_run
    found = figures(folders, "parabank2")
    assert found["left_out"] == {"few": "1 of at least 25 judgments"}
    assert found["annotators"] == 2
    kept = [each for each in system_ratings.read_ratings(file) if each.annotator != "few"]
    expected = aggregate(kept)["parabank2"]
    everything = found["figures"]["all"]
    assert everything["similarity"] == pytest.approx(expected["similarity"])
    assert everything["grammatical"] == pytest.approx(expected["grammatical"])
    assert everything["pairs"] == expected["pairs"]
    assert found["ratings"] == len(kept)
    first, *_, last = found["figures"]["ranks"]
    assert first["similarity"] == 94.5
    assert last["rank"] == BEST
    assert found["figures"]["oracles"][0]["similarity"] == 94.5


def test_the_report_shows_every_row(rated_run):
    from workflow_scripts.core.report.section import sections

    run, folders, _ = rated_run
    (section,) = sections(["workflow_scripts.stages.evaluate.report:ratings"], run)
    page = str(section.html)
    assert Reader(page).faults == []
    shown = figures(folders, "parabank2")["figures"]
    for row in (shown["all"], *shown["ranks"], *shown["oracles"]):
        if row["similarity"] is not None:
            assert f">{row['similarity']:.2f} <" in page
    for name in ("all", "rank 1", "rank 5", "max", "median", "min", "max against min"):
        assert f"<td>{name}</td>" in page
    assert "What 2 people say (1 more are left out" in page
    assert "Nothing that beam selected was rated." in page


def test_the_tables_have_every_figure(rated_run):
    run, folders, _ = rated_run
    shown = figures(folders, "parabank2")["figures"]
    table = tables.ratings(run)
    rows = table.frame().to_dict("records")
    assert [row["row"] for row in rows] == [
        *("all", "rank 1", "rank 2", "rank 3", "rank 4", "rank 5", "max", "median", "min"),
        "max against min",
    ]
    assert rows[-1]["one_minus_bleu"] == shown["max_against_min"]["one_minus_bleu"] > 0
    assert {row["system"] for row in rows} == {"parabank2"}
    expected = [shown["all"], *shown["ranks"], *shown["oracles"]]
    for row, each in zip(rows[:-1], expected, strict=True):
        assert (row["similarity"], row["grammatical"]) == (each["similarity"], each["grammatical"])
    assert rows[0]["similarity_low"] == shown["all"]["interval"]["similarity"]["low"]
    spans = tables.ratings_by_length(run)
    assert len(spans.records) == 5
    assert [row["similarity"] for row in spans.records] == [
        each["similarity"] for each in shown["by_length"]
    ]


@pytest.mark.parametrize("rewritten", [False, True])
def test_a_system_of_which_nothing_was_rated_is_told(made_up_run, tmp_path, capsys, rewritten):
    """One that a rewriter writes may have so few references that none of them was rated."""
    known = next(row["id"] for row in selected(made_up_run, "beam") if row["paraphrases"])
    identifier = "elsewhere:1" if rewritten else known
    rows = [("a", identifier, 7, "x", f"Another {n}", "", 50, 2) for n in range(25)]
    file, output = write_ratings(tmp_path / "ratings.tsv", rows), tmp_path / "ratings.json"
    more = {"rewritten": True} if rewritten else {}
    system_ratings.main(arguments(made_up_run, "beam", file, output, **more))
    assert "has no rating of what beam selected" in capsys.readouterr().err
    found = json.loads(output.read_text("utf-8"))
    assert found["figures"] is None and found["references"] == 0


@pytest.mark.parametrize(
    ("identifier", "count", "message"),
    [
        ("elsewhere:1", 25, "ref_id are of no reference of this run .the first is elsewhere:1"),
        ("news:2", 24, "all 1 annotators are left out"),
    ],
)
def test_ratings_that_say_nothing_are_refused(made_up_run, tmp_path, identifier, count, message):
    rows = [("a", identifier, 7, "x", f"Another {n}", "", 50, 2) for n in range(count)]
    file = write_ratings(tmp_path / "ratings.tsv", rows)
    with pytest.raises(InputError, match=message):
        system_ratings.main(arguments(made_up_run, "beam", file, tmp_path / "ratings.json"))
    assert not (tmp_path / "ratings.json").exists()


def test_a_file_that_changed_since_it_was_planned_is_refused(made_up_run, rated_run, tmp_path):
    _, _, file = rated_run
    inputs = ["--inputs", json.dumps({str(file): "0" * 64})]
    output = tmp_path / "ratings.json"
    with pytest.raises(InputError, match="changed since the run was planned"):
        system_ratings.main([*arguments(made_up_run, "beam", file, output), *inputs])
