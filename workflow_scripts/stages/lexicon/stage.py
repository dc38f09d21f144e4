"""The stage `lexicon`: paraphrases of words and short phrases (docs/lexicon.md)."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.files.paths import Located
from workflow_scripts.plan.catalogues import lexicon_measures
from workflow_scripts.plan.catalogues.lexicons import lexicon, lexicon_training_sets, lexicons
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage, name_and_part
from workflow_scripts.stages.embed.stage import tested_embeddings
from workflow_scripts.stages.lexicon.checks import problems
from workflow_scripts.stages.syntax.parser_files import TAGGING, parser_files

# What follows a lexicon's name in the names of its units; the lexicon itself has the bare name.
WORDS, COUNTS, TAGS = "-words", "-counts", "-tags"
# A unit of a lexicon that is measured (docs/lexicon.md).
MEASURES = "-measures"
_REPORT = "workflow_scripts.stages.lexicon.report"


class Lexicon(Stage):
    """Three units of each lexicon: its words, what is counted of its pairs, and itself.

    An instance is `<lexicon>-words`, `<lexicon>-counts` or `<lexicon>`; with a tagger there is
    also `<lexicon>-tags`, and where there is something to measure it against
    `<lexicon>-measures`.
    """

    name = "lexicon"
    version = 2
    row = "pairs"
    released = True
    wildcard = "lexicon"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        measures = [MEASURES] if self._measured() else []
        names = lexicons(self.config)
        return [f"{name}{part}" for name in names for part in [*self._parts(name), *measures]]

    def _measured(self) -> bool:
        """Tell whether lexicons are measured."""
        return bool(lexicons(self.config)) and lexicon_measures.measured(self.config)

    def _parts(self, name: str) -> list[str]:
        """Return which units make a lexicon, in the order in which they are made."""
        return [WORDS, COUNTS, *([TAGS] if lexicon(self.config, name)["tagger"] else []), ""]

    def reads(self, instance: str) -> list[Unit]:
        name, part = name_and_part(instance)
        sets: list[Unit] = [("filter", read) for read in lexicon_training_sets(self.config, name)]
        words = self.unit(f"{name}{WORDS}")
        return {
            WORDS: sets,
            COUNTS: [*sets, words],
            TAGS: [*sets, words],
            "": [self.unit(f"{name}{read}") for read in self._parts(name) if read],
            MEASURES: [
                self.unit(name),
                *(("embed", read) for read in self.compared().values()),
                *(sets if lexicon_measures.on_testbed(self.config) else []),
            ],
        }[part]

    def compared(self) -> dict[str, str]:
        """Return the embeddings whose cosines are compared, the first seed of each, by name."""
        if not lexicon_measures.settings(self.config)["word_similarity"]:
            return {}
        first_seeds: dict[str, str] = {}
        for name, embedding in tested_embeddings(self.config).items():
            first_seeds.setdefault(f"{embedding['entry']}-{embedding['training_set']}", name)
        return first_seeds

    def shards(self, instance: str) -> int:
        return self.config["shards"]["early"] if name_and_part(instance)[1] == COUNTS else 0

    def records(self, instance: str) -> list[str]:
        records = {WORDS: ["words"], COUNTS: [], TAGS: ["tags"], "": ["lexicon"]}
        return {**records, MEASURES: ["sample"]}[name_and_part(instance)[1]]

    def files(self, instance: str) -> list[str]:
        shards = [
            name
            for suffix in ("", "-across", "-within")
            for name in self.shard_files(instance, f"{suffix}.parquet")
        ]
        return {
            WORDS: ["words.parquet", "links.parquet"],
            COUNTS: shards,
            TAGS: ["tags.parquet"],
            "": ["lexicon.parquet", "lexicon.tsv.zst", "ppdb.gz"],
            MEASURES: ["sample.tsv", "measures.json"],
        }[name_and_part(instance)[1]]

    def wildcards(self) -> dict[str, list[str]]:
        names = lexicons(self.config)
        return {
            "lexicon": names,
            "tagged_lexicon": [name for name in names if TAGS in self._parts(name)],
        }

    def sections(self) -> dict[int, str]:
        sections = {78: f"{_REPORT}:lexicons"}
        return sections | ({79: f"{_REPORT}:measures_of_lexicons"} if self._measured() else {})

    def tables(self) -> dict[str, str]:
        names = ("lexicons",) if lexicons(self.config) else ()
        tables = {name: f"{_REPORT}:{name}_table" for name in names}
        measures = (
            "word_similarity",
            "lexicon_precision",
            "lexicon_antonyms",
            *(("lexicon_synonyms",) if lexicon_measures.on_testbed(self.config) else ()),
        )
        return tables | {name: f"{_REPORT}:{name}" for name in measures if self._measured()}

    def settings(self, instance: str) -> dict[str, Any]:
        name, part = name_and_part(instance)
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
            "": ("min_count", "attested"),
        }
        if part == TAGS:
            language = self.config["languages"]["reference"]["code"]
            tagger = block["tagger"]
            return {**tagger, "folder": Located(tagger["folder"]), "language": language}
        return {key: block[key] for key in keys[part]}

    def content(self, instance: str) -> dict[str, Any]:
        settings, hashes = self.settings(instance), self.inputs(instance)
        if files := self._tagger_files(instance):
            settings |= {"folder": {model: hashes[path] for model, path in files.items()}}
        if name_and_part(instance)[1] == MEASURES:
            # Names count: they tell the figures apart.
            for key, paths in lexicon_measures.files(self.config).items():
                named = [[Path(path).name, hashes[path]] for path in paths]
                settings[key.rpartition(".")[2]] = named
        return settings

    def inputs(self, instance: str) -> dict[str, str]:
        if name_and_part(instance)[1] == MEASURES:
            files = lexicon_measures.files(self.config)
            return {path: self.sha256(path, key) for key, paths in files.items() for path in paths}
        key = f"{self._tagger_key(instance)}.folder"
        return {path: self.sha256(path, key) for path in self._tagger_files(instance).values()}

    def _tagger_files(self, instance: str) -> dict[str, str]:
        """Return the files of the tagger that a unit's job loads, by what they are."""
        if name_and_part(instance)[1] != TAGS:
            return {}
        tagger = self.settings(instance)
        key = self._tagger_key(instance)
        return parser_files(tagger["folder"], tagger["language"], tagger["package"], key, TAGGING)

    def _tagger_key(self, instance: str) -> str:
        return f"lexicons.{name_and_part(instance)[0]}.tagger"

    def words_job(self, at: Wildcards) -> Job:
        """Return the job that finds the words of a lexicon."""
        return Job(
            "lexicon.words",
            f"{at.lexicon}{WORDS}",
            reads={"training_sets": self._training_sets(at.lexicon)},
        )

    def count_job(self, at: Wildcards) -> Job:
        """Return the job that counts what stands in a share of the pairs."""
        words, counts = self.unit(f"{at.lexicon}{WORDS}"), f"{at.lexicon}{COUNTS}"
        return Job(
            "lexicon.count",
            counts,
            reads={"training_sets": self._training_sets(at.lexicon)},
            awaits=[self.file(words, "words.json")],
            options={"words": self.layout.folder(*words), "shards": self.shards(counts)},
        )

    def tag_job(self, at: Wildcards) -> Job:
        """Return the job that finds the parts of speech of a lexicon's words."""
        words = self.unit(f"{at.tagged_lexicon}{WORDS}")
        return Job(
            "lexicon.word_tags",
            f"{at.tagged_lexicon}{TAGS}",
            reads={"training_sets": self._training_sets(at.tagged_lexicon)},
            awaits=[self.file(words, "words.json")],
            options={"words": self.layout.folder(*words)},
            inputs=True,
        )

    def entries_job(self, at: Wildcards) -> Job:
        """Return the job that makes the entries of a lexicon."""
        words, counted = self.unit(f"{at.lexicon}{WORDS}"), f"{at.lexicon}{COUNTS}"
        counts = self.unit(counted)
        tags = None
        if TAGS in self._parts(at.lexicon):
            tags = self.file(self.unit(f"{at.lexicon}{TAGS}"), "tags.parquet")
        return Job(
            "lexicon.entries",
            at.lexicon,
            reads={"tags": tags},
            awaits=[self.file(words, "words.json"), self.manifest(counts)],
            options={
                "words": self.layout.folder(*words),
                "counts": self.layout.folder(*counts),
                "shards": self.shards(counted),
                "output": self.folder(at.lexicon),
            },
        )

    def measure_job(self, at: Wildcards) -> Job:
        """Return the job that measures a lexicon."""
        texts = self._training_sets(at.lexicon) if lexicon_measures.on_testbed(self.config) else []
        embeddings = {name: ("embed", embedding) for name, embedding in self.compared().items()}
        return Job(
            "lexicon.measure_lexicon",
            f"{at.lexicon}{MEASURES}",
            reads={
                "lexicon": self.file(self.unit(at.lexicon), "lexicon.parquet"),
                "training_sets": texts,
            },
            awaits=[self.file(unit, "model.json") for unit in embeddings.values()],
            options={"embeddings": self.named_folders(embeddings)},
            inputs=True,
        )

    def _training_sets(self, name: str) -> list[str]:
        """Return the files of the training sets that a lexicon is made of."""
        units = self.reads(f"{name}{WORDS}")
        return [self.file(unit, "pairs.parquet") for unit in units]
