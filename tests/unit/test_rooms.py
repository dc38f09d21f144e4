"""The rooms of the package: who may import whom."""

import ast
from collections import defaultdict
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

from workflow_scripts.stages.catalogue import STAGES

ROOT = Path(__file__).resolve().parents[2] / "workflow_scripts"
# The public names, a package of its own above all stages; commands and pages may use it. Beside it
# in its folder stands the command line, which may use everything.
LIBRARY = "paraloom"
COMMAND_LINE = ("__main__", "commands")
# What each stage declares, stages/<stage>/stage.py, and the list stages/catalogue.py. They run
# nothing, and the Snakefile reads them: a room of their own below all stages.
DECLARATIONS = "declarations"
# Modules of a stage that its declaration needs: its checks, and what these read.
_OF_DECLARATIONS = {"stage.py", "checks.py", "unit_kinds.py", "filter/embedding_columns.py"}
_OF_DECLARATIONS |= {"generate/rewriter_checks.py", "transfer/tasks.py"}
_OF_DECLARATIONS |= {"train/model_checks.py", "syntax/parser_files.py", "release/licences.py"}
# The filter of the bitext has models of its own, which are trained before.
_FLOW = [stage.name for stage in STAGES if stage.name != "dual_filter"]
_FLOW.insert(_FLOW.index("train") + 1, "dual_filter")
# From the ground up. A room imports itself and rooms before it. Stages stand in the order of the
# flow; then come what looks at runs, and the pages.
ORDER = (
    *("core", "nmt", "testbed", "plan", "encoding", DECLARATIONS),
    *(*_FLOW, LIBRARY, "commands", "apps"),
)
# These import the core and themselves, and nothing else.
ON_THE_CORE_ALONE = {"nmt", "testbed", "plan"}
# And these the core and the plan; encoding has networks that are made of the search core's blocks.
ON_THE_PLAN = {"encoding": {"nmt"}, DECLARATIONS: set()}


def room_of(parts):
    """Return the room of a module, given as its names below workflow_scripts, or from LIBRARY."""
    door, *names = [part.removesuffix(".py") for part in parts]
    if door != "stages":
        return door
    file = f"{'/'.join(names)}.py"
    own = names[0] == "catalogue" or {file, file.rpartition("/")[2]} & _OF_DECLARATIONS
    return DECLARATIONS if own else names[0]


def allowed(room):
    """Return the rooms that a room may import."""
    if room in ON_THE_CORE_ALONE:
        return {"core"}
    if room in ON_THE_PLAN:
        return {"core", "plan"} | ON_THE_PLAN[room]
    return set(ORDER[: ORDER.index(room)])


def module_name(file):
    """Return the dotted name of a module, given as its file."""
    return ".".join(file.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")


def parts_of(file):
    """Return the names of a file below workflow_scripts, or from LIBRARY."""
    return file.relative_to(ROOT if file.is_relative_to(ROOT) else ROOT.parent).parts


MODULES = {module_name(file): file for file in ROOT.rglob("*.py")}
OF_LIBRARY = {module_name(file): file for file in (ROOT.parent / LIBRARY).rglob("*.py")}


def modules_imported(file):
    """Yield the modules of ours that a file imports, by their dotted names."""
    known, package = MODULES | OF_LIBRARY, file.relative_to(ROOT.parent).parts[:-1]
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            named = [(alias.name, "") for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            above = package[: len(package) + 1 - node.level] if node.level else ()
            parent = ".".join([*above, *filter(None, [node.module])])
            named = [(f"{parent}.{alias.name}", parent) for alias in node.names]
        else:
            continue
        # `from package import module` and `from module import name` look alike.
        yield from {name if name in known else parent for name, parent in named} & known.keys()


def imports_of(file):
    """Return the rooms that a file imports, without its own."""
    files = [(MODULES | OF_LIBRARY)[name] for name in modules_imported(file)]
    return {room_of(parts_of(each)) for each in files} - {room_of(parts_of(file))}


# What is in no room, as it is empty.
_NO_ROOM = {"__init__.py", "stages/__init__.py"}
FILES = sorted(
    file for file in ROOT.rglob("*.py") if file.relative_to(ROOT).as_posix() not in _NO_ROOM
)
FILES += [
    file
    for file in sorted((ROOT.parent / LIBRARY).rglob("*.py"))
    if not file.relative_to(ROOT.parent / LIBRARY).parts[0].startswith(COMMAND_LINE)
]


def test_every_package_has_its_place():
    doors = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    stages = {path.parent.name for path in ROOT.glob("stages/*/__init__.py")}
    assert set(ORDER) == (doors - {"stages"}) | stages | {DECLARATIONS, LIBRARY}
    assert {path.name for path in ROOT.glob("*.py")} == {"__init__.py"}
    assert {path.name for path in ROOT.glob("stages/*.py")} == {"__init__.py", "catalogue.py"}
    assert len(list(ROOT.glob("core/*.py"))) <= 13  # and no more: what is in core is of every room


@pytest.mark.slow
@pytest.mark.parametrize("room", ORDER)
def test_a_room_imports_only_rooms_before_it(room):
    assert not {
        (file.name, other)
        for file in FILES
        if room_of(parts_of(file)) == room
        for other in imports_of(file) - allowed(room)
    }


def test_no_modules_import_each_other_in_a_circle():
    graph = {
        name: MODULES.keys() & {*modules_imported(file)} - {name} for name, file in MODULES.items()
    }
    assert "workflow_scripts.plan.stage" in graph["workflow_scripts.plan.layout"]
    TopologicalSorter(graph).prepare()  # a circle is an error, which names its modules


# Names that modules of several stages have, each for its own stage.
ROLES = {
    "stage",  # its declaration
    "checks",  # what is wrong with its block beyond the schema
    "unit_kinds",  # the kinds of its units, for its declaration
    "shard",  # the command that makes a shard
    "train",  # the command that trains its model
    "training",  # the loop of that training
    "results",  # its figures, as report and tables read them
    "report",  # its sections of the report
    "tables",  # its tables of the release
    "doubts",  # when its figures say that nothing good can come of it
}


def test_different_modules_have_different_names():
    files = defaultdict(list)
    for file in ROOT.rglob("*.py"):
        if file.stem not in ROLES | {"__init__", "__main__"}:
            files[file.stem].append(file.relative_to(ROOT).as_posix())
    assert not [sorted(alike) for alike in files.values() if len(alike) > 1]
