"""The stage `train`: translation models by role (docs/train.md)."""

from typing import Any

from workflow_scripts.core import selection
from workflow_scripts.core.config import FILTER_ROLES
from workflow_scripts.core.paths import Located
from workflow_scripts.core.selection import Unit
from workflow_scripts.core.stage import Stage
from workflow_scripts.train.checks import problems
from workflow_scripts.train.model_files import FILES

_MODEL_FILE_KEYS = ("source_model", "reference_model")


class Train(Stage):
    """One unit for each role: forward, backward, and those of the filter models."""

    name = "train"
    version = 1
    row = "segmented pairs"
    released = True
    wildcard = "role"
    problems = staticmethod(problems)

    def instances(self) -> list[str | None]:
        return [*selection.roles(self.config)]

    def reads(self, instance: str) -> list[Unit]:
        return [("subword", "filter" if instance in FILTER_ROLES else "main")]

    def records(self, instance: str) -> list[str]:
        return ["model"]

    def trains(self, instance: str) -> bool:
        return "folder" not in self.settings(instance)["model"]

    def wildcards(self) -> dict[str, list[str]]:
        return {"role": selection.roles(self.config)}

    def sections(self) -> dict[int, str]:
        return {30: "workflow_scripts.train.report:models"}

    def settings(self, instance: str) -> dict[str, Any]:
        train = self.config["train"]
        model = self.config["models"][train["models"][instance]]
        paths = {key: Located(model[key]) for key in ("folder", *_MODEL_FILE_KEYS) if key in model}
        # The digest covers the backend only if it is not the default, and the model is trained.
        chosen = train["backend"] != "sockeye" and "folder" not in model
        return {
            "role": instance,
            "direction": instance.removeprefix("filter_"),
            "model": {**model, **paths},
            "seed": self.config["seed"],
            **({"backend": train["backend"]} if chosen else {}),
        }

    def content(self, instance: str) -> dict[str, Any]:
        settings = self.settings(instance)
        if "folder" in settings["model"]:
            hashes = self.inputs(instance)
            files = self._finished_model(instance)
            settings["model"] = {file: hashes[path] for file, path in files.items()}
        return settings

    def inputs(self, instance: str) -> dict[str, str]:
        key = f"models.{self.config['train']['models'][instance]}"
        return {path: self.sha256(path, key) for path in self._finished_model(instance).values()}

    def _finished_model(self, role: str) -> dict[str, str]:
        """Return the files of a finished model by what they are; none for one that is trained."""
        model = self.config["models"][self.config["train"]["models"][role]]
        if "folder" not in model:
            return {}
        paths = {file: f"{model['folder']}/{file}" for file in FILES}
        return paths | {key: model[key] for key in _MODEL_FILE_KEYS}
