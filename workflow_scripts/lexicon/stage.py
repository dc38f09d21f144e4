"""The stage `lexicon`: paraphrases of words and short phrases (docs/lexicon.md)."""

from typing import Any

from workflow_scripts.core.lexicons import lexicon, lexicon_training_sets, lexicons
from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage
from workflow_scripts.lexicon.checks import problems

# What follows a lexicon's name in the names of its units; the lexicon itself has the bare name.
WORDS, COUNTS = "-words", "-counts"


class Lexicon(Stage):
    """Three units of each lexicon: its words, what is counted of its pairs, and itself.

    An instance is `<lexicon>-words`, `<lexicon>-counts` or `<lexicon>`.
    """

    name = "lexicon"
    version = 1
    row = "pairs"
    released = True
    wildcard = "lexicon"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [f"{name}{part}" for name in lexicons(self.config) for part in (WORDS, COUNTS, "")]

    def reads(self, instance: str) -> list[Unit]:
        name, part = parted(instance)
        sets: list[Unit] = [("filter", each) for each in lexicon_training_sets(self.config, name)]
        return {
            WORDS: sets,
            COUNTS: [*sets, self.unit(f"{name}{WORDS}")],
            "": [self.unit(f"{name}{WORDS}"), self.unit(f"{name}{COUNTS}")],
        }[part]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["early"] if parted(instance)[1] == COUNTS else 0

    def records(self, instance: str) -> list[str]:
        return {WORDS: ["words"], COUNTS: [], "": ["lexicon"]}[parted(instance)[1]]

    def files(self, instance: str) -> list[str]:
        if parted(instance)[1]:
            return self.shard_files(instance)
        return ["lexicon.parquet", "lexicon.tsv.zst", "ppdb.gz"]

    def wildcards(self) -> dict[str, list[str]]:
        return {"lexicon": lexicons(self.config)}

    def sections(self) -> dict[int, str]:
        return {78: "workflow_scripts.lexicon.report:lexicons"}

    def tables(self) -> dict[str, str]:
        names = ("lexicons",) if lexicons(self.config) else ()
        return {name: f"workflow_scripts.lexicon.report:{name}_table" for name in names}

    def settings(self, instance: str) -> dict[str, Any]:
        name, part = parted(instance)
        block = lexicon(self.config, name)
        keys = {
            WORDS: ("max_tokens", "min_count", "sample"),
            COUNTS: ("max_tokens", "max_words"),
            "": ("min_count",),
        }
        return {key: block[key] for key in keys[part]}


def parted(instance: str) -> tuple[str, str]:
    """Return the lexicon of an instance, and which of its units it is: WORDS, COUNTS or ""."""
    name, dash, part = instance.partition("-")
    return name, dash + part
