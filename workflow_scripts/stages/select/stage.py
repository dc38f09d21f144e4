"""The stage `select`: the paraphrases among the candidates (docs/select.md)."""

from typing import Any

from workflow_scripts.plan.catalogues.judges import judge_of
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.schema import defaults
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.judge.stage import fitted_units
from workflow_scripts.stages.select.checks import PROBABILITIES, problems


class Select(Stage):
    """One unit for each system."""

    name = "select"
    version = 3
    row = "references"
    released = True
    wildcard = "system"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [*self.config["run"]["systems"]]

    def reads(self, instance: str) -> list[Unit]:
        bounding = self.bounding(instance)
        judged = [("judge", instance)] if judge_of(self.config, instance) else []
        pieces = self.pieces(instance)
        units = [("score", instance), *bounding.values(), *judged, pieces]
        return list(dict.fromkeys(units))

    def pieces(self, system: str) -> Unit:
        """Return the unit whose folder has the vocabulary by which a system's pieces count.

        A system that merges other runs has no models, and brings one along.
        """
        merges = "merge" in self.config["systems"][system]
        return ("score", system) if merges else ("train", "forward")

    def bounding(self, system: str) -> dict[str, Unit]:
        """Return what a system's threshold needs besides its scores, by the option that names it.

        These are the scores of the references, the probabilities, or the judge with its labels.
        """
        keep = self.settings(system)["keep"]
        units: dict[str, Unit] = {}
        if "reference_quantile" in keep:
            units["references"] = ("score", "references")
        if any(key in keep for key in PROBABILITIES):
            units["judged"] = ("judge", system)
        if "precision" in keep:
            (units["judge"],) = fitted_units(self.config, system)
        return units

    def shards(self, instance: str) -> int:
        return self.config["shards"]["late"]

    def records(self, instance: str) -> list[str]:
        return ["thresholding"]

    def files(self, instance: str) -> list[str]:
        return self.shard_files(instance)

    def sections(self) -> dict[int, str]:
        return {
            5: "workflow_scripts.stages.select.report:references",
            35: "workflow_scripts.stages.select.report:candidates",
        }

    def settings(self, instance: str) -> dict[str, Any]:
        block = self.config["systems"][instance]["select"]
        keep = {key: value for key, value in block["keep"].items() if value is not None}
        usual = defaults("select")
        # Without the defaults, as before there were the keys: the folder stays.
        said = {key: value for key, value in block.items() if value != usual.get(key)}
        settings = {**said, "keep": keep}
        if "merge" in self.config["systems"][instance]:
            settings = {"score": "rank", **settings}
        if settings.keys() & {"judge", "distinct", "new_words"}:
            settings["language"] = self.config["languages"]["reference"]["code"]
        return settings

    def threshold_job(self, at: Wildcards) -> Job:
        """Return the job of the threshold on the scores of a system."""
        scored, bounding = ("score", at.system), self.bounding(at.system)
        options = {name: self.layout.folder(*unit) for name, unit in bounding.items()}
        if "judge" in options:
            options["judge"] += "/judge.json"
        return Job(
            "select.threshold",
            at.system,
            awaits=[self.manifest(unit) for unit in (scored, *bounding.values())],
            options={
                "folder": self.layout.folder(*scored),
                "shards": self.shards(at.system),
                **options,
            },
        )

    def shard_job(self, at: Wildcards) -> Job:
        """Return the job that selects the paraphrases of a shard."""
        shard, pieces = f"{at.shard}.parquet", self.pieces(at.system)
        judged = ("judge", at.system)
        judges = judge_of(self.config, at.system) is not None
        return Job(
            "select.shard",
            at.system,
            reads={
                "scored": self.file(("score", at.system), shard),
                "judged": self.file(judged, shard) if judges else None,
                "threshold": self.file(self.unit(at.system), "threshold.json"),
            },
            awaits=[self.file(pieces, "model.json")],
            options={"model": self.layout.folder(*pieces)},
        )
