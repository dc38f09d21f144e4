"""How rules are written: one order of directives, quoted values, logs, environments.

Why so: docs/architecture.md, "Rules".
"""

import importlib.util
import re
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.commands import started
from workflow_scripts.stages.catalogue import STAGES

ROOT = Path(__file__).resolve().parents[2]
ORDER = ["input", "output", "params", "log", "benchmark", "threads", "resources", "conda"]
ORDER += ["localrule", "shell"]
NEEDED = {"output", "log", "benchmark", "resources", "conda", "shell"}


class Rule(NamedTuple):
    """A rule as it is written: the text of each directive, in order."""

    file: Path
    name: str
    directives: dict[str, str]


def read_rules(file: Path) -> list[Rule]:
    """Return the rules of a file that snakefmt has formatted."""
    rules = []
    blocks = re.split(r"^rule (\w+):\n", file.read_text(encoding="utf-8"), flags=re.M)[1:]
    for name, block in zip(blocks[::2], blocks[1::2], strict=True):
        body = re.match(r"(?: {4}.*\n|\n)*", block)[0]
        parts = re.split(r"^ {4}(\w+):", body, flags=re.M)[1:]
        rules.append(Rule(file, name, dict(zip(parts[::2], parts[1::2], strict=True))))
    return rules


FILES = sorted((ROOT / "rules").glob("*.smk"))
ALL = [rule for file in FILES for rule in read_rules(file)]
# What all rules use, and what guards a run.
FUNCTIONS = ("common", "guards")
NAMES = [stage.name for stage in STAGES]
TARGETS = [rule for rule in ALL if rule.name in NAMES]
JOBS = [rule for rule in ALL if rule.name not in NAMES]
# But for one that says what another Python has, which knows nothing of ours.
OURS = [rule for rule in JOBS if rule.name != "train_mxnet"]


def named(rule: Rule) -> str:
    return rule.name


def test_each_stage_has_its_rule_file_target_and_package():
    stages = set(NAMES)
    assert {file.stem for file in FILES} == {*stages, *FUNCTIONS, "manifest"}
    assert {rule.name: rule.file.stem for rule in TARGETS} == {each: each for each in stages}
    for stage in stages:
        assert (ROOT / "workflow_scripts" / "stages" / stage / "__init__.py").is_file()


def test_files_have_functions_or_rules():
    for file in [*FILES, ROOT / "Snakefile"]:
        defines = bool(re.search(r"^def ", file.read_text(encoding="utf-8"), re.M))
        assert defines == (file.stem in FUNCTIONS), file
    assert not [rule for rule in ALL if rule.file.stem in FUNCTIONS]


def test_every_rule_file_is_included():
    included = re.findall(r'include: "rules/(\w+)\.smk"', (ROOT / "Snakefile").read_text("utf-8"))
    assert sorted(included) == [file.stem for file in FILES]
    assert included[:2] == [*FUNCTIONS]


@pytest.mark.parametrize("rule", TARGETS, ids=named)
def test_target_rule_asks_for_the_manifests_of_its_stage(rule):
    assert rule.directives.keys() == {"input"}
    assert rule.directives["input"].split() == [f'stage_target("{rule.name}"),']


@pytest.mark.parametrize("rule", JOBS, ids=named)
def test_directives_are_complete_and_in_order(rule):
    written = list(rule.directives)
    assert written == [name for name in ORDER if name in written]
    assert set(written) >= NEEDED


@pytest.mark.parametrize("rule", JOBS, ids=named)
def test_rule_states_memory_time_log_and_an_environment_that_exists(rule):
    for resource in ("mem_mb", "runtime"):
        assert re.search(rf"\b{resource}=grows\(\d+\)", rule.directives["resources"])
    assert re.search(r'"<results>/logs/.*\.log"', rule.directives["log"])
    assert re.search(r'"<results>/benchmarks/.*\.tsv"', rule.directives["benchmark"])
    environment = re.search(r'"(.*)"', rule.directives["conda"])[1]
    assert (rule.file.parent / environment).is_file()


@pytest.mark.parametrize("rule", OURS, ids=named)
def test_inputs_and_command_are_those_that_the_stage_declares(rule):
    """Nothing of the interface of a job is written twice."""
    stage = rule.file.stem
    job = f'"{stage}", "{rule.name.removeprefix(f"{stage}_")}"'
    if rule.name == "manifest":  # of every stage
        job = 'None, "manifest"'
    written = {name: text.strip() for name, text in rule.directives.items()}
    assert written.get("input", f"unpack(reads({job})),") == f"unpack(reads({job})),"
    assert written["params"] == f"command=command({job}),"
    assert re.fullmatch(r'run\(("\w+"(, )?)*\)', written["shell"])


@pytest.mark.parametrize("rule", JOBS, ids=named)
def test_what_a_job_is_told_of_the_machine_is_a_resource_of_its_rule(rule):
    told = re.findall(r'"(\w+)"', rule.directives["shell"])
    for name in told:
        if name == "threads":
            assert "threads" in rule.directives
        else:
            assert re.search(rf"\b{name}=", rule.directives["resources"]), name


@pytest.mark.parametrize("rule", OURS, ids=named)
def test_command_is_a_module_of_the_stage(rule):
    module = started()[rule.name]
    assert module.split(".")[:2] == (
        ["core", "files"] if rule.name == "manifest" else ["stages", rule.file.stem]
    )
    assert importlib.util.find_spec(f"workflow_scripts.{module}")


@pytest.mark.parametrize("rule", JOBS, ids=named)
def test_data_comes_with_its_record(rule):
    """Snakemake makes and deletes the two together, so that neither is without the other."""
    outputs = rule.directives["output"]
    if ".parquet" in outputs:
        assert ".json" in outputs
