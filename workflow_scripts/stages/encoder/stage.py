"""The stage `encoder`: encoders that tell paraphrases from neighbours (docs/encoder.md)."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.paths import Located
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues import encoder_blocks
from workflow_scripts.plan.catalogues.encoder_blocks import PLAIN
from workflow_scripts.plan.catalogues.encoder_entries import (
    encoder,
    encoder_embedding,
    encoder_training_set,
    encoders,
)
from workflow_scripts.plan.catalogues.encoder_tasks import (
    PLAIN_STATE,
    TUNED_STATE,
    answers_name,
    chosen_files,
    encoder_tasks,
    tested_encoders,
)
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage, name_and_part
from workflow_scripts.stages.encoder.checks import problems

# What follows an encoder's name in the names of its units; the tuned encoder has the bare name.
PAIRS, SCRATCH, TASKS, COMPARISON = "-pairs", "-scratch", "-tasks", "-comparison"


class Encoder(Stage):
    """Units of each encoder: its pairs, maybe what it is tuned from, the encoder, maybe its tasks.

    An instance is `<encoder>-pairs`, `<encoder>-scratch` (where it is trained from scratch),
    `<encoder>`, or, where the run has tasks (docs/encoder.md), `<encoder>-tasks` or
    `<encoder>-comparison`.
    """

    name = "encoder"
    version = 2
    row = "pairs"
    released = True
    wildcard = "encoder"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        instances: list[str | None] = []
        for name in encoders(self.config):
            scratch = [SCRATCH] if self._block(name)["scratch"] else []
            tasks = [TASKS, COMPARISON] if name in tested_encoders(self.config) else []
            instances += [f"{name}{part}" for part in (PAIRS, *scratch, "", *tasks)]
        return instances

    def reads(self, instance: str) -> list[Unit]:
        name, part = name_and_part(instance)
        if part == PAIRS:
            training_set = ("filter", encoder_training_set(self.config, name))
            (embedding,) = encoder_embedding(self.config, name)
            return [training_set, ("embed", embedding), ("embed", "evaluation")]
        if part == SCRATCH:
            return [selection.pairs(self.config), ("embed", "evaluation")]
        if part == COMPARISON:
            return [self.unit(f"{name}{TASKS}")]
        scratch = [self.unit(f"{name}{SCRATCH}")] if self._block(name)["scratch"] else []
        return [self.unit(name if part == TASKS else f"{name}{PAIRS}"), *scratch]

    def records(self, instance: str) -> list[str]:
        part = name_and_part(instance)[1]
        if part == TASKS:
            return self.answers()
        if part == COMPARISON:
            return ["comparison"]
        return ["pairs"] if part == PAIRS else ["model"]

    def files(self, instance: str) -> list[str]:
        part = name_and_part(instance)[1]
        if part == PAIRS:
            return ["train.parquet", "dev.parquet"]
        if part == TASKS:
            return [f"{name}.jsonl" for name in self.answers()]
        if part == COMPARISON:
            return ["tasks.json"]
        return ["metrics.json"]

    def trains(self, instance: str) -> bool:
        return name_and_part(instance)[1] in (SCRATCH, "")

    def wildcards(self) -> dict[str, list[str]]:
        block = encoder_tasks(self.config) if self._tested() else {"data": {}, "seeds": []}
        return {
            "encoder": encoders(self.config),
            "encoder_task": list(block["data"]),
            "encoder_state": [PLAIN_STATE, TUNED_STATE],
            "encoder_seed": list(map(str, block["seeds"])),
        }

    def sections(self) -> dict[int, str]:
        module = "workflow_scripts.stages.encoder"
        tasks = {74: f"{module}.tasks.report:encoder_tasks"} if self._tested() else {}
        return {73: f"{module}.report:encoders", **tasks}

    def tables(self) -> dict[str, str]:
        module, name = "workflow_scripts.stages.encoder", "encoder_tasks"
        tasks = {name: f"{module}.tasks.report:{name}_table"} if self._tested() else {}
        return {"encoders": f"{module}.report:encoders_table", **tasks}

    def answers(self, state: str | None = None) -> list[str]:
        """Return the names of the answers to the tasks, of one state of an encoder or of both."""
        block = encoder_tasks(self.config)
        return [
            answers_name(task, one, seed)
            for one in ([state] if state else [PLAIN_STATE, TUNED_STATE])
            for task in block["data"]
            for seed in block["seeds"]
        ]

    def _tested(self) -> list[str]:
        return tested_encoders(self.config)

    def settings(self, instance: str) -> dict[str, Any]:
        name, part = name_and_part(instance)
        block = self._block(name)
        if part == TASKS:
            return self._task_settings(name)
        if part == COMPARISON:
            return {"bootstrap": self.config["evaluate"]["bootstrap"], "seed": self.config["seed"]}
        if part == PAIRS:
            wanted: tuple[str, ...] = ("sentences", "negatives", "held_out", "seed")
        elif part == SCRATCH:
            wanted = ("scratch", "seed")
        else:
            wanted = ("max_tokens", "training", "seed")
        settings = {key: block[key] for key in wanted}
        if self._leaves_out(instance):
            settings["tasks"] = self._task_folders()
        if part or block["scratch"]:
            return settings
        return settings | {"base": encoder_blocks.encoder_settings(block["base"], self.config)}

    def _leaves_out(self, instance: str) -> bool:
        """Tell whether a unit leaves out the texts that the tasks of its encoder report on."""
        name, part = name_and_part(instance)
        return part in (PAIRS, SCRATCH) and name in self._tested()

    def _task_folders(self) -> dict[str, Located]:
        """Return the folder of each task."""
        folders = encoder_tasks(self.config)["data"]
        located = selection.located(self.config, list(folders.values()))
        return dict(zip(folders, located, strict=True))

    def _task_settings(self, name: str) -> dict[str, Any]:
        """Return the settings of the unit of an encoder's tasks."""
        block, of_encoder = encoder_tasks(self.config), self._block(name)
        settings = {**block, "data": self._task_folders()}
        if of_encoder["scratch"]:
            return settings
        base = encoder_blocks.encoder_settings(of_encoder["base"], self.config)
        return settings | {"base": base}

    def content(self, instance: str) -> dict[str, Any]:
        settings = self.settings(instance)
        if name_and_part(instance)[1] == TASKS:
            # What the encoder was tuned from counts by the unit of the encoder.
            own = {key: value for key, value in settings.items() if key != "base"}
            return own | {"data": self._task_hashes()}
        if self._leaves_out(instance):
            return settings | {"tasks": self._task_hashes()}
        if "base" not in settings:
            return settings
        files, hashes = self.base_files(instance), self.inputs(instance)
        base = encoder_blocks.encoder_content(settings["base"], files, hashes)
        return settings | {"base": base}

    def inputs(self, instance: str) -> dict[str, str]:
        name, part = name_and_part(instance)
        key = f"encoders.{name}.base.folder"
        hashes = {path: self.sha256(path, key) for path in self.base_files(instance).values()}
        if part == TASKS or self._leaves_out(instance):
            for task, paths in self.task_files().items():
                hashes |= {path: self._task_hash(task, path) for path in paths}
        return hashes

    def task_files(self) -> dict[str, list[str]]:
        """Return the user's files of each task."""
        return {
            task: [str(Path(folder, name)) for name in _chosen(task, folder)]
            for task, folder in self._task_folders().items()
        }

    def left_out_files(self, instance: str) -> list[str]:
        """Return the user's files of tasks whose texts a unit leaves out."""
        files = self.task_files().values() if self._leaves_out(instance) else ()
        return [path for paths in files for path in paths]

    def _task_hashes(self) -> dict[str, dict[str, str]]:
        """Return the hash of each file of each task."""
        return {
            task: {Path(path).name: self._task_hash(task, path) for path in paths}
            for task, paths in self.task_files().items()
        }

    def _task_hash(self, task: str, path: str) -> str:
        return self.sha256(path, f"encoder_tasks.data.{task}")

    def outside(self, instance: str) -> list[str]:
        record = self.base_record(instance)
        return [record.removesuffix(".json")] if record else []

    def base_files(self, instance: str) -> dict[str, str]:
        """Return the files of the encoder that is tuned, in a folder of the user's, by name."""
        where = f"encoders.{name_and_part(instance)[0]}.base"
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
        name, part = name_and_part(instance)
        return self._block(name).get("base") if part in ("", TASKS) else None

    def pairs_job(self, at: Wildcards) -> Job:
        """Return the job that finds the pairs that an encoder learns from."""
        instance = f"{at.encoder}{PAIRS}"
        training_set, embedding, evaluation = self.reads(instance)
        return Job(
            "encoder.identification_pairs",
            instance,
            reads={
                "pairs": self.file(training_set, "pairs.parquet"),
                "evaluation": self.file(evaluation, "evaluation.parquet"),
            },
            awaits=[self.file(embedding, "model.json")],
            users=self.left_out_files(instance),
            options={
                "embedding": self.layout.folder(*embedding),
                "output": self.folder(instance),
            },
            inputs=True,
        )

    def scratch_job(self, at: Wildcards) -> Job:
        """Return the job that trains an encoder from scratch."""
        instance = f"{at.encoder}{SCRATCH}"
        bitext, evaluation = self.reads(instance)
        return Job(
            "encoder.masked",
            instance,
            reads={"evaluation": self.file(evaluation, "evaluation.parquet")},
            awaits=[self.manifest(bitext)],
            users=self.left_out_files(instance),
            options={
                "folder": self.layout.folder(*bitext),
                "shards": self.config["shards"]["early"],
                **self._work_and_output(instance),
            },
            inputs=True,
        )

    def tune_job(self, at: Wildcards) -> Job:
        """Return the job that tunes an encoder on its pairs."""
        pairs, *scratch = self.reads(at.encoder)
        return Job(
            "encoder.identify",
            at.encoder,
            awaits=[
                self.file(pairs, "pairs.json"),
                *(self.file(unit, "model.json") for unit in scratch),
            ],
            users=self._base_users(at.encoder),
            options={
                "pairs": self.layout.folder(*pairs),
                "base": self._folder_of(scratch),
                **self._work_and_output(at.encoder),
            },
            inputs=True,
        )

    def task_job(self, at: Wildcards) -> Job:
        """Return the job that tunes one state of an encoder on one task, with one seed."""
        instance = f"{at.encoder}{TASKS}"
        tuned, *scratch = self.reads(instance)
        units = [tuned] if at.encoder_state == TUNED_STATE else scratch
        return Job(
            "encoder.tasks.tuning",
            instance,
            awaits=[self.file(unit, "model.json") for unit in units],
            users=[*self._base_users(at.encoder), *self.task_files()[at.encoder_task]],
            options={
                "encoder": self._folder_of(units),
                "task": at.encoder_task,
                "data": self._task_folders()[at.encoder_task],
                "seed": at.encoder_seed,
            },
            inputs=True,
        )

    def tasks_job(self, at: Wildcards) -> Job:
        """Return the job that compares what both states of an encoder reach in the tasks."""
        tasks = self.unit(f"{at.encoder}{TASKS}")
        return Job(
            "encoder.tasks.comparison",
            f"{at.encoder}{COMPARISON}",
            reads={
                state: [self.file(tasks, f"{name}.jsonl") for name in self.answers(state)]
                for state in (PLAIN_STATE, TUNED_STATE)
            },
        )

    def _work_and_output(self, instance: str) -> dict[str, str]:
        """Return where a training keeps what a killed one goes on from, and where it writes."""
        folder = self.folder(instance)
        return {"work": f"{folder}/work", "output": folder}

    def _folder_of(self, units: list[Unit]) -> str | None:
        """Return the folder of the unit that made an encoder; None where none did."""
        return next((self.layout.folder(*unit) for unit in units), None)

    def _base_users(self, name: str) -> list[str]:
        """Return the files of the encoder that is tuned: of the user's or downloaded, if any."""
        record = self.base_record(name)
        return [record] if record else list(self.base_files(name).values())


def _chosen(task: str, folder: Located) -> list[str]:
    """Return the names of a task's files; an error names the key of its folder."""
    try:
        return chosen_files(task, Path(folder))
    except InputError as error:
        raise InputError(f"encoder_tasks.data.{error}") from error
