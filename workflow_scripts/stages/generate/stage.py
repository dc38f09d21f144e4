"""The stage `generate`: candidates of each system for the chosen references (docs/generate.md)."""

from typing import Any

from workflow_scripts.core.files.paths import Located
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues import pools, written_sources
from workflow_scripts.plan.catalogues.merges import without_bitext
from workflow_scripts.plan.catalogues.rewriters import rewriter_of
from workflow_scripts.plan.catalogues.written_sources import (
    SOURCES,
    TEXT,
    WRITER_ROLES,
    written_corpora,
)
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage, name_and_part
from workflow_scripts.stages.generate.checks import for_language, left_variants, notes, problems
from workflow_scripts.stages.syntax.parser_files import TAGGER_KEY, TAGGING, parser_files


def needs_idf(config: Config, system: str | None) -> bool:
    """Tell whether a system chooses words by their IDF."""
    return "idf" in _constraints(config, system)


def constraints_of(config: Config, system: str) -> dict[str, Any] | None:
    """Return the constraints of a system as they are used.

    They are without the variants that are left out, and without what is English only where the
    references are not English.
    """
    constraints = config["systems"][system].get("constraints")
    if not constraints:
        return constraints
    if "variants" in constraints:
        constraints = {**constraints, "variants": left_variants(constraints["variants"])}
    return for_language(constraints, config["languages"]["reference"]["code"])


def _constraints(config: Config, system: str | None) -> dict[str, Any]:
    return config["systems"].get(system, {}).get("constraints") or {}


class Generate(Stage):
    """The references, their words and the IDF of these where they are needed, and each system.

    And before all of them `<corpus>-sources`: the sources of a corpus that is text alone; before
    the systems `sources-<hash>`: further sources of the references, for systems that ask for them.
    """

    name = "generate"
    version = 4
    row = "references"
    released = True
    wildcard = "system"
    problems = staticmethod(problems)
    notes = staticmethod(notes)

    def instances(self) -> list[str | None]:
        if without_bitext(self.config):
            return []
        systems = self.config["run"]["systems"]
        idf = ["idf"] if any(needs_idf(self.config, system) for system in systems) else []
        words = ["words"] if selection.known_words(self.config) else []
        return [*self._sources(), "references", *idf, *words, *self._further(), *systems]

    def _sources(self) -> list[str]:
        return [f"{name}{SOURCES}" for name in written_corpora(self.config)]

    def _further(self) -> dict[str, dict[str, Any]]:
        return pools.written_units(self.config)

    def further_sources(self, system: str) -> list[Unit]:
        """Return the unit with the written sources of a system, if it asks for some."""
        name = pools.written_unit(self.config["systems"][system])
        return [self.unit(name)] if name else []

    def reads(self, instance: str) -> list[Unit]:
        if instance in ("references", "idf", "words"):
            return [selection.pairs(self.config)]
        if instance in self._sources():
            name, _ = name_and_part(instance)
            return [("corpus", f"{name}{TEXT}"), *(("train", role) for role in WRITER_ROLES)]
        if instance in self._further():
            return [self.unit("references"), ("train", "backward")]
        idf = [self.unit("idf")] if needs_idf(self.config, instance) else []
        read = [self.unit("references"), *idf, self.writer(instance), *self.held_out(instance)]
        return [*read, *self.further_sources(instance)]

    def writer(self, system: str) -> Unit:
        """Return the unit whose model writes the candidates of a system."""
        rewriter = rewriter_of(self.config, system)
        return ("rewrite", rewriter["name"]) if rewriter else ("train", "forward")

    def held_out(self, system: str) -> list[Unit]:
        """Return the unit with the references that a system is bound to, if it is to some."""
        rewriter = rewriter_of(self.config, system)
        if rewriter is None or rewriter["references"] == "all":
            return []
        return [("rewrite", f"{rewriter['name']}-pairs")]

    def shards(self, instance: str) -> int:
        if instance in self._sources():
            return self.config["shards"]["early"]
        return 0 if instance in ("idf", "words") else self.config["shards"]["late"]

    def records(self, instance: str) -> list[str]:
        return {"references": ["sampling"], "idf": ["idf"], "words": ["words"]}.get(instance, [])

    def settings(self, instance: str) -> dict[str, Any]:
        if instance == "references":
            corpora = selection.generate_corpora(self.config)
            limit = self.config["generate"]["limit"]
            if isinstance(limit, dict):
                limit = {name: limit[name] for name in corpora if name in limit}
            return {"corpora": corpora, "limit": limit, "seed": self.config["seed"]}
        if instance == "idf":
            training = selection.main_training_corpora(self.config)
            corpora = training or self.config["run"]["corpora"]
            return {"corpora": corpora, "language": self._language}
        if instance == "words":
            return {}
        if instance in self._further():
            return self._writing(self._further()[instance])
        if instance in self._sources():
            name, _ = name_and_part(instance)
            search = written_sources.settings(self.config, name)["search"]
            return {**self._writing(search), **selection.unescaping(self.config)}
        system = self.config["systems"][instance]
        constraints = constraints_of(self.config, instance)
        if constraints and "variants" in constraints:
            constraints = {**constraints, "language": self._language}
        if constraints and (pairs := self._located_pairs(instance)):
            constraints = {**constraints, "pairs": pairs}
        if tagger := _constraints(self.config, instance).get("tagger"):
            folder = Located(tagger["folder"])
            located = {**tagger, "folder": folder, "language": self._language}
            constraints = {**(constraints or {}), "tagger": located}
        searches, wanted = pools.named_searches(system), pools.sources(system)
        return {
            "system": instance,
            **({"searches": searches} if searches else {"search": system["search"]}),
            "constraints": constraints,
            "precision": self.config["compute"]["precision"],
            "seed": self.config["seed"],
            # Left out where there is none: the names of existing folders follow from the settings.
            **({"rewriter": block} if (block := rewriter_of(self.config, instance)) else {}),
            **(
                {"sources": {key: wanted[key] for key in ("human", "written")}}
                if wanted["written"]
                else {}
            ),
        }

    def _writing(self, search: dict[str, Any]) -> dict[str, Any]:
        """Return how sources are written."""
        return {
            "source": written_sources.mark(self.config),
            "search": search,
            "precision": self.config["compute"]["precision"],
            "seed": self.config["seed"],
        }

    def content(self, instance: str) -> dict[str, Any]:
        settings, hashes = self.settings(instance), self.inputs(instance)
        if pairs := self._located_pairs(instance):
            by_kind = {kind: hashes[path] for kind, path in pairs.items()}
            settings["constraints"] = {**settings["constraints"], "pairs": by_kind}
        if tagger := self._tagger_files(instance):
            by_model = {name: hashes[path] for name, path in tagger.items()}
            tagger_content = {**settings["constraints"]["tagger"], "folder": by_model}
            settings["constraints"] = {**settings["constraints"], "tagger": tagger_content}
        return settings

    def inputs(self, instance: str) -> dict[str, str]:
        key = f"systems.{instance}.constraints"
        pairs = self._located_pairs(instance).items()
        tagger = self._tagger_files(instance).values()
        return {
            **{path: self.sha256(path, f"{key}.pairs.{kind}") for kind, path in pairs},
            **{path: self.sha256(path, f"{key}.tagger.folder") for path in tagger},
        }

    def pair_files(self, system: str) -> list[str]:
        """Return the files of paraphrases that a system's constraints are read from."""
        return list(self._located_pairs(system).values())

    def _located_pairs(self, system: str) -> dict[str, str]:
        pairs = _constraints(self.config, system).get("pairs", {})
        return dict(zip(pairs, selection.located(self.config, list(pairs.values())), strict=True))

    def _tagger_files(self, system: str) -> dict[str, str]:
        tagger = _constraints(self.config, system).get("tagger")
        if not tagger:
            return {}
        key = f"systems.{system}.{TAGGER_KEY}"
        return parser_files(tagger["folder"], self._language, tagger["package"], key, TAGGING)

    @property
    def _language(self) -> str:
        """The language of the references."""
        return str(self.config["languages"]["reference"]["code"])

    def wildcards(self) -> dict[str, list[str]]:
        return {"sources": [*self._sources(), *self._further()]}

    def sources_job(self, at: Wildcards) -> Job:
        """Return the job that writes the sources of a shard of text, or further ones."""
        if at.sources in self._further():
            references, backward = self.reads(at.sources)
            return Job(
                "generate.write_sources",
                at.sources,
                reads={"text": self.file(references, f"{at.shard}.parquet")},
                awaits=[self.file(backward, "model.json")],
                options={"backward": self.layout.folder(*backward)},
            )
        text, forward, backward = self.reads(at.sources)
        return Job(
            "generate.write_sources",
            at.sources,
            reads={"text": self.file(text, f"{at.shard}.parquet")},
            awaits=[self.file(unit, "model.json") for unit in (forward, backward)],
            options={
                "forward": self.layout.folder(*forward),
                "backward": self.layout.folder(*backward),
            },
        )

    def sample_job(self, at: Wildcards) -> Job:
        """Return the job that decides which references are paraphrased."""
        return self._reads_all("generate.sample_references", "references")

    def idf_job(self, at: Wildcards) -> Job:
        """Return the job that counts in how many references each word stands."""
        return self._reads_all("generate.idf", "idf")

    def words_job(self, at: Wildcards) -> Job:
        """Return the job that collects the words of the references."""
        return self._reads_all("generate.known_words", "words", config=False)

    def _reads_all(self, command: str, instance: str, config: bool = True) -> Job:
        """Return a job that reads all pairs of the bitext."""
        pairs = selection.pairs(self.config)
        return Job(
            command,
            instance,
            awaits=[self.manifest(pairs)],
            options={"folder": self.layout.folder(*pairs), "shards": self.layout.shards(*pairs)},
            config=config,
        )

    def references_job(self, at: Wildcards) -> Job:
        """Return the job that gathers the references of a shard."""
        pairs = selection.pairs(self.config)
        early = selection.early_shards(self.config, at.shard)
        return Job(
            "generate.references",
            "references",
            reads={
                "sample": self.file(self.unit("references"), "sample.json"),
                "pairs": [self.file(pairs, f"{name}.parquet") for name in early],
            },
        )

    def shard_job(self, at: Wildcards) -> Job:
        """Return the job that writes the candidates of a shard."""
        idf = self.file(self.unit("idf"), "idf.parquet")
        writer, held_out = self.writer(at.system), self.held_out(at.system)
        options: dict[str, Any] = {"model": self.layout.folder(*writer)}
        for unit in held_out:
            options |= {
                "held_out": self.layout.folder(*unit),
                "held_out_shards": self.layout.shards(*unit),
            }
        further = self.further_sources(at.system)
        return Job(
            "generate.candidates",
            at.system,
            reads={
                "references": self.file(self.unit("references"), f"{at.shard}.parquet"),
                "idf": idf if needs_idf(self.config, at.system) else None,
                "sources": self.file(further[0], f"{at.shard}.parquet") if further else None,
            },
            awaits=[self.file(writer, "model.json"), *map(self.manifest, held_out)],
            users=self.pair_files(at.system),
            options=options,
            inputs=True,
        )
