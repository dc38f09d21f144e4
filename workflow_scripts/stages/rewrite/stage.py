"""The stage `rewrite`: models that paraphrase within the language (docs/rewrite.md)."""

from typing import Any

from workflow_scripts.plan.catalogues.rewriters import finished_rewriter, noise, rewriters
from workflow_scripts.plan.catalogues.vocabularies import vocabulary_settings
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.unit_kind import StageOfKinds, UnitKind
from workflow_scripts.stages.rewrite import unit_kinds
from workflow_scripts.stages.rewrite.checks import problems
from workflow_scripts.stages.rewrite.unit_kinds import (
    CONTROL,
    MEASURES,
    PAIRS,
    PARSES,
    REPAIR,
    SUBWORD,
    TEMPLATES,
)

_REPORT = "workflow_scripts.stages.rewrite.report"


class Rewrite(StageOfKinds):
    """Four units of each rewriter: its pairs, their segments, the model, and its measures.

    An instance is `<rewriter>-pairs`, `<rewriter>-subword`, `<rewriter>` or `<rewriter>-measures`.
    One that is a finished model has no segments, and without training sets no pairs or measures.
    One with templates has three more (docs/rewrite-kinds.md): `<rewriter>-parses`,
    `<rewriter>-templates` and `<rewriter>-control`.
    """

    name = "rewrite"
    version = 1
    row = "pairs"
    released = True
    wildcard = "rewriter"
    problems = staticmethod(problems)

    def kinds(self) -> list[UnitKind]:
        names = rewriters(self.config)
        return [unit for name in names for unit in unit_kinds.units_of(self, name)]

    def wildcards(self) -> dict[str, list[str]]:
        names = rewriters(self.config)
        going_on = [name for name in names if unit_kinds.begins_with(self.config, name)]
        finished = [name for name in names if finished_rewriter(self.config, name)]
        return {
            "rewriter": names,
            "trained_rewriter": [name for name in names if name not in (*going_on, *finished)],
            "continued_rewriter": going_on,
            "finished_rewriter": finished,
        }

    def sections(self) -> dict[int, str]:
        return {
            **({75: f"{_REPORT}:rewriters"} if self._measured() else {}),
            **({76: f"{_REPORT}:syntactic_control"} if self._controlled() else {}),
            **({77: f"{_REPORT}:repair"} if self._noisy() else {}),
        }

    def tables(self) -> dict[str, str]:
        control = ("control_table", "template_table") if self._controlled() else ()
        return {
            **({"rewriters": f"{_REPORT}:rewriters_table"} if self._measured() else {}),
            **{name: f"{_REPORT}:{name}" for name in control},
            **({"repair": f"{_REPORT}:repair_table"} if self._noisy() else {}),
        }

    def _measured(self) -> bool:
        """Tell whether a rewriter is measured."""
        return any(f"{name}{MEASURES}" in self.instances() for name in rewriters(self.config))

    def _controlled(self) -> bool:
        """Tell whether a rewriter has templates."""
        return any(self._templates(name) for name in rewriters(self.config))

    def _noisy(self) -> bool:
        """Tell whether a rewriter has damage on what it reads."""
        return any(noise(self.config, name) for name in rewriters(self.config))

    def _templates(self, name: str) -> dict[str, Any] | None:
        """Return the block of a rewriter's templates with its defaults; None: it has none."""
        return unit_kinds.templates(self.config, name)

    def pairs_job(self, at: Wildcards) -> Job:
        """Return the job that makes the pairs of a rewriter, all shards in one."""
        instance = f"{at.rewriter}{PAIRS}"
        *training_sets, evaluation = self.reads(instance)
        return Job(
            "rewrite.training_pairs",
            instance,
            reads={
                "training_sets": [self.file(unit, "pairs.parquet") for unit in training_sets],
                "evaluation": self.file(evaluation, "evaluation.parquet"),
            },
            options={"shards": self.shards(instance), "output": self.folder(instance)},
        )

    def parse_job(self, at: Wildcards) -> Job:
        """Return the job that parses a shard of these pairs."""
        instance = f"{at.rewriter}{PARSES}"
        (pairs,) = self.reads(instance)
        return Job(
            "rewrite.parses",
            instance,
            reads={"pairs": self.file(pairs, f"{at.shard}.parquet")},
            inputs=True,
        )

    def templates_job(self, at: Wildcards) -> Job:
        """Return the job that puts templates in front of what is read, all shards in one."""
        instance = f"{at.rewriter}{TEMPLATES}"
        pairs, trees = self.reads(instance)
        return Job(
            "rewrite.template_pairs",
            instance,
            awaits=[self.manifest(pairs), self.manifest(trees)],
            options={
                "pairs": self.layout.folder(*pairs),
                "trees": self.layout.folder(*trees),
                "shards": self.shards(instance),
                "output": self.folder(instance),
            },
        )

    def vocabulary_job(self, at: Wildcards) -> Job:
        """Return the job of the SentencePiece model of one side.

        What is read has symbols of templates, what is written has none.
        """
        instance = f"{at.rewriter}{SUBWORD}"
        texts, *models = self.reads(instance)
        return Job(
            "rewrite.side_vocabulary",
            instance,
            reads={"templates": self._table(at.rewriter) if at.side == "source" else None},
            awaits=[self.manifest(texts), *(self.file(unit, "model.json") for unit in models)],
            options={
                "config": vocabulary_settings(self.settings(instance), at.side),
                "folder": self.layout.folder(*texts),
                "shards": self.shards(instance),
                "taken": self.layout.folder(*models[0]) if models else None,
            },
            config=False,
        )

    def segment_job(self, at: Wildcards) -> Job:
        """Return the job that cuts a shard of what a rewriter's model reads and writes."""
        instance = f"{at.rewriter}{SUBWORD}"
        texts, *_ = self.reads(instance)
        return Job(
            "rewrite.segment_pairs",
            instance,
            reads={
                "input": self.file(texts, f"{at.shard}.parquet"),
                **self._text_models(at.rewriter),
            },
        )

    def train_job(self, at: Wildcards) -> Job:
        """Return the job that trains a rewriter from scratch."""
        name = at.trained_rewriter
        return self._training("rewrite.train", name, self._text_models(name))

    def continue_job(self, at: Wildcards) -> Job:
        """Return the job that trains a rewriter on from a translation model."""
        model = ("train", unit_kinds.begins_with(self.config, at.continued_rewriter))
        return self._training("rewrite.continued", at.continued_rewriter, {}, model)

    def take_over_job(self, at: Wildcards) -> Job:
        """Return the job that makes a rewriter of a finished model."""
        (model,) = self.reads(at.finished_rewriter)
        return Job(
            "rewrite.finished_model",
            at.finished_rewriter,
            awaits=[self.file(model, "model.json")],
            options={
                "model": self.layout.folder(*model),
                "output": self.folder(at.finished_rewriter),
            },
        )

    def measure_job(self, at: Wildcards) -> Job:
        """Return the job that judges a rewriter by its held-out references."""
        return self._judging("rewrite.measure", f"{at.rewriter}{MEASURES}")

    def repair_job(self, at: Wildcards) -> Job:
        """Return the job that measures how much damage a rewriter repairs."""
        return self._judging("rewrite.repair", f"{at.rewriter}{REPAIR}")

    def control_job(self, at: Wildcards) -> Job:
        """Return the job that measures how well a rewriter follows templates."""
        instance = f"{at.rewriter}{CONTROL}"
        pairs, trees, _, model = self.reads(instance)
        return Job(
            "rewrite.measure_control",
            instance,
            reads={"templates": self._table(at.rewriter)},
            awaits=[self.manifest(pairs), self.manifest(trees), self.file(model, "model.json")],
            options={
                "model": self.layout.folder(*model),
                "pairs": self.layout.folder(*pairs),
                "trees": self.layout.folder(*trees),
                "shards": self.layout.shards(*pairs),
            },
            inputs=True,
        )

    def _table(self, name: str) -> str | None:
        """Return the file of the templates that a rewriter learns, if it learns any."""
        unit = self.unit(f"{name}{TEMPLATES}")
        return self.file(unit, "templates.tsv") if self._templates(name) else None

    def _text_models(self, name: str) -> dict[str, str]:
        """Return the SentencePiece models of a rewriter, by the options that name them."""
        unit = self.unit(f"{name}{SUBWORD}")
        return {
            f"{side}_model": self.file(unit, f"{side}.model") for side in ("source", "reference")
        }

    def _training(
        self, command: str, name: str, reads: dict[str, str], model: Unit | None = None
    ) -> Job:
        """Return the job that trains a rewriter; `model` is what it goes on from, if it does."""
        segments, pairs, *_ = self.reads(name)
        folder = self.folder(name)
        return Job(
            command,
            name,
            reads={**reads, "pairs": self.manifest(pairs), "templates": self._table(name)},
            awaits=[self.manifest(segments), *([self.file(model, "model.json")] if model else [])],
            options={
                "segments": self.layout.folder(*segments),
                "shards": self.layout.shards(*segments),
                "model": self.layout.folder(*model) if model else None,
                "work": f"{folder}/work",
                "output": folder,
            },
        )

    def _judging(self, command: str, instance: str) -> Job:
        """Return the job that judges a rewriter by its held-out pairs alone."""
        pairs, model = self.reads(instance)
        return Job(
            command,
            instance,
            awaits=[self.manifest(pairs), self.file(model, "model.json")],
            options={
                "model": self.layout.folder(*model),
                "folder": self.layout.folder(*pairs),
                "shards": self.layout.shards(*pairs),
            },
        )
