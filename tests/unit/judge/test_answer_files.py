"""What people said, as files that judge.ratings and judge.fit read."""

import pytest

from tests.unit.judge.annotation import campaign
from tests.unit.judge.test_store import do_all, join
from workflow_scripts.apps.annotate.answer_files import LABEL_COLUMNS, export, table_of_marks
from workflow_scripts.apps.annotate.modes import Answer, UnansweredError, read_answer
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.judge.rating_file import Rating, read_ratings, reference_texts
from workflow_scripts.stages.judge.ratings import aggregate


def rows(path):
    return [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines()]


def test_ratings_are_those_that_judge_ratings_reads(tmp_path):
    store = campaign(
        tmp_path,
        references=2,
        paraphrases=2,
        source=lambda r, n: f"Zdroj {r}.",
        system=lambda r, n: "one two" if n else "one",
        forward_nll=lambda r, n: 0.5,
    )
    said = {"Paraphrase 0 of 0.": Answer(grammar=0), "Paraphrase 1 of 0.": Answer(62.5, 1)}
    for name in ("Ana", "Bob"):
        do_all(store, join(store, name), lambda text: said.get(text, Answer(100.0, 2)), controls=1)
    path = tmp_path / "ratings.tsv"
    assert export(path, "similarity", store.judged()) == len(rows(path)) - 1 == 12
    exported = read_ratings(path)
    text = "This is reference 0."
    nonsense = Rating(
        "1", "r0", "4", ("one",), "Paraphrase 0 of 0.", 0.5, None, 0, "Zdroj 0.", text
    )
    both = Rating(
        *("2", "r0", "4", ("one", "two"), "Paraphrase 1 of 0.", 0.5, 62.5, 1, "Zdroj 0.", text)
    )
    control = Rating("1", "r0", "4", ("0",), text, None, 100.0, 2, "Zdroj 0.", text)
    assert all(rating in exported for rating in (nonsense, both, control))
    assert reference_texts(exported) == {"r0": text, "r1": "This is reference 1."}
    figures = {"similarity": 81.25, "grammatical": 50.0, "pairs": 2}
    assert aggregate(exported)["two"] == {**figures, "by_length": {"4": figures}}
    head, first = rows(path)[:2]
    assert head[8:] == ["source", "ref_sent", "backward_nll"]
    assert first[8].startswith("Zdroj ")
    # No name leaves the database.
    assert "Ana" not in path.read_text()


def test_labels_are_a_row_for_each_pair_with_the_middle_one(tmp_path):
    store = campaign(
        tmp_path, mode="labels", references=1, paraphrases=2, source=lambda r, n: "Zdroj.",
        forward_nll=lambda r, n: 0.25,
    )  # fmt: skip
    for name, labels in {"a": "GG", "b": "AB", "c": "GB", "d": "BB"}.items():
        said = {f"Paraphrase {n} of 0.": Answer(label=labels[n]) for n in (0, 1)}
        do_all(store, join(store, name), said.__getitem__, slots=1, wanted=1)
    path = tmp_path / "labels.tsv"
    export(path, "labels", store.judged())
    head, *labelled = rows(path)
    assert tuple(head) == LABEL_COLUMNS
    same = ["r0", "Zdroj.", "This is reference 0."]
    # Of G, A, G, B the two in the middle are A and G: the worse one counts.
    assert sorted(labelled) == [
        [*same, "Paraphrase 0 of 0.", "0.2500", "", "A"],
        [*same, "Paraphrase 1 of 0.", "0.2500", "", "B"],
    ]


def test_marks_are_labels_too_and_make_a_table(tmp_path):
    store = campaign(
        tmp_path, mode="strength", per_bin=9, references=1, paraphrases=3,
        paraphrase_score=lambda r, n: [0.1, 0.5, 0.55][n],
    )  # fmt: skip
    said = {
        f"Paraphrase {n} of 0.": Answer(strength=strength, fluency=fluency)
        for n, (strength, fluency) in enumerate([(1, 3), (3, 3), (3, 2)])
    }
    do_all(store, join(store, "a"), said.__getitem__, slots=1, wanted=1)
    path = tmp_path / "labels.tsv"
    export(path, "strength", store.judged())
    head, *labelled = rows(path)
    assert head[:7] == [*LABEL_COLUMNS]
    assert sorted(row[6:] for row in labelled) == [
        ["A", "0.5500", "3", "2"],
        ["B", "0.1000", "1", "3"],
        ["G", "0.5000", "3", "3"],
    ]
    assert table_of_marks(store.judged()) == [
        ["up to 0.2", 1, 1, 0, 0, 0, 0, 1],
        ["(0.2, 0.4]", 0, 0, 0, 0, 0, 0, 0],
        ["(0.4, 0.6]", 2, 0, 0, 2, 0, 1, 1],
        ["(0.6, 0.8]", 0, 0, 0, 0, 0, 0, 0],
        ["(0.8, 1]", 0, 0, 0, 0, 0, 0, 0],
    ]


def test_nothing_is_written_before_somebody_answered(tmp_path):
    path = tmp_path / "ratings.tsv"
    with pytest.raises(InputError, match="nobody has answered"):
        export(path, "similarity", campaign(tmp_path).judged())
    assert not path.exists()


@pytest.mark.parametrize(
    ("mode", "fields", "answer"),
    [
        ("similarity", {"score_2": "70"}, Answer(score=70.0, grammar=2)),
        ("similarity", {"score_2": " 0 ", "ungrammatical_2": "1"}, Answer(score=0.0, grammar=1)),
        ("similarity", {"score_2": "70", "nonsensical_2": "1"}, Answer(grammar=0)),
        ("similarity", {"nonsensical_2": "1", "ungrammatical_2": "1"}, Answer(grammar=0)),
        ("labels", {"label_2": "A"}, Answer(label="A")),
        ("strength", {"strength_2": "1", "fluency_2": "3"}, Answer(strength=1, fluency=3)),
    ],
)
def test_a_form_is_an_answer(mode, fields, answer):
    assert read_answer(mode, fields, 2) == answer


@pytest.mark.parametrize(
    ("mode", "fields"),
    [
        *[("similarity", {}), ("similarity", {"score_1": "70"})],
        *[("similarity", {"score_2": wrong}) for wrong in ("", "101", "-1", "nan")],
        ("similarity", {"ungrammatical_2": "1"}),
        ("labels", {"label_2": "X"}),
        ("labels", {}),
        ("strength", {"strength_2": "2"}),
        ("strength", {"strength_2": "2", "fluency_2": "4"}),
    ],
)
def test_what_is_missing_is_no_answer(mode, fields):
    with pytest.raises(UnansweredError):
        read_answer(mode, fields, 2)
