"""The kinds of units of the stage `filter`: what it says of each (docs/filter.md)."""

from typing import Any

from workflow_scripts.core.files.input_files import as_list
from workflow_scripts.core.files.paths import Located
from workflow_scripts.core.text.word_tokens import DROPPED
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
from workflow_scripts.plan.catalogues.training_sets import columns_of
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.schema import filled
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.plan.unit_kind import UnitKind


class SystemPairs(UnitKind):
    """`<system>`: the pairs of a system, with the columns that need no model."""

    def reads(self) -> list[Unit]:
        return [("select", self.instance)]

    def shards(self) -> int:
        return self.config["shards"]["late"]

    def settings(self) -> dict[str, Any]:
        return selection.punctuation(self.config)


class OutsidePairs(UnitKind):
    """`<corpus from outside>`: the pairs of files of the user's, with the same columns."""

    def reads(self) -> list[Unit]:
        return []

    def shards(self) -> int:
        return 1

    def settings(self) -> dict[str, Any]:
        block = filled(self.config["outside"][self.instance], "outside")
        return {
            **block,
            "name": self.instance,
            "tsv": selection.located(self.config, as_list(block["tsv"])),
            "max_line_bytes": self.config["clean"]["max_line_bytes"],
            **selection.punctuation(self.config),
        }

    def content(self) -> dict[str, Any]:
        return {**self.settings(), "tsv": list(self.inputs().values())}

    def inputs(self) -> dict[str, str]:
        where = f"outside.{self.instance}.tsv"
        return {path: self.stage.sha256(path, where) for path in self.settings()["tsv"]}


def corpora_apart(config: Config, column: str) -> list[str]:
    """Return the corpora that have a model of their own behind a column; none: it is one model."""
    (block,) = config["columns"][column].values()
    return selection.generate_corpora(config) if block.get("each_corpus", False) else []


def model_records(config: Config, column: str) -> list[str]:
    """Return the records of the models behind a column, those of corpora in folders of theirs."""
    return [f"{corpus}/model" for corpus in corpora_apart(config, column)] or ["model"]


class LanguageModel(UnitKind):
    """`<column>`: the language model behind a column."""

    def reads(self) -> list[Unit]:
        return [selection.pairs(self.config), ("generate", "references")]

    def records(self) -> list[str]:
        return model_records(self.config, self.instance)

    def settings(self) -> dict[str, Any]:
        block = self.config["columns"][self.instance]["language_model"]
        apart = corpora_apart(self.config, self.instance)
        corpora = apart or block["corpora"] or self.config["run"]["corpora"]
        references = block.get("references")
        return {
            "order": block["order"],
            "corpora": corpora,
            **selection.punctuation(self.config),
            **({"each_corpus": True} if apart else {}),
            **({"references": references, "seed": self.config["seed"]} if references else {}),
        }


class TrainingSet(UnitKind):
    """`<training set>-<system>[-<point of the grid>]`: the pairs that columns choose."""

    def __init__(self, stage: Stage, instance: str, chosen: dict[str, Any]):
        """Take its settings, `chosen`, as `training_sets` gives them."""
        super().__init__(stage, instance)
        self._chosen = chosen

    @property
    def system(self) -> str:
        """The system, or the corpus from outside, whose pairs it takes."""
        return self._chosen["system"]

    def columns(self) -> dict[str, Unit]:
        """Return the units of the columns that it needs and a model computes."""
        return column_units(self.config, self.system, columns_of(self._chosen))

    def shared(self) -> list[str]:
        """Return the other systems and corpora from outside that must have its references."""
        return [name for name in self._chosen.get("shared", []) if name != self.system]

    def reads(self) -> list[Unit]:
        pairs = map(self.stage.unit, [self.system, *self.shared()])
        return [*pairs, *self.columns().values()]

    def records(self) -> list[str]:
        return ["pairs"]

    def settings(self) -> dict[str, Any]:
        return self._chosen


class ModelColumn(UnitKind):
    """`<column>-<system>`: a column of a system's pairs that a model computes."""

    def __init__(self, stage: Stage, column: str, system: str):
        """Take the names of the column and of the system."""
        super().__init__(stage, f"{column}-{system}")
        self.column, self.system = column, system
        ((self.kind, self.block),) = self.config["columns"][column].items()

    def reads(self) -> list[Unit]:
        return [self.stage.unit(self.system), *self.models()]

    def models(self) -> list[Unit]:
        """Return the units that it reads besides its pairs."""
        return []

    def shards(self) -> int:
        return self.config["shards"]["late"]

    def settings(self) -> dict[str, Any]:
        return {}


class LanguageModelColumn(ModelColumn):
    """Perplexities under a language model."""

    def models(self) -> list[Unit]:
        return [self.stage.unit(self.column)]

    def settings(self) -> dict[str, Any]:
        relative = {"relative": True} if self.block.get("relative", False) else {}
        return {**relative, **selection.punctuation(self.config)}


class ClassifierColumn(ModelColumn):
    """What a classifier says of the pairs; it is trained within the unit."""

    def models(self) -> list[Unit]:
        return [("score", self.system)] if self.block.get("whole_list", False) else []

    def records(self) -> list[str]:
        return model_records(self.config, self.column)

    def settings(self) -> dict[str, Any]:
        vectors = self._vectors()
        return {
            **{
                key: value
                for key, value in self.block.items()
                if key != "vectors" and value is not False
            },
            **({"vectors": vectors[0]} if vectors else {}),
            "seed": self.config["seed"],
            **selection.punctuation(self.config),
        }

    def content(self) -> dict[str, Any]:
        vectors = list(self.inputs().values())
        return {**self.settings(), **({"vectors": vectors[0]} if vectors else {})}

    def inputs(self) -> dict[str, str]:
        where = f"columns.{self.column}.classifier.vectors"
        return {path: self.stage.sha256(path, where) for path in self._vectors()}

    def _vectors(self) -> list[Located]:
        """Return the file of word vectors that it starts from, if it does."""
        vectors = self.block.get("vectors")
        return selection.located(self.config, [vectors]) if vectors else []


class VectorsColumn(ModelColumn):
    """Cosines under a file of word vectors."""

    def settings(self) -> dict[str, Any]:
        # Always said: columns without it were computed on words that had lost their apostrophes.
        said = {"punctuation": DROPPED} | selection.punctuation(self.config)
        return {"file": selection.located(self.config, [self.block["file"]])[0], **said}

    def content(self) -> dict[str, Any]:
        (sha256,) = self.inputs().values()
        return {**self.settings(), "file": sha256}

    def inputs(self) -> dict[str, str]:
        file = self.settings()["file"]
        return {file: self.stage.sha256(file, f"columns.{self.column}.vectors.file")}


class EmbeddingColumn(ModelColumn):
    """Cosines under an embedding of the run; its settings are those of the embedding."""

    def models(self) -> list[Unit]:
        (name,) = column_embedding(self.column, self.system, self.config)
        return [("embed", name)]


class EncoderColumn(ModelColumn):
    """What an encoder of the run says of the pairs; its settings are those of the encoder."""

    def models(self) -> list[Unit]:
        return [("encoder", self.block["name"])]


class FeatureColumn(ModelColumn):
    """A feature of pairs, which may need models of the run, an encoder, or a grammar model."""

    def models(self) -> list[Unit]:
        return list(self.units().values())

    def units(self) -> dict[str, Unit]:
        """Return the units that it reads besides its pairs, by the options of its command."""
        needed = NEEDS[self.block["name"]]
        units: dict[str, Unit] = {}
        if KNOWN_WORDS in needed:
            units["words"] = ("generate", "words")
        if run_grammar(self.block):
            units["grammar"] = ("judge", "run-grammar")
        if not set(REFERENCE_NLLS).isdisjoint(needed):
            units["reference_scores"] = ("score", "references")
        return units

    def files(self, shard: str) -> dict[str, str]:
        """Return the file of each of these units that a shard's job reads, by the same options."""
        names = {"words": "words.txt", "grammar": "model.json"}
        return {
            option: self.stage.file(unit, names.get(option, f"{shard}.parquet"))
            for option, unit in self.units().items()
        }

    @property
    def encoder(self) -> dict[str, Any] | None:
        """The block of its encoder; None: it has none, or the one installed."""
        return self.block.get("encoder")

    def encoder_files(self) -> dict[str, str]:
        """Return the files of its encoder in a folder of the user's, by name."""
        return own_files(self.encoder, self.config, f"columns.{self.column}.feature.encoder")

    def encoder_record(self) -> str:
        """Return the record of the download of its encoder; empty if there is none."""
        return hub_record(self.encoder, self.config)

    def settings(self) -> dict[str, Any]:
        encoder = {"encoder": encoder_settings(self.encoder, self.config)}
        return {
            "name": self.block["name"],
            "language": self.config["languages"]["reference"]["code"],
            **(encoder if self._needs(ENCODER) else {}),
        }

    def content(self) -> dict[str, Any]:
        settings = self.settings()
        if self._needs(ENCODER):
            content = encoder_content(settings["encoder"], self.encoder_files(), self.inputs())
            return {**settings, "encoder": content}
        if self._needs(GRAMMAR) and not run_grammar(self.block):
            return {**settings, "shipped": judges.fingerprint(judges.GRAMMAR)}
        return settings

    def inputs(self) -> dict[str, str]:
        key = f"columns.{self.column}.feature.encoder.folder"
        return {path: self.stage.sha256(path, key) for path in self.encoder_files().values()}

    def outside(self) -> list[str]:
        record = self.encoder_record()
        return [record.removesuffix(".json")] if record else []

    def _needs(self, what: str) -> bool:
        return what in NEEDS[self.block["name"]]


# By the key of the column's block, which says what computes it.
COLUMN_KINDS: dict[str, type[ModelColumn]] = {
    "language_model": LanguageModelColumn,
    "classifier": ClassifierColumn,
    "vectors": VectorsColumn,
    "embedding": EmbeddingColumn,
    "encoder": EncoderColumn,
    "feature": FeatureColumn,
}


def column_units(config: Config, system: str, names: list[str]) -> dict[str, Unit]:
    """Return the units of those columns among `names` that a model computes for a system."""
    return {name: ("filter", f"{name}-{system}") for name in names if name in config["columns"]}
