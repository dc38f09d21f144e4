"""The stage `evaluate`: measures and statistics of each system (docs/evaluate.md)."""

from typing import Any

from workflow_scripts.core import selection
from workflow_scripts.core.groups import held_out_and_seen
from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage
from workflow_scripts.evaluate.checks import problems
from workflow_scripts.filter.stage import column_units

# References whose candidates are measured at each bound, at most (evaluate/bounds.py).
BOUNDS_SAMPLE = 2000


class Evaluate(Stage):
    """One unit for each system."""

    name = "evaluate"
    version = 4
    row = "references"
    released = True
    wildcard = "system"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [*self.config["run"]["systems"]]

    def reads(self, instance: str) -> list[Unit]:
        parsing = ["syntax"] if selection.parsed(self.config) else []
        read = [(stage, instance) for stage in ("score", "select", *parsing, "filter")]
        own = [("score", "references")] if selection.reference_scores(self.config) else []
        return [*read, *self.columns(instance).values(), ("train", "forward"), *own]

    def records(self, instance: str) -> list[str]:
        bounding = ["bounding"] if selection.reference_scores(self.config) else []
        answering = ["answering"] if self.answers_file() else []
        return ["evaluation", "counting", *bounding, *answering]

    def sections(self) -> dict[int, str]:
        bounds = {45: "workflow_scripts.evaluate.report:bounds"}
        answers = {85: "workflow_scripts.evaluate.report:answers"}
        return {
            40: "workflow_scripts.evaluate.report:scores",
            **(bounds if selection.reference_scores(self.config) else {}),
            **(answers if self.answers_file() else {}),
            50: "workflow_scripts.evaluate.report:diversity",
            60: "workflow_scripts.evaluate.report:statistics",
            80: "workflow_scripts.evaluate.report:quality",
        }

    def tables(self) -> dict[str, str]:
        names = ["diversity", "between_ranks", "lengths", "statistics", "bins"]
        names += ["bounds"] if selection.reference_scores(self.config) else []
        names += ["answers"] if self.answers_file() else []
        return {name: f"workflow_scripts.evaluate.tables:{name}" for name in names}

    def settings(self, instance: str) -> dict[str, Any]:
        corpora = selection.generate_corpora(self.config)
        seen = selection.seen_corpora(self.config)
        all_known = selection.knows_all_seen(self.config)
        part = self.config["evaluate"]
        answers = self.answers_file()
        return {
            "system": instance,
            "best": self.config["systems"][instance]["select"]["best"],
            "groups": held_out_and_seen(corpora, seen, all_known),
            "testbed": [name for name in corpora if "testbed" in self.config["corpora"][name]],
            "bootstrap": part["bootstrap"],
            "statistics": self.statistics_settings(),
            # How the trees come about is the part of the syntax stage.
            "syntax": {"levels": part["syntax"]["levels"]} if part["syntax"] else None,
            "seed": self.config["seed"],
            # Left out where there is none: the names of existing folders follow from the settings.
            **({"answers": answers} if answers else {}),
        }

    def content(self, instance: str) -> dict[str, Any]:
        hashes = [*self.inputs(instance).values()]
        return {**self.settings(instance), **({"answers": hashes} if hashes else {})}

    def inputs(self, instance: str) -> dict[str, str]:
        path = self.answers_file()
        return {path: self.sha256(path, "evaluate.answers")} if path else {}

    def answers_file(self) -> str | None:
        """Return the file of right answers, if the run has one."""
        path = self.config["evaluate"].get("answers")
        return selection.located(self.config, [path])[0] if path else None

    def statistics_settings(self) -> dict[str, Any]:
        """Return the settings of the corpus statistics: the pairs, and columns by kind."""
        part = self.config["evaluate"]
        kinds = {name: self._kind(name) for name in part["columns"]}
        return {"pairs": part["pairs"], "columns": kinds, "seed": self.config["seed"]}

    def _kind(self, column: str) -> str:
        """Return the kind of a column; of a feature its name."""
        ((kind, block),) = self.config["columns"][column].items()
        return block["name"] if kind == "feature" else kind

    def columns(self, system: str) -> dict[str, Unit]:
        """Return the units of the columns that a system's statistics show beside its pairs."""
        return column_units(self.config, system, self.config["evaluate"]["columns"])
