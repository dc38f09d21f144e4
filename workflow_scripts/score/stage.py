"""The stage `score`: NLLs of the candidates, and of the references (docs/score.md)."""

from typing import Any

from workflow_scripts.core import selection
from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage


class Score(Stage):
    """One unit for each system, and `references` where the references are scored themselves."""

    name = "score"
    version = 2
    row = "references"
    released = True
    wildcard = "system"

    def instances(self) -> list[str | None]:
        references = ["references"] if selection.reference_scores(self.config) else []
        return [*references, *self.config["run"]["systems"]]

    def reads(self, instance: str) -> list[Unit]:
        models = ["forward"] if instance == "references" else []
        return [("generate", instance), *(("train", role) for role in (*models, "backward"))]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["late"]

    def settings(self, instance: str) -> dict[str, Any]:
        block = {} if instance == "references" else self.config["systems"][instance]["score"]
        return {**block, "precision": self.config["compute"]["precision"]}
