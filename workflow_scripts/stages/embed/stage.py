"""The stage `embed`: sentence embeddings and their test (docs/embed.md)."""

import os
from functools import cached_property
from typing import Any

from workflow_scripts.core.files.input_files import as_list, files_below
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.embeddings import column_embedding, embeddings
from workflow_scripts.plan.catalogues.encoder_entries import encoder_embedding, encoders
from workflow_scripts.plan.catalogues.rewriters import rewriters
from workflow_scripts.plan.catalogues.training_sets import (
    by_source,
    model_columns,
    training_sets,
    tuned,
)
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.embed.checks import notes, problems


def tested_embeddings(config: Config) -> dict[str, dict[str, Any]]:
    """Return the embeddings that the run names, by their names; columns may need others."""
    return embeddings(config, training_sets(config))


def tested_units(config: Config) -> list[Unit]:
    """Return the units that the release reads of embeddings: training sets, and the test."""
    tested = tested_embeddings(config).values()
    names = dict.fromkeys(embedding["training_set"] for embedding in tested)
    return [*(("filter", name) for name in names), ("embed", "sts")] if names else []


class Embed(Stage):
    """The evaluation data, each embedding, and the test of those that the run names."""

    name = "embed"
    version = 5
    row = "pairs"
    released = False
    wildcard = "embedding"
    problems = staticmethod(problems)
    notes = staticmethod(notes)

    @cached_property
    def tested(self) -> dict[str, dict[str, Any]]:
        """The embeddings that the run names."""
        return tested_embeddings(self.config)

    @cached_property
    def embeddings(self) -> dict[str, dict[str, Any]]:
        """The embeddings that the run names, and those behind its columns and its encoders."""
        behind = {
            name: embedding
            for column, systems in model_columns(self.config).items()
            if "embedding" in self.config["columns"][column]
            for system in systems
            for name, embedding in column_embedding(column, system, self.config).items()
        }
        for name in encoders(self.config):
            behind |= encoder_embedding(self.config, name)
        return self.tested | behind

    @cached_property
    def _tuned(self) -> dict[str, list[str]]:
        """The points of grids of which the best is chosen; some recipes have thousands."""
        return tuned(self.config)

    def instances(self) -> list[str | None]:
        if not self.embeddings:  # rewriters keep off the data as well
            return ["evaluation"] if rewriters(self.config) else []
        return ["evaluation", *self.embeddings, *(["sts"] if self.tested else [])]

    def reads(self, instance: str) -> list[Unit]:
        evaluation = self.unit("evaluation")
        if instance == "evaluation":
            return []
        if instance == "sts":
            return [evaluation, *map(self.unit, self.tested)]
        return [("filter", self.embeddings[instance]["training_set"]), evaluation]

    def records(self, instance: str) -> list[str]:
        return {"evaluation": ["evaluation"], "sts": ["testing"]}.get(instance, ["model"])

    def trains(self, instance: str) -> bool:
        return instance in self.embeddings

    def wildcards(self) -> dict[str, list[str]]:
        return {"embedding": list(self.embeddings)}

    def sections(self) -> dict[int, str]:
        return {70: "workflow_scripts.stages.embed.report:embeddings"}

    def tables(self) -> dict[str, str]:
        names: tuple[str, ...] = (
            "sts",
            "sts_data_sets",
            "sts_gains",
            "sts_differences",
            "sts_encoder_differences",
        )
        names += ("sts_tuned",) if self._tuned else ()
        names += ("sts_sources",) if by_source(self.config) else ()
        return {name: f"workflow_scripts.stages.embed.tables:{name}" for name in names}

    def settings(self, instance: str) -> dict[str, Any]:
        sts, seed = self.config["sts"], self.config["seed"]
        language = self.config["languages"]["reference"]["code"]
        development = sts.get("development", [])
        if instance == "evaluation":
            corpora = [self.config["corpora"][name] for name in self.config["run"]["corpora"]]
            simulated = any("testbed" in corpus for corpus in corpora)
            return {
                "data": selection.located(self.config, sts["data"]),
                "testbed": sts["testbed"] if simulated else None,
                "language": language,
                "seed": seed,
                **({"development": development} if development else {}),
            }
        points = self._tuned
        if instance == "sts":
            return {
                "bootstrap": sts["bootstrap"],
                "language": language,
                "seed": seed,
                **({"development": development} if development else {}),
                **({"tuned": points} if points else {}),
            }
        embedding = self.embeddings[instance]
        point = any(embedding["training_set"] in names for names in points.values())
        vectors, by_epoch = embedding["model"]["vectors"], embedding["training"]["development"]
        return {
            "name": instance,
            "model": embedding["model"]
            | {"vectors": vectors and selection.located(self.config, [vectors])[0]},
            "training": embedding["training"]
            | {"development": by_epoch and selection.located(self.config, by_epoch)},
            "repetition": embedding["repetition"],
            "language": language,
            "seed": seed,
            # Left out where there is nothing to choose: folders keep their names.
            **({"chosen_on": development} if development and by_epoch else {}),
            **({"tuned": True} if point else {}),
        }

    def content(self, instance: str) -> dict[str, Any]:
        settings = self.settings(instance)
        if instance == "sts":
            return settings
        if instance == "evaluation":
            return {**settings, "data": self._hashed(self._sts_files(), "sts.data")}
        files = self._embedding_files(instance)
        vectors, development = (self._hashed(paths, key) for key, paths in files.items())
        return {
            **settings,
            "model": settings["model"] | {"vectors": [file[1] for file in vectors]},
            "training": settings["training"] | {"development": development},
        }

    def inputs(self, instance: str) -> dict[str, str]:
        if instance == "sts":
            return {}
        if instance == "evaluation":
            return {path: self.sha256(path, "sts.data") for path in self._sts_files()}
        files = self._embedding_files(instance)
        return {path: self.sha256(path, key) for key, paths in files.items() for path in paths}

    def _sts_files(self) -> list[str]:
        """Return the files of the data sets that embeddings are tested on."""
        paths = selection.located(self.config, self.config["sts"]["data"])
        return files_below(paths, "sts.data")

    def _embedding_files(self, name: str) -> dict[str, list[str]]:
        """Return the files that an embedding starts from and is chosen by, by configuration key."""
        settings = self.settings(name)
        entry = f"embeddings.{self.embeddings[name]['entry']}"
        vectors, development = f"{entry}.model.vectors", f"{entry}.training.development"
        return {
            vectors: files_below(as_list(settings["model"]["vectors"] or []), vectors),
            development: files_below(settings["training"]["development"] or [], development),
        }

    def _hashed(self, files: list[str], key: str) -> list[list[str]]:
        return [
            [os.path.relpath(file, self.config["data"]), self.sha256(file, key)] for file in files
        ]

    def evaluation_job(self, at: Wildcards) -> Job:
        """Return the job that collects the data that embeddings are tested on."""
        users = list(self.inputs("evaluation"))
        return Job("embed.evaluation", "evaluation", users=users, inputs=True)

    def train_job(self, at: Wildcards) -> Job:
        """Return the job that trains an embedding."""
        training_set = ("filter", self.embeddings[at.embedding]["training_set"])
        folder = self.folder(at.embedding)
        return Job(
            "embed.train",
            at.embedding,
            reads={
                "pairs": self.file(training_set, "pairs.parquet"),
                "evaluation": self._evaluation_file(),
            },
            users=list(self.inputs(at.embedding)),
            options={"work": f"{folder}/work", "output": folder},
            inputs=True,
        )

    def sts_job(self, at: Wildcards) -> Job:
        """Return the job that tests the embeddings that the run names."""
        models = {
            f"{entry['entry']}-{entry['training_set']}/{entry['repetition']}": self.unit(name)
            for name, entry in self.tested.items()
        }
        return Job(
            "embed.sts_comparison",
            "sts",
            reads={"evaluation": self._evaluation_file()},
            awaits=[self.file(unit, "model.json") for unit in models.values()],
            options={"models": self.named_folders(models)},
        )

    def _evaluation_file(self) -> str:
        return self.file(self.unit("evaluation"), "evaluation.parquet")
