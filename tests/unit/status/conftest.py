"""A run folder of the default configuration, without a Snakemake."""

import json

import pytest

from tests.configs import run_on_testbed
from workflow_scripts.plan.run.run_folders import link_run
from workflow_scripts.stages.catalogue import run_layout


class Run:
    """A run whose files the tests write."""

    def __init__(self, root):
        self.root = root
        config = run_on_testbed()
        self.layout = run_layout(config)
        self.folder = link_run(self.layout, root / "runs")

    @property
    def parts(self):
        units = self.layout.units()
        return sum(len(self.layout.records(*u)) for u in units)

    def part(self, unit, name):
        return f"{self.layout.folder(*unit)}/{name}.json"

    def write_record(self, unit, name, rows_in, rows_out, **rejected):
        path = self.root / self.part(unit, name)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"rows_in": rows_in, "rows_out": rows_out, "rejected": rejected}
        path.write_text(json.dumps(record), encoding="utf-8")

    def write_log(self, unit, name, text):
        """Write a job's log and return its name."""
        log = "/".join(filter(None, ["results/logs", *unit, self.layout.key(*unit), f"{name}.log"]))
        path = self.root / log
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
        return log

    def write_benchmark(self, unit, name, seconds):
        folder = self.root / "results" / "benchmarks" / "/".join(filter(None, unit))
        path = folder / self.layout.key(*unit) / f"{name}.tsv"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"s\th:m:s\n{seconds}\t-\n", encoding="utf-8")


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Run(tmp_path)
