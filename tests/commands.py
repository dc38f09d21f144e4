"""Which module the job of each rule starts: its stage declares it, or the layout for manifests."""

import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
MODULE = re.compile(r"[a-z_]+(\.[a-z_0-9]+)+")


@functools.cache
def started() -> dict[str, str]:
    """Return the module that the job of each rule starts, below `workflow_scripts`."""
    declared = {}
    for file in ROOT.glob("rules/*.smk"):
        text = file.read_text(encoding="utf-8")
        for name, block in re.findall(r"^rule (\w+):\n((?: {4}.*\n|\n)*)", text, re.M):
            if job := re.search(r'command=command\("?(\w+)"?, "(\w+)"\)', block):
                declared[name] = _declared(job[1], job[2])
    return declared


def _declared(stage: str, name: str) -> str:
    """Return the first module that the method names which declares a job."""
    room, of_stage = ROOT / "workflow_scripts", stage != "None"
    file = room / "stages" / stage / "stage.py" if of_stage else room / "plan" / "layout.py"
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if isinstance(node, ast.FunctionDef) and node.name == f"{name}_job":
            for call in ast.walk(node):
                if isinstance(call, ast.Call) and call.args:
                    first = getattr(call.args[0], "value", None)
                    if isinstance(first, str) and first.startswith(
                        f"{stage if of_stage else 'core'}."
                    ):
                        return f"stages.{first}" if of_stage else first
    raise LookupError(f"{file}: {name}_job names no module")
