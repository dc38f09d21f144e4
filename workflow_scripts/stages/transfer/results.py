"""What representations reached in the transfer tasks, as the report reads it."""

from typing import Any

import pandas as pd

from workflow_scripts.core.files.manifest import read_json, verify
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.transfer.tasks import TASKS

TASKS_UNIT = "tasks"
# A representation in one state, whichever seed an embedding has.
MODEL = ["name", "training_set", "state"]
_FIGURES = ["metric", "value", "low", "high", "development"]


def tasks(run: FinishedRun) -> dict[str, Any]:
    """Return what is told of the run's tasks: `tasks` by name, and those that are `missing`."""
    extra = verify(run.folder("transfer", TASKS_UNIT) / "sentences.json")["extra"]
    # Records have sorted keys.
    tasks = {name: extra["tasks"][name] for name in TASKS if name in extra["tasks"]}
    for name, task in tasks.items():
        task["rows"] = {part: task["rows"][part] for part in TASKS[name].files}
    return {**extra, "tasks": tasks}


def tested(run: FinishedRun) -> pd.DataFrame:
    """Return a row for each representation, state, seed and task, in the order of the run.

    Returns:
        `name`, the entry of an embedding, or the name of an encoder, of word vectors, of the bag;
        `training_set` and `seed` of an embedding, else empty and None; `state` (`trained`,
        `untrained` or `given`), `task`, `metric`, `value`, `low`, `high`, `development`; `gain` of
        training; `seen`, the tested rows that a training pair has; and the unit's `settings`.
    """
    names, rows = tasks(run)["tasks"], []
    for instance in run.instances("transfer"):
        if instance == TASKS_UNIT:
            continue
        result = read_json(run.folder("transfer", instance) / "transfer.json", "testing")
        config = result["config"]
        rows += [
            {
                **{"name": config.get("entry", instance), "state": state, "task": task},
                **{"training_set": config.get("training_set", ""), "settings": config},
                **{"seed": config.get("repetition"), "gain": result["gain"].get(task)},
                **{"seen": result["seen"] and result["seen"][task], **of_state[task]},
            }
            for state, of_state in result["states"].items()
            for task in names
        ]
    columns = [*MODEL, "seed", "settings", "task", "gain", "seen", *_FIGURES]
    table = pd.DataFrame(rows, columns=columns, dtype=object)
    return table.loc[table.groupby(MODEL, sort=False).ngroup().sort_values(kind="stable").index]
