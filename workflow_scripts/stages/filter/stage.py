"""The stage `filter`: columns of pairs, and training sets chosen by them (docs/filter.md)."""

from functools import cached_property
from typing import Any

from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.training_sets import (
    column_training_sets,
    model_columns,
    outside_corpora,
    training_sets,
)
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.unit_kind import StageOfKinds, UnitKind
from workflow_scripts.stages.filter.checks import notes, problems
from workflow_scripts.stages.filter.unit_kinds import (
    COLUMN_KINDS,
    FeatureColumn,
    LanguageModel,
    OutsidePairs,
    SystemPairs,
    TrainingSet,
    corpora_apart,
)


class Filter(StageOfKinds):
    """The columns of each system, the columns that a model computes, and the training sets.

    An instance is `<system>`, `<corpus from outside>`, `<column>` (the language model behind a
    column), `<column>-<system>` or `<training set>-<system>[-<point of the grid>]`.
    """

    name = "filter"
    version = 2
    row = "pairs"
    released = False
    wildcard = "system"
    problems = staticmethod(problems)
    notes = staticmethod(notes)

    @cached_property
    def columns(self) -> dict[str, list[str]]:
        """The columns that a model computes for the run, each with its systems."""
        return model_columns(self.config)

    @cached_property
    def training_sets(self) -> dict[str, dict[str, Any]]:
        """The training sets that the run names, and those behind its columns."""
        return training_sets(self.config) | column_training_sets(self.config)

    def kinds(self) -> list[UnitKind]:
        return [
            *(SystemPairs(self, system) for system in self.config["run"]["systems"]),
            *(OutsidePairs(self, corpus) for corpus in outside_corpora(self.config)),
            *(LanguageModel(self, column) for column in self.columns_of_kind("language_model")),
            *(
                COLUMN_KINDS[next(iter(self.config["columns"][column]))](self, column, system)
                for column, systems in self.columns.items()
                for system in systems
            ),
            *(TrainingSet(self, name, chosen) for name, chosen in self.training_sets.items()),
        ]

    def wildcards(self) -> dict[str, list[str]]:
        return {
            "language_model": self.columns_of_kind("language_model"),
            "classifier": self.columns_of_kind("classifier"),
            "vectors": self.columns_of_kind("vectors"),
            "embedding_column": self.columns_of_kind("embedding"),
            "encoder_column": self.columns_of_kind("encoder"),
            "feature": self.columns_of_kind("feature"),
            # In front of a model's files: the folder of its corpus, or nothing.
            "of_corpus": ["", *(f"{name}/" for name in selection.generate_corpora(self.config))],
            "training_set": list(self.training_sets),
            "outside": outside_corpora(self.config),
        }

    def columns_of_kind(self, kind: str) -> list[str]:
        """Return the run's columns that a `language_model`, a `classifier` ... computes."""
        return [column for column in self.columns if kind in self.config["columns"][column]]

    def hub_block(self, record: str) -> dict[str, Any] | None:
        """Return the block of the encoder whose files a record of downloads tells, if any."""
        for column in self.columns_of_kind("feature"):
            feature = FeatureColumn(self, column, self.columns[column][0])
            if feature.encoder_record() == record:
                return feature.encoder
        return None

    def columns_job(self, at: Wildcards) -> Job:
        """Return the job of the columns of a system's pairs that need no model."""
        paraphrases = self.file(("select", at.system), f"{at.shard}.parquet")
        return Job("filter.columns", at.system, reads={"paraphrases": paraphrases})

    def outside_job(self, at: Wildcards) -> Job:
        """Return the job of the same columns of the pairs from outside."""
        users = list(self.inputs(at.outside))
        return Job("filter.outside", at.outside, users=users, inputs=True)

    def training_set_job(self, at: Wildcards) -> Job:
        """Return the job that chooses a training set."""
        name = at.training_set
        training_set = TrainingSet(self, name, self.training_sets[name])
        return Job(
            "filter.training_set",
            name,
            awaits=list(map(self.manifest, training_set.reads())),
            options={
                **self._all_pairs(training_set.system),
                "values": self.named_folders(training_set.columns()),
                "shared": {self.folder(it): self.shards(it) for it in training_set.shared()}
                or None,
            },
        )

    def language_model_job(self, at: Wildcards) -> Job:
        """Return the job that trains the language model behind a column."""
        pairs, references = self.reads(at.language_model)
        return Job(
            "filter.language_model",
            at.language_model,
            reads={"sample": self.file(references, "sample.json")},
            awaits=[self.manifest(pairs)],
            options={
                "folder": self.layout.folder(*pairs),
                "shards": self.layout.shards(*pairs),
                "corpus": at.of_corpus.rstrip("/") or None,
            },
        )

    def perplexity_job(self, at: Wildcards) -> Job:
        """Return the job of the column of a language model."""
        column = at.language_model
        return self._by_models("filter.perplexity", column, column, ["model.binary"], at)

    def classifier_job(self, at: Wildcards) -> Job:
        """Return the job that trains the classifier behind a column."""
        instance = f"{at.classifier}-{at.system}"
        pairs, *scored = self.reads(instance)
        corpus = at.of_corpus.rstrip("/")
        return Job(
            "filter.train_classifier",
            instance,
            awaits=list(map(self.manifest, [pairs, *scored])),
            users=list(self.inputs(instance)),
            options={
                **self._all_pairs(at.system),
                "output": "/".join([self.folder(instance), *([corpus] if corpus else [])]),
                "corpus": corpus or None,
                "candidates": self.layout.folder(*scored[0]) if scored else None,
            },
            inputs=True,
        )

    def classified_job(self, at: Wildcards) -> Job:
        """Return the job of the column of a classifier."""
        column, files = at.classifier, ["weights.pt", "vocabulary.json"]
        return self._by_models("filter.classify", column, f"{column}-{at.system}", files, at)

    def _by_models(
        self, command: str, column: str, owner: str, files: list[str], at: Wildcards
    ) -> Job:
        """Return the job of a column by the models of the unit `owner`, which wrote these files."""
        corpora, unit = corpora_apart(self.config, column), self.unit(owner)
        return Job(
            command,
            f"{column}-{at.system}",
            reads={"pairs": self._pairs(at)},
            awaits=[
                self.file(unit, f"{corpus}/{name}" if corpus else name)
                for corpus in corpora or [""]
                for name in files
            ],
            options={"model": self.layout.folder(*unit), "corpora": corpora},
            config=column in self.columns_of_kind("language_model"),
        )

    def paraphrase_score_job(self, at: Wildcards) -> Job:
        """Return the job of a column by word vectors."""
        instance = f"{at.vectors}-{at.system}"
        (vectors,) = self.inputs(instance)
        return Job(
            "filter.paraphrase_score",
            instance,
            reads={"pairs": self._pairs(at)},
            users=[vectors],
            options={"vectors": vectors},
            inputs=True,
        )

    def embedding_score_job(self, at: Wildcards) -> Job:
        """Return the job of a column by an embedding of the run."""
        return self._model_job("filter.embedding_score", at.embedding_column, at)

    def encoder_score_job(self, at: Wildcards) -> Job:
        """Return the job of a column by an encoder of the run."""
        return self._model_job("filter.encoder_score", at.encoder_column, at)

    def _model_job(self, command: str, column: str, at: Wildcards) -> Job:
        """Return the job of a column by a model of another stage."""
        _, model = self.reads(f"{column}-{at.system}")
        return Job(
            command,
            f"{column}-{at.system}",
            reads={"pairs": self._pairs(at)},
            awaits=[self.file(model, "model.json")],
            options={"model": self.layout.folder(*model)},
            config=False,
        )

    def feature_job(self, at: Wildcards) -> Job:
        """Return the job of a column that is a feature."""
        feature = FeatureColumn(self, at.feature, at.system)
        record = feature.encoder_record()
        return Job(
            "filter.feature_values",
            feature.instance,
            reads={"pairs": self._pairs(at), **feature.files(at.shard)},
            users=[record] if record else list(feature.inputs()),
            inputs=True,
        )

    def _pairs(self, at: Wildcards) -> str:
        """Return the file of the pairs of a shard."""
        return self.file(self.unit(at.system), f"{at.shard}.parquet")

    def _all_pairs(self, instance: str) -> dict[str, Any]:
        """Return the options that name all pairs of a system, or of a corpus from outside."""
        return {"folder": self.folder(instance), "shards": self.shards(instance)}
