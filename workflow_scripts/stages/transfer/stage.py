"""The stage `transfer`: embeddings as features of simple classifiers (docs/transfer.md)."""

import os
from functools import cached_property
from typing import Any

from workflow_scripts.plan.catalogues.embeddings import embeddings
from workflow_scripts.plan.catalogues.encoder_blocks import (
    encoder_content,
    encoder_settings,
    hub_record,
    own_files,
)
from workflow_scripts.plan.catalogues.training_sets import training_sets
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit, located
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.transfer.checks import (
    BAG_OF_WORDS,
    TASKS_UNIT,
    notes,
    problems,
    transfer,
)
from workflow_scripts.stages.transfer.tasks import chosen

# What a unit represents sentences by.
EMBEDDING, ENCODER, VECTORS = "embedding", "encoder", "vectors"


class Transfer(Stage):
    """The tasks, and one unit for each way to represent sentences; nothing without `data`.

    An instance is `tasks`, the name of an embedding of the run, of an encoder or of word vectors,
    or `bag_of_words`.
    """

    name = "transfer"
    version = 1
    row = "rows of tasks"
    released = True
    wildcard = "representation"
    problems = staticmethod(problems)
    notes = staticmethod(notes)

    @cached_property
    def block(self) -> dict[str, Any]:
        """The stage's part of the configuration, with its defaults."""
        return transfer(self.config)

    @cached_property
    def embeddings(self) -> dict[str, dict[str, Any]]:
        """The embeddings of the run that are tested, by their names."""
        entries = self.block["embeddings"]
        every = embeddings(self.config, training_sets(self.config))
        return {
            name: settings
            for name, settings in every.items()
            if entries is None or settings["entry"] in entries
        }

    @cached_property
    def kinds(self) -> dict[str, str]:
        """What each unit but the tasks represents sentences by, by its instance."""
        if not self.block["data"]:
            return {}
        return {
            **dict.fromkeys(self.embeddings, EMBEDDING),
            **dict.fromkeys(self.block["sentence_transformers"], ENCODER),
            **dict.fromkeys(self.block["vectors"], VECTORS),
            **({BAG_OF_WORDS: BAG_OF_WORDS} if self.block["bag_of_words"] else {}),
        }

    def instances(self) -> list[str | None]:
        return [TASKS_UNIT, *self.kinds] if self.kinds else []

    def reads(self, instance: str) -> list[Unit]:
        if instance == TASKS_UNIT:
            return []
        units = [self.unit(TASKS_UNIT)]
        if self.kinds[instance] == EMBEDDING:
            training_set = self.embeddings[instance]["training_set"]
            units += [("embed", instance), ("filter", training_set)]
        return units

    def records(self, instance: str) -> list[str]:
        return ["sentences"] if instance == TASKS_UNIT else ["testing"]

    def wildcards(self) -> dict[str, list[str]]:
        return {"representation": list(self.kinds)}

    def sections(self) -> dict[int, str]:
        return {72: "workflow_scripts.stages.transfer.report:transfer_tasks"}

    def tables(self) -> dict[str, str]:
        names = ("transfer", "transfer_gains", "transfer_data")
        return {name: f"workflow_scripts.stages.transfer.report:{name}" for name in names}

    def settings(self, instance: str) -> dict[str, Any]:
        if instance == TASKS_UNIT:
            return {
                "data": located(self.config, self.block["data"]),
                "tasks": list(self._task_files()),
            }
        kind = self.kinds[instance]
        settings = {
            "name": instance,
            "kind": kind,
            **{key: self.block[key] for key in ("classifier", "folds", "seeds", "scaled")},
            "bootstrap": self.config["evaluate"]["bootstrap"],
            "seed": self.config["seed"],
        }
        if kind == EMBEDDING:
            keys = ("entry", "training_set", "repetition")
            settings |= {key: self.embeddings[instance][key] for key in keys}
        if kind == ENCODER:
            settings["encoder"] = encoder_settings(
                self.block["sentence_transformers"][instance], self.config
            )
        if kind == VECTORS:
            (settings["vectors"],) = located(self.config, [self.block["vectors"][instance]])
        return settings

    def content(self, instance: str) -> dict[str, Any]:
        settings, inputs = self.settings(instance), self.inputs(instance)
        if instance == TASKS_UNIT:
            data = self.config["data"]
            hashes = [[os.path.relpath(path, data), sha256] for path, sha256 in inputs.items()]
            return {**settings, "data": hashes}
        if "vectors" in settings:
            return {**settings, "vectors": inputs[settings["vectors"]]}
        if "encoder" in settings:
            files = self.encoder_files(instance)
            return {**settings, "encoder": encoder_content(settings["encoder"], files, inputs)}
        return settings

    def inputs(self, instance: str) -> dict[str, str]:
        if instance == TASKS_UNIT:
            files = {file for of_task in self._task_files().values() for file in of_task}
            return {path: self.sha256(path, "transfer.data") for path in sorted(files)}
        if self.kinds[instance] == VECTORS:
            (path,) = located(self.config, [self.block["vectors"][instance]])
            return {path: self.sha256(path, f"transfer.vectors.{instance}")}
        key = f"transfer.sentence_transformers.{instance}.folder"
        return {path: self.sha256(path, key) for path in self.encoder_files(instance).values()}

    def _task_files(self) -> dict[str, list[str]]:
        """Return the files of each task that is tested."""
        by_task = chosen(located(self.config, self.block["data"]), self.block["tasks"])
        return {
            task: [str(file) for files in parts.values() for file in files]
            for task, parts in by_task.items()
        }

    def encoder_files(self, instance: str) -> dict[str, str]:
        """Return the files of an encoder in a folder of the user's, by name."""
        if self.kinds[instance] != ENCODER:
            return {}
        block = self.block["sentence_transformers"][instance]
        return own_files(block, self.config, f"transfer.sentence_transformers.{instance}")

    def encoder_record(self, instance: str) -> str:
        """Return the record of the download of an encoder; empty if there is none."""
        if self.kinds[instance] != ENCODER:
            return ""
        return hub_record(self.block["sentence_transformers"][instance], self.config)

    def hub_block(self, record: str) -> dict[str, Any] | None:
        """Return the block of the encoder whose files a record of downloads tells, if any."""
        for instance in self.kinds:
            if self.encoder_record(instance) == record:
                return self.block["sentence_transformers"][instance]
        return None

    def outside(self, instance: str) -> list[str]:
        record = "" if instance == TASKS_UNIT else self.encoder_record(instance)
        return [record.removesuffix(".json")] if record else []

    def tasks_job(self, at: Wildcards) -> Job:
        """Return the job that collects the rows of the tasks."""
        users = list(self.inputs(TASKS_UNIT))
        return Job("transfer.collect", TASKS_UNIT, users=users, inputs=True)

    def test_job(self, at: Wildcards) -> Job:
        """Return the job that tests a representation."""
        instance = at.representation
        record = self.encoder_record(instance)
        reads = {"tasks": self.file(self.unit(TASKS_UNIT), "sentences.parquet")}
        options = {"work": f"{self.folder(instance)}/work"}
        awaits = []
        if self.kinds[instance] == EMBEDDING:
            embedding = ("embed", instance)
            training_set = ("filter", self.embeddings[instance]["training_set"])
            reads["pairs"] = self.file(training_set, "pairs.parquet")
            awaits = [self.file(embedding, "model.json")]
            options["model"] = self.layout.folder(*embedding)
        return Job(
            "transfer.represented",
            instance,
            reads=reads,
            awaits=awaits,
            users=[record] if record else list(self.inputs(instance)),
            options=options,
            inputs=True,
        )
