"""The entries of golden.json, one for each stage: what the stage makes of a fixed input.

Each stage gets an input of its own that no other stage has made, so that a change of one stage
changes one entry. Texts, counts and structure are hashed; numbers, which differ from CPU to CPU in
their last digits, are summed up and compared with a tolerance. The models have fixed weights.

The input of a stage and what comes out of it is `outputs(folder)` in `tests/golden/<stage>.py`.
"""

import importlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from tests.golden.figures import Outputs, figures
from workflow_scripts.stages.catalogue import STAGES

GOLDEN = Path(__file__).parents[1] / "e2e" / "golden.json"
VERSIONS = {stage.name: stage.version for stage in STAGES}


def outputs_of(stage: str) -> Callable[[Path], Outputs]:
    """Return the function that runs a stage on its input, in an empty folder.

    Raises:
        LookupError: the stage has no module, or the module has no such function.
    """
    try:
        return importlib.import_module(f"tests.golden.{stage}").outputs
    except (ModuleNotFoundError, AttributeError) as error:
        raise LookupError(
            f"the stage {stage} has no golden output: write outputs(folder) in "
            f"tests/golden/{stage}.py ({error})"
        ) from error


def measured(stage: str, folder: Path) -> dict[str, Any]:
    """Run a stage on its input in an empty folder; return its entry of golden.json."""
    torch.set_num_threads(1)
    return {"version": VERSIONS[stage], "outputs": figures(outputs_of(stage)(folder))}


def read_golden() -> dict[str, Any]:
    return json.loads(GOLDEN.read_text(encoding="utf-8")) if GOLDEN.exists() else {}
