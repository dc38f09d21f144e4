"""The stage `train`: translation models by role (docs/train.md)."""

from hashlib import sha256
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import SOCKEYE, SOCKEYE_FILES, model_files
from workflow_scripts.core.files.paths import Located
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.model_blocks import CHOSEN, TEXT_MODELS, finished
from workflow_scripts.plan.catalogues.rewriters import rewriter_models
from workflow_scripts.plan.catalogues.written_sources import (
    WRITER_ROLES,
    main_role,
    writer_roles,
)
from workflow_scripts.plan.config import FILTER_ROLES
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage
from workflow_scripts.stages.corpus.stage import Download, block_downloads, not_pinned
from workflow_scripts.stages.train.checks import hub_folder, notes, problems

_PAGE = "docs/train.md"
_ENVS = Path(__file__).resolve().parents[3] / "envs"
# What is told of a finished model, and is no reason to take it over again.
_TOLD = ("trained_on", "licence")


class Train(Stage):
    """One unit for each role.

    These are forward, backward, those of the filter models, of finished models as rewriters, and of
    writers.
    """

    name = "train"
    version = 1
    row = "segmented pairs"
    released = True
    wildcard = "role"
    problems = staticmethod(problems)
    notes = staticmethod(notes)

    def instances(self) -> list[str | None]:
        return [*self._roles()]

    def _roles(self) -> list[str]:
        return [*selection.model_roles(self.config), *writer_roles(self.config)]

    def _unmeasured(self) -> list[str]:
        """Return the roles of models that work before there are pairs, or are no translators."""
        return [*WRITER_ROLES, *rewriter_models(self.config)]

    def reads(self, instance: str) -> list[Unit]:
        if instance in self._unmeasured():
            return []
        of_filter = instance in FILTER_ROLES
        if selection.taken_over(self.config, instance):
            return [("clean", None) if of_filter else selection.pairs(self.config)]
        return [("subword", "filter" if of_filter else "main")]

    def records(self, instance: str) -> list[str]:
        return ["model"]

    def trains(self, instance: str) -> bool:
        return not finished(selection.role_model(self.config, instance))

    def outside(self, instance: str) -> list[str]:
        downloads = [download.path for download in self.downloads(instance)]
        return [*downloads, *(self.hub_record(instance).removesuffix(".json").split())]

    def wildcards(self) -> dict[str, list[str]]:
        roles = self._roles()
        taken_over = [role for role in roles if selection.taken_over(self.config, role)]
        return {
            "role": [role for role in roles if role not in taken_over],
            "finished_role": taken_over,
        }

    def sections(self) -> dict[int, str]:
        return {30: "workflow_scripts.stages.train.report:models"}

    def settings(self, instance: str) -> dict[str, Any]:
        train = self.config["train"]
        model = selection.role_model(self.config, instance)
        paths = {key: Located(model[key]) for key in ("folder", *TEXT_MODELS) if key in model}
        common = {
            "role": instance,
            "direction": "forward"
            if instance in rewriter_models(self.config)
            else main_role(instance).removeprefix("filter_"),
            "model": {**model, **paths},
            "seed": self.config["seed"],
        }
        if selection.taken_over(self.config, instance):
            return {
                **common,
                "model": self._finished_settings(instance, {**model, **paths}),
                "languages": self._languages(instance),
                **(
                    {"test": None, "corpora": []}
                    if instance in self._unmeasured()
                    else {"test": train["test"], "corpora": self.config["run"]["corpora"]}
                ),
            }
        # The digest covers the backend only if it is not the default, and the model is trained.
        chosen = train["backend"] != "sockeye" and "folder" not in model
        pairs = self.config["dual_filter"].get("dev_pairs") if instance in FILTER_ROLES else None
        return {
            **common,
            **({"backend": train["backend"]} if chosen else {}),
            **({} if pairs is None else {"dev_pairs": pairs}),
        }

    def _languages(self, role: str) -> dict[str, str]:
        """Return the code of what stands on each side of the bitext; a rewriter reads both."""
        codes = {side: language["code"] for side, language in self.config["languages"].items()}
        one = role in rewriter_models(self.config)
        return dict.fromkeys(codes, codes["reference"]) if one else codes

    def _finished_settings(self, role: str, model: dict[str, Any]) -> dict[str, Any]:
        """Return what the job must know of a finished model."""
        settings = {key: value for key, value in model.items() if key != "trained_on"}
        if not settings.get("shortlist"):
            settings.pop("shortlist", None)
        if downloads := self.downloads(role):
            folder = self.config["downloads"]
            del settings["url"], settings["sha256"]
            return {**settings, "files": [Located(download.path, folder) for download in downloads]}
        if record := self.hub_record(role):
            return {**settings, "record": Located(record, self.config["downloads"])}
        return settings

    def content(self, instance: str) -> dict[str, Any]:
        settings = self.settings(instance)
        model = {key: value for key, value in settings["model"].items() if key not in _TOLD}
        settings["model"] = model
        if "folder" in model:
            hashes = self.inputs(instance)
            by_name = {file: hashes[path] for file, path in self._own_files(instance).items()}
            more = {key: model[key] for key in (*CHOSEN, "shortlist") if key in model}
            settings["model"] = {**by_name, **more}
        elif "files" in model:
            files = [
                (Path(download.path).name, download.sha256) for download in self.downloads(instance)
            ]
            settings["model"] = {**model, "files": files}
        elif "record" in model:  # the revision stands for all files, hashes only verify them
            left = ("record", "sha256")
            settings["model"] = {key: value for key, value in model.items() if key not in left}
        return settings

    def inputs(self, instance: str) -> dict[str, str]:
        if downloads := self.downloads(instance):
            return {download.path: download.sha256 for download in downloads}
        key = f"models.{selection.role_model_name(self.config, instance)}"
        return {path: self.sha256(path, key) for path in self._own_files(instance).values()}

    def _own_files(self, role: str) -> dict[str, str]:
        """Return the files of a model in a folder of the user's by what they are.

        Raises:
            InputError: it is no model folder, or keys for its text models are missing or useless.
        """
        model = selection.role_model(self.config, role)
        if "folder" not in model:
            return {}
        text_models = {key: model[key] for key in TEXT_MODELS if key in model}
        names: tuple[str, ...] = (*SOCKEYE_FILES, "version")
        where = f"models.{selection.role_model_name(self.config, role)}"
        try:
            files = model_files(Path(model["folder"]))
        except InputError as error:
            raise InputError(f"{where}.folder: {error}") from error
        if selection.taken_over(self.config, role):
            if "source" in model and not files.many_languages:
                raise InputError(
                    f"{where}.source: {files.kind} has no languages to choose; take source and "
                    "target out"
                )
            if files.source_spm and text_models:
                raise InputError(f"{where}: {files.kind} brings its own text models; {_NO_TEXT}")
            if not files.source_spm and not text_models:
                raise InputError(f"{where}: {files.kind} needs {' and '.join(TEXT_MODELS)}")
            names = files.names
        elif files.kind != SOCKEYE:
            raise InputError(f"{where}: {files.kind} needs trained_on, such as unknown")
        return {name: f"{model['folder']}/{name}" for name in names} | text_models

    def downloads(self, role: str) -> list[Download]:
        """Return the files of a role's model that are downloaded.

        Raises:
            InputError: their hashes are not known.
        """
        name = selection.role_model_name(self.config, role)
        block = self.config["models"][name]
        if "url" not in block:
            return []
        return block_downloads(f"models.{name}", block, self.config["downloads"], _PAGE)

    def hub_record(self, role: str) -> str:
        """Return the record of what is downloaded from the hub for a role; empty if nothing is.

        Raises:
            InputError: the revision is not known.
        """
        name = selection.role_model_name(self.config, role)
        block = self.config["models"][name]
        if "hub" not in block:
            return ""
        if block.get("revision") is None:
            raise not_pinned(f"models.{name}: the revision of {block['hub']}", _PAGE)
        return f"{hub_folder(self.config, block)}.json"

    def hub_block(self, record: str) -> dict[str, Any] | None:
        for role in selection.model_roles(self.config):
            if self.hub_record(role) == record:
                return selection.role_model(self.config, role)
        return None

    def url(self, sha256: str, file: str) -> str | None:
        """Return the URL of the file that is kept under this hash and name."""
        for role in selection.model_roles(self.config):
            for download in self.downloads(role):
                if (download.sha256, Path(download.path).name) == (sha256, file):
                    return download.url
        return None

    def mxnet_python(self) -> str:
        """Return the interpreter of the backend mxnet: the user's, or where a rule tells its own.

        The record names a folder of this machine: it is no file of the stage, and temporary.
        """
        own: str | None = self.config["compute"]["mxnet_python"]
        return own or self.interpreter_record()

    def interpreter_record(self) -> str:
        """Return the file that the rule `train_mxnet` writes; another environment has another."""
        files = (_ENVS / "mxnet.yaml", _ENVS / "mxnet.post-deploy.sh")
        digest = sha256(b"".join(path.read_bytes() for path in files)).hexdigest()
        return f"{self.config['results']}/.mxnet/{digest[:12]}.json"

    def model_job(self, at: Wildcards) -> Job:
        """Return the job that trains a model."""
        (segments,) = self.reads(at.role)
        own = self.config["compute"]["mxnet_python"] or self.config["train"]["backend"] != "mxnet"
        folder = self.folder(at.role)
        return Job(
            "train.sockeye",
            at.role,
            reads={
                "source_model": self.file(segments, "source.model"),
                "reference_model": self.file(segments, "reference.model"),
            },
            awaits=[self.manifest(segments), *([] if own else [self.mxnet_python()])],
            options={
                "segments": self.layout.folder(*segments),
                "shards": self.layout.shards(*segments),
                "work": f"{folder}/work",
                "output": folder,
            },
            inputs=True,
        )

    def take_over_job(self, at: Wildcards) -> Job:
        """Return the job that takes over a finished model.

        A package is looked up by the job, in the job's own environment.
        """
        record = self.hub_record(at.finished_role)
        options: dict[str, Any] = {"output": self.folder(at.finished_role)}
        pairs = self.reads(at.finished_role)
        for unit in pairs:
            options |= {"pairs": self.layout.folder(*unit), "shards": self.layout.shards(*unit)}
        return Job(
            "train.take_over",
            at.finished_role,
            awaits=[*map(self.manifest, pairs)],
            users=[record] if record else list(self.inputs(at.finished_role)),
            options=options,
            inputs=True,
        )


_NO_TEXT = f"take {' and '.join(TEXT_MODELS)} out"
