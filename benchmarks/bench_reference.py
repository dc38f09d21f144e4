"""What a reference costs, stage by stage, and what its paraphrases are worth.

    python -m benchmarks.bench_reference [--references 180] [--precision int8]
        [--systems paraloom_2 paraloom] [--judges fp32 int8]

References are English sentences of PUD with their Portuguese sources, drawn by seed 1; the models
are the students of config.yaml. Each system, with the precision of its judge, is a run of its own
as a user starts it, with one thread. CPU-seconds are those of its jobs, as the operating system
counts them. A run of one reference tells what of them is the start of jobs.

`covered`: references with a paraphrase at the bound of the system. `expected`: the mean probability
of all paraphrases. Of the first system also what thinning out loses: of candidates with the same
content words, whose best is at .25 or more, how often this best one is left, by how much the best
that is left is less probable on average, and what would be selected.
"""

import argparse
import os
import random
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from tests.e2e.pipeline import Pipeline
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import (
    JudgedRow,
    ParaphrasesRow,
    ScoredRow,
)
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.score.near_doubles import likeliest, same_content
from workflow_scripts.stages.select.shard import read_bounds, select
from workflow_scripts.stages.subword.segmenter import Segmenter

DATA = Path(os.environ.get("PARALOOM_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
SEED, BOUND = 1, 0.25
# The stages that a table shows, by the modules of their jobs.
STAGES = {
    "sources": "generate.write_sources",
    "generate": "generate.candidates",
    "score": "score.",
    "judge": "judge.",
    "select": "select.",
}
# Stands in the place of Python in a run, and notes what each job took.
SHIM = """#!{python}
import resource, subprocess, sys
status = subprocess.run([{python!r}, *sys.argv[1:]]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
with open({log!r}, "a") as log:
    print(sys.argv[2], usage.ru_utime + usage.ru_stime, file=log)
sys.exit(status)
"""


class Run(NamedTuple):
    """A finished run of one system."""

    seconds: Counter[str]  # CPU-seconds of the jobs of each stage
    scored: list[ScoredRow]
    judged: list[JudgedRow]
    selected: list[ParaphrasesRow]
    # Selects anew, of a row with fewer candidates and their probabilities.
    select: Callable[[ScoredRow, list[float | None]], ParaphrasesRow]


def sample(count: int) -> str:
    """Return so many lines `source, tab, reference`, drawn by the seed."""
    lines = (DATA / "pud_multi/pud.tsv").read_text(encoding="utf-8").splitlines()[1:]
    random.Random(SEED).shuffle(lines)
    cells = (line.split("\t") for line in lines[:count])
    return "".join(f"{source}\t{reference}\n" for _, reference, source, *_ in cells)


def started(folder: Path, references: int, system: str, precision: str, judge: str) -> Run:
    """Run a system on so many references, from text to paraphrases."""
    folder.mkdir()
    (folder / "pud.tsv").write_text(sample(references), encoding="utf-8")
    config: dict[str, Any] = resolve([], [])
    config["run"] |= {"name": "bench", "corpora": ["pud"], "systems": [system]}
    config["run"] |= {"training_sets": [], "embeddings": []}
    config["languages"] = {
        side: each | {"charset": None} for side, each in config["languages"].items()
    }
    config["corpora"] = {"pud": {"tsv": "pud.tsv", "columns": {"source": 0, "reference": 1}}}
    config["train"]["test"] = None
    config["shards"] = {"early": 1, "late": 1}
    config["judges"]["default"] = {"precision": judge}
    config["compute"] |= {"device": "cpu", "precision": precision}
    pipeline = Pipeline(folder / "run", config | {"data": str(folder)})
    shim, log = folder / "bin/python", folder / "log"
    shim.parent.mkdir()
    shim.write_text(SHIM.format(python=sys.executable, log=str(log)), encoding="utf-8")
    shim.chmod(0o755)
    pipeline.environment["PATH"] = f"{shim.parent}:{pipeline.environment['PATH']}"
    pipeline.cores = 1
    pipeline.run("select")
    seconds: Counter[str] = Counter()
    for line in log.read_text(encoding="utf-8").splitlines():
        module, spent = line.split()
        seconds.update(
            {
                stage: float(spent)
                for stage, start in STAGES.items()
                if module.startswith(f"workflow_scripts.stages.{start}")
            }
        )

    system = config["systems"][system].get("name") or system

    def shard(stage: str) -> Path:
        return pipeline.unit(f"{stage}.{system}") / "0000.parquet"

    return Run(
        seconds,
        list(read_rows(shard("score"), ScoredRow)),
        list(read_rows(shard("judge"), JudgedRow)),
        list(read_rows(shard("select"), ParaphrasesRow)),
        selecting(pipeline, system),
    )


def selecting(
    pipeline: Pipeline, system: str
) -> Callable[[ScoredRow, list[float | None]], ParaphrasesRow]:
    """Return how a finished run selects the paraphrases of a reference."""
    settings = pipeline.manifest(f"select.{system}")["config"]
    max_sum, bound = read_bounds(pipeline.unit(f"select.{system}") / "threshold.json")
    pieces = Segmenter(pipeline.unit("train.forward") / "reference.model").pieces
    return lambda row, probabilities: select(row, settings, max_sum, pieces, probabilities, bound)[
        0
    ]


def of_selected(rows: Iterable[ParaphrasesRow]) -> list[str]:
    """Return how many references are covered, how many paraphrases there are, their mean."""
    listed = [[each["probability"] for each in row["paraphrases"]] for row in rows]
    kept = [probability for of_row in listed for probability in of_row]
    return [str(sum(map(bool, listed))), str(len(kept)), f"{np.mean(kept):.3f}"]


def show_thinned(run: Run, most: int, likely: bool) -> None:
    """Print what is lost where so many candidates of each content are scored.

    They are the likeliest, or those of the lowest forward NLL.
    """
    losses, selected, count = [], [], 0
    for row, judged in zip(run.scored, run.judged, strict=True):
        pairs = list(zip(row["candidates"], judged["probabilities"], strict=True))
        content = partial(same_content, language="en")
        by_text = {pair[0]["text"]: pair for pair in pairs}
        nlls = {text: candidate["forward_nll"] for text, (candidate, _) in by_text.items()}
        # With no word of a reference the NLL alone counts.
        reference = row["reference"] if likely else ""
        left = [by_text[text] for text in likeliest(nlls, reference, content, most)]
        count += len(left)
        best, found = (dict[Hashable, float](), dict[Hashable, float]())
        for listed, of_content in ((pairs, best), (left, found)):
            for pair in listed:
                key = content(pair)
                of_content[key] = max(of_content.get(key, 0.0), pair[1] or 0.0)
        losses += [top - found[key] for key, top in best.items() if top >= BOUND]
        thinner: ScoredRow = {**row, "candidates": [candidate for candidate, _ in left]}
        probabilities = [probability for _, probability in left]
        selected.append(run.select(thinner, probabilities))
    name = f"{most}, {'as it ships' if likely else 'by forward NLL'}"
    share = f"{100 * np.mean(np.equal(losses, 0)):.0f} %"
    cells = [name, f"{count / len(run.scored):.1f}", share, f"{np.mean(losses):.3f}"]
    print(f"| {' | '.join([*cells, *of_selected(selected)])} |", flush=True)


def show(name: str, run: Run, starts: Counter[str]) -> None:
    """Print a row of the table."""
    count = len(run.selected)
    costs = [(run.seconds[stage] - starts[stage]) / (count - 1) for stage in STAGES]
    costs += [starts.total() / count, run.seconds.total() / count]
    scored = [each["sum"] is not None for row in run.scored for each in row["candidates"]]
    figures = [f"{sum(scored) / count:.1f}", *of_selected(run.selected)]
    cells = [name, *(f"{cost:.3f}" for cost in costs), *figures]
    print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Run the systems, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--references", type=int, default=180)
    parser.add_argument("--precision", default="int8")
    parser.add_argument("--systems", nargs="+", default=["paraloom_2", "paraloom"])
    parser.add_argument("--judges", nargs="+", default=["fp32", "int8"], help="one for each system")
    options = parser.parse_args()
    if not DATA.is_dir():
        sys.exit(f"no real data in {DATA}: set PARALOOM_DATA to its folder")
    head = ["system, judge", *STAGES, "starts", "all", "scored", "covered", "kept", "expected"]
    print(f"| {' | '.join(head)} |\n|{'---|' * len(head)}", flush=True)
    runs: list[Run] = []
    with tempfile.TemporaryDirectory() as folder:
        for number, (system, judge) in enumerate(zip(options.systems, options.judges, strict=True)):
            few, many = (
                started(Path(folder, f"{number}-{size}"), size, system, options.precision, judge)
                for size in (1, options.references)
            )
            show(f"{system}, {judge}", many, few.seconds)
            runs.append(many)
        head = ["of each content", "candidates", "best", "lost", "covered", "kept", "expected"]
        print(f"\n| {' | '.join(head)} |\n|{'---|' * len(head)}")
        for likely in (False, True):
            for most in (1, 2, 3):
                show_thinned(runs[0], most, likely)


if __name__ == "__main__":
    main()
