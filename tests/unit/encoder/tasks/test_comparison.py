"""The comparison of a plain and a tuned encoder, and the report's tables of it."""

import json
from pathlib import Path

import numpy as np
import pytest

from tests.golden.inputs import arguments
from tests.unit.encoder.tasks.samples import SETTINGS
from tests.unit.pages import Reader, captioned, rows_of
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.section import sections
from workflow_scripts.plan.catalogues.encoder_tasks import answers_name
from workflow_scripts.stages.encoder.tasks import comparison
from workflow_scripts.stages.encoder.tasks.problems import task_of
from workflow_scripts.stages.encoder.tasks.report import encoder_tasks_table

GOLD = [float(n % 3 == 0) for n in range(60)]


def written(folder, task, state, seed, rows, part="dev", in_folds=False, **about):
    """Write answers as `tuning.tune` does."""
    path = folder / f"{answers_name(task, state, seed)}.jsonl"
    lines = [
        json.dumps({"part": part, **dict(zip(rows, values, strict=True))})
        for values in zip(*rows.values(), strict=True)
    ]
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    figures = task_of(task, SETTINGS)
    extra = {
        "task": task,
        "seed": seed,
        "encoder": {"config.json": state},
        "settings": SETTINGS,
        "data": {"train": "a", "dev": "a"},
        "counts": {part: {"examples": len(lines), "duplicates": 2}},
        "choices": [5e-5],
        "parts": {part: {"in_folds": in_folds, "figures": figures.figures(figures.scored(rows))}},
    }
    write_record(path, len(lines), len(lines), {}, extra=extra | about)
    return path


def with_faults(count, shift=0):
    """Return answers to `GOLD` of which `count` are wrong."""
    wrong = {(7 * n + shift) % 60 for n in range(count)}
    return [1 - gold if n in wrong else gold for n, gold in enumerate(GOLD)]


def mrpc(folder, state, faults):
    return [
        written(folder, "MRPC", state, seed, {"gold": GOLD, "predicted": with_faults(each, seed)})
        for seed, each in enumerate(faults, start=1)
    ]


def squad_rows(right):
    has_answer = [n % 2 == 0 for n in range(20)]
    exact = [float(n in right) if has else 0.0 for n, has in enumerate(has_answer)]
    return {
        "id": [str(n) for n in range(20)],
        "answer": ["x"] * 20,
        "no_answer": [0.1 if has else 0.9 for has in has_answer],
        "has_answer": has_answer,
        "exact": exact,
        "f1": exact,
    }


def compared(plain, tuned, samples=200):
    answers = {
        "plain": [comparison.read_answers(path) for path in plain],
        "tuned": [comparison.read_answers(path) for path in tuned],
    }
    return comparison.compare(answers, {"bootstrap": samples, "seed": 1})


def test_means_deviations_and_gains_by_hand(tmp_path):
    found = compared(mrpc(tmp_path, "plain", (12, 18)), mrpc(tmp_path, "tuned", (6, 6)))
    (part,) = found["tasks"]["MRPC"]["parts"].values()
    accuracy = part["measures"]["accuracy"]
    assert accuracy["plain"]["seeds"] == [0.8, 0.7]
    assert accuracy["plain"]["value"] == 0.75
    assert accuracy["plain"]["deviation"] == pytest.approx(0.1 / np.sqrt(2), abs=1e-6)
    assert accuracy["gain"]["value"] == 0.15
    assert accuracy["gain"]["low"] < 0.15 < accuracy["gain"]["high"]
    assert part["examples"] == 60


def test_the_interval_of_the_gain_is_paired(tmp_path):
    """The same answers differ by nothing, however uncertain each figure is."""
    found = compared(mrpc(tmp_path, "plain", (12,)), mrpc(tmp_path, "tuned", (12,)))
    measures = found["tasks"]["MRPC"]["parts"]["dev"]["measures"]["f1"]
    assert measures["gain"] == {"value": 0.0, "low": 0.0, "high": 0.0}
    assert measures["plain"]["low"] < measures["plain"]["high"]
    assert measures["plain"]["deviation"] is None


@pytest.mark.slow
def test_the_interval_is_that_of_the_bootstrap(tmp_path):
    """That of a share is, by its normal approximation, 1.96 sqrt(p (1 - p) / n) wide each way."""
    found = compared(mrpc(tmp_path, "plain", (12,)), mrpc(tmp_path, "tuned", (6,)), 2000)
    accuracy = found["tasks"]["MRPC"]["parts"]["dev"]["measures"]["accuracy"]["plain"]
    half = 1.96 * np.sqrt(0.8 * 0.2 / 60)
    assert accuracy["low"] == pytest.approx(0.8 - half, abs=0.03)
    assert accuracy["high"] == pytest.approx(0.8 + half, abs=0.03)


def test_squad_takes_answers_back_and_tells_types_apart(tmp_path):
    paths = {
        state: [written(tmp_path, "SQuAD", state, 1, squad_rows(right))]
        for state, right in (("plain", {0, 2, 4}), ("tuned", {0, 2, 4, 6, 8}))
    }
    found = compared(paths["plain"], paths["tuned"])
    measures = found["tasks"]["SQuAD"]["parts"]["dev"]["measures"]
    assert measures["exact_NoAns"]["plain"]["value"] == 1.0
    assert measures["exact_HasAns"]["plain"]["value"] == 0.3
    assert measures["f1_HasAns"]["gain"]["value"] == 0.2
    assert measures["f1_Total"]["tuned"]["value"] == 0.75


def test_missing_tasks_are_named_with_their_files(tmp_path):
    found = compared(mrpc(tmp_path, "plain", (12,)), mrpc(tmp_path, "tuned", (6,)))
    assert list(found["missing"]) == ["QQP", "MNLI", "STS-B", "SQuAD", "SICK-E"]
    assert found["missing"]["SQuAD"] == "train-v2.0.json and dev-v2.0.json of SQuAD 2.0"


@pytest.mark.parametrize(
    ("about", "expected"),
    [
        ({"settings": SETTINGS | {"epochs": 9}}, "tuned with different settings"),
        ({"encoder": {"config.json": "x"}}, "of the tuned encoder, .* of different encoders"),
        ({"data": {"train": "b", "dev": "a"}}, "MRPC, train: .* with seed 2 are of different data"),
        ({"gold": GOLD[::-1]}, "with seed 2 are of different data"),
    ],
)
def test_what_cannot_be_compared_is_refused(tmp_path, about, expected):
    plain, tuned = mrpc(tmp_path, "plain", (12, 18)), mrpc(tmp_path, "tuned", (6, 6))
    compared(plain, tuned, samples=10)
    rows = {"gold": about.get("gold", GOLD), "predicted": GOLD}
    more = {key: value for key, value in about.items() if key != "gold"}
    written(tmp_path, "MRPC", "tuned", 2, rows, **more)
    with pytest.raises(InputError, match=expected):
        compared(plain, tuned)


def test_seeds_are_the_same_and_each_is_there_once(tmp_path):
    plain, tuned = mrpc(tmp_path, "plain", (12, 18)), mrpc(tmp_path, "tuned", (6, 6))
    with pytest.raises(InputError, match="have different seeds"):
        compared(plain, tuned[:1])
    with pytest.raises(InputError, match="of the plain encoder, the answers with seed 1 are there"):
        compared(plain[:1] * 2, tuned[:1] * 2)


@pytest.fixture
def run(tmp_path):
    """A finished run with the tasks of one encoder."""
    plain, tuned = mrpc(tmp_path, "plain", (12, 18)), mrpc(tmp_path, "tuned", (6, 6))
    for state, paths, right in (("plain", plain, {0}), ("tuned", tuned, {0, 2})):
        for seed in (1, 2):
            paths.append(written(tmp_path, "SQuAD", state, seed, squad_rows(right)))
            stsb = {"gold": GOLD, "predicted": with_faults(5 * seed)}
            paths.append(written(tmp_path, "STS-B", state, seed, stsb, in_folds=True))
    files = {"plain": plain, "tuned": tuned, "output": tmp_path / "tasks.json"}
    comparison.main(arguments({"bootstrap": 50, "seed": 1}, **files))
    return FinishedRun({}, [(("encoder", "pbert-comparison"), Path(tmp_path))])


@pytest.mark.slow
def test_the_report_has_tables_4_and_5_and_what_is_missing(run):
    (section,) = sections(["workflow_scripts.stages.encoder.tasks.report:encoder_tasks"], run)
    html = str(section.html)
    reader = Reader(html)
    assert reader.faults == [] and reader.ids == ["encoder_tasks"]
    head, plain, tuned, gain = rows_of(captioned(html, "ParaBank 2's Table 4"))
    assert head == [
        *("encoder", "state", "QQP, F1", "MNLI, accuracy", "STS-B, Spearman", "MRPC, F1"),
        "SICK-E, accuracy",
    ]
    assert [row[:2] for row in (plain, tuned, gain)] == [
        ["pbert", "plain"],
        ["pbert", "tuned"],
        ["pbert", "difference"],
    ]
    assert plain[2] == plain[3] and plain[5] != plain[2]
    assert gain[4].startswith("0.00 ")
    _, first, *rows = rows_of(captioned(html, "ParaBank 2's Table 5"))
    assert [first[:2], *(row[:2] for row in rows)] == [
        *(["F1", kind] for kind in ("HasAns", "NoAns", "Total")),
        *(["exact match", kind] for kind in ("HasAns", "NoAns", "Total")),
    ]
    assert first[2].startswith("10.00 ") and first[3].startswith("20.00 ")
    assert "folds of dev were tested" in html
    assert "dev, duplicates 2" in html
    assert "encoder_tasks.data.QQP</code> to a folder with train.tsv and dev.tsv of GLUE" in html


@pytest.mark.slow
def test_the_table_of_the_release_has_each_measure(run):
    table = encoder_tasks_table(run)
    rows = table.frame().to_dict("records")
    assert [(row["task"], row["measure"]) for row in rows][:4] == [
        ("STS-B", "pearson"),
        ("STS-B", "spearman"),
        ("MRPC", "accuracy"),
        ("MRPC", "f1"),
    ]
    assert len(rows) == 10
    assert rows[2]["gain_value"] == 0.15


def test_without_tasks_the_report_has_no_section(tmp_path):
    empty = FinishedRun({}, [(("encoder", "pbert"), tmp_path)])
    assert sections(["workflow_scripts.stages.encoder.tasks.report:encoder_tasks"], empty) == []
