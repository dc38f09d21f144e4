"""The stage `release`: corpora, datasheets, tables and the report (docs/release.md)."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from workflow_scripts.core.files.input_files import as_list
from workflow_scripts.core.files.paths import Located, without_folders
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.merged_runs import SelectedRun
from workflow_scripts.plan.catalogues.merges import merging
from workflow_scripts.plan.catalogues.model_blocks import UNKNOWN
from workflow_scripts.plan.catalogues.rewriters import (
    rewriter,
    rewriter_models,
    rewriter_of,
    rewriter_role,
    rewriter_training_sets,
    systems_behind,
)
from workflow_scripts.plan.catalogues.training_sets import model_columns
from workflow_scripts.plan.catalogues.written_sources import further, mark, written_corpora
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.layout import unit_name
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.embed.stage import tested_embeddings, tested_units
from workflow_scripts.stages.generate.stage import constraints_of
from workflow_scripts.stages.score.stage import Score

# The code of ISO 639-2 for more than one language.
MANY = "mul"


def _origin(block: dict[str, Any]) -> str:
    """Return where a finished model comes from, the same on every machine."""
    inside = f", {block['path']}" if "path" in block else ""
    if "folder" in block:
        return f"folder {Path(block['folder']).name}"
    if "url" in block:
        return f"{', '.join(as_list(block['url']))}{inside}"
    if "hub" in block:
        return f"hub {block['hub']} at {block['revision']}{inside}"
    return f"package {block['package']} {block['version']}{inside}"


class Release(Stage):
    """One unit. It reads all released stages and the test of the embeddings."""

    name = "release"
    version = 4
    row = "references"
    released = False

    def instances(self) -> list[str | None]:
        return [None]

    def reads(self, instance: None) -> list[Unit]:
        return [*self.layout.released_units(), *tested_units(self.config)]

    def records(self, instance: None) -> list[str]:
        systems = self.config["run"]["systems"]
        names = ("paraphrases", "README")
        return ["tables/tables", *(f"{system}/{name}" for system in systems for name in names)]

    def files(self, instance: None) -> list[str]:
        tables = [f"tables/{name}.tsv" for name in self.released_tables()]
        documents = [
            f"{system}/{name}"
            for system in self.config["run"]["systems"]
            for name in ("README.md", "SHA256SUMS")
        ]
        return ["report.html", *tables, *documents]

    def sections(self) -> dict[int, str]:
        return {
            10: "workflow_scripts.stages.release.sections:overview",
            20: "workflow_scripts.stages.release.sections:stages",
            95: "workflow_scripts.stages.release.quoted:papers",
            100: "workflow_scripts.stages.release.sections:configuration",
        }

    def page_sections(self) -> list[str]:
        """Return the functions of the report's sections, in the order of their places.

        The sections are those of the stages that the release reads, and its own.

        Raises:
            ValueError: two sections have the same place.
        """
        places: dict[int, str] = {}
        for stage in [*self._read_stages(), self]:
            for place, function in stage.sections().items():
                if other := places.get(place):
                    raise ValueError(f"{other} and {function} both have place {place} of the page")
                places[place] = function
        return [places[place] for place in sorted(places)]

    def released_tables(self) -> dict[str, str]:
        """Return the functions of the tables of the stages that the release reads, by name.

        Raises:
            ValueError: two stages have a table of the same name.
        """
        tables: dict[str, str] = {}
        for stage in self._read_stages():
            for name, function in stage.tables().items():
                if other := tables.get(name):
                    raise ValueError(f"{other} and {function} both make a table {name}")
                tables[name] = function
        return tables

    def rows(self) -> dict[str, str]:
        """Return what a row is of each stage whose units are described, by the stage's name."""
        return {stage.name: stage.row for stage in self.layout.stages if stage.released}

    def _read_stages(self) -> list[Stage]:
        read = {stage for stage, _ in self.reads(None)}
        return [stage for stage in self.layout.stages if stage.name in read]

    def settings(self, instance: None) -> dict[str, Any]:
        entries = {
            block["entry"]: {"name": block["entry"], **{k: block[k] for k in ("model", "training")}}
            for block in tested_embeddings(self.config).values()
        }
        part, run = self.config["release"], self.config["run"]
        return {
            **part,
            "title": part["title"] or f"Paraphrases, {run['name']}",
            "licence": part["licence"] or self._licence_of_inputs(),
            "name": run["name"],
            "languages": self._told_languages(),
            "systems": {name: self._told_system(name) for name in run["systems"]},
            "embeddings": [self._told_embedding(entry) for entry in entries.values()],
            "seed": self.config["seed"],
            **({"models": models} if (models := self._told_models()) else {}),
            **({"written_sources": written} if (written := self._told_written()) else {}),
        }

    def _told_written(self) -> dict[str, str]:
        """Return what stands as the source of each corpus whose sources are written."""
        return {name: mark(self.config) for name in written_corpora(self.config)}

    def _licence_of_inputs(self) -> str:
        """Return the licence, or licences, that the corpora, or the runs that are merged, state."""
        merged = [run for system in merging(self.config) for run in self._merged_runs(system)]
        stated = [run.licence for run in merged] or [selection.stated_licence(self.config)]
        return "; ".join(dict.fromkeys(map(str, stated))) if all(stated) else "unknown"

    def _told_languages(self) -> dict[str, str]:
        """Return the codes of both languages; of several source languages the code of many."""
        codes = {side: language["code"] for side, language in self.config["languages"].items()}
        return {**codes, "source": MANY} if merging(self.config) else codes

    def _merged_runs(self, system: str) -> list[SelectedRun]:
        return self.layout.stage(Score).merged_runs(system)

    def _told_runs(self, system: str) -> list[dict[str, Any]]:
        """Return what the release says about the runs that a system merges."""
        blocks = self.config["systems"][system]["merge"]
        return [
            {
                "name": run.name,
                "run": Path(blocks[run.name]["run"]).name,
                "system": blocks[run.name]["system"],
                "source": run.source,
                "unit": run.unit,
                "licence": run.licence,
                **({"written": run.written} if run.written else {}),
                **({"sources": run.sources} if run.sources else {}),
            }
            for run in self._merged_runs(system)
        ]

    def _told_models(self, system: str | None = None) -> list[dict[str, Any]]:
        """Return what is known of the finished models: where from, licence, what they have seen.

        Of one `system` a rewriter's is left out that has no part in its corpus.
        """
        behind = [] if system is None else self._rewriters_behind(system)
        apart = rewriter_models(self.config).keys() - map(rewriter_role, behind)
        return [
            {
                "role": role,
                "name": selection.role_model_name(self.config, role),
                "origin": _origin(block),
                "licence": block.get("licence"),
                "trained_on": block.get("trained_on", UNKNOWN),
            }
            for role in selection.model_roles(self.config)
            if system is None or role not in apart
            if selection.taken_over(self.config, role)
            for block in [selection.role_model(self.config, role)]
        ]

    def _told_system(self, name: str) -> dict[str, Any]:
        """Return the block of a system with its files by their names, and only its own variants."""
        system, constraints = self.config["systems"][name], constraints_of(self.config, name)
        if name in merging(self.config):
            return {**system, "merge": self._told_runs(name)}
        if not constraints:
            return system
        for_release = dict(constraints)
        if files := constraints.get("pairs"):
            for_release["pairs"] = {kind: self._names([path])[0] for kind, path in files.items()}
        if tagger := constraints.get("tagger"):
            for_release["tagger"] = {**tagger, "folder": Located(tagger["folder"]).name}
        return {**system, "constraints": for_release}

    def _told_embedding(self, entry: dict[str, Any]) -> dict[str, Any]:
        """Return an embedding with its files by their names."""
        vectors, development = entry["model"]["vectors"], entry["training"]["development"]
        return {
            **entry,
            "model": entry["model"] | {"vectors": vectors and self._names([vectors])[0]},
            "training": entry["training"]
            | {"development": development and self._names(development)},
        }

    def _names(self, paths: Iterable[str]) -> list[str]:
        return [path.name for path in selection.located(self.config, list(paths))]

    def system_settings(self, system: str) -> dict[str, Any]:
        """Return the settings of the released corpus of one system."""
        shown = ("quoted", "embeddings")  # only in the report
        part = {k: v for k, v in self.settings(None).items() if k not in (*shown, "models")}
        block = part.pop("systems")[system]
        return {
            **part,
            "system": system,
            "block": block,
            "best": block["select"]["best"],
            **({"models": models} if (models := self._told_models(system)) else {}),
            **({"runs": self._told_runs(system)} if system in merging(self.config) else {}),
            **({"rewriter": of_rewriter} if (of_rewriter := self._told_rewriter(system)) else {}),
            **({"sources": of_pool} if (of_pool := further(self.config, system)) else {}),
            "configuration": self._configuration(system),
        }

    def _configuration(self, system: str) -> dict[str, Any]:
        """Return the configuration behind the corpus of one system, the same on every machine.

        What is trained on the corpus is left out, and so are folders of the machine and `compute`;
        what of `compute` counts, the precision, is in the settings of the stages. A corpus that a
        rewriter writes has the systems and training sets behind the rewriter as well.
        """
        config = self.config
        run = {**config["run"], "systems": [system], "training_sets": [], "embeddings": []}
        for made_of_it in ("rewriters", "lexicons", "encoders"):
            run.pop(made_of_it, None)
        if names := self._rewriters_behind(system):
            blocks = [rewriter(config, name) for name in names]
            entries = chain.from_iterable(block["training_sets"] for block in blocks)
            behind = chain.from_iterable(systems_behind(config, name) for name in names)
            of_corpus = {system, *behind}
            systems = [name for name in config["run"]["systems"] if name in of_corpus]
            run |= {"systems": systems, "training_sets": list(dict.fromkeys(entries))}
            run["rewriters"] = names
        needed = model_columns({**config, "run": run}) if "rewriters" in run else {}
        shown = {*config["evaluate"]["columns"], *needed}
        columns = {name: block for name, block in config["columns"].items() if name in shown}
        apart = ["results", "data", "downloads", "compute", "embeddings", "sts"]
        apart += ["lexicons", "transfer", "encoder_tasks"]
        if "rewriters" not in run:
            apart += ["training_sets"]
        mine = selection.used({**config, "run": run, "columns": columns})
        if not mine.get("encoders"):  # one may be behind the training set of a rewriter
            apart += ["encoders"]
        part = {key: value for key, value in mine.items() if key not in apart}
        # One names systems that have no part in this corpus, the other is of what is made of it.
        evaluate = {k: v for k, v in part["evaluate"].items() if k not in ("rewriting", "lexicons")}
        part["evaluate"] = evaluate
        return without_folders(part, config["data"])

    def _rewriters_behind(self, system: str) -> list[str]:
        """Return the rewriter of a system, and those behind the systems that it learns from.

        None for a system that the forward model writes.
        """
        rewriters: dict[str, None] = {}
        todo = [system]
        while todo:
            block = rewriter_of(self.config, todo.pop())
            if block and block["name"] not in rewriters:
                rewriters[block["name"]] = None
                todo += systems_behind(self.config, block["name"])
        return list(rewriters)

    def _told_rewriter(self, system: str) -> dict[str, Any]:
        """Return what the release says about the rewriter of a system; nothing if it has none."""
        block = rewriter_of(self.config, system)
        if block is None:
            return {}
        if model := rewriter_models(self.config).get(rewriter_role(block["name"])):
            return {**block, "model": model}
        return {**block, "learnt_from": rewriter_training_sets(self.config, block["name"])}

    def described_units(self, system: str) -> list[Unit]:
        """Return the released units behind the corpus of one system."""
        behind = self.layout.all_upstream([("evaluate", system)])
        return [unit for unit in self.layout.released_units() if unit in behind]

    def export_job(self, at: Wildcards) -> Job:
        """Return the job that writes the released corpus of a system."""
        selected = ("select", at.system)
        return Job(
            "release.export",
            awaits=[self.manifest(selected)],
            options={
                "config": self.system_settings(at.system),
                "folder": self.layout.folder(*selected),
                "shards": self.layout.shards(*selected),
                "output": self._corpus(at.system),
            },
            config=False,
        )

    def datasheet_job(self, at: Wildcards) -> Job:
        """Return the job that describes that corpus."""
        units = self.described_units(at.system)
        return Job(
            "release.datasheet",
            awaits=[*map(self.manifest, units), f"{self._corpus(at.system)}/paraphrases.json"],
            options={
                "config": self.system_settings(at.system),
                "units": self._named(units),
                "rows": self.rows(),
            },
            config=False,
        )

    def checksums_job(self, at: Wildcards) -> Job:
        """Return the job that writes the hashes of both, which are in their records."""
        folder = self._corpus(at.system)
        names = ("paraphrases.tsv.zst", "paraphrases.parquet", "README.md")
        return Job(
            "release.checksums",
            awaits=[f"{folder}/{name}" for name in names],
            options={"records": [f"{folder}/paraphrases.json", f"{folder}/README.json"]},
            config=False,
        )

    def tables_job(self, at: Wildcards) -> Job:
        """Return the job that writes the tables of the run."""
        units, tables = self.reads(None), self.released_tables()
        return Job(
            "release.tables",
            awaits=list(map(self.manifest, units)),
            options={
                "units": self._named(units),
                "tables": [f"{name}={function}" for name, function in tables.items()],
                "output": f"{self.folder()}/tables",
            },
        )

    def report_job(self, at: Wildcards) -> Job:
        """Return the job that writes the report of the run."""
        units = self.reads(None)
        return Job(
            "release.report",
            awaits=list(map(self.manifest, units)),
            options={
                "units": self._named(units),
                "rows": self.rows(),
                "sections": self.page_sections(),
            },
        )

    def _corpus(self, system: str) -> str:
        """Return the folder of the released corpus of a system."""
        return f"{self.folder()}/{system}"

    def _named(self, units: Iterable[Unit]) -> list[str]:
        """Return `<stage>[/<instance>]=<folder>` of units."""
        return self.named_folders({unit_name(*unit): unit for unit in units})
