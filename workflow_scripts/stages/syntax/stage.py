"""The stage `syntax`: constituency trees of both sides (docs/evaluate.md)."""

from typing import Any

from workflow_scripts.core.files.paths import Located
from workflow_scripts.plan import selection
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.syntax.parser_files import parser_files


class Syntax(Stage):
    """One unit for each system, where a parser is configured."""

    name = "syntax"
    version = 1
    row = "references"
    released = True
    wildcard = "system"

    def instances(self) -> list[str | None]:
        return [*self.config["run"]["systems"]] if selection.parsed(self.config) else []

    def reads(self, instance: str) -> list[Unit]:
        return [("select", instance)]

    def shards(self, instance: str) -> int:
        return self.config["shards"]["late"]

    def settings(self, instance: str) -> dict[str, Any]:
        part = self.config["evaluate"]["syntax"]
        return {
            **{key: part[key] for key in ("package", "share")},
            "folder": Located(part["folder"]),
            "language": self.config["languages"]["reference"]["code"],
            "seed": self.config["seed"],
        }

    def content(self, instance: str) -> dict[str, Any]:
        hashes = self.inputs(instance)
        folder = {name: hashes[path] for name, path in self._parser_files().items()}
        return {**self.settings(instance), "folder": folder}

    def inputs(self, instance: str) -> dict[str, str]:
        files = self._parser_files().values()
        return {path: self.sha256(path, "evaluate.syntax.folder") for path in files}

    def _parser_files(self) -> dict[str, str]:
        part = self.config["evaluate"]["syntax"]
        language = self.config["languages"]["reference"]["code"]
        return parser_files(part["folder"], language, part["package"])

    def shard_job(self, at: Wildcards) -> Job:
        """Return the job that parses a shard."""
        paraphrases = self.file(("select", at.system), f"{at.shard}.parquet")
        return Job("syntax.shard", at.system, reads={"paraphrases": paraphrases}, inputs=True)
