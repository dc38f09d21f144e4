"""Files about the project say the same as the project."""

import ast
import re
import tomllib
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def test_version_and_licence_are_the_same_everywhere():
    project = tomllib.loads(text("pyproject.toml"))["project"]
    citation = yaml.safe_load(text("CITATION.cff"))
    version, date = re.search(r"(?m)^## ([\d.]+) - (\S+)$", text("CHANGELOG.md")).groups()
    assert project["version"] == citation["version"] == version
    assert str(citation["date-released"]) == date
    assert project["license"] == citation["license"] == "Apache-2.0"
    assert "Apache License" in text("LICENSE")
    assert "Version 2.0" in text("LICENSE")


def test_the_table_of_blocks_has_every_block_of_the_configuration():
    schema = yaml.safe_load(text("workflow_scripts/plan/config.schema.yaml"))
    rows = re.findall(r"(?m)^\| (`.*?) \|", text("config/README.md"))
    named = [block for row in rows for block in re.findall(r"`(\w+)`", row)]
    assert sorted(named) == sorted(schema["properties"])


def test_pre_commit_runs_the_linters_of_make_lint():
    lint = re.search(r"(?m)^lint:.*\n((?:\t.*\n)+)", text("Makefile"))[1]
    hooks = yaml.safe_load(text(".pre-commit-config.yaml"))["repos"][0]["hooks"]
    for hook in hooks:
        command = re.fullmatch(r"\.venv/bin/(\w+(?: check| format)?)\b.*", hook["entry"])[1]
        assert re.search(rf"\$\(RUN\) {command}\b", lint)


def test_the_catalogue_of_workflows_can_list_the_repository():
    """What it asks for: a README with these words, a Snakefile, and rule files named *.smk."""
    readme = text("README.md").lower()
    assert "snakemake" in readme
    assert "workflow" in readme
    assert (ROOT / "Snakefile").is_file()
    assert list((ROOT / "rules").glob("*.smk"))
    usage = yaml.safe_load(text(".snakemake-workflow-catalog.yml"))["usage"]
    uses_conda = "conda:" in "".join(file.read_text() for file in (ROOT / "rules").glob("*.smk"))
    assert usage["software-stack-deployment"]["conda"] is uses_conda


# What a page may leave away before the name of a file.
PLACES = (ROOT, ROOT / "workflow_scripts", ROOT / "requirements")


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_files_that_a_page_for_developers_names_are_there(page):
    suffixes = "py|ya?ml|json|md|smk|svg|txt|in"
    named = re.findall(rf"`([\w./*-]+\.(?:{suffixes})|[\w./-]+/)`", text(page))
    assert named
    alone = {path.name for top in ("workflow_scripts", "tests") for path in (ROOT / top).rglob("*")}
    lost = {name for name in named if not any(any(place.glob(name)) for place in PLACES)}
    assert lost <= alone


# Lines that a function may have, without its docstring and the lists and dicts that it holds.
LONGEST = 60


def lines_of(node):
    return range(node.lineno, node.end_lineno + 1)


def length(function):
    """Return the lines of a function, without its docstring and its data."""
    lines = set(lines_of(function))
    if ast.get_docstring(function):
        lines -= set(lines_of(function.body[0]))
    for node in ast.walk(function):
        if isinstance(node, ast.Dict | ast.List | ast.Tuple | ast.Set):
            lines -= set(lines_of(node)[1:])
    return len(lines)


@pytest.mark.slow
def test_no_function_is_longer_than_a_screen():
    source = ROOT / "workflow_scripts"
    longer = {
        f"{file.relative_to(source).as_posix()}:{node.name}"
        for file in source.rglob("*.py")
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and length(node) > LONGEST
    }
    assert not longer


def test_a_file_of_unit_tests_stays_on_one_worker(request):
    """A pytest that pytest-xdist does not know gives its groups away without a word."""
    if getattr(request.config.option, "loadgroup", False):
        assert request.node.nodeid.endswith("@tests/unit/test_project.py")
