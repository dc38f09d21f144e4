"""The stage `filter`: columns of pairs, and training sets chosen by them (docs/filter.md)."""

from functools import cached_property
from typing import Any

from workflow_scripts.core.files.input_files import as_list
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues import judges
from workflow_scripts.plan.catalogues.embeddings import column_embedding
from workflow_scripts.plan.catalogues.encoder_blocks import (
    encoder_content,
    encoder_settings,
    hub_record,
    own_files,
)
from workflow_scripts.plan.catalogues.pair_features import (
    ENCODER,
    GRAMMAR,
    KNOWN_WORDS,
    NEEDS,
    REFERENCE_NLLS,
    run_grammar,
)
from workflow_scripts.plan.catalogues.training_sets import (
    column_training_sets,
    columns_of,
    model_columns,
    outside_corpora,
    training_sets,
)
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.schema import filled
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.filter.checks import notes, problems


def column_units(config: Config, system: str, names: list[str]) -> dict[str, Unit]:
    """Return the units of those columns among `names` that a model computes for a system."""
    return {name: ("filter", f"{name}-{system}") for name in names if name in config["columns"]}


class Filter(Stage):
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

    def instances(self) -> list[str | None]:
        models = [f"{column}-{system}" for column, many in self.columns.items() for system in many]
        return [
            *self.config["run"]["systems"],
            *outside_corpora(self.config),
            *self.columns_of_kind("language_model"),
            *models,
            *self.training_sets,
        ]

    def reads(self, instance: str) -> list[Unit]:
        if instance in self.training_sets:
            pairs = self.unit(self.system_of(instance))
            return [pairs, *self.training_set_columns(instance).values()]
        if instance in self.config["run"]["systems"]:
            return [("select", instance)]
        if instance in outside_corpora(self.config):
            return []
        if instance in self.columns:  # a language model
            return [selection.pairs(self.config), ("generate", "references")]
        column, system = instance.split("-")
        model: list[Unit] = []
        if column in self.columns_of_kind("language_model"):
            model = [self.unit(column)]
        if column in self.columns_of_kind("embedding"):
            model = [self.embedding_of(column, system)]
        if column in self.columns_of_kind("encoder"):
            model = [self.encoder_of(column)]
        if column in self.columns_of_kind("feature"):
            model = list(self.feature_units(column).values())
        return [self.unit(system), *model]

    def shards(self, instance: str) -> int:
        if instance in outside_corpora(self.config):
            return 1
        single = {*self.training_sets, *self.columns_of_kind("language_model")}
        return 0 if instance in single else self.config["shards"]["late"]

    def records(self, instance: str) -> list[str]:
        if instance in self.training_sets:
            return ["pairs"]
        column, dash, _ = instance.partition("-")
        trained = self.columns_of_kind("classifier" if dash else "language_model")
        return ["model"] if column in trained else []

    def files(self, instance: str) -> list[str]:
        return self.shard_files(instance)

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

    def settings(self, instance: str) -> dict[str, Any]:
        if instance in self.training_sets:
            return self.training_sets[instance]
        if instance in self.config["run"]["systems"]:
            return selection.punctuation(self.config)
        if instance in outside_corpora(self.config):
            block = filled(self.config["outside"][instance], "outside")
            return {
                **block,
                "name": instance,
                "tsv": selection.located(self.config, as_list(block["tsv"])),
                "max_line_bytes": self.config["clean"]["max_line_bytes"],
                **selection.punctuation(self.config),
            }
        return self._column_settings(*instance.split("-"))

    def content(self, instance: str) -> dict[str, Any]:
        settings, inputs = self.settings(instance), self.inputs(instance)
        if "file" in settings:
            return {**settings, "file": inputs[settings["file"]]}
        if instance in outside_corpora(self.config):
            return {**settings, "tsv": list(inputs.values())}
        if settings.get("vectors"):  # a classifier that starts from word vectors
            return {**settings, "vectors": inputs[settings["vectors"]]}
        if "encoder" in settings:
            files = self.encoder_files(instance)
            return {**settings, "encoder": encoder_content(settings["encoder"], files, inputs)}
        if self._shipped_grammar(instance):
            return {**settings, "shipped": judges.fingerprint(judges.GRAMMAR)}
        return settings

    def inputs(self, instance: str) -> dict[str, str]:
        settings, where = self.settings(instance), f"columns.{instance.split('-')[0]}"
        if "file" in settings:
            return {settings["file"]: self.sha256(settings["file"], f"{where}.vectors.file")}
        if instance in outside_corpora(self.config):
            where = f"outside.{instance}.tsv"
            return {path: self.sha256(path, where) for path in settings["tsv"]}
        if vectors := settings.get("vectors"):
            return {vectors: self.sha256(vectors, f"{where}.classifier.vectors")}
        key = f"{where}.feature.encoder.folder"
        return {path: self.sha256(path, key) for path in self.encoder_files(instance).values()}

    def columns_of_kind(self, kind: str) -> list[str]:
        """Return the run's columns that a `language_model`, a `classifier` ... computes."""
        return [column for column in self.columns if kind in self.config["columns"][column]]

    def embedding_of(self, column: str, system: str) -> Unit:
        """Return the unit of the embedding behind a column of a system."""
        (name,) = column_embedding(column, system, self.config)
        return ("embed", name)

    def encoder_of(self, column: str) -> Unit:
        """Return the unit of the encoder behind a column."""
        return ("encoder", self.config["columns"][column]["encoder"]["name"])

    def feature_units(self, column: str) -> dict[str, Unit]:
        """Return the units that a column that is a feature reads besides its pairs, by purpose."""
        block = self.config["columns"][column]["feature"]
        needed = NEEDS[block["name"]]
        units: dict[str, Unit] = {}
        if KNOWN_WORDS in needed:
            units["words"] = ("generate", "words")
        if run_grammar(block):
            units["grammar"] = ("judge", "run-grammar")
        if not set(REFERENCE_NLLS).isdisjoint(needed):
            units["references"] = ("score", "references")
        return units

    def encoder_files(self, instance: str) -> dict[str, str]:
        """Return the files of the encoder behind a column in a folder of the user's, by name."""
        column = instance.split("-")[0]
        if column not in self.columns_of_kind("feature"):
            return {}
        where = f"columns.{column}.feature.encoder"
        return own_files(self._encoder(column), self.config, where)

    def encoder_record(self, column: str) -> str:
        """Return the record of the download of a column's encoder; empty if there is none."""
        return hub_record(self._encoder(column), self.config)

    def hub_block(self, record: str) -> dict[str, Any] | None:
        """Return the block of the encoder whose files a record of downloads tells, if any."""
        for column in self.columns_of_kind("feature"):
            if self.encoder_record(column) == record:
                return self._encoder(column)
        return None

    def outside(self, instance: str) -> list[str]:
        column, dash, _ = instance.partition("-")
        if not dash or column not in self.columns_of_kind("feature"):
            return []
        return [record.removesuffix(".json") for record in [self.encoder_record(column)] if record]

    def _shipped_grammar(self, instance: str) -> bool:
        """Tell whether a column asks the grammar model that ships with Paraloom."""
        column, dash, _ = instance.partition("-")
        if not dash or column not in self.columns_of_kind("feature"):
            return False
        block = self.config["columns"][column]["feature"]
        return GRAMMAR in NEEDS[block["name"]] and not run_grammar(block)

    def _encoder(self, column: str) -> dict[str, Any] | None:
        return self.config["columns"][column]["feature"].get("encoder")

    def training_set_columns(self, training_set: str) -> dict[str, Unit]:
        """Return the units of the columns that a training set needs and a model computes."""
        names = columns_of(self.training_sets[training_set])
        return column_units(self.config, self.system_of(training_set), names)

    def system_of(self, training_set: str) -> str:
        """Return the system, or the corpus from outside, whose pairs a training set takes."""
        return self.training_sets[training_set]["system"]

    def _column_settings(self, column: str, system: str | None = None) -> dict[str, Any]:
        ((kind, block),) = self.config["columns"][column].items()
        if kind == "vectors":
            return {"file": selection.located(self.config, [block["file"]])[0]}
        if kind == "feature":
            encoder = {"encoder": encoder_settings(block.get("encoder"), self.config)}
            return {
                "name": block["name"],
                "language": self.config["languages"]["reference"]["code"],
                **(encoder if ENCODER in NEEDS[block["name"]] else {}),
            }
        # The settings are those of the model that it reads.
        if kind in ("embedding", "encoder"):
            return {}
        if kind == "language_model":
            words, relative = selection.punctuation(self.config), block.get("relative", False)
            if system:
                return {**({"relative": True} if relative else {}), **words}
            corpora = block["corpora"] or self.config["run"]["corpora"]
            return {"order": block["order"], "corpora": corpora, **words}
        vectors = block.get("vectors")
        return {
            **{key: each for key, each in block.items() if key != "vectors"},
            **({"vectors": selection.located(self.config, [vectors])[0]} if vectors else {}),
            "seed": self.config["seed"],
            **selection.punctuation(self.config),
        }
