"""The texts that a run tests on: no encoder of the run learns from them beforehand."""

from collections.abc import Mapping
from pathlib import Path

from workflow_scripts.plan.catalogues.encoder_tasks import chosen_files
from workflow_scripts.stages.embed.evaluation import read_collected, text_keys
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.encoder.tasks.problems import task_of


def tested_on(evaluation: Path, folders: Mapping[str, str]) -> set[int]:
    """Return the keys of all texts of STS data, and of the examples that tasks report on.

    Args:
        evaluation: the STS data (Parquet).
        folders: of the tasks' data, by the tasks' names.

    Raises:
        InputError: the STS data are damaged; or see `reported`.
    """
    return text_keys(read_collected(evaluation)) | reported(folders)


def reported(folders: Mapping[str, str]) -> set[int]:
    """Return the keys of all texts of the examples that tasks report on.

    Args:
        folders: of the tasks' data, by the tasks' names.

    Raises:
        InputError: files are missing, or not as their format says.
    """
    return {
        key(text)
        for task, folder in folders.items()
        for part in task_of(task, {}).read(Path(folder)).tested.values()
        for example in part
        for text in example.key()
    }


def files(folders: Mapping[str, str]) -> list[Path]:
    """Return the files of tasks, given their folders by name."""
    return [
        Path(folder, name)
        for task, folder in folders.items()
        for name in chosen_files(task, Path(folder))
    ]
