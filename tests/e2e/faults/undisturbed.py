"""The undisturbed run, and how a disturbed run is compared with it."""

import csv
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.e2e.pipeline import Pipeline, is_data, sha256
from workflow_scripts.stages.catalogue import STAGES as DECLARED

# Stages of the micro run, in the order of the flow; the last three have tests of their own.
_WITHOUT = ("dual_filter", "judge", "syntax", "lexicon", "transfer", "encoder")
STAGES = tuple(stage.name for stage in DECLARED if stage.name not in _WITHOUT)
TRAINED = STAGES[: STAGES.index("train") + 1]
SCORED = STAGES[: STAGES.index("score") + 1]


class Event(NamedTuple):
    """One fault: its kind, the stage that it hit, and the outcome.

    `seconds`: from the start of the command that met the fault to the end of the command that
    repaired it.
    """

    fault: str
    stage: str
    outcome: str
    seconds: float
    right: bool


class Undisturbed:
    """The finished micro run."""

    def __init__(self, pipeline: Pipeline):
        self.pipeline = pipeline
        self.hashes = pipeline.hashes()

    def begun(self, folder: Path, done: tuple[str, ...]) -> Pipeline:
        """Return a copy in a new folder in which only some stages are done."""
        copy = self.pipeline.copy(folder)
        for stage in set(STAGES) - set(done):
            shutil.rmtree(copy.folder / "results" / stage)
        return copy

    def seconds(self, stage: str) -> float:
        """Return how long the longest job of a stage took."""
        folder = self.pipeline.folder / "results" / "benchmarks" / stage
        return max(_benchmarked(folder))

    def wrong_files(self, pipeline: Pipeline) -> list[str]:
        """Return the files of another run that have their final name but wrong bytes.

        There must be none at any moment: a file appears whole or not at all.
        """
        return [
            name
            for name in finished_files(pipeline)
            if sha256(pipeline.folder / name) != self.hashes.get(name)
        ]

    def is_finished(self, pipeline: Pipeline, stage: str) -> bool:
        """Tell whether another run has all files of a stage."""
        files = [name for name in self.hashes if name.startswith(f"results/{stage}/")]
        return all((pipeline.folder / name).exists() for name in files)

    def differences(self, pipeline: Pipeline) -> list[str]:
        """Return the files of a finished run that differ, are missing, or were left behind."""
        found = pipeline.hashes()
        both = found.keys() | self.hashes.keys()
        names = {name for name in both if found.get(name) != self.hashes.get(name)}
        names |= {str(path) for path in (pipeline.folder / "results").rglob(".*.tmp")}
        if "Nothing to be done" not in pipeline.run("--dry-run"):
            names.add("jobs that Snakemake would run again")
        return sorted(names)


def finished_files(pipeline: Pipeline) -> Iterator[str]:
    """Yield the data files of a run that have their final names, below its folder."""
    for path in (pipeline.folder / "results").rglob("*"):
        name = str(path.relative_to(pipeline.folder))
        if is_data(name) and path.is_file():
            yield name


def _benchmarked(folder: Path) -> Iterator[float]:
    for path in folder.rglob("*.tsv"):
        with path.open(encoding="utf-8", newline="") as stream:
            yield from (float(row["s"]) for row in csv.DictReader(stream, delimiter="\t"))


def outcome(differences: list[str]) -> tuple[str, bool]:
    """Return the outcome of a finished run for the table, and whether it is right."""
    if not differences:
        return "same bytes", True
    return f"DIFFERENT: {', '.join(differences[:5])} ({len(differences)} in all)", False
