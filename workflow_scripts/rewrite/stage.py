"""The stage `rewrite`: models that paraphrase within the language (docs/rewrite.md)."""

from typing import Any

from workflow_scripts.core import selection
from workflow_scripts.core.model_blocks import finished
from workflow_scripts.core.rewriters import (
    DEV,
    TEST,
    TRAIN,
    continued,
    model_of,
    rewriter,
    rewriter_training_sets,
    rewriters,
)
from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage
from workflow_scripts.core.training_sets import outside_corpora
from workflow_scripts.rewrite.checks import problems

# What follows a rewriter's name in the names of its units; the model itself has the bare name.
PAIRS, SUBWORD, MEASURES = "-pairs", "-subword", "-measures"


class Rewrite(Stage):
    """Four units of each rewriter: its pairs, their segments, the model, and its measures.

    An instance is `<rewriter>-pairs`, `<rewriter>-subword`, `<rewriter>` or `<rewriter>-measures`.
    """

    name = "rewrite"
    version = 1
    row = "pairs"
    released = True
    wildcard = "rewriter"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [each for name in rewriters(self.config) for each in self._units_of(name)]

    def _units_of(self, name: str) -> list[str]:
        """Return the instances of one rewriter, in the order in which they are made."""
        return [f"{name}{PAIRS}", f"{name}{SUBWORD}", name, f"{name}{MEASURES}"]

    def reads(self, instance: str) -> list[Unit]:
        name, part = parted(instance)
        if part == PAIRS:
            sets = rewriter_training_sets(self.config, name)
            return [*(("filter", each) for each in sets), ("embed", "evaluation")]
        if part == SUBWORD:
            role = self.vocabulary_role(name)
            return [self.texts(name), *([("train", role)] if role else [])]
        if part == MEASURES:
            return [self.unit(f"{name}{PAIRS}"), self.unit(name)]
        begun_with = self.begins_with(name)
        return [
            self.unit(f"{name}{SUBWORD}"),
            self.unit(f"{name}{PAIRS}"),
            *([("train", begun_with)] if begun_with else []),
        ]

    def texts(self, name: str) -> Unit:
        """Return the unit whose shards have the texts that a rewriter's model reads and writes."""
        return self.unit(f"{name}{PAIRS}")

    def vocabulary_role(self, name: str) -> str | None:
        """Return the role of the model whose vocabulary a rewriter takes; None: it has its own."""
        if begun_with := self.begins_with(name):
            return begun_with
        subword = rewriter(self.config, name)["subword"]
        return None if subword == "own" else subword

    def begins_with(self, name: str) -> str | None:
        """Return the role of the model that a rewriter's training goes on from; None: of none."""
        block = continued(self.config, name)
        return None if block is None else block["from"]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["early"] if parted(instance)[1] in (PAIRS, SUBWORD) else 0

    def records(self, instance: str) -> list[str]:
        of_parts = {PAIRS: [], SUBWORD: ["source", "reference"], MEASURES: ["paraphrases"]}
        return of_parts.get(parted(instance)[1], ["model"])

    def files(self, instance: str) -> list[str]:
        return self.shard_files(instance)

    def jobs(self, instance: str) -> int:
        return 1 if parted(instance)[1] == PAIRS else super().jobs(instance)  # all shards in one

    def wildcards(self) -> dict[str, list[str]]:
        names = rewriters(self.config)
        going_on = [name for name in names if self.begins_with(name)]
        return {
            "rewriter": names,
            "trained_rewriter": [name for name in names if name not in going_on],
            "continued_rewriter": going_on,
        }

    def sections(self) -> dict[int, str]:
        return {75: "workflow_scripts.rewrite.report:rewriters"}

    def tables(self) -> dict[str, str]:
        return {"rewriters": "workflow_scripts.rewrite.report:rewriters_table"}

    def trains(self, instance: str) -> bool:
        return not parted(instance)[1]

    def settings(self, instance: str) -> dict[str, Any]:
        name, part = parted(instance)
        block = rewriter(self.config, name)
        if part == PAIRS:
            return {
                "write": block["write"],
                "held_out": block["held_out"],
                "seed": block["seed"],
            }
        if part == SUBWORD:
            return self._segment_settings(name)
        if part == MEASURES:
            return {
                "beam": block["beam"],
                "bootstrap": self.config["evaluate"]["bootstrap"],
                "language": self.config["languages"]["reference"]["code"],
                "testbed": self._on_testbed(),
                "seed": block["seed"],
            }
        return {
            "role": name,
            "direction": "forward",
            **self._trained(name),
            "seed": block["seed"],
            "about": self._about(name),
        }

    def _trained(self, name: str) -> dict[str, Any]:
        """Return the settings of the model that is trained from scratch, or gone on with."""
        if block := continued(self.config, name):
            return {"continued": block}
        return {"model": model_of(self.config, name)}

    def content(self, instance: str) -> dict[str, Any]:
        # What is said of a model changes nothing in it.
        return {key: each for key, each in self.settings(instance).items() if key != "about"}

    def _about(self, name: str) -> dict[str, Any]:
        """Return what rewriter.json says of a rewriter besides the counts of its pairs."""
        block = rewriter(self.config, name)
        sets = rewriter_training_sets(self.config, name)
        return {
            "name": name,
            "language": self.config["languages"]["reference"]["code"],
            "training_sets": sets,
            "systems": list(dict.fromkeys(each.partition("-")[2] for each in sets)),
            "write": block["write"],
            "subword": self.vocabulary_role(name) or "own",
            "licence": selection.stated_licence(self.config) or "unknown",
            "inputs": self._licences(sets),
        }

    def _licences(self, sets: list[str]) -> dict[str, dict[str, str | None]]:
        """Return the licences of what training sets were made of, None where it is not stated."""
        corpora = self.config["corpora"]
        systems = {each.partition("-")[2] for each in sets}
        outside = [name for name in outside_corpora(self.config) if name in systems]
        models = {
            role: selection.role_model(self.config, role) for role in selection.roles(self.config)
        }
        return {
            "corpora": {
                name: corpora[name].get(
                    "licence", "cc0-1.0" if "testbed" in corpora[name] else None
                )
                for name in self.config["run"]["corpora"]
            }
            | dict.fromkeys(outside),
            "models": {
                role: block.get("licence") for role, block in models.items() if finished(block)
            },
        }

    def _on_testbed(self) -> bool:
        """Tell whether meanings of references are known, since the testbed made them."""
        names = selection.generate_corpora(self.config)
        return any("testbed" in self.config["corpora"][name] for name in names)

    def _segment_settings(self, name: str) -> dict[str, Any]:
        """Return the settings of the stage `subword`, with splits in place of corpora."""
        block, shared = rewriter(self.config, name), dict(self.config["subword"])
        shared.pop("filter_vocab_size", None)
        shared["samples"] = block.get("samples", shared["samples"])
        size = block.get("vocab_size", shared["vocab_size"]["reference"])
        if self.begins_with(name):  # the model knows the most probable segmentation alone
            shared["samples"] = 0
        if not shared["samples"]:  # then the keys of sampling have no effect
            shared = {key: value for key, value in shared.items() if key not in ("nbest", "alpha")}
        return {
            **shared,
            "vocab_size": {"source": size, "reference": size},
            "train": [TRAIN],
            "dev": DEV,
            "test": TEST,
            "seed": block["seed"],
        }

    def vocabulary_settings(self, name: str, side: str) -> dict[str, Any]:
        """Return the settings of the SentencePiece model of one side."""
        settings = self._segment_settings(name)
        keys = ("model_type", "coverage", "split_digits", "sentences", "seed")
        return {
            **{key: settings[key] for key in keys},
            "side": side,
            "vocab_size": settings["vocab_size"][side],
            "corpora": settings["train"],
        }


def parted(instance: str) -> tuple[str, str]:
    """Return the name of the rewriter of an instance, and what follows it."""
    name, dash, part = instance.partition("-")
    return name, dash + part
