"""A run on the testbed with a judge of its own: labels from exact truth, its own grammar model."""

import json
import random

import pytest

from tests.configs import changes, run_on_testbed
from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from tests.rules.test_commands import damage, flipped, in_process, jobs, read_files, run_alone
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import JudgedRow, ParaphrasesRow, ScoredRow
from workflow_scripts.testbed import generate
from workflow_scripts.testbed.checker import Checker

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

FEATURES = ["grammar", "unknown_words", "overlap_1", "forward_worst", "backward_gain"]
RULES = ("judge_grammar", "judge_fit", "judge_shard")


def write_labels(path):
    """Label pairs of testbed sentences by what they mean: the checker knows it exactly."""
    order, checker = random.Random(1), Checker()
    pairs = list(generate.pairs(1, 700000, 40, realisations=3))
    lines = ["id\tsource\treference\tparaphrase\tforward_nll\tbackward_nll\tlabel"]
    for number, (source, reference, _) in enumerate(pairs):
        close = [pairs[place][1] for place in (number - 1, (number + 1) % len(pairs))]
        words = reference.split()
        for text in dict.fromkeys([*close, " ".join(order.sample(words, len(words)))]):
            label = "good" if checker.same_meaning(reference, text) else "bad"
            lines.append(f"{number}\t{source}\t{reference}\t{text}\t\t\t{label}")
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def make(folder):
    """Run it to its end in `folder`; the models are those of the micro run, on this text."""
    folder.mkdir()
    write_labels(folder / "labels.tsv")
    Pipeline(folder, configuration()).run()


CHANGES = """
data: .
run: {name: judged, systems: [first, second], embeddings: []}
corpora.testbed.testbed: {first: 0, count: 900, realisations: 3}
corpora.testbed_held_out.testbed: {first: 400000, count: 10}
corpora.testbed_dev.testbed: {first: 200000, count: 30}
corpora.testbed_test.testbed: {first: 300000, count: 20}
subword.vocab_size: {source: 400, reference: 300}
generate.limit: {testbed: 6, testbed_held_out: 6}
training_sets.all: {}
evaluate: {bootstrap: 50, pairs: 20}
"""


def configuration():
    small = micro.config("data")
    select = {
        **{"method": "judged", "judge": "own", "clusters": 3, "best": 2},
        "keep": {"probability_quantile": 0.5},
    }
    system = {**small["systems"]["micro"], "score": {"prune_above": None}}
    by_precision = {**select, "keep": {"quantile": 0.8, "precision": 0.6}, "method": "nbest"}
    own = {
        **{key: small[key] for key in ("models", "compute")},
        "train": {"models": small["train"]["models"]},
        "systems": {
            "first": {**system, "select": select},
            "second": {**system, "select": {**by_precision, "score": "judge"}},
        },
        "judges": {"own": {"labels": "labels.tsv", "features": FEATURES, "grammar": "run"}},
    }
    return micro.merged(micro.merged(run_on_testbed(), changes(CHANGES)), own)


@pytest.fixture(scope="module")
def run(once):
    return judged(None, once)


def judged(_, once):
    """Return the finished run."""
    return Pipeline(once("judged", make), configuration())


def rows(run, unit, kind):
    shards = sorted(run.unit(unit).glob("[0-9]*.parquet"))
    return [row for path in shards for row in read_rows(path, kind)]


def test_each_candidate_that_can_be_chosen_has_a_probability(run):
    for system in ("first", "second"):
        scored = rows(run, f"score.{system}", ScoredRow)
        judged = rows(run, f"judge.{system}", JudgedRow)
        assert [row["id"] for row in judged] == [row["id"] for row in scored]
        for row, found in zip(scored, judged, strict=True):
            assert len(found["probabilities"]) == len(row["candidates"])
        known = [p for row in judged for p in row["probabilities"] if p is not None]
        assert known and all(0 <= each <= 1 for each in known)


def test_the_judge_was_fitted_to_the_labels_with_models_of_the_run(run):
    judge = json.loads((run.unit("judge.own-fitted") / "judge.json").read_text(encoding="utf-8"))
    assert judge["features"] == FEATURES
    assert judge["about"]["held_out"][0]["labels"]["auc"]["value"] > 0.8
    assert str(run.folder) not in json.dumps(judge)
    manifest = run.manifest("judge.own-fitted")
    assert {name.split("/v")[0] for name in manifest["upstream"]} == {
        *("generate/words", "judge/run-grammar", "train/forward", "train/backward")
    }


def test_the_probability_decides_and_is_released(run):
    for system in ("first", "second"):
        threshold = json.loads((run.unit(f"select.{system}") / "threshold.json").read_text("utf-8"))
        bound = threshold["probability"]
        assert bound["judged"] >= bound["kept"] > 0
        probabilities = [
            [each["probability"] for each in row["paraphrases"]]
            for row in rows(run, f"select.{system}", ParaphrasesRow)
        ]
        assert any(probabilities)
        for found in probabilities:
            assert found == sorted(found, reverse=True)
            assert all(each >= min(bound["least"]) for each in found)
    first = json.loads((run.unit("select.first") / "threshold.json").read_text("utf-8"))
    assert first["max_sum"] is None
    card = (run.unit("release") / "first" / "README.md").read_text(encoding="utf-8")
    assert "**The probability is a judge's: higher is better.**" in card
    assert "| and of a probability of at least " in card
    report = (run.unit("release") / "report.html").read_text(encoding="utf-8")
    assert "below probability" in report and "probability ≥ " in report
    assert "Nothing to be done" in run.run("--dry-run")


def test_commands_run_alone_and_refuse_damaged_files(run, own_copy_of, monkeypatch):
    pipeline = own_copy_of(run)
    output = pipeline.run("judge", "--dry-run", "--forceall", "--printshellcmds")
    monkeypatch.chdir(pipeline.folder)
    found = {job.rule: job for job in jobs(output) if job.rule in RULES}
    assert set(found) == set(RULES)
    for job in found.values():
        run_alone(job, pipeline.folder)
        data = [name for name in job.inputs if name.endswith(("words.txt", "judge.json"))]
        for name in [*read_files(job), *data]:
            content = damage(pipeline.folder / name, flipped)
            with pytest.raises(InputError, match=r"differs from what|damaged"):
                in_process(job)()
            (pipeline.folder / name).write_bytes(content)


def test_another_threshold_judges_nothing_again(run, copy_of):
    pipeline = copy_of(run)
    keep = {"keep": {"probability_quantile": 0.25}}
    select = {"systems": {"first": {"select": keep}}}
    other = pipeline.with_config(micro.merged(pipeline.config, select))
    planned = other.planned()
    assert not any(rule.startswith(("judge", "score", "generate")) for rule in planned)
    assert planned["select_threshold"] == 1
