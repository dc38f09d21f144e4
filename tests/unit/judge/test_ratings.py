"""Aggregates of people's ratings: ParaBank's Tables 4 and 5, and who is left out."""

import json
import re

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.judge import ratings
from workflow_scripts.stages.judge.annotator_agreement import agreement
from workflow_scripts.stages.judge.annotators import left_out
from workflow_scripts.stages.judge.rating_file import COLUMNS, Rating, read_ratings, reference_texts


def write(path, rows, columns=COLUMNS):
    lines = ["\t".join(columns), *("\t".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def row(who="w", ref="r1", length=5, systems="1", text="a text", nll="0.5", score=90, gm=2):
    return (who, ref, length, systems, text, nll, score, gm)


def printed(capsys, *words):
    ratings.main([*map(str, words)])
    return json.loads(capsys.readouterr().out)


@pytest.mark.slow
def test_published_ratings_give_the_figures_of_their_half(data_dir, capsys):
    file = data_dir / "parabank_ratings" / "candidates.tsv"
    by_system = printed(capsys, "--ratings", file, "--keep-all-annotators")
    assert list(by_system) == [str(number) for number in range(1, 36)]
    for system, figures in {
        **{"17": (77.25, 75.5), "28": (79.55, 81.5), "31": (78.66, 76.5), "35": (74.06, 73.5)}
    }.items():
        own = (round(by_system[system][name], 2) for name in ("similarity", "grammatical"))
        assert tuple(own) == figures
    for figures in by_system.values():
        assert figures["pairs"] <= 200
        assert list(figures["by_length"]) == ["5", "10", "20", "40"]
        assert sum(part["pairs"] for part in figures["by_length"].values()) == figures["pairs"]


def test_means_are_taken_over_people_then_over_pairs(tmp_path, capsys):
    file = write(
        tmp_path / "ratings.tsv",
        [
            row("a", "r1", 5, "1 2", "one", score=100),
            row("b", "r1", 5, "1 2", "one", score=50, gm=1),
            row("c", "r1", 5, "1 2", "one", score=30),
            row("a", "r2", 10, "1", "two", score=0),
        ],
    )
    assert printed(capsys, "--ratings", file, "--keep-all-annotators") == {
        "1": {
            "similarity": 30.0,
            "grammatical": 50.0,
            "pairs": 2,
            "by_length": {
                "5": {"similarity": 60.0, "grammatical": 0.0, "pairs": 1},
                "10": {"similarity": 0.0, "grammatical": 100.0, "pairs": 1},
            },
        },
        "2": {
            "similarity": 60.0,
            "grammatical": 0.0,
            "pairs": 1,
            "by_length": {"5": {"similarity": 60.0, "grammatical": 0.0, "pairs": 1}},
        },
    }


def test_a_row_without_a_score_counts_for_grammar_only(tmp_path):
    file = write(
        tmp_path / "ratings.tsv",
        [
            row("a", text="one", score="", gm=0),
            row("b", text="one", score=80),
            row("a", "r2", text="two", score="", gm=0),
            row("a", "r3", text="three", score=60),
        ],
    )
    figures = ratings.aggregate(read_ratings(file))["1"]
    assert figures["similarity"] == 70
    assert figures["pairs"] == 2
    assert figures["grammatical"] == pytest.approx(100 / 3)


def test_a_system_without_any_score_has_no_similarity(tmp_path):
    file = write(tmp_path / "ratings.tsv", [row(score="", gm=0)])
    nothing = {"similarity": None, "grammatical": 0.0, "pairs": 0}
    assert ratings.aggregate(read_ratings(file)) == {"1": {**nothing, "by_length": {"5": nothing}}}


def test_controls_are_no_system_though_a_paraphrase_may_equal_its_reference(tmp_path):
    file = write(
        tmp_path / "ratings.tsv",
        [
            row("a", systems="0", text="the same", nll="-2", score=100),
            row("a", systems="7 28", text="the same", score=90),
            row("b", systems="0 28", text="the same", score=80),
        ],
    )
    by_system = ratings.aggregate(read_ratings(file))
    assert list(by_system) == ["7", "28"]
    assert by_system["7"]["similarity"] == 90
    assert by_system["28"]["similarity"] == 85


def rows_of(who, judgments, controls, failed):
    """Return the rows of a person: `judgments` in all."""
    own = [row(who, f"r{n}", systems="0", score=99 if n < failed else 100) for n in range(controls)]
    return own + [row(who, f"r{n}", text=f"{n}") for n in range(judgments - controls)]


@pytest.mark.parametrize(
    ("judgments", "controls", "failed", "counts"),
    [
        (25, 0, 0, True),
        (24, 5, 0, False),  # controls count towards the 25
        (25, 5, 0, True),
        (25, 10, 1, True),  # a tenth is no more than a tenth
        (25, 9, 1, False),
        (100, 70, 7, True),  # 0.1 * 70 is not exactly 7 in binary
        (100, 70, 8, False),
        (25, 1, 1, False),
    ],
)
def test_who_fails_controls_or_rated_little_is_left_out(
    tmp_path, judgments, controls, failed, counts
):
    file = write(tmp_path / "ratings.tsv", rows_of("w", judgments, controls, failed))
    assert ("w" not in left_out(read_ratings(file))) == counts


def test_a_control_without_a_score_is_no_failure(tmp_path):
    file = write(
        tmp_path / "ratings.tsv",
        [row("w", "r0", systems="0", score="", gm=0), *(row(text=f"{n}") for n in range(24))],
    )
    assert left_out(read_ratings(file)) == {}


def test_ratings_of_people_left_out_count_nowhere(tmp_path, capsys):
    good = [row("good", f"r{n}", text="x", score=90) for n in range(25)]
    bad = [row("bad", f"r{n}", text="x", score=0, gm=0) for n in range(24)]
    file = write(tmp_path / "ratings.tsv", [*good, *bad])
    ratings.main(["--ratings", str(file)])
    output = capsys.readouterr()
    assert json.loads(output.out)["1"]["similarity"] == 90
    assert "1 of 2 annotators are left out: bad: 24 of at least 25 judgments" in output.err
    few = printed(capsys, "--ratings", file, "--min-judgments", 24)
    assert few["1"]["similarity"] < 90
    every = printed(capsys, "--ratings", file, "--keep-all-annotators")
    assert every == few


def test_the_bound_of_controls_can_be_set(tmp_path, capsys):
    file = write(tmp_path / "ratings.tsv", rows_of("w", 30, 4, 1))
    with pytest.raises(InputError, match=r"all 1 annotators are left out .*failed 1 of 4 controls"):
        ratings.main(["--ratings", str(file)])
    assert printed(capsys, "--ratings", file, "--max-failed-controls", "0.25")["1"]["pairs"] == 26


def test_extra_columns_and_another_order_are_no_hindrance(tmp_path):
    columns = ("note", *reversed([name for name in COLUMNS if name != "NLL"]))
    file = write(tmp_path / "ratings.tsv", [("n", 2, 90, "x", 1, 5, "r", "w")], columns)
    assert read_ratings(file) == [
        Rating("w", "r", "5", systems=("1",), paraphrase="x", nll=None, score=90.0, grammar=2)
    ]


def test_texts_of_references_are_those_of_controls(tmp_path):
    rows = [row(), row(systems="0", text="The reference."), row(ref="r2")]
    read = read_ratings(write(tmp_path / "ratings.tsv", rows))
    assert reference_texts(read) == {"r1": "The reference."}


@pytest.mark.parametrize(("nll", "known"), [("0.25", 0.25), ("", None), ("-1", None), ("-2", None)])
def test_a_negative_nll_is_not_known(tmp_path, nll, known):
    assert read_ratings(write(tmp_path / "ratings.tsv", [row(nll=nll)]))[0].nll == known


@pytest.mark.parametrize(
    ("columns", "rows", "message"),
    [
        (COLUMNS, [row(), row()[:-1]], "line 3 has 7 fields, the header 8"),
        (COLUMNS, [row(score="high")], "line 2: human_score: 'high' is no number"),
        (COLUMNS, [row(score="nan")], "line 2: human_score: 'nan' is no number"),
        (COLUMNS, [row(score=101)], "line 2: human_score 101 is not from 0 to 100"),
        (COLUMNS, [row(gm=3)], "line 2: gm '3' is not 0"),
        (COLUMNS, [row(gm="")], "line 2: gm '' is not 0"),
        (COLUMNS, [row(systems=" ")], "line 2: sys_id is empty"),
        (COLUMNS, [row(who="")], "line 2: worker_id_anon is empty"),
        (COLUMNS, [row(text=" ")], "line 2: candidate is empty"),
        (COLUMNS, [row(nll="low")], "line 2: NLL: 'low' is no number"),
        (COLUMNS, [row(), row(length=6)], "line 3: ref_len 6 of reference r1, which has 5 in"),
        (COLUMNS, [], "has a header and no rating"),
        (COLUMNS[:-1], [], "line 1: no column gm"),
    ],
)
def test_a_faulty_file_is_told_with_its_line(tmp_path, columns, rows, message):
    file = write(tmp_path / "ratings.tsv", rows, columns)
    with pytest.raises(InputError, match=message) as error:
        read_ratings(file)
    assert str(file) in str(error.value)


def test_who_rates_a_paraphrase_again_counts_again_with_a_warning(tmp_path, capsys):
    control = row(systems="0", text="r")
    once = [row(), row("v"), row(text="b"), row(ref="r2"), control, control]
    assert len(read_ratings(write(tmp_path / "ratings.tsv", once))) == 6
    assert capsys.readouterr().err == ""
    again = [row(score=10), *once[1:], row(score=30), row("v")]
    by_system = ratings.aggregate(read_ratings(write(tmp_path / "ratings.tsv", again)))
    said = r"warning: .*ratings\.tsv: 2 ratings are of .* same person .* line 8 after line 2; each"
    assert re.match(said, capsys.readouterr().err)
    assert by_system["1"]["pairs"] == 3


def test_a_file_of_controls_alone_is_refused(tmp_path):
    file = write(tmp_path / "ratings.tsv", [row(systems="0", score=100)])
    with pytest.raises(InputError, match="nothing but controls"):
        ratings.main(["--ratings", str(file), "--keep-all-annotators"])


def people_agreeing(noise):
    """Return ratings of 40 pairs by 4 people; `noise` is how far each is off."""
    result = []
    for pair in range(40):
        for person in range(4):
            score = 20 + pair + noise * ((pair * 7 + person * 13) % 11 - 5)
            result.append(Rating(f"p{person}", f"r{pair}", "5", ("1",), "x", None, score, 2))
    return result


@pytest.mark.slow
def test_agreement_is_one_without_noise_and_less_with_it():
    exact = agreement(people_agreeing(0))
    assert (exact["pairs"], exact["split_half"], exact["split_half_all"]) == (40, 1, 1)
    assert (exact["ceiling"], exact["others"], exact["grammar"]) == (1, 1, 100)
    noisy = agreement(people_agreeing(2))
    assert 0 < noisy["split_half"] < noisy["split_half_all"] < noisy["ceiling"] < 1
    assert agreement(people_agreeing(2)) == noisy


def test_agreement_takes_neither_controls_nor_a_person_with_herself():
    same = [
        Rating("a", "r", "5", ("1",), "x", None, 10.0, 2),
        Rating("a", "r", "5", ("1",), "x", None, 90.0, 1),
        Rating("a", "r", "5", ("0",), "r", None, 100.0, 2),
        Rating("b", "r", "5", ("0",), "r", None, 100.0, 2),
    ]
    figures = agreement(same)
    assert figures["pairs"] == 0
    assert figures["split_half"] is None
    assert figures["grammar"] is None


def test_intervals_hold_the_figure_and_narrow_with_references(tmp_path):
    def some(references):
        return [
            Rating("w", f"r{n}", "5", ("1",), "x", None, float(n % 10 * 10), 2 if n % 4 else 1)
            for n in range(references)
        ]

    widths = []
    for references in (40, 400):
        figure = ratings.aggregate(some(references))["1"]
        interval = ratings.intervals(some(references))["1"]
        for name in ("similarity", "grammatical"):
            assert interval[name]["low"] < figure[name] < interval[name]["high"]
        widths.append(interval["similarity"]["high"] - interval["similarity"]["low"])
    assert widths[1] < widths[0] / 2


def test_details_have_agreement_intervals_and_annotators(tmp_path, capsys):
    rows = [*rows_of("good", 40, 10, 1), *rows_of("bad", 40, 10, 2)]
    file, details = write(tmp_path / "ratings.tsv", rows), tmp_path / "details.json"
    alone = printed(capsys, "--ratings", file)
    assert printed(capsys, "--ratings", file, "--details", details) == alone
    content = json.loads(details.read_text())
    assert content["ratings"] == 40
    assert set(content["intervals"]) == {"1"}
    assert content["annotators"] == {
        "good": {"judgments": 40, "controls": 10, "failed": 1, "left_out": None},
        "bad": {
            "judgments": 40,
            "controls": 10,
            "failed": 2,
            "left_out": "failed 2 of 10 controls",
        },
    }
