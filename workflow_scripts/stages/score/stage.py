"""The stage `score`: NLLs of the candidates, and of the references (docs/select.md)."""

from functools import cache
from typing import Any

from workflow_scripts.core.files.paths import Located
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues import merges
from workflow_scripts.plan.catalogues.merged_runs import (
    PIECES,
    PIECES_RECORD,
    SelectedRun,
    selected_runs,
)
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.select.stage import Select


class Score(Stage):
    """One unit for each system, and `references` where the references are scored themselves.

    A system that merges other runs scores nothing: its candidates are what these have selected.
    """

    name = "score"
    version = 4
    row = "references"
    released = True
    wildcard = "system"

    def instances(self) -> list[str | None]:
        references = ["references"] if selection.reference_scores(self.config) else []
        return [*references, *self.config["run"]["systems"]]

    def reads(self, instance: str) -> list[Unit]:
        if self.merges(instance):
            return []
        models = ["forward"] if instance == "references" else []
        return [("generate", instance), *(("train", role) for role in (*models, "backward"))]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["late"]

    def records(self, instance: str) -> list[str]:
        return [PIECES_RECORD] if self.merges(instance) else []

    def wildcards(self) -> dict[str, list[str]]:
        merge = merges.merging(self.config)
        searched = [name for name in self.config["run"]["systems"] if name not in merge]
        return {"searched": searched, "merge": merge}

    def settings(self, instance: str) -> dict[str, Any]:
        if self.merges(instance):
            runs = self.merged_runs(instance)
            return {
                "runs": [self._told(run) for run in runs],
                "pieces": Located(runs[0].pieces),
                "shards": self.config["shards"]["late"],
            }
        block = {} if instance == "references" else self.config["systems"][instance]["score"]
        # Without what is not asked for: the names of existing folders follow from the settings.
        said = {key: value for key, value in block.items() if value or key == "prune_above"}
        if "of_each_content" in said:
            said["language"] = self.config["languages"]["reference"]["code"]
        return {**said, "precision": self.config["compute"]["precision"]}

    def _told(self, run: SelectedRun) -> dict[str, Any]:
        return {
            "name": run.name,
            "source": run.source,
            "unit": run.unit,
            "folder": Located(run.folder),
            "shards": run.shards,
        }

    def content(self, instance: str) -> dict[str, Any]:
        settings = self.settings(instance)
        if not self.merges(instance):
            return settings
        hashes, runs = self.inputs(instance), self.merged_runs(instance)
        manifests = [hashes[run.manifest] for run in runs]
        merged = [
            {"name": run["name"], "source": run["source"], "selected": manifest}
            for run, manifest in zip(settings["runs"], manifests, strict=True)
        ]
        return {"runs": merged, "pieces": hashes[f"{settings['pieces']}/{PIECES}"]}

    def inputs(self, instance: str) -> dict[str, str]:
        if not self.merges(instance):
            return {}
        key, runs = f"systems.{instance}.merge", self.merged_runs(instance)
        paths = [*(run.manifest for run in runs), f"{runs[0].pieces}/{PIECES}"]
        return {path: self.sha256(path, key) for path in paths}

    def merges(self, instance: str) -> bool:
        """Tell whether a system merges what other runs have selected."""
        return instance in merges.merging(self.config)

    @cache  # noqa: B019 - one declaration lives as long as its process
    def merged_runs(self, system: str) -> list[SelectedRun]:
        """Return the other runs that a system merges."""
        return selected_runs(self.config, system, Select.version)

    def references_job(self, at: Wildcards) -> Job:
        """Return the job that scores a shard of the references themselves."""
        roles = {role: ("train", role) for role in ("forward", "backward")}
        return Job(
            "score.reference_scores",
            "references",
            reads={"references": self.file(("generate", "references"), f"{at.shard}.parquet")},
            awaits=[self.file(unit, "model.json") for unit in roles.values()],
            options={role: self.layout.folder(*unit) for role, unit in roles.items()},
        )

    def shard_job(self, at: Wildcards) -> Job:
        """Return the job that scores the candidates of a shard."""
        model = ("train", "backward")
        return Job(
            "score.shard",
            at.searched,
            reads={"candidates": self.file(("generate", at.searched), f"{at.shard}.parquet")},
            awaits=[self.file(model, "model.json")],
            options={"model": self.layout.folder(*model)},
        )

    def merge_job(self, at: Wildcards) -> Job:
        """Return the job that writes a shard of what other runs have selected."""
        return Job(
            "score.merge",
            at.merge,
            users=list(self.inputs(at.merge)),
            options={"shard": int(at.shard)},
            inputs=True,
        )

    def merge_pieces_job(self, at: Wildcards) -> Job:
        """Return the job that brings their vocabulary along."""
        return Job("score.merge", at.merge, users=list(self.inputs(at.merge)), inputs=True)
