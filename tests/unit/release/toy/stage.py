"""A stage that counts the words of the paraphrases: its declaration, section and table."""

from typing import Any

from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage


class Toy(Stage):
    name = "toy"
    version = 1
    row = "words"
    released = True

    def instances(self) -> list[str | None]:
        return [None]

    def reads(self, instance: None) -> list[Unit]:
        return [("select", system) for system in self.config["run"]["systems"]]

    def records(self, instance: None) -> list[str]:
        return ["words"]

    def files(self, instance: None) -> list[str]:
        return ["count.json"]

    def settings(self, instance: None) -> dict[str, Any]:
        return {}

    def sections(self) -> dict[int, str]:
        return {85: "tests.unit.release.toy.report:word_counts"}

    def tables(self) -> dict[str, str]:
        return {"words": "tests.unit.release.toy.report:words"}
