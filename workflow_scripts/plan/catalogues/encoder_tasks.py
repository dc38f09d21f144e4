"""The tasks that encoders are tuned on in `encoder_tasks`: names, and what their folders hold.

The Snakefile imports this module: only the standard library.
"""

from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.schema import filled

# States of an encoder: before and after it was tuned on paraphrases.
PLAIN_STATE, TUNED_STATE = "plain", "tuned"


class TaskFiles(NamedTuple):
    """What the folder of a task holds.

    Attributes:
        choices: sets of files; the first that is there whole is read.
        source: where they come from.
    """

    choices: tuple[tuple[str, ...], ...]
    source: str

    def needed(self) -> str:
        """Return the sets of files, for messages."""
        return ", or ".join(" and ".join(files) for files in self.choices)

    def chosen(self, names: set[str]) -> tuple[str, ...] | None:
        """Return the first set of files of which none is missing among `names`."""
        return next((files for files in self.choices if set(files) <= names), None)


# In the order of ParaBank 2's Tables 4 and 5, then SICK-E.
ENCODER_TASKS = {
    "QQP": TaskFiles((("train.tsv", "dev.tsv"),), "GLUE"),
    "MNLI": TaskFiles((("train.tsv", "dev_matched.tsv", "dev_mismatched.tsv"),), "GLUE"),
    "STS-B": TaskFiles(
        (("train.tsv", "dev.tsv"), ("sts-train.csv", "sts-dev.csv"), ("sts-dev.csv",)),
        "GLUE or STS Benchmark",
    ),
    "MRPC": TaskFiles(
        (
            ("train.tsv", "dev.tsv"),
            ("msr_paraphrase_train.txt", "dev_ids.tsv"),
            ("msr_paraphrase_train.txt", "msr_paraphrase_test.txt"),
        ),
        "GLUE or Microsoft's corpus",
    ),
    "SQuAD": TaskFiles((("train-v2.0.json", "dev-v2.0.json"),), "SQuAD 2.0"),
    "SICK-E": TaskFiles(
        (("SICK_train.txt", "SICK_trial.txt", "SICK_test_annotated.txt"),), "SICK, as SentEval"
    ),
}


def tested_encoders(config: dict[str, Any]) -> list[str]:
    """Return the encoders of a run that are tuned on tasks: those that it names, if there are any.

    Encoders that are only behind columns are not.
    """
    # Configurations of earlier runs lack the keys.
    return config["run"].get("encoders", []) if "encoder_tasks" in config else []


def encoder_tasks(config: dict[str, Any]) -> dict[str, Any]:
    """Return the block of the tasks with its defaults; its tasks stand in the order of the list."""
    block = filled(config["encoder_tasks"], "encoder_tasks")
    block["data"] = {name: block["data"][name] for name in ENCODER_TASKS if name in block["data"]}
    return block


def chosen_files(task: str, folder: Path) -> list[str]:
    """Return the names of a task's files in its folder.

    Raises:
        InputError: they are not there.
    """
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    chosen = ENCODER_TASKS[task].chosen(names)
    if chosen is None:
        raise InputError(
            f"{task}: {folder} does not hold the files of {ENCODER_TASKS[task].source}: "
            f"{ENCODER_TASKS[task].needed()}; put them there, or leave the task out"
        )
    return list(chosen)


def answers_name(task: str, state: str, seed: int | str) -> str:
    """Return the name of what an encoder answered in a task, without a suffix."""
    return f"{task}-{state}-{seed}"
