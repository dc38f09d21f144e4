"""The stage `encoder`: encoders that tell paraphrases from neighbours (docs/encoder.md)."""

from typing import Any

from workflow_scripts.core import encoder_blocks, selection
from workflow_scripts.core.encoder_blocks import PLAIN
from workflow_scripts.core.encoders import (
    encoder,
    encoder_embedding,
    encoder_training_set,
    encoders,
)
from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage
from workflow_scripts.encoder.checks import problems

# What follows an encoder's name in the names of its units; the tuned encoder has the bare name.
PAIRS, SCRATCH = "-pairs", "-scratch"


class Encoder(Stage):
    """Units of each encoder: its pairs, maybe what it is tuned from, and the encoder.

    An instance is `<encoder>-pairs`, `<encoder>-scratch` (where it is trained from scratch) or
    `<encoder>`.
    """

    name = "encoder"
    version = 1
    row = "pairs"
    released = True
    wildcard = "encoder"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        found: list[str | None] = []
        for name in encoders(self.config):
            scratch = [SCRATCH] if self._block(name)["scratch"] else []
            found += [f"{name}{part}" for part in (PAIRS, *scratch, "")]
        return found

    def reads(self, instance: str) -> list[Unit]:
        name, part = parted(instance)
        if part == PAIRS:
            training_set = ("filter", encoder_training_set(self.config, name))
            return [training_set, self.embedding_of(name), ("embed", "evaluation")]
        if part == SCRATCH:
            return [selection.pairs(self.config), ("embed", "evaluation")]
        scratch = [self.unit(f"{name}{SCRATCH}")] if self._block(name)["scratch"] else []
        return [self.unit(f"{name}{PAIRS}"), *scratch]

    def records(self, instance: str) -> list[str]:
        return ["pairs"] if parted(instance)[1] == PAIRS else ["model"]

    def files(self, instance: str) -> list[str]:
        if parted(instance)[1] == PAIRS:
            return ["train.parquet", "dev.parquet"]
        return ["metrics.json"]

    def trains(self, instance: str) -> bool:
        return parted(instance)[1] != PAIRS

    def wildcards(self) -> dict[str, list[str]]:
        return {"encoder": encoders(self.config)}

    def sections(self) -> dict[int, str]:
        return {78: "workflow_scripts.encoder.report:encoders"}

    def tables(self) -> dict[str, str]:
        return {"encoders": "workflow_scripts.encoder.report:encoders_table"}

    def settings(self, instance: str) -> dict[str, Any]:
        name, part = parted(instance)
        block = self._block(name)
        if part == PAIRS:
            wanted: tuple[str, ...] = ("sentences", "negatives", "held_out", "seed")
        elif part == SCRATCH:
            wanted = ("scratch", "seed")
        else:
            wanted = ("max_tokens", "training", "seed")
        found = {key: block[key] for key in wanted}
        if part or block["scratch"]:
            return found
        return found | {"base": encoder_blocks.encoder_settings(block["base"], self.config)}

    def content(self, instance: str) -> dict[str, Any]:
        settings = self.settings(instance)
        if "base" not in settings:
            return settings
        base = {key: each for key, each in settings["base"].items() if key != "record"}
        if files := self.base_files(instance):
            hashes = self.inputs(instance)
            base["folder"] = {name: hashes[path] for name, path in files.items()}
        return settings | {"base": base}

    def inputs(self, instance: str) -> dict[str, str]:
        key = f"encoders.{parted(instance)[0]}.base.folder"
        return {path: self.sha256(path, key) for path in self.base_files(instance).values()}

    def outside(self, instance: str) -> list[str]:
        record = self.base_record(instance)
        return [record.removesuffix(".json")] if record else []

    def embedding_of(self, name: str) -> Unit:
        """Return the unit of the embedding that finds an encoder's negatives."""
        (embedding,) = encoder_embedding(self.config, name)
        return ("embed", embedding)

    def base_files(self, instance: str) -> dict[str, str]:
        """Return the files of the encoder that is tuned, in a folder of the user's, by name."""
        where = f"encoders.{instance}.base"
        return encoder_blocks.own_files(self._base(instance), self.config, where, PLAIN)

    def base_record(self, instance: str) -> str:
        """Return the record of the download of the encoder that is tuned; empty: there is none."""
        return encoder_blocks.hub_record(self._base(instance), self.config)

    def hub_block(self, record: str) -> dict[str, Any] | None:
        """Return the block of the encoder whose files a record of downloads tells, if any."""
        for name in encoders(self.config):
            if self.base_record(name) == record:
                return self._base(name)
        return None

    def _block(self, name: str) -> dict[str, Any]:
        return encoder(self.config, name)

    def _base(self, instance: str) -> dict[str, Any] | None:
        """Return the block of the encoder that a unit tunes; None: none, or the one installed."""
        name, part = parted(instance)
        return None if part else self._block(name).get("base")


def parted(instance: str) -> tuple[str, str]:
    """Return the name of the encoder of an instance, and what follows it."""
    name, dash, part = instance.partition("-")
    return name, dash + part
