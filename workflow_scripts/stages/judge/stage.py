"""The stage `judge`: the probability that a candidate is a good paraphrase (docs/judge.md)."""

from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any

from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues import encoder_blocks, judges
from workflow_scripts.plan.catalogues.pair_features import (
    COMPARED,
    ENCODER,
    KNOWN_WORDS,
    REFERENCE_NLLS,
    column_features,
    run_grammar,
)
from workflow_scripts.plan.catalogues.rewriters import written_by_rewriter
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.schema import filled
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.judge.checks import problems

# The grammar model of the run's references, and the end of the names of judges that the run fits.
# No name of a system has a dash.
GRAMMAR, FITTED = "run-grammar", "-fitted"
# The keys of a judge that name the files it is fitted to.
_JUDGMENTS = ("labels", "ratings", "reference_texts")
# The models that score labelled pairs, with what they tell.
_SCORERS = {
    "forward": ("forward_nll", "reference_forward_nll", *judges.FORCED),
    "backward": (*COMPARED, "reference_backward_nll"),
}


def fitted_units(config: Config, system: str) -> list[Unit]:
    """Return the unit of the judge of a system, if it is fitted in the run."""
    name = judges.judge_of(config, system)
    is_own = name is not None and judges.is_own(config["judges"][name])
    return [("judge", f"{name}{FITTED}")] if is_own else []


class Judge(Stage):
    """The grammar that judges and columns of the run need, each judge that is fitted, each system.

    An instance is `run-grammar`, `<judge>-fitted` or `<system>`.
    """

    name = "judge"
    version = 2
    row = "references"
    released = True
    wildcard = "system"
    problems = staticmethod(problems)

    @cached_property
    def blocks(self) -> dict[str, dict[str, Any]]:
        """The judges of the run's systems, by name."""
        return {name: judges.block_of(self.config, name) for name in judges.judges(self.config)}

    @cached_property
    def fitted(self) -> dict[str, str]:
        """The judges that the run fits, by their instances."""
        return {
            f"{name}{FITTED}": name for name, block in self.blocks.items() if judges.is_own(block)
        }

    def instances(self) -> list[str | None]:
        columns = column_features(self.config).values()
        asked = [*map(judges.own_grammar, self.blocks.values()), *map(run_grammar, columns)]
        grammar = [GRAMMAR] if any(asked) else []
        systems = self.config["run"]["systems"]
        judged = [name for name in systems if judges.judge_of(self.config, name) is not None]
        return [*grammar, *self.fitted, *judged]

    def reads(self, instance: str) -> list[Unit]:
        if instance == GRAMMAR:
            return [selection.pairs(self.config)]
        block = self._block(instance)
        needs, models = judges.needs(block), self.models(instance)
        if instance in self.fitted:
            roles = [role for role, nlls in _SCORERS.items() if not needs.isdisjoint(nlls)]
            return [*models.values(), *(("train", role) for role in roles)]
        scores = [("score", "references")] if not needs.isdisjoint(REFERENCE_NLLS) else []
        decoder = [("train", "forward")] if self.forced(instance) else []
        fitted = fitted_units(self.config, instance)
        return [("score", instance), *scores, *fitted, *models.values(), *decoder]

    def models(self, instance: str) -> dict[str, Unit]:
        """Return the units that the features of a judge or a system need, by what they are."""
        block = self._block(instance)
        words = KNOWN_WORDS in judges.needs(block)
        return {
            **({"words": ("generate", "words")} if words else {}),
            **({"grammar": self.unit(GRAMMAR)} if judges.own_grammar(block) else {}),
        }

    def forced(self, instance: str) -> bool:
        """Tell whether the features of a judge or a system need forced decoding.

        The forward NLL of a candidate that a rewriter wrote is the rewriter's. Judges are fitted to
        that of the forward model.
        """
        needs = judges.needs(self._block(instance))
        rewritten = "forward_nll" in needs and written_by_rewriter(self.config, instance)
        return rewritten or not needs.isdisjoint(judges.FORCED)

    def shards(self, instance: str) -> int:
        systems = self.config["run"]["systems"]
        return self.config["shards"]["late"] if instance in systems else 0

    def records(self, instance: str) -> list[str]:
        if instance in self.fitted:
            return ["fitting"]
        return ["model"] if instance == GRAMMAR else []

    def files(self, instance: str) -> list[str]:
        return ["judge.json"] if instance in self.fitted else self.shard_files(instance)

    def wildcards(self) -> dict[str, list[str]]:
        return {"fitted": list(self.fitted)}

    def settings(self, instance: str) -> dict[str, Any]:
        language = self.config["languages"]["reference"]["code"]
        if instance == GRAMMAR:
            return {"seed": self.config["seed"]}
        block = self._block(instance)
        settings = {
            "features": judges.features(block),
            "encoder": self._encoder(block),
            "language": language,
            "precision": self.config["compute"]["precision"],
        }
        # Left out where there is none: the names of existing folders follow from the settings.
        if (precision := filled(block, "judge")["precision"]) != "fp32":
            settings["encoder_precision"] = precision
        if instance in self.fitted:
            judgments = {**self._judgment_files(block), "good": filled(block, "judge")["good"]}
            return {**settings, **judgments, "seed": self.config["seed"]}
        keep = self.config["systems"][instance]["select"]["keep"]
        rewritten = {"rewritten": True} if written_by_rewriter(self.config, instance) else {}
        return {**settings, "max_sum": keep.get("max_sum"), **rewritten}

    def content(self, instance: str) -> dict[str, Any]:
        settings = self.settings(instance)
        if instance == GRAMMAR:
            return settings
        block, hashes = self._block(instance), self.inputs(instance)
        judgments = self._judgment_files(block) if instance in self.fitted else {}
        content = {**settings, **{key: hashes[path] for key, path in judgments.items()}}
        if files := self._encoder_files(instance):
            content["encoder"] = {name: hashes[path] for name, path in files.items()}
        elif "record" in (settings["encoder"] or {}):  # the revision stands for all files
            content["encoder"] = {k: v for k, v in settings["encoder"].items() if k != "record"}
        return {**content, "shipped": judges.fingerprint(*self._shipped(instance))}

    def inputs(self, instance: str) -> dict[str, str]:
        if instance == GRAMMAR:
            return {}
        where = f"judges.{self._name(instance)}"
        judgments = self._judgment_files(self._block(instance)) if instance in self.fitted else {}
        files = {path: f"{where}.{key}" for key, path in judgments.items()}
        paths = self._encoder_files(instance).values()
        files |= dict.fromkeys(paths, f"{where}.encoder.folder")
        return {path: self.sha256(path, key) for path, key in files.items()}

    def outside(self, instance: str) -> list[str]:
        record = self.hub_record(instance)
        return [record.removesuffix(".json")] if record else []

    def hub_record(self, instance: str) -> str:
        """Return the record of an encoder's download from the hub; empty if there is none."""
        if instance == GRAMMAR:
            return ""
        block = self._block(instance)
        if ENCODER not in judges.needs(block):
            return ""
        return encoder_blocks.hub_record(block.get("encoder"), self.config)

    def hub_block(self, record: str) -> dict[str, Any] | None:
        for instance in self.instances():
            if instance and self.hub_record(instance) == record:
                return self._block(instance)["encoder"]
        return None

    def grammar_job(self, at: Wildcards) -> Job:
        """Return the job that trains the grammar model of the run's references."""
        pairs = selection.pairs(self.config)
        return Job(
            "judge.grammar.train",
            GRAMMAR,
            awaits=[self.manifest(pairs)],
            options={
                "folder": self.layout.folder(*pairs),
                "shards": self.layout.shards(*pairs),
                "language": self.config["languages"]["reference"]["code"],
                "output": self.folder(GRAMMAR),
            },
        )

    def fit_job(self, at: Wildcards) -> Job:
        """Return the job that fits a judge."""
        return self._judging_job("judge.fit_run", at.fitted, {})

    def shard_job(self, at: Wildcards) -> Job:
        """Return the job that judges the candidates of a shard."""
        system, references = at.system, ("score", "references")
        scored = {"scored": ("score", system)}
        if references in self.reads(system):
            scored["references"] = references
        reads = {key: self.file(unit, f"{at.shard}.parquet") for key, unit in scored.items()}
        for unit in fitted_units(self.config, system):
            reads["judge"] = self.file(unit, "judge.json")
        job = self._judging_job("judge.shard", system, reads)
        name = judges.shipped_name(judges.language_of(self.config))
        if "judge" not in reads and name != judges.DEFAULT:
            return replace(job, options={**job.options, "judge": name})
        return job

    def _judging_job(self, command: str, instance: str, reads: dict[str, str]) -> Job:
        """Return a job that also reads the models of a judge's features."""
        names = {"words": "words.txt", "grammar": "model.json"}
        models = {key: self.file(unit, names[key]) for key, unit in self.models(instance).items()}
        record = self.hub_record(instance)
        translators = {
            role: ("train", role) for role in _SCORERS if ("train", role) in self.reads(instance)
        }
        return Job(
            command,
            instance,
            reads={**reads, **models},
            awaits=[self.file(unit, "model.json") for unit in translators.values()],
            users=[*self.inputs(instance), *([record] if record else [])],
            options={role: self.layout.folder(*unit) for role, unit in translators.items()},
            inputs=True,
        )

    def _name(self, instance: str) -> str:
        """Return the judge of an instance: one that is fitted, or a system."""
        name = self.fitted.get(instance) or judges.judge_of(self.config, instance)
        assert name is not None
        return name

    def _block(self, instance: str) -> dict[str, Any]:
        return self.blocks[self._name(instance)]

    def _judgment_files(self, block: dict[str, Any]) -> dict[str, str]:
        """Return where the user's files are that a judge is fitted to, by their keys."""
        files = {key: block[key] for key in _JUDGMENTS if key in block}
        return dict(zip(files, selection.located(self.config, list(files.values())), strict=True))

    def _encoder(self, block: dict[str, Any]) -> dict[str, Any] | None:
        """Return the settings of a judge's encoder; None if it needs none."""
        if ENCODER not in judges.needs(block):
            return None
        return encoder_blocks.encoder_settings(block.get("encoder"), self.config)

    def _encoder_files(self, instance: str) -> dict[str, str]:
        """Return the paths of an encoder's files in a folder of the user's, by their names."""
        block = self._block(instance)
        if ENCODER not in judges.needs(block):
            return {}
        where = f"judges.{self._name(instance)}.encoder"
        return encoder_blocks.own_files(block.get("encoder"), self.config, where)

    def _shipped(self, instance: str) -> list[Path]:
        """Return the files that a unit reads and that ship with Paraloom."""
        block = self._block(instance)
        is_own = instance in self.fitted or judges.is_own(block)
        shipped = judges.SHIPPED[judges.shipped_name(judges.language_of(self.config))]
        grammar = judges.GRAMMAR_MODEL in judges.needs(block) and not judges.own_grammar(block)
        return [*([] if is_own else [shipped]), *([judges.GRAMMAR] if grammar else [])]
