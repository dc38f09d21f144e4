"""The stage `toy`: the words of each released reference. Tests add it to a copy of the workflow."""

from typing import Any

from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage


class Toy(Stage):
    """One unit, which reads the release."""

    name = "toy"
    version = 1
    row = "references"
    released = False

    def instances(self) -> list[str | None]:
        return [None]

    def reads(self, instance: None) -> list[Unit]:
        return [("release", None)]

    def shards(self, instance: None) -> int:
        return self.config["shards"]["early"]

    def settings(self, instance: None) -> dict[str, Any]:
        return {**self.config["toy"], "systems": self.config["run"]["systems"]}

    def shard_job(self, at: Wildcards) -> Job:
        """Return the job that writes the words of a shard."""
        return Job(
            "toy.shard",
            awaits=[self.manifest(("release", None))],
            options={
                "folder": self.layout.folder("release"),
                "shards": self.layout.shards("clean"),
            },
        )
