"""What a large run costs: the DAG of thousands of jobs, their start, and stages by size.

    python -m benchmarks.bench_scale dag       512 early and 64 late shards, then 20,000 jobs
    python -m benchmarks.bench_scale starts    each command of the rules, before it works
    python -m benchmarks.bench_scale stages    10^5, 3 x 10^5 and 10^6 pairs, 10^5 to a shard

Without an argument: all. CPU seconds and the largest resident memory are those of the processes
that a user's run would start, as the operating system counts them. The pairs are synthetic, every
tenth of them a duplicate of an earlier one but for case and punctuation, in whatever shard.
Selection and the columns of its pairs are measured on a tenth of the pairs, with ten candidates
each; the threshold, a training set and the release on as many references as there are pairs, the
shards of the largest selection repeated.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from itertools import cycle
from pathlib import Path
from typing import Any, NamedTuple

from tests.commands import started
from tests.e2e import micro
from tests.e2e.pipeline import ROOT, Pipeline, environment, planned_jobs
from tests.golden.inputs import write_table
from tests.golden.models import lone_segmenter
from workflow_scripts.core.files.manifest import read_record, shard_paths
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow, PairScoreRow, ScoredRow

# Early shards, late shards, systems; and whether columns of the pairs are evaluated.
DAGS = [(512, 64, 12, False), (512, 64, 12, True), (512, 512, 12, False)]
# A start is measured so often; the lowest counts, as other work on the machine only adds to it.
STARTS = 2
LINES = (100_000, 300_000, 1_000_000)
SHARD_LINES = 100_000
CANDIDATES = 10
DUPLICATE_EVERY = 10
METER = """
import resource, subprocess, sys
subprocess.run(sys.argv[1:], check=True, stderr=subprocess.STDOUT)
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
print(usage.ru_utime + usage.ru_stime, usage.ru_maxrss, file=sys.stderr)
"""
# Snakemake as it is where the Slurm plugin, which loads pandas, is not installed.
WITHOUT_SLURM = """
import pkgutil, runpy
found = pkgutil.iter_modules
pkgutil.iter_modules = lambda *given: (each for each in found(*given) if "slurm" not in each.name)
runpy.run_module("snakemake", run_name="__main__", alter_sys=True)
"""
_SYLLABLES = ("ba", "de", "fi", "go", "lu", "ma", "ne", "pi", "ro", "tu")
WORDS = [first + second for first in _SYLLABLES for second in _SYLLABLES]


class Cost(NamedTuple):
    """What a process took: CPU seconds, and MB of memory at its peak."""

    seconds: float
    megabytes: float


def cost_of(command: Sequence[str], output: Path | None = None) -> Cost:
    """Run a command, which must succeed, from the root of the repository.

    A small process starts it: the kernel counts the memory of whoever starts a process as its own.
    """
    with (output or Path(os.devnull)).open("wb") as stream:
        metered = subprocess.run(
            [sys.executable, "-c", METER, *command],
            cwd=ROOT,
            env=environment(),
            stdout=stream,
            stderr=subprocess.PIPE,
            text=True,
        )
    if metered.returncode:
        raise SystemExit(f"{' '.join(command)[:300]}: {metered.stderr}")
    seconds, kilobytes = metered.stderr.split()
    return Cost(float(seconds), float(kilobytes) / 1024)


def module(name: str, config: Any, **options: Any) -> list[str]:
    """Return the command line of a stage's module."""
    words = [sys.executable, "-m", f"workflow_scripts.stages.{name}"]
    words += [] if config is None else ["--config", json.dumps(config)]
    for option, value in options.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{option}", *map(str, values)]
    return words


# --- the DAG ---------------------------------------------------------------------------------


def many_jobs(data: Path, early: int, late: int, systems: int, columns: bool) -> dict[str, Any]:
    """Return a configuration with so many shards and systems, and with the dual filter.

    Its end is the release: neither training sets nor embeddings, and only with `columns` those of
    the stage filter, for the evaluation.
    """
    config = micro.config(data)
    (system,) = config["systems"].values()
    names = [f"system{number}" for number in range(systems)]
    config["systems"] = dict.fromkeys(names, system)
    config["run"] |= {"systems": names, "training_sets": [], "embeddings": [], "rewriters": []}
    config["shards"] = {"early": early, "late": late}
    config["dual_filter"]["enabled"] = True
    if not columns:
        config["evaluate"]["columns"] = []
    return config


def measure_dags(folder: Path) -> None:
    """Print the cost of dry runs, and of Snakemake before it reads a rule."""
    data = micro.write_bitext(folder / "data")
    idle = cost_of([sys.executable, "-c", "import snakemake.cli"])
    print(f"Snakemake with its plugins alone: {idle.megabytes:,.0f} MB")
    print("| early | late | systems | columns | jobs | CPU seconds | MB | MB without Slurm |")
    print("|---|---|---|---|---|---|---|---|")
    for number, (early, late, systems, columns) in enumerate(DAGS):
        config = many_jobs(data, early, late, systems, columns)
        pipeline = Pipeline(folder / f"dag-{number}", config)
        output = folder / "output"
        command = pipeline.command("--dry-run", "--quiet", "rules")
        cost = cost_of(command, output)
        _, _, _, *words = command
        without = cost_of([sys.executable, "-c", WITHOUT_SLURM, *words])
        jobs = planned_jobs(output.read_text(encoding="utf-8")).total()
        print(
            f"| {early} | {late} | {systems} | {'with' if columns else 'without'} | {jobs:,} "
            f"| {cost.seconds:.1f} | {cost.megabytes:,.0f} | {without.megabytes:,.0f} |",
            flush=True,
        )


# --- the start of a job ----------------------------------------------------------------------


def measure_starts() -> None:
    """Print what it costs to load each command of the rules: the start of its job."""
    print("| command | CPU seconds | MB |\n|---|---|---|")
    for name in sorted(set(started().values())):
        command = [sys.executable, "-c", f"import workflow_scripts.{name}"]
        cost = min(cost_of(command) for _ in range(STARTS))
        print(f"| {name} | {cost.seconds:.2f} | {cost.megabytes:,.0f} |", flush=True)


# --- synthetic data --------------------------------------------------------------------------


def sentence(number: int) -> str:
    """Return a sentence of eight words that no other number below 10^8 has."""
    chance = random.Random(number)
    words = [WORDS[number // 100**place % 100] for place in range(4)]
    return " ".join([*words, *chance.choices(WORDS, k=4)])


def write_corpus(folder: Path, lines: int) -> tuple[Path, Path]:
    """Write two parallel files; every tenth line repeats an earlier one, spelt otherwise."""
    paths = folder / "a.cs", folder / "a.en"
    with paths[0].open("w", encoding="utf-8") as source, paths[1].open("w") as reference:
        for line in range(lines):
            number, end = line, "."
            while number % DUPLICATE_EVERY == DUPLICATE_EVERY - 1:
                number, end = number // 2, "!"
            text = sentence(number)
            text = text.upper() if end == "!" else text
            source.write(f"{text}{end}\n")
            reference.write(f"The {text}{end}\n")
    return paths


def scored_rows(pairs: Iterator[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield references with ten candidates each, rewritten word by word."""
    for number, row in enumerate(pairs):
        chance = random.Random(number)
        words = row["reference"].split()
        candidates = []
        for index in range(CANDIDATES):
            forward, backward = chance.uniform(0.2, 2), chance.uniform(0.2, 2)
            text = " ".join(
                chance.choice(WORDS) if chance.random() < 0.3 else word for word in words
            )
            candidates.append(
                {
                    "text": f"{text} {index}",
                    "forward_nll": forward,
                    "backward_nll": backward,
                    "sum": forward + backward,
                    "count": 1,
                    "variant": "bench",
                }
            )
        yield {**row, "candidates": candidates}


def repeated(shards: list[Path], folder: Path, count: int) -> list[Path]:
    """Link shards and their records, as often as it takes, to the shards of a folder."""
    folder.mkdir()
    paths = shard_paths(folder, count)
    for link, path in zip(paths, cycle(shards), strict=False):
        record = read_record(path)
        record["files"] = {link.name: record["files"][path.name]}
        link.symlink_to(path)
        link.with_suffix(".json").write_text(json.dumps(record), encoding="utf-8")
    return paths


# --- stages ----------------------------------------------------------------------------------


def show(stage: str, lines: int, costs: list[Cost]) -> None:
    """Print a row of the table: memory of the largest job, time of all of them."""
    seconds = sum(cost.seconds for cost in costs)
    largest = max(cost.megabytes for cost in costs)
    print(
        f"| {stage} | {lines:,} | {len(costs)} | {largest:,.0f} | {seconds:.1f} "
        f"| {1e6 * seconds / lines:.0f} |",
        flush=True,
    )


def measure_pairs(folder: Path, lines: int) -> list[Path]:
    """Measure the stages from text to filtered pairs; return the clean shards."""
    folder.mkdir()
    shards = max(1, lines // SHARD_LINES)
    names = [f"{shard:04d}" for shard in range(shards)]
    source, reference = write_corpus(folder, lines)
    block = {"source": [str(source)], "reference": [str(reference)]}
    config = {"name": "a", "block": block, "shards": shards, "max_line_bytes": 20000, "seed": 1}
    corpus, clean = folder / "corpus", folder / "clean"
    show("corpus", lines, [cost_of(module("corpus.importer", config, output=corpus))])
    config = {
        "charset": {"source": "latin-2", "reference": "latin-1"},
        "language": {"source": "cs", "reference": "en"},
        **{"min_words": 1, "max_words": 100, "max_ratio": 3.0, "drop_copies": True},
        "corpora": ["a"],
    }
    costs = [
        cost_of(
            module(
                "clean.shard",
                config,
                pairs=[corpus / f"{name}.parquet"],
                output=clean / f"{name}.parquet",
                rejected=clean / "rejected" / f"{name}.tsv.zst",
            )
        )
        for name in names
    ]
    show("clean", lines, costs)
    paths = [clean / f"{name}.parquet" for name in names]
    kept = sum(read_record(path)["rows_out"] for path in paths)
    expected = lines - lines // DUPLICATE_EVERY
    if kept != expected:
        raise SystemExit(f"{kept} pairs are left of {lines}, where {expected} are distinct")
    costs = []
    for path in paths:
        scores = write_table(
            folder / "scores" / path.name,
            PairScoreRow,
            (
                {"id": row["id"], "forward_nll": 1.0, "backward_nll": index % 50 / 10}
                for index, row in enumerate(read_rows(path, PairRow, ["id"]))
            ),
        )
        config = {"method": "sum", "max_sum": 3.5, "trusted": []}
        options = {"pairs": path, "scores": scores, "output": folder / "kept" / path.name}
        costs.append(cost_of(module("dual_filter.keep", config, **options)))
    show("dual_filter, kept", kept, costs)
    return paths


class Shards(NamedTuple):
    """The shards of what follows from the scores, one of each per shard of the pairs."""

    scored: list[Path]
    selected: list[Path]
    columns: list[Path]


def measure_selection(folder: Path, clean: list[Path], lines: int) -> Shards:
    """Measure selection, and the columns of its pairs, on a tenth of the pairs."""
    shards = max(1, lines // SHARD_LINES)
    model = lone_segmenter(folder)
    config = {"method": "cluster", "clusters": 7, "best": 5, "keep": {"max_sum": 3.5}}
    scored, selected, costs = [], [], []
    for path in clean[:shards]:
        rows = (row for index, row in enumerate(read_rows(path, PairRow)) if index % 10 == 0)
        scored.append(write_table(folder / "scored" / path.name, ScoredRow, scored_rows(rows)))
    threshold = folder / "threshold" / "threshold.json"
    options = {"folder": folder / "scored", "shards": shards, "output": threshold}
    cost_of(module("select.threshold", config, **options))
    for path in scored:
        selected.append(folder / "selected" / path.name)
        options = {
            **{"scored": path, "threshold": threshold, "model": model},
            "output": selected[-1],
        }
        costs.append(cost_of(module("select.shard", config, **options)))
    show("select, ten candidates each", rows_of(scored), costs)
    columns, costs = [], []
    for path in selected:
        columns.append(folder / "columns" / path.name)
        costs.append(cost_of(module("filter.columns", {}, paraphrases=path, output=columns[-1])))
    show("filter, columns of pairs", rows_of(columns), costs)
    return Shards(scored, selected, columns)


def rows_of(shards: list[Path]) -> int:
    """Return how many rows some shards have."""
    return sum(read_record(path)["rows_out"] for path in shards)


def measure_whole_stages(folder: Path, known: Shards, lines: int) -> None:
    """Measure what reads all shards of a stage at once."""
    folder.mkdir()
    shards = max(1, lines // rows_of(known.scored[:1]))
    scored, selected, columns = (
        repeated(paths, folder / name, shards) for name, paths in known._asdict().items()
    )
    options = {"folder": folder / "scored", "shards": shards}
    command = module(
        "select.threshold", {"keep": {"quantile": 0.5}}, **options, output=folder / "threshold.json"
    )
    show("score files, threshold", rows_of(scored), [cost_of(command)])
    settings = {
        "bounds": {"intersection_over_union": [None, 0.7]},
        "folds": {"column": "translation_cost", "of": 10, "keep": [1, 2, 3, 4, 5]},
        **{"sample": lines // 2, "max_tokens": None, "seed": 1},
    }
    options = {"folder": folder / "columns", "shards": shards}
    command = module("filter.training_set", settings, **options, output=folder / "pairs.parquet")
    show("filter, training set", rows_of(columns), [cost_of(command)])
    options = {"folder": folder / "selected", "shards": shards}
    settings = {"best": 5, "languages": {"reference": "en"}}
    command = module("release.export", settings, **options, output=folder / "release")
    show("release", rows_of(selected), [cost_of(command)])


def measure_stages(folder: Path, sizes: Sequence[int]) -> None:
    """Print a table of the stages at each size."""
    print(
        "| stage | rows | jobs | MB | CPU seconds | microseconds a row |\n|---|---|---|---|---|---|"
    )
    known = Shards([], [], [])
    for lines in sizes:
        clean = measure_pairs(folder / f"pairs-{lines}", lines)
        known = measure_selection(folder / f"pairs-{lines}", clean, lines)
    for lines in sizes:
        measure_whole_stages(folder / f"whole-{lines}", known, lines)


def main() -> None:
    """Measure the DAG, the starts of jobs, the stages, or all of it."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", nargs="?", choices=("dag", "starts", "stages"))
    parser.add_argument("--lines", type=int, nargs="+", default=LINES)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        if arguments.what in (None, "dag"):
            measure_dags(Path(folder))
        if arguments.what in (None, "starts"):
            measure_starts()
        if arguments.what in (None, "stages"):
            measure_stages(Path(folder), arguments.lines)


if __name__ == "__main__":
    main()
