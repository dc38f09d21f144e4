"""What representations reached in the transfer tasks, as the report reads it."""

from typing import Any, NamedTuple

from workflow_scripts.core.files.manifest import read_json, verify
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.transfer.tasks import TASKS

TASKS_UNIT = "tasks"


class Tested(NamedTuple):
    """One representation in one state.

    Attributes:
        name: the entry of an embedding, or the name of an encoder, of word vectors, of the bag.
        training_set: of an embedding; else empty.
        state: `trained`, `untrained` or `given`.
        by_seed: transfer.json of each seed of the embedding; of others one.
    """

    name: str
    training_set: str
    state: str
    by_seed: list[dict[str, Any]]

    def values(self, task: str, key: str = "value") -> list[float]:
        """Return a figure of a task, one for each seed of the embedding; none if it is unknown."""
        figures = [of_seed["states"][self.state][task].get(key) for of_seed in self.by_seed]
        return [value for value in figures if value is not None]


def tasks(run: FinishedRun) -> dict[str, Any]:
    """Return what is told of the run's tasks: `tasks` by name, and those that are `missing`."""
    extra = verify(run.folder("transfer", TASKS_UNIT) / "sentences.json")["extra"]
    # Records have sorted keys.
    tasks = {name: extra["tasks"][name] for name in TASKS if name in extra["tasks"]}
    for name, task in tasks.items():
        task["rows"] = {part: task["rows"][part] for part in TASKS[name].files}
    return {**extra, "tasks": tasks}


def tested(run: FinishedRun) -> list[Tested]:
    """Return all that was tested, in the order of the configuration; seeds are put together."""
    by_key: dict[tuple[str, str, str], Tested] = {}
    for instance in run.instances("transfer"):
        if instance == TASKS_UNIT:
            continue
        result = read_json(run.folder("transfer", instance) / "transfer.json", "testing")
        config = result["config"]
        name, training_set = config.get("entry", instance), config.get("training_set", "")
        for state in result["states"]:
            key = (name, training_set, state)
            by_key.setdefault(key, Tested(*key, [])).by_seed.append(result)
    return list(by_key.values())
