"""The stage `lexicon`: paraphrases of words and short phrases (docs/lexicon.md)."""

from pathlib import Path
from typing import Any

from workflow_scripts.core import lexicon_measures
from workflow_scripts.core.lexicons import lexicon, lexicon_training_sets, lexicons
from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage
from workflow_scripts.embed.stage import tested_embeddings
from workflow_scripts.lexicon.checks import problems

# What follows a lexicon's name in the names of its units; the lexicon itself has the bare name.
WORDS, COUNTS = "-words", "-counts"
# A unit of a lexicon that is measured (docs/lexicon-measures.md).
MEASURES = "-measures"


class Lexicon(Stage):
    """Three units of each lexicon: its words, what is counted of its pairs, and itself.

    An instance is `<lexicon>-words`, `<lexicon>-counts` or `<lexicon>`; and `<lexicon>-measures`
    where there is something to measure it against.
    """

    name = "lexicon"
    version = 1
    row = "pairs"
    released = True
    wildcard = "lexicon"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        parts = [WORDS, COUNTS, "", *([MEASURES] if self._measured() else [])]
        return [f"{name}{part}" for name in lexicons(self.config) for part in parts]

    def _measured(self) -> bool:
        return bool(lexicons(self.config)) and lexicon_measures.measured(self.config)

    def reads(self, instance: str) -> list[Unit]:
        name, part = parted(instance)
        sets: list[Unit] = [("filter", each) for each in lexicon_training_sets(self.config, name)]
        return {
            WORDS: sets,
            COUNTS: [*sets, self.unit(f"{name}{WORDS}")],
            "": [self.unit(f"{name}{WORDS}"), self.unit(f"{name}{COUNTS}")],
            MEASURES: [
                self.unit(name),
                *(("embed", each) for each in self.compared().values()),
                *(sets if lexicon_measures.on_testbed(self.config) else []),
            ],
        }[part]

    def compared(self) -> dict[str, str]:
        """Return the embeddings whose cosines are compared, the first seed of each, by name."""
        if not self._compares():
            return {}
        found: dict[str, str] = {}
        for name, each in tested_embeddings(self.config).items():
            found.setdefault(f"{each['entry']}-{each['training_set']}", name)
        return found

    def _compares(self) -> bool:
        return bool(lexicon_measures.settings(self.config)["word_similarity"])

    def shards(self, instance: str) -> int:
        return self.config["shards"]["early"] if parted(instance)[1] == COUNTS else 0

    def records(self, instance: str) -> list[str]:
        return {WORDS: ["words"], COUNTS: [], "": ["lexicon"], MEASURES: ["sample"]}[
            parted(instance)[1]
        ]

    def files(self, instance: str) -> list[str]:
        if parted(instance)[1]:
            return self.shard_files(instance)
        return ["lexicon.parquet", "lexicon.tsv.zst", "ppdb.gz"]

    def wildcards(self) -> dict[str, list[str]]:
        return {"lexicon": lexicons(self.config)}

    def sections(self) -> dict[int, str]:
        own = {78: "workflow_scripts.lexicon.report:lexicons"} if lexicons(self.config) else {}
        module = "workflow_scripts.lexicon.measures_report"
        return own | ({79: f"{module}:measures_of_lexicons"} if self._measured() else {})

    def tables(self) -> dict[str, str]:
        names = ("lexicons",) if lexicons(self.config) else ()
        own = {name: f"workflow_scripts.lexicon.report:{name}_table" for name in names}
        measures = (
            *("word_similarity", "lexicon_precision", "lexicon_antonyms"),
            *(("lexicon_synonyms",) if lexicon_measures.on_testbed(self.config) else ()),
        )
        module = "workflow_scripts.lexicon.measures_report"
        return own | {name: f"{module}:{name}" for name in measures if self._measured()}

    def settings(self, instance: str) -> dict[str, Any]:
        name, part = parted(instance)
        if part == MEASURES:
            return {
                **lexicon_measures.settings(self.config),
                "testbed": lexicon_measures.on_testbed(self.config),
                "bootstrap": self.config["evaluate"]["bootstrap"],
                "seed": self.config["seed"],
            }
        block = lexicon(self.config, name)
        keys = {
            WORDS: ("max_tokens", "min_count", "sample"),
            COUNTS: ("max_tokens", "max_words"),
            "": ("min_count",),
        }
        return {key: block[key] for key in keys[part]}

    def content(self, instance: str) -> dict[str, Any]:
        settings = self.settings(instance)
        if parted(instance)[1] != MEASURES:
            return settings
        # Names count: they tell the figures apart.
        for key, paths in lexicon_measures.files(self.config).items():
            settings[key.rpartition(".")[2]] = [
                [Path(path).name, self.sha256(path, key)] for path in paths
            ]
        return settings

    def inputs(self, instance: str) -> dict[str, str]:
        if parted(instance)[1] != MEASURES:
            return {}
        files = lexicon_measures.files(self.config)
        return {path: self.sha256(path, key) for key, paths in files.items() for path in paths}


def parted(instance: str) -> tuple[str, str]:
    """Return the lexicon of an instance, and which of its units it is."""
    name, dash, part = instance.partition("-")
    return name, dash + part
