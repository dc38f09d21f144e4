"""The stage `dual_filter`: pairs that two models believe (docs/clean.md)."""

from typing import Any

from workflow_scripts.plan import selection
from workflow_scripts.plan.config import FILTER_ROLES
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.dual_filter.checks import problems


class DualFilter(Stage):
    """Where it is enabled two units: the scores of all pairs, and the pairs that are kept."""

    name = "dual_filter"
    version = 1
    row = "pairs"
    released = True
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return ["scores", "kept"] if self.config["dual_filter"]["enabled"] else []

    def reads(self, instance: str) -> list[Unit]:
        if instance == "kept":
            return [("clean", None), self.unit("scores")]
        return [("clean", None), *(("train", role) for role in FILTER_ROLES)]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["early"]

    def settings(self, instance: str) -> dict[str, Any]:
        block = self.config["dual_filter"]
        trusted = selection.trusted_corpora(self.config)
        exempt = list(dict.fromkeys([*trusted, *selection.measured_corpora(self.config)[::-1]]))
        if instance == "scores":
            return {"skip": exempt, "precision": self.config["compute"]["precision"]}
        bound = {"sum": "max_sum", "cross_entropy": "min_score"}[block["method"]]
        return {"method": block["method"], bound: block[bound], "trusted": exempt}

    def scores_job(self, at: Wildcards) -> Job:
        """Return the job that scores the pairs of a shard."""
        models = dict(zip(("forward", "backward"), FILTER_ROLES, strict=True))
        return Job(
            "dual_filter.pair_scores",
            "scores",
            reads={"pairs": self.file(("clean", None), f"{at.shard}.parquet")},
            awaits=[self.file(("train", role), "model.json") for role in models.values()],
            options={way: self.layout.folder("train", role) for way, role in models.items()},
        )

    def kept_job(self, at: Wildcards) -> Job:
        """Return the job that keeps the likely pairs of a shard."""
        shard = f"{at.shard}.parquet"
        return Job(
            "dual_filter.keep",
            "kept",
            reads={
                "pairs": self.file(("clean", None), shard),
                "scores": self.file(self.unit("scores"), shard),
            },
        )
