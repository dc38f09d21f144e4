"""The stage `clean`: normalised pairs without duplicates (docs/clean.md)."""

from typing import Any

from workflow_scripts.plan import selection
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.clean.checks import problems


class Clean(Stage):
    """One unit, which reads all corpora."""

    name = "clean"
    version = 2
    row = "pairs"
    released = True
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [None] if selection.corpora(self.config) else []

    def reads(self, instance: None) -> list[Unit]:
        return [("corpus", name) for name in selection.corpora(self.config)]

    def shards(self, instance: None) -> int:
        return self.config["shards"]["early"]

    def sections(self) -> dict[int, str]:
        return {25: "workflow_scripts.stages.clean.report:characters"}

    def settings(self, instance: None) -> dict[str, Any]:
        sides = self.config["languages"]
        limits = {k: v for k, v in self.config["clean"].items() if k != "max_line_bytes"}
        if limits.get("filter"):
            del limits["filter"]  # as if left out: the names of existing folders follow from it
        if "language_confidence" in limits:
            limits["language_confidence"] = {
                side: {"code": sides[side]["code"], "least": least}
                for side, least in limits["language_confidence"].items()
            }
        return {
            **limits,
            "charset": {side: sides[side]["charset"] for side in sides},
            "corpora": selection.corpora(self.config),
        }

    def shard_job(self, at: Wildcards) -> Job:
        """Return the job that cleans one shard of every corpus, in the order of their priority."""
        units = self.reads(None)
        return Job(
            "clean.shard",
            reads={"pairs": [self.file(unit, f"{at.shard}.parquet") for unit in units]},
            outputs=["rejected"],
        )
