"""The stage `select`: the paraphrases among the candidates (docs/select.md)."""

from typing import Any

from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage
from workflow_scripts.select.checks import problems


class Select(Stage):
    """One unit for each system."""

    name = "select"
    version = 2
    row = "references"
    released = True
    wildcard = "system"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [*self.config["run"]["systems"]]

    def reads(self, instance: str) -> list[Unit]:
        bound = [("score", "references")] if self.by_references(instance) else []
        return [("score", instance), *bound, ("train", "forward")]

    def by_references(self, system: str) -> bool:
        """Tell whether a system's threshold follows from the scores of the references."""
        return "reference_quantile" in self.settings(system)["keep"]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["late"]

    def records(self, instance: str) -> list[str]:
        return ["thresholding"]

    def files(self, instance: str) -> list[str]:
        return self.shard_files(instance)

    def sections(self) -> dict[int, str]:
        return {90: "workflow_scripts.select.report:references"}

    def settings(self, instance: str) -> dict[str, Any]:
        block = self.config["systems"][instance]["select"]
        keep = {key: value for key, value in block["keep"].items() if value is not None}
        return {**block, "keep": keep}
