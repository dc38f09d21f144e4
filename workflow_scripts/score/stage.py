"""The stage `score`: the backward NLL of each distinct candidate (docs/score.md)."""

from typing import Any

from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage


class Score(Stage):
    """One unit for each system."""

    name = "score"
    version = 1
    row = "references"
    released = True
    wildcard = "system"

    def instances(self) -> list[str | None]:
        return [*self.config["run"]["systems"]]

    def reads(self, instance: str) -> list[Unit]:
        return [("generate", instance), ("train", "backward")]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["late"]

    def settings(self, instance: str) -> dict[str, Any]:
        block = self.config["systems"][instance]["score"]
        return {**block, "precision": self.config["compute"]["precision"]}
