"""The stage `corpus`: bitext as shards of pairs (docs/corpus.md)."""

from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import as_list
from workflow_scripts.core.files.paths import Located, file_name
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues import written_sources
from workflow_scripts.plan.catalogues.encoder_blocks import MODULES, PLAIN
from workflow_scripts.plan.catalogues.written_sources import SOURCES, TEXT, is_text
from workflow_scripts.plan.job import Job, Wildcards
from workflow_scripts.plan.selection import Unit
from workflow_scripts.plan.stage import Stage, name_and_part
from workflow_scripts.stages.corpus.checks import notes, problems

_TEXT_KEYS = ("source", "reference", "tsv", "text")
# Keys that do not change the imported pairs: where they come from, what is said of them, whether
# they are trusted, and what becomes of a text afterwards.
_APART = {"trusted", "mtdata", "url", "sha256", "languages", "licence", "search", "max_nll"}
# The stages whose models the hub may have, and the file that shows what a model is: an encoder of
# sentences, or one of transformers; without one it is a translation model.
_HUB = {"judge": MODULES, "filter": MODULES, "transfer": MODULES, "encoder": PLAIN, "train": None}


class Download(NamedTuple):
    """A file that is downloaded; `path` is where it is kept, below `downloads`."""

    url: str
    sha256: str
    path: str


def not_pinned(what: str, page: str) -> InputError:
    """Return the error that something of a download is not known; `page` of the docs says more."""
    return InputError(
        f"{what} is not known yet. Get and pin it once, with the config files and settings of this "
        "run: paraloom corpus pin --configfile ... --output pins.yaml; then add "
        f"pins.yaml to --configfile ({page})"
    )


def block_downloads(key: str, block: dict[str, Any], folder: str, page: str) -> list[Download]:
    """Return the files of a corpus or a model that are downloaded.

    Args:
        key: of its block in the configuration, for the message.
        block: has `url`, `sha256`, or lists of them.
        folder: that of downloads.
        page: of the documentation, for the message.

    Raises:
        InputError: their hashes are not known.
    """
    if block.get("sha256") is None:
        raise not_pinned(f"{key}: the sha256 of what is to be downloaded", page)
    return [
        Download(url, sha256, str(Path(folder) / sha256 / file_name(url)))
        for url, sha256 in zip(as_list(block["url"]), as_list(block["sha256"]), strict=True)
    ]


class Corpus(Stage):
    """One unit for each corpus of the run.

    And before that of one whose sources are written `<name>-text`: its references alone.
    """

    name = "corpus"
    version = 2
    row = "pairs"
    released = True
    wildcard = "corpus"
    problems = staticmethod(problems)
    notes = staticmethod(notes)

    def instances(self) -> list[str | None]:
        return [*self._names()]

    def _names(self) -> list[str]:
        return [
            instance
            for name in selection.corpora(self.config)
            for instance in ([f"{name}{TEXT}", name] if self._is_written(name) else [name])
        ]

    def _is_written(self, instance: str) -> bool:
        """Tell whether a unit is the pairs of a text with its written sources."""
        return is_text(self.config["corpora"].get(instance, {}))

    def reads(self, instance: str) -> list[Unit]:
        return [("generate", f"{instance}{SOURCES}")] if self._is_written(instance) else []

    def shards(self, instance: str) -> int:
        return self.config["shards"]["early"]

    def records(self, instance: str) -> list[str]:
        return ["rejected.tsv"]

    def jobs(self, instance: str) -> int:
        return 1

    # A corpus may have many thousands of files, and Snakemake asks again and again.
    @cache  # noqa: B019 - one declaration lives as long as its process
    def inputs(self, instance: str) -> dict[str, str]:
        if self._is_written(instance):
            return {}
        name, _ = name_and_part(instance)
        downloads = {download.path: download.sha256 for download in self.downloads(name)}
        if downloads or name in self.layout.absent:
            return downloads
        block = self._located_block(name)
        try:
            return {
                path: self.sha256(path, f"corpora.{name}.{key}")
                for key in _TEXT_KEYS
                if key in block
                for path in block[key]
            }
        except InputError as error:
            train = self.config["train"]
            naming = [f"train.{key}" for key in ("dev", "test") if train[key] == name]
            if not naming or name in self.config["run"]["corpora"]:
                raise
            # A recipe that leaves the key out has that of config.yaml, the demo's.
            keys = " and ".join(naming)
            raise InputError(
                f"{error}, or let {keys} name another corpus: this one is '{name}'"
            ) from error

    def outside(self, instance: str) -> list[str]:
        if self._is_written(instance):
            return []
        return [download.path for download in self.downloads(name_and_part(instance)[0])]

    def wildcards(self) -> dict[str, list[str]]:
        written = [name for name in self._names() if self._is_written(name)]
        imported = [name for name in self._names() if name not in written]
        return {"corpus": imported, "written": written}

    def sections(self) -> dict[int, str]:
        return {15: "workflow_scripts.stages.corpus.report:written_sources"}

    def settings(self, instance: str) -> dict[str, Any]:
        name, _ = name_and_part(instance)
        if self._is_written(instance):
            return {
                "name": name,
                "source": written_sources.mark(self.config),
                "max_nll": written_sources.settings(self.config, name)["max_nll"],
                **self._sharding(),
            }
        return {
            "name": name,
            "block": self._located_block(name),
            **self._sharding(),
            "max_line_bytes": self.config["clean"]["max_line_bytes"],
            "seed": self.config["seed"],
        }

    def _sharding(self) -> dict[str, Any]:
        """Return what tells the shard of a pair."""
        return {"shards": self.config["shards"]["early"], **selection.unescaping(self.config)}

    def content(self, instance: str) -> dict[str, Any]:
        if self._is_written(instance):
            return self.settings(instance)
        return {**self.settings(instance), "block": self._hashed_block(instance)}

    def input_files(self, corpus: str) -> list[str]:
        """Return the files that a corpus is read from; none for a testbed corpus."""
        downloads = self.downloads(corpus)
        if downloads:
            return [download.path for download in downloads]
        block = self._located_block(corpus)
        return [path for key in _TEXT_KEYS if key in block for path in block[key]]

    def downloads(self, corpus: str) -> list[Download]:
        """Return the files of a corpus that are downloaded; none for any other corpus.

        Raises:
            InputError: the corpus is not pinned: a hash or a URL is not known.
        """
        block = self.config["corpora"][corpus]
        if not block.keys() & {"mtdata", "url"}:
            return []
        folder = self.config["downloads"]
        return block_downloads(f"corpora.{corpus}", block, folder, "docs/corpus.md")

    def download_job(self, at: Wildcards) -> Job:
        """Return the job that downloads one file; it is not told from where."""
        return Job("corpus.fetch", options={"sha256": at.sha256}, config=False)

    def hub_job(self, at: Wildcards) -> Job:
        """Return the job that downloads a model of one stage from the hub.

        Raises:
            InputError: no model of the run is there.
        """
        record = f"{self.config['downloads']}/hub/{at.repository}/{at.revision}.json"
        for stage, marker in _HUB.items():
            if block := self.layout.declaration(stage).hub_block(record):
                options = {
                    "repository": block["hub"],
                    "path": block.get("path"),
                    "encoder": marker,
                    "revision": at.revision,
                }
                return Job("corpus.hub", options=options, config=False)
        raise InputError(f"no model of this run is downloaded to {record}")

    def import_job(self, at: Wildcards) -> Job:
        """Return the job that imports a corpus, or the text of one whose sources are written."""
        return Job(
            "corpus.importer",
            at.corpus,
            users=self.input_files(name_and_part(at.corpus)[0]),
            options={"output": self.folder(at.corpus)},
            inputs=True,
        )

    def pair_job(self, at: Wildcards) -> Job:
        """Return the job that makes pairs of references and their written sources."""
        (sources,) = self.reads(at.written)
        return Job(
            "corpus.pair_sources",
            at.written,
            awaits=[self.manifest(sources)],
            options={
                "sources": self.layout.folder(*sources),
                "shards": self.layout.shards(*sources),
                "output": self.folder(at.written),
            },
        )

    def url(self, sha256: str, file: str) -> str | None:
        """Return the URL of the file that is kept under this hash and name."""
        for corpus in selection.corpora(self.config):
            for download in self.downloads(corpus):
                if (download.sha256, Path(download.path).name) == (sha256, file):
                    return download.url
        return None

    @cache  # noqa: B019
    def _located_block(self, name: str) -> dict[str, Any]:
        """Return a corpus block whose paths are lists and name the files as they lie on the disk.

        They lie below the data folder, or for a downloaded corpus below the folder of downloads.
        """
        block = {k: v for k, v in self.config["corpora"][name].items() if k not in _APART}
        by_name = {Path(download.path).name: download.path for download in self.downloads(name)}

        def located(paths: list[str]) -> list[Located]:
            if not by_name:
                return selection.located(self.config, paths)
            parts = [path.partition("/") for path in paths]
            return [
                Located(f"{by_name[file]}{slash}{member}", self.config["downloads"])
                for file, slash, member in parts
            ]

        paths: dict[str, Any] = {
            key: located(as_list(value)) for key, value in block.items() if key in _TEXT_KEYS
        }
        if by_name:
            folder = self.config["downloads"]
            paths["sha256"] = {
                Located(download.path, folder): download.sha256 for download in self.downloads(name)
            }
        return {**block, **paths}

    def _hashed_block(self, instance: str) -> dict[str, Any]:
        name, _ = name_and_part(instance)
        block = self._located_block(name)
        if name in self.layout.absent:
            return block
        if "sha256" in block:  # the names of these files hold their hashes
            folder = Path(self.config["downloads"])
            names = {
                key: [Path(path).relative_to(folder).as_posix() for path in block[key]]
                for key in _TEXT_KEYS
                if key in block
            }
            return {**block, **names, "sha256": sorted(block["sha256"].values())}
        hash_of = self.inputs(instance)
        hashes = {key: [hash_of[path] for path in block[key]] for key in _TEXT_KEYS if key in block}
        return {**block, **hashes}
