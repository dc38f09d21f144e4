"""Files about the project say the same as the project."""

import argparse
import ast
import re
import shlex
import sys
import tomllib
from itertools import takewhile
from pathlib import Path

import pytest
import yaml
from snakemake.cli import get_argument_parser

from paraloom.commands import main

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


PAGES = [
    *(ROOT / "README.md", ROOT / "CONTRIBUTING.md"),
    *sorted((ROOT / "docs").glob("*.md")),
    *sorted((ROOT / "reports").glob("*.md")),
]
FENCED, INLINE = r"(?ms)^```\w*\n(.*?)^```", r"`([^`]+)`"
# What stands for files and rules of the user in commands.
OWN = {"mine", "mine.yaml", "judged.yaml", "pins.yaml"}
STANDS_FOR = {"N": "8", "JSON": "{}"}


def commands(code):
    """Return the words of each command of ours in a piece of code, as a shell has them."""
    for name, value in re.findall(r"(?m)^(\w+)=(\S+)$", code):
        code = code.replace(f"${name}", value)
    for line in re.sub(r"\s*\\\n\s*", " ", code).splitlines():
        if found := re.search(r"(?:^|\$ |\| )((snakemake|paraloom|make|python(?! -c)) .*)", line):
            optional_too = re.sub(r"\[(--[^]]*)\]|\.\.\. ?", r"\1", found[1])
            words = [STANDS_FOR.get(word, word) for word in shlex.split(optional_too, True)]
            yield words[0], [*takewhile(lambda word: word[0] not in "|>;", words[1:])]


def has_commands(text):
    pieces = [*re.findall(FENCED, text), *re.findall(INLINE, re.sub(FENCED, "", text))]
    return any(words for code in pieces for _, words in commands(code))


def check_snakemake(words):
    parsed = get_argument_parser().parse_args(words)
    rules = "".join(file.read_text() for file in (ROOT / "rules").glob("*.smk"))
    for name in {*map(str, parsed.configfile or [])} - OWN:
        assert (ROOT / name).is_file(), name
    assert {*parsed.targets} <= {*re.findall(r"(?m)^rule (\w+):", rules)} | OWN
    assert (ROOT / (parsed.workflow_profile or "")).is_dir()


def check_make(words):
    targets = re.findall(r"(?m)^([\w-]+):", text("Makefile"))
    assert {word for word in words if "=" not in word} <= {*targets}


def check_python(words):
    """A module or program of ours is there, and knows the options."""
    if words[:2] == ["-m", "pytest"]:
        assert all((ROOT / word).exists() for word in words[2:] if not word.startswith("-"))
        return
    name = words[1].replace(".", "/") if words[0] == "-m" else words[0].removesuffix(".py")
    program = "".join(map(text, [*ROOT.glob(f"{name}.py"), *ROOT.glob(f"{name}/*.py")]))
    assert program, words
    ours = takewhile(lambda word: word != "snakemake", words)
    assert all(f'"{word}"' in program for word in ours if word.startswith("--"))


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_commands_of_a_page_are_there_and_know_their_options(page, monkeypatch, capfd):
    """Each in a block of code, and elsewhere those that are not ours alone; nothing is run."""
    parse = argparse.ArgumentParser.parse_args

    def parsed(parser, words=None, namespace=None):
        parse(parser, words, namespace)
        raise SystemExit(0)

    def check_paraloom(words):
        if words[0] == "run":
            return check_snakemake(["--configfile", *(word for word in words[1:] if word != "--")])
        with monkeypatch.context() as patch, pytest.raises(SystemExit) as end:
            patch.setattr(sys, "argv", sys.argv)
            patch.setattr(argparse.ArgumentParser, "parse_args", parsed)
            main(words)
        assert end.value.code == 0, capfd.readouterr().err
        return None

    checks = {"snakemake": check_snakemake, "make": check_make, "python": check_python}
    content = page.read_text(encoding="utf-8")
    for code in re.findall(FENCED, content):
        for program, words in commands(code):
            checks.get(program, check_paraloom)(words)
    for code in re.findall(INLINE, re.sub(FENCED, "", content)):
        for program, words in commands(re.sub(r"\s+", " ", code)):
            checks.get(program, list)(words)


def tables_of_results(section):
    """Return the heads of tables with a quarter of figures, but for those of keys and files."""
    for table in re.findall(r"(?:^\|.*\n)+", f"{section}\n", re.M):
        head, _, *rows = table.splitlines()
        cells = [cell.strip() for row in rows for cell in row.strip("|").split("|")[1:]]
        figures = [cell for cell in cells if re.match(r"[-+.<]?\d", cell)]
        if not re.search("meaning|files", head) and 4 * len(figures) > len(cells):
            yield head


def test_each_table_of_results_stands_with_a_command_that_makes_it():
    """In its section, or in what stands before the first section in one that holds it."""
    found = []
    for page in PAGES:
        content = re.sub(
            FENCED, lambda code: code[0].replace("\n#", "\n #"), page.read_text("utf-8")
        )
        above = []
        for hashes, section in re.findall(r"(?ms)^(#+) (.*?)(?=^#+ |\Z)", content):
            above = [*above[: len(hashes) - 1], section]
            for head in tables_of_results(section):
                assert any(map(has_commands, above)), (page.name, head)
                found.append(head)
    assert len(found) > 40


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
