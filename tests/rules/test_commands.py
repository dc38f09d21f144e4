"""Single rules: the command line that Snakemake prints, run alone, and on damaged input."""

import importlib
import os
import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from itertools import pairwise, product, takewhile
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.e2e import micro
from tests.e2e.faults.kills import written_stage
from tests.e2e.pipeline import ROOT, Pipeline, quick_environment, sha256
from tests.rules.test_structure import OURS
from workflow_scripts.core.errors import InputError

pytestmark = pytest.mark.e2e

# Files that a stage reads and must not trust: their bytes decide what it writes. The record of a
# model speaks for the whole folder.
DATA = (
    *(".parquet", ".model", "params.best", "learning_curve.tsv", ".binary", ".pt"),
    *("sample.json", "threshold.json", "measures.json", "metrics.json", "statistics.json"),
)
# Of a model folder these read the references' sub-word model, and others all that is there.
PIECES_ALONE = ("evaluate_ratings", "select_shard", "evaluate_measures", "evaluate_variants")


class Job(NamedTuple):
    """A job of a dry run; paths are relative to the working directory."""

    rule: str
    inputs: list[str]
    outputs: list[str]
    command: str

    @property
    def words(self) -> list[str]:
        """The command line without its log."""
        return shlex.split(self.command.removesuffix(self.command[self.command.index(" 2>&1") :]))


def jobs(output: str) -> Iterator[Job]:
    """Read the jobs that a dry run prints."""
    for block in re.split(r"^(?:local)?rule (?=\w+:$)", output, flags=re.M)[1:]:
        command = re.search(r"^Shell command: (.*)$", block, re.M)
        if command:
            lists = (re.search(rf"^    {kind}: (.*)$", block, re.M) for kind in ("input", "output"))
            inputs, outputs = (found[1].split(", ") if found else [] for found in lists)
            yield Job(block.split(":")[0], inputs, outputs, command[1])


@pytest.fixture(scope="module")
def printed(whole) -> dict[str, Job]:
    """The job of each rule that reads most in a dry run of everything."""
    output = whole.run("--dry-run", "--forceall", "--printshellcmds")
    return {job.rule: job for job in sorted(jobs(output), key=lambda job: len(job.inputs))}


@pytest.fixture(scope="module")
def workplace(whole, tmp_path_factory) -> Pipeline:
    """A copy whose tests leave it as they find it."""
    return whole.copy(tmp_path_factory.mktemp("commands") / "work")


# What the whole run does without, and tests of its own try: downloads, finished models, Sockeye 2,
# written sources, grammar models, right answers, merges of other runs, systems that a rewriter
# writes, rewriters with templates, those that go on from a model or are one, measures of lexicons,
# tasks of encoders, and columns that these compute.
APART = (
    *("corpus_download", "corpus_hub", "corpus_pair", "train_take_over", "train_mxnet"),
    *("generate_sources", "judge_grammar", "evaluate_answers", "evaluate_rewriting"),
    *("score_merge", "rewrite_parse", "rewrite_templates", "rewrite_control", "rewrite_continue"),
    *("rewrite_take_over", "lexicon_measure", "lexicon_tag", "encoder_task"),
    "filter_encoder_score",
)
KENLM = set() if micro.HAS_KENLM else {"filter_language_model", "filter_perplexity"}
RULES = [
    name
    for name in (rule.name for rule in OURS)
    if not name.startswith(APART) and name not in KENLM
]


def run_alone(job: Job, folder: Path) -> None:
    """Run a job's command alone; it must write what it wrote before, and its log."""
    before = {name: sha256(folder / name) for name in job.outputs}
    for name in job.outputs:
        (folder / name).unlink()
    path = os.pathsep.join(filter(None, [str(ROOT), os.environ.get("PYTHONPATH")]))
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", job.command],
        cwd=folder,
        env=quick_environment() | {"PYTHONPATH": path},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout
    assert {name: sha256(folder / name) for name in job.outputs} == before
    log = next(re.finditer(r"\| tee (\S+)$", job.command))[1]
    assert (folder / log).read_text(encoding="utf-8") == done.stdout


@pytest.mark.rest
@pytest.mark.parametrize("rule", RULES)
def test_command_runs_alone_with_the_same_result(printed, workplace, rule):
    run_alone(printed[rule], workplace.folder)


def test_kills_know_the_stage_of_a_job_by_its_command(printed):
    """Otherwise `tests/e2e/faults/kills.py` waits for other jobs than it means."""
    for job in filter(lambda job: job.outputs, printed.values()):
        assert f"results/{written_stage(job.words)}/" in job.outputs[0], job.rule


_REWRITER = ["rewriter.json", "metrics.json", "learning_curve.tsv"]
# What the commands of the release read in the folders of finished units, by unit or by stage.
READ = {
    "release_datasheet": {"train": ["metrics.json"], "evaluate": ["measures.json"]},
    "release_tables": {
        "evaluate": ["measures.json", "statistics.json"],
        "embed": ["sts.json"],
        "rewrite/plain-measures": ["measures.json"],
        "rewrite/plain-repair": ["repair.json"],
    },
    "release_report": {
        "train": ["metrics.json", "learning_curve.tsv"],
        "select": ["[0-9]*.parquet"],
        "evaluate": ["measures.json", "statistics.json"],
        "embed": ["sts.json"],
        "rewrite/plain": _REWRITER,
        "rewrite/plain-measures": ["measures.json", "paraphrases.jsonl"],
        "rewrite/plain-repair": ["repair.json"],
    },
}


def read_of_units(job: Job) -> list[str]:
    """Return the data files that a command of the release reads in the first unit of each kind."""
    words, files, read = job.words, [], dict(READ[job.rule])
    after = words[words.index("--units") + 1 :]
    for unit in takewhile(lambda word: not word.startswith("--"), after):
        name, _, folder = unit.partition("=")
        for pattern in read.pop(name if name in read else name.partition("/")[0], []):
            found = sorted(map(str, Path(folder).glob(pattern)))
            assert found, f"{folder} has no {pattern}"
            files += found
    return files


def read_files(job: Job) -> list[str]:
    """Return the data files that a job's command is to verify; of a model all it loads.

    Of a whole stage the job has the manifest as its input, and the folder in its command. The
    release waits for whole units, and not all its commands read all of them.
    """
    if job.rule in READ:
        return read_of_units(job)
    files = [name for name in job.inputs if name.endswith(DATA)]
    models = [name for name in job.inputs if name.endswith("/model.json")]
    words = job.words
    folders = {
        value.rpartition("=")[2]
        for option, value in pairwise(words)
        if option in ("--folder", "--scored", "--values", "--counts")
    }
    shards = [str(path) for folder in folders for path in Path(folder).glob("[0-9]*.parquet")]
    read = ["reference.model"]
    if job.rule not in PIECES_ALONE:
        read += ["source.model", "params.best", "config", "model.safetensors"]
    paths = [Path(name).with_name(file) for name in models for file in read]
    loaded = [str(path) for path in paths if path.exists()]
    return files + loaded + sorted(shards)


def in_process(job: Job) -> Callable[[], None]:
    """Return the job's command as a call of its module."""
    _, _, module, *arguments = job.words
    return lambda: importlib.import_module(module).main(arguments)


def flipped(path: Path, content: bytes) -> bytes:
    """Flip one bit in the middle; in JSON it is that of a digit, which leaves JSON."""
    place = len(content) // 2
    if path.suffix == ".json":
        place = re.compile(rb"\d").search(content, place // 2).start()
    return content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :]


def truncated(path: Path, content: bytes) -> bytes:
    """Leave away the second half; the last byte of a record is a line feed that none misses."""
    return content[: len(content) // 2]


def damage(path: Path, how: Callable[[Path, bytes], bytes]) -> bytes:
    """Change a file, whose times stay; return what it held."""
    content, status = path.read_bytes(), path.stat()
    path.write_bytes(how(path, content))
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    return content


# These read files of the user's alone, or what was written in the moment before.
UNVERIFIED = {
    *("corpus_import", "embed_evaluation", "filter_outside", "transfer_tasks"),
    "release_checksums",
}


DAMAGED = [
    pytest.param(rule, how, marks=[pytest.mark.rest] if how is truncated else [])
    for rule, how in product(RULES, (flipped, truncated))
    # The report reads as the tables do, and takes longer.
    if rule not in UNVERIFIED and (rule, how) != ("release_report", truncated)
]


@pytest.mark.parametrize(("rule", "how"), DAMAGED)
def test_damage_is_found_by_whoever_reads_it(printed, workplace, monkeypatch, rule, how):
    job = printed[rule]
    monkeypatch.chdir(workplace.folder)
    damaged = read_files(job) or [name for name in job.inputs if name.endswith("/paraphrases.json")]
    assert damaged
    for name in damaged:
        content = damage(Path(name), how)
        try:
            with pytest.raises(InputError, match=re.escape(Path(name).name)):
                in_process(job)()
        finally:
            Path(name).write_bytes(content)
