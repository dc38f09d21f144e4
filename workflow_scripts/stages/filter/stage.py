"""The stage `filter`: columns of pairs, and training sets chosen by them (docs/filter.md)."""

from functools import cached_property
from typing import Any

from workflow_scripts.plan.catalogues.training_sets import (
    column_training_sets,
    model_columns,
    outside_corpora,
    training_sets,
)
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.unit_kind import StageOfKinds, UnitKind
from workflow_scripts.stages.filter.checks import notes, problems
from workflow_scripts.stages.filter.unit_kinds import (
    COLUMN_KINDS,
    EmbeddingColumn,
    FeatureColumn,
    LanguageModel,
    ModelColumn,
    OutsidePairs,
    SystemPairs,
    TrainingSet,
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
                self._kind_of_column(column)(self, column, system)
                for column, systems in self.columns.items()
                for system in systems
            ),
            *(TrainingSet(self, name, chosen) for name, chosen in self.training_sets.items()),
        ]

    def _kind_of_column(self, column: str) -> type[ModelColumn]:
        (key,) = self.config["columns"][column]
        return COLUMN_KINDS[key]

    def wildcards(self) -> dict[str, list[str]]:
        return {
            "language_model": self.columns_of_kind("language_model"),
            "classifier": self.columns_of_kind("classifier"),
            "vectors": self.columns_of_kind("vectors"),
            "embedding_column": self.columns_of_kind("embedding"),
            "encoder_column": self.columns_of_kind("encoder"),
            "feature": self.columns_of_kind("feature"),
            "training_set": list(self.training_sets),
            "outside": outside_corpora(self.config),
        }

    def columns_of_kind(self, kind: str) -> list[str]:
        """Return the run's columns that a `language_model`, a `classifier` ... computes."""
        return [column for column in self.columns if kind in self.config["columns"][column]]

    def embedding_of(self, column: str, system: str) -> Unit:
        """Return the unit of the embedding behind a column of a system."""
        (unit,) = EmbeddingColumn(self, column, system).models()
        return unit

    def encoder_of(self, column: str) -> Unit:
        """Return the unit of the encoder behind a column."""
        return ("encoder", self.config["columns"][column]["encoder"]["name"])

    def feature_units(self, column: str) -> dict[str, Unit]:
        """Return the units that a column that is a feature reads besides its pairs, by purpose."""
        return self._feature(column).units()

    def encoder_files(self, instance: str) -> dict[str, str]:
        """Return the files of the encoder behind a column in a folder of the user's, by name."""
        kind = self.kind(instance)
        return kind.encoder_files() if isinstance(kind, FeatureColumn) else {}

    def encoder_record(self, column: str) -> str:
        """Return the record of the download of a column's encoder; empty if there is none."""
        return self._feature(column).encoder_record()

    def hub_block(self, record: str) -> dict[str, Any] | None:
        """Return the block of the encoder whose files a record of downloads tells, if any."""
        for column in self.columns_of_kind("feature"):
            if self.encoder_record(column) == record:
                return self._feature(column).encoder
        return None

    def training_set_columns(self, training_set: str) -> dict[str, Unit]:
        """Return the units of the columns that a training set needs and a model computes."""
        return self._training_set(training_set).columns()

    def system_of(self, training_set: str) -> str:
        """Return the system, or the corpus from outside, whose pairs a training set takes."""
        return self._training_set(training_set).system

    def _feature(self, column: str) -> FeatureColumn:
        """Return a column that is a feature; what it says is the same for each system."""
        return FeatureColumn(self, column, self.columns[column][0])

    def _training_set(self, name: str) -> TrainingSet:
        return TrainingSet(self, name, self.training_sets[name])
