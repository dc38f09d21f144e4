"""The pipeline as a user runs it: Snakemake in its own process, in its own folder."""

import hashlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from tests.e2e import warm
from workflow_scripts.stages.catalogue import STAGES

ROOT = Path(__file__).resolve().parents[2]
SNAKEFILE = ROOT / "Snakefile"
# A guard against a run that hangs; machines differ by more than the runs of the tests do.
TIMEOUT_SECONDS = 3600
# Below a stage folder, what is not data: Sockeye's work folder, and durations.
_NO_DATA = ("work", "timings.json")
# Folders of results/ that are no stage.
_NO_STAGE = ("logs", "benchmarks")


def environment() -> dict[str, str]:
    """Return the environment of jobs: the Python of the tests comes first, one thread each."""
    interpreter = str(Path(sys.executable).parent)
    path = os.pathsep.join([interpreter, os.environ.get("PATH", "")])
    # The same day on every datasheet, so that runs are compared to the byte.
    day = {"SOURCE_DATE_EPOCH": "1763769600"}
    return {**os.environ, "PATH": path, "OMP_NUM_THREADS": "1"} | day


def quick_environment() -> dict[str, str]:
    """Return the same, with a Python whose jobs are forks, where one is served."""
    given, python = environment(), warm.interpreter()
    return given | {"PATH": f"{python.parent}{os.pathsep}{given['PATH']}"} if python else given


class Pipeline:
    """A working directory with its configuration file.

    `environment` is that of Snakemake and its jobs, `before` a command that starts it, `snakefile`
    the workflow, `cores` how many it uses at once. A run that a test only waits for starts
    its processes by forks (tests/e2e/warm.py), where neither of the first three is changed.
    """

    def __init__(self, folder: Path, config: dict[str, Any]):
        self.folder = folder
        self.config = config
        self.environment = environment()
        self.before: list[str] = []
        self.snakefile = SNAKEFILE
        self.cores = 2
        self.folder.mkdir(parents=True, exist_ok=True)
        text = json.dumps(config)
        # A run that several processes read stays as it is.
        if not (self.config_file.exists() and self.config_file.read_text("utf-8") == text):
            self.config_file.write_text(text, encoding="utf-8")

    @property
    def config_file(self) -> Path:
        return self.folder / "config.json"

    def with_config(self, config: dict[str, Any]) -> "Pipeline":
        """Return the same working directory with another configuration."""
        return Pipeline(self.folder, config)

    def copy(self, folder: Path, linked: bool = False) -> "Pipeline":
        """Return a copy of the working directory; all that is finished here is finished there.

        Args:
            folder: where the copy is made.
            linked: data files of stages are hard links, which nobody may change in place.
        """

        def copied(source: str, target: str) -> None:
            if linked and is_data(os.path.relpath(source, self.folder)):
                os.link(source, target)
            else:
                shutil.copy2(source, target)

        shutil.copytree(self.folder, folder, symlinks=True, copy_function=copied)
        return Pipeline(folder, self.config)

    # --- Snakemake ---------------------------------------------------------------------------

    def command(self, *arguments: str, snakefile: Path | None = None) -> list[str]:
        """Return the command line of Snakemake; targets come first in `arguments`."""
        return [
            *(sys.executable, "-m", "snakemake", *arguments),
            *("--snakefile", str(snakefile or self.snakefile), "--directory", str(self.folder)),
            *("--cores", str(self.cores), "--configfile", str(self.config_file)),
        ]

    @contextmanager
    def started(
        self, *arguments: str, terminal: int | IO[bytes] = subprocess.DEVNULL, quick: bool = False
    ) -> Iterator[subprocess.Popen[bytes]]:
        """Start Snakemake as the leader of its own process group, which ends with the block.

        What the user sees goes to `terminal`. `quick`: it and its jobs are forks.
        """
        command = self.command(*arguments)
        process = subprocess.Popen(
            ["python", *command[1:]] if quick else [*self.before, *command],
            env=quick_environment() if quick else self.environment,
            stdout=terminal,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
                process.wait()

    def attempt(self, *arguments: str) -> tuple[int, str]:
        """Run Snakemake to its end; return its status and all that the user sees."""
        as_usual = (self.environment, self.before, self.snakefile) == (environment(), [], SNAKEFILE)
        with tempfile.TemporaryFile() as terminal:
            with self.started(*arguments, terminal=terminal, quick=as_usual) as process:
                status = process.wait(timeout=TIMEOUT_SECONDS)
            terminal.seek(0)
            return status, terminal.read().decode("utf-8")

    def run(self, *arguments: str) -> str:
        """Run Snakemake, which must succeed; return what the user sees."""
        status, output = self.attempt(*arguments)
        assert status == 0, output
        return output

    def fail(self, *arguments: str) -> str:
        """Run Snakemake, which must fail; return what the user sees."""
        status, output = self.attempt(*arguments)
        assert status != 0, output
        return output

    def planned(self, *arguments: str) -> Counter[str]:
        """Return how many jobs of each rule a dry run announces."""
        return planned_jobs(self.run(*arguments, "--dry-run"))

    # --- what it wrote -----------------------------------------------------------------------

    def unit(self, name: str) -> Path:
        """Return the folder of a unit, e.g. `select.micro`, by the links of the run."""
        return (self.folder / "runs" / self.config["run"]["name"] / name).resolve(strict=True)

    def units(self) -> dict[str, Path]:
        """Return the folders of all units of the run that exist."""
        run = self.folder / "runs" / self.config["run"]["name"]
        return {
            link.name: link.resolve()
            for link in sorted(run.iterdir())
            if link.is_symlink() and link.exists()
        }

    def manifest(self, name: str) -> dict[str, Any]:
        """Return the manifest of a unit."""
        return json.loads((self.unit(name) / "manifest.json").read_text(encoding="utf-8"))

    def folders(self, stage: str) -> set[Path]:
        """Return all versioned folders of a stage, those of other configurations included."""
        return {path.parent for path in (self.folder / "results" / stage).rglob("manifest.json")}

    def hashes(self, *names: str) -> dict[str, str]:
        """Return the SHA-256 of every data file of some units (of all, without names).

        The keys are relative to the working directory.
        """
        units = self.units()
        return {
            str(path.relative_to(self.folder.resolve())): sha256(path)
            for name in names or units
            for path in sorted(units[name].rglob("*"))
            if path.is_file() and not set(path.relative_to(units[name]).parts) & set(_NO_DATA)
        }


def is_data(name: str) -> bool:
    """Tell whether a path below a working directory is of a stage's data, and a final name."""
    results, stage, *parts = (*Path(name).parts, "", "")
    return (
        results == "results"
        and stage not in _NO_STAGE
        and bool("".join(parts))
        and not set(parts) & set(_NO_DATA)
        and not any(part.startswith(".") for part in (stage, *parts))
    )


def result_sums(folder: Path) -> dict[str, str]:
    """Return the SHA-256 and the time of every data file of the results in a working directory."""
    found = {}
    for path in sorted((folder / "results").rglob("*")):
        name = path.relative_to(folder).as_posix()
        if is_data(name) and path.is_file() and not path.is_symlink():
            found[name] = f"{sha256(path)} {path.stat().st_mtime_ns}"
    return found


def sha256(path: Path) -> str:
    """Return the SHA-256 of a file; of a report without the CPU-seconds, which were measured."""
    content = path.read_bytes()
    if path.name == "report.html":
        content = re.sub(rb'<td class="number cost">.*?</td>', b"", content)
    return hashlib.sha256(content).hexdigest()


def planned_jobs(output: str) -> Counter[str]:
    """Return the table of jobs in Snakemake's output, without its total."""
    jobs: Counter[str] = Counter()
    table = re.search(r"^Job stats:\njob +count\n[- ]+\n(.*?)^total ", output, re.M | re.S)
    for line in table[1].splitlines() if table else []:
        rule, count = line.split()
        jobs[rule] = int(count)
    return jobs


def stages_of(jobs: Counter[str]) -> set[str]:
    """Return the stages that some jobs work for; target rules and manifests count for none."""
    return {stage.name for stage in STAGES for rule in jobs if rule.startswith(f"{stage.name}_")}
