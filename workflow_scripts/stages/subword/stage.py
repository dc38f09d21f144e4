"""The stage `subword`: vocabularies and segmented training data (docs/train.md)."""

from collections.abc import Sequence
from typing import Any

from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.vocabularies import effective, vocabulary_settings
from workflow_scripts.plan.config import FILTER_ROLES, MAIN_ROLES
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.subword.checks import problems

# The roles of the models that are trained with a vocabulary.
_ROLES = {"filter": FILTER_ROLES, "main": MAIN_ROLES}


class Subword(Stage):
    """The main vocabularies, and those of the filter models where the bitext is filtered.

    Finished models bring their own, so vocabularies that no model is trained with are not made.
    """

    name = "subword"
    version = 1
    row = "pairs"
    released = True
    wildcard = "vocabulary"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [name for name, roles in _ROLES.items() if self._is_trained(roles)]

    def _is_trained(self, roles: Sequence[str]) -> bool:
        """Tell whether the run trains the model of one of these roles."""
        run = selection.roles(self.config)
        return any(role in run and not selection.taken_over(self.config, role) for role in roles)

    def reads(self, instance: str) -> list[Unit]:
        return [("clean", None) if instance == "filter" else selection.pairs(self.config)]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["early"]

    def records(self, instance: str) -> list[str]:
        return ["source", "reference"]

    def files(self, instance: str) -> list[str]:
        return self.shard_files(instance)

    def wildcards(self) -> dict[str, list[str]]:
        return {"vocabulary": ["main", "filter"]}

    def settings(self, instance: str) -> dict[str, Any]:
        corpora = selection.main_training_corpora(self.config)
        if instance == "filter":
            trusted = selection.trusted_corpora(self.config)
            training = selection.training_corpora(self.config)
            corpora = [name for name in training if name in trusted]
        train, block = self.config["train"], dict(self.config["subword"])
        sizes = block.pop("filter_vocab_size", None)
        if instance == "filter" and sizes is not None:
            block["vocab_size"] = sizes
        return {
            **effective(block),
            "train": corpora,
            "dev": selection.dev_corpus(self.config, _ROLES[instance][0]),
            "test": train["test"],
            "seed": self.config["seed"],
        }

    def train_job(self, at: Wildcards) -> Job:
        """Return the job that trains the vocabulary of one side."""
        (pairs,) = self.reads(at.vocabulary)
        return Job(
            "subword.train",
            at.vocabulary,
            awaits=[self.manifest(pairs)],
            options={
                "config": self.vocabulary_settings(at.vocabulary, at.side),
                "folder": self.layout.folder(*pairs),
                "shards": self.layout.shards(*pairs),
            },
            config=False,
        )

    def segment_job(self, at: Wildcards) -> Job:
        """Return the job that cuts a shard of pairs into pieces."""
        (pairs,) = self.reads(at.vocabulary)
        own = self.unit(at.vocabulary)
        return Job(
            "subword.segment",
            at.vocabulary,
            reads={
                "input": self.file(pairs, f"{at.shard}.parquet"),
                "source_model": self.file(own, "source.model"),
                "reference_model": self.file(own, "reference.model"),
            },
        )

    def vocabulary_settings(self, instance: str, side: str) -> dict[str, Any]:
        """Return the settings of the SentencePiece model of one side."""
        return {
            **vocabulary_settings(self.settings(instance), side),
            # The main sizes are meant for more text than the trusted corpora may have.
            "lower": instance == "filter" and "filter_vocab_size" not in self.config["subword"],
        }
