"""A run on text without bitext: a finished model writes the sources of its references.

Both models are finished ones in folders: nothing is trained, no text is there to train on.
"""

import json
import shutil
from pathlib import Path

import pyarrow.parquet as pq
import pytest
import zstandard

from tests.configs import changes
from tests.e2e import micro
from tests.e2e.pipeline import Pipeline, sha256, stages_of
from tests.e2e.test_kill import kill_in
from tests.golden.models import fixed_model
from tests.rules.test_commands import damage, flipped, in_process, jobs, run_alone
from workflow_scripts.commands.runs.__main__ import main as runs
from workflow_scripts.core.errors import InputError

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

SIDES = ("source", "reference")
MARK = "written by own_backward"
# Lines that are no sentence, one that stands there before, and one that no model here can read.
BAD = [b"", b"A \0 is in it.", b"\xff", b"...", b"the old man " * 100]
WRITING = ("generate.write_sources", "generate/mine-sources")


@pytest.fixture(scope="module")
def text(once):
    """A text file with some lines of the micro bitext, and bad ones."""

    def write(folder: Path) -> None:
        folder.mkdir(parents=True)
        lines = [reference.encode() for _, reference in micro.bitext()["held_out"]]
        (folder / "mine.en").write_bytes(b"\n".join([*lines, lines[0].upper(), *BAD]) + b"\n")

    return once("text", write) / "mine.en"


CHANGES = """
run: {corpora: [train, mine], rewriters: [], embeddings: []}
# Such models write nonsense. The bound is in the midst of their NLLs.
corpora.mine: {search: {method: beam, beam_size: 2}, max_nll: 5.13}
clean.max_ratio: 100.0
train: {corpora: null, dev: null, test: test}
train.models: {forward: own_forward, backward: own_backward}
"""


def write_models(folder):
    fixed_model(folder / "forward", *SIDES, 1)
    fixed_model(folder / "backward", *reversed(SIDES), 2)


@pytest.fixture(scope="module")
def own_models(once):
    return once("finished_models", write_models)


@pytest.fixture(scope="module")
def config(bitext, text, own_models):
    blocks = {
        f"own_{role}": {
            "folder": str(own_models / role),
            **{f"{side}_model": f"{own_models}/{role}/{side}.model" for side in SIDES},
            "trained_on": seen,
            "licence": "CC0-1.0",
        }
        for role, seen in (("forward", ["train"]), ("backward", []))
    }
    found = {"models": blocks, "corpora": {"mine": {"text": str(text)}}}
    config = micro.merged(micro.merged(micro.config(bitext), changes(CHANGES)), found)
    config["run"]["training_sets"] = ["half"]
    return config


@pytest.fixture(scope="module")
def run(config, once):
    return Pipeline(once("text_run", lambda folder: Pipeline(folder, config).run()), config)


def test_no_text_is_cut_and_nothing_is_trained(run):
    planned = run.planned("--forceall", "release")
    assert not stages_of(planned) & {"subword", "embed", "rewrite"}
    # Both models translate, and both write sources.
    assert planned["train_take_over"] == 4
    assert "train_model" not in planned
    assert not (run.folder / "results" / "subword").exists()


@pytest.mark.parametrize("role", ["forward", "backward"])
def test_models_are_as_they_were_and_measured_on_test_pairs_alone(run, own_models, role):
    unit = run.unit(f"train.{role}")
    for name in ("params.best", "vocab.src.0.json", "source.model", "reference.model"):
        assert sha256(unit / name) == sha256(own_models / role / name)
    metrics = json.loads((unit / "metrics.json").read_text(encoding="utf-8"))
    assert metrics["bleu"]["sentences"] == micro.SIZES["test"]
    assert metrics["test_perplexity"] > 1
    assert "updates" not in metrics
    assert run.manifest(f"train.{role}")["rows_in"] == 0


def test_another_content_of_the_own_model_is_another_run(run, own_models, copy_of, tmp_path):
    folder = shutil.copytree(own_models / "forward", tmp_path / "forward")
    with (folder / "params.best").open("ab") as stream:
        stream.write(b" ")
    other = micro.merged(run.config, {"models": {"own_forward": {"folder": str(folder)}}})
    planned = copy_of(run).with_config(other).planned("generate")
    # The forward model scores the written sources, too.
    assert planned["train_take_over"] == 2
    assert planned["generate_shard"] == 1


def test_what_the_models_declare_is_told_and_decides_what_is_seen(run):
    measures = json.loads((run.unit("evaluate.micro") / "measures.json").read_text("utf-8"))
    found = {name: group["references"] for name, group in measures["groups"].items()}
    assert (found["seen"], found["held_out"]) == (8, run.manifest("corpus.mine")["rows_out"])
    card = (run.unit("release") / "micro" / "README.md").read_text(encoding="utf-8")
    assert "| forward | folder forward | CC0-1.0 | train |" in card
    assert "| backward | folder backward | CC0-1.0 | none of the corpora of this run |" in card
    assert "Not trained in this run" in (run.unit("release") / "report.html").read_text("utf-8")


def test_references_get_sources_and_what_does_not_come_back_is_left_out(run):
    manifests = {
        name: run.manifest(name)
        for name in ("corpus.mine-text", "generate.mine-sources", "corpus.mine")
    }
    text, sources, pairs = manifests.values()
    assert text["rejected"] == {"empty": 1, "nul": 1, "not_utf8": 1}
    assert sources["rejected"] == {"duplicate": 1, "no_letters": 1, "no_source": 1}
    assert text["rows_out"] == sources["rows_in"] == micro.SIZES["held_out"] + 3
    assert sources["rows_out"] == pairs["rows_in"] == micro.SIZES["held_out"]
    assert pairs["rows_out"] + pairs["rejected"]["not_brought_back"] == pairs["rows_in"]
    assert min(pairs["rows_out"], pairs["rejected"]["not_brought_back"]) > 3
    assert sources["config"]["source"] == pairs["config"]["source"] == MARK
    assert "Nothing to be done" in run.run("--dry-run")


def test_nobody_takes_it_for_human_bitext(run, capsys, monkeypatch):
    release = run.unit("release")
    counts = run.manifest("corpus.mine")["parts"]["rejected.tsv"]["extra"]
    table = pq.read_table(release / "micro" / "paraphrases.parquet").to_pylist()
    by_corpus = {(row["id"].partition(":")[0], row["source"]) for row in table}
    assert by_corpus == {("train", "bitext"), ("mine", MARK)}
    with (release / "micro" / "paraphrases.tsv.zst").open("rb") as raw:
        lines = zstandard.ZstdDecompressor().stream_reader(raw).read().decode().splitlines()
    marks = {(line.partition(":")[0], line.rpartition("\t")[2]) for line in lines[1:]}
    assert lines[0].endswith("\tsource")
    assert marks == by_corpus
    card = (release / "micro" / "README.md").read_text(encoding="utf-8")
    left_out = counts["left_out"] + 3 + 3  # of the sources, and of the text
    assert "This is no human bitext" in card
    assert f"| mine | source: {MARK} | {counts['written']} | {left_out} | 5.13 |" in card
    assert "machine translation of a bitext" not in card
    assert "machine-written-sources" in card
    page = (release / "report.html").read_text(encoding="utf-8")
    assert 'id="written_sources"' in page
    assert f"references of mine, {MARK}" in page
    monkeypatch.chdir(run.folder)
    runs(["show", "micro", "--examples", "1"])
    told = " ".join(capsys.readouterr().out.split())
    assert f"mine is no human bitext, its source: {MARK}." in told
    assert f"written: {counts['written']}; left out: {left_out} (not_brought_back" in told


def test_the_commands_run_alone_and_see_damaged_files(run, own_copy_of, monkeypatch):
    pipeline = own_copy_of(run)
    output = pipeline.run("corpus", "--dry-run", "--forceall", "--printshellcmds")
    printed = {job.rule: job for job in jobs(output)}
    monkeypatch.chdir(pipeline.folder)
    for rule in ("generate_sources", "corpus_pair"):
        job = printed[rule]
        run_alone(job, pipeline.folder)
        path = next(Path(name).parent for name in job.inputs if "mine" in name) / "0000.parquet"
        other = path.with_name("0001.parquet")
        for name in (path, other):
            damage(name, flipped)
        with pytest.raises(InputError, match="differs from what its stage wrote"):
            in_process(job)()
        for name in (path, other):
            damage(name, flipped)  # flips the same bit back


def test_writing_that_is_killed_is_done_again_and_ends_with_the_same_bytes(run, tmp_path):
    pipeline = run.copy(tmp_path / "work")
    for folder in ("corpus/mine", "generate/mine-sources"):
        shutil.rmtree(pipeline.folder / "results" / folder)
    kill_in(pipeline, *WRITING, "all")
    assert not list((pipeline.folder / "results" / "corpus" / "mine").rglob("*.parquet"))
    pipeline.run("corpus")
    units = ("generate.mine-sources", "corpus.mine")
    assert pipeline.hashes(*units) == run.hashes(*units)
    assert not list((pipeline.folder / "results").rglob(".*.tmp"))
