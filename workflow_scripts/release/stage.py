"""The stage `release`: corpora, datasheets, tables and the report (docs/release.md)."""

from typing import Any

from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage
from workflow_scripts.embed.stage import tested_embeddings, tested_units

_TABLES = ("diversity", "between_ranks", "lengths", "statistics", "bins")
_EMBEDDING_TABLES = ("sts", "sts_data_sets", "sts_gains", "sts_differences")


class Release(Stage):
    """One unit, which reads all released stages and the test of the embeddings."""

    name = "release"
    version = 2
    row = "references"
    released = False

    def instances(self) -> list[str | None]:
        return [None]

    def reads(self, instance: None) -> list[Unit]:
        return [*self.layout.released_units(), *tested_units(self.config)]

    def records(self, instance: None) -> list[str]:
        systems = self.config["run"]["systems"]
        return ["tables/tables", *(f"{system}/paraphrases" for system in systems)]

    def files(self, instance: None) -> list[str]:
        tables = [f"tables/{name}.tsv" for name in self.tables()]
        documents = [
            f"{system}/{name}"
            for system in self.config["run"]["systems"]
            for name in ("README.md", "SHA256SUMS")
        ]
        return ["report.html", *tables, *documents]

    def tables(self) -> list[str]:
        """Return the names of the tables; those of embeddings only where some are tested."""
        return [*_TABLES, *(_EMBEDDING_TABLES if tested_units(self.config) else ())]

    def settings(self, instance: None) -> dict[str, Any]:
        entries = {
            each["entry"]: {"name": each["entry"], **{k: each[k] for k in ("model", "training")}}
            for each in tested_embeddings(self.config).values()
        }
        part, run = self.config["release"], self.config["run"]
        simulated = all("testbed" in self.config["corpora"][name] for name in run["corpora"])
        # Of any other bitext nobody but its user knows the licence.
        licence = part["licence"] or ("cc0-1.0" if simulated else "unknown")
        return {
            **part,
            "title": part["title"] or f"Paraphrases, {run['name']}",
            "licence": licence,
            "name": run["name"],
            "languages": {k: v["code"] for k, v in self.config["languages"].items()},
            "systems": {name: self.config["systems"][name] for name in run["systems"]},
            "embeddings": list(entries.values()),
            "seed": self.config["seed"],
        }

    def system_settings(self, system: str) -> dict[str, Any]:
        """Return the settings of the released corpus of one system."""
        shown = ("quoted", "embeddings")  # by the report alone
        part = {k: v for k, v in self.settings(None).items() if k not in shown}
        block = part.pop("systems")[system]
        return {**part, "system": system, "block": block, "best": block["select"]["best"]}

    def described_units(self, system: str) -> list[Unit]:
        """Return the released units behind the corpus of one system."""
        behind = self.layout.all_upstream([("evaluate", system)])
        return [unit for unit in self.layout.released_units() if unit in behind]
