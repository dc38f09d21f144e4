"""Checks of `transfer` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.plan.catalogues import encoder_blocks
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.schema import filled
from workflow_scripts.plan.selection import located
from workflow_scripts.stages.transfer.tasks import found, missing

# Names of units of the stage, which no encoder and no word vectors may have.
TASKS_UNIT, BAG_OF_WORDS = "tasks", "bag_of_words"


def transfer(config: Config) -> dict[str, Any]:
    """Return the block `transfer` with its defaults."""
    return filled(config.get("transfer", {}), "transfer")


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with what the run tests on transfer tasks."""
    block = transfer(config)
    for name in block["embeddings"] or []:
        if name not in config["run"]["embeddings"]:
            yield f"transfer.embeddings: '{name}' is not among run.embeddings"
    named = [*block["sentence_transformers"], *block["vectors"]]
    for name in dict.fromkeys(named):
        if name in (TASKS_UNIT, BAG_OF_WORDS):
            yield f"transfer: '{name}' is the name of a unit of this stage; choose another one"
        if named.count(name) > 1:
            both = "sentence_transformers and in vectors"
            yield f"transfer: '{name}' is in {both}; give one of them another name"
    for name, encoder in block["sentence_transformers"].items():
        yield from encoder_blocks.problems(encoder, f"transfer.sentence_transformers.{name}")


def notes(config: Config) -> Iterator[str]:
    """Yield which tasks the folders lack, where all are meant, and that the tasks are English."""
    block = transfer(config)
    if not block["data"]:
        return
    folders = [path for path in located(config, block["data"]) if Path(path).is_dir()]
    if block["tasks"] is None and (absent := missing(found(folders))):
        yield (
            f"transfer.data: {', '.join(absent)} not there and left out; docs/transfer.md says "
            "which files each one has and where they come from"
        )
    language = config["languages"]["reference"]["code"]
    if language not in ("en", "eng"):
        yield (
            f"transfer.data: embeddings of '{language}' are tested on these tasks; SentEval's are "
            f"English, so name data of '{language}'"
        )
