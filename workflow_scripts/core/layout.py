"""Where every stage writes: folders named by a digest of all that shapes their content (DESIGN 4).

A *unit* is a stage, or one instance of it: a corpus, a role of a model, a system. Its key is
`v<N>-<digest>`: N the stage's version, the digest over its part of the configuration and the keys
of the units it reads. Units that two runs have in common are therefore made once.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import functools
import hashlib
import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.atomic import write_text
from workflow_scripts.core.config import (
    FILTER_ROLES,
    NO_BRACES,
    Config,
    file_name,
    holds_wildcards,
    validate,
)
from workflow_scripts.core.embeddings import column_embedding, embeddings
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.parser_files import parser_files
from workflow_scripts.core.regular_files import regular_file
from workflow_scripts.core.training_sets import (
    column_training_sets,
    columns_of,
    model_columns,
    training_sets,
)

# Raised when a stage's output changes meaning; tests/e2e/golden.json notices when it must be.
STAGE_VERSIONS = {
    "corpus": 2,
    "clean": 2,
    "dual_filter": 1,
    "subword": 1,
    "train": 1,
    "generate": 2,
    "score": 1,
    "select": 2,
    "filter": 1,
    "embed": 4,
    "syntax": 1,
    "evaluate": 4,
    "release": 2,
}
Unit = tuple[str, str | None]
_TEXT_KEYS = ("source", "reference", "tsv")
_MODEL_FILE_KEYS = ("source_model", "reference_model")
_MODEL_FOLDER_FILES = ("config", "params.best", "vocab.src.0.json", "vocab.trg.0.json", "version")


class Download(NamedTuple):
    """A file that a corpus is downloaded from; `path` is where it is kept, below `downloads`."""

    url: str
    sha256: str
    path: str


def canonical(value: Any) -> str:
    """Return the one JSON string of `value`: sorted keys, no blanks."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def as_list(value: str | list[str]) -> list[str]:
    """Return one path or several as a list."""
    return [value] if isinstance(value, str) else value


def _files_below(paths: list[str], key: str) -> list[str]:
    """Return the files among `paths`, and all below the folders among them.

    Raises:
        InputError: a path is missing; `key` is the configuration key that names it.
    """
    files: list[Path] = []
    for path in map(Path, paths):
        if not path.exists():
            raise InputError(f"{key}: {path}: no such file or folder; correct the path")
        below = path.rglob("*") if path.is_dir() else [regular_file(path, key)]
        files += sorted(each for each in below if each.is_file())
    return [str(path) for path in files]


class FileHashes:
    """SHA-256 of input files, remembered by size and modification time in one JSON file."""

    def __init__(self, cache: Path):
        self._cache = cache
        try:
            self._known = json.loads(cache.read_text(encoding="utf-8"))
        except (FileNotFoundError, ValueError):
            self._known = {}

    def sha256(self, path: str, key: str) -> str:
        """Return the hash of `path`; `key` is the configuration key that names it."""
        if holds_wildcards(path):
            raise InputError(f"{key}: {path}: {NO_BRACES}")
        regular_file(path, key)
        try:
            status = Path(path).stat()
            stamp = f"{Path(path).absolute()}:{status.st_size}:{status.st_mtime_ns}"
            if stamp in self._known:
                return self._known[stamp]
            with Path(path).open("rb") as stream:
                self._known[stamp] = hashlib.file_digest(stream, "sha256").hexdigest()
        except OSError as error:
            raise InputError(f"{key}: {path}: {error.strerror}; correct the path") from error
        self._save()
        return self._known[stamp]

    def _save(self) -> None:
        write_text(self._cache, json.dumps(self._known))


class Layout:
    """The resolved run: for each unit its configuration part, its key and its folder."""

    def __init__(self, config: Config, absent: Collection[str] = ()):
        """Validate `config` and hash the run's input files.

        Args:
            config: of the run.
            absent: corpora whose files need not be here, in a layout that is only planned with:
                their keys, and those of what reads them, are not those of a run.

        Raises:
            InputError: the configuration or an input file is wrong; the message names the key.
        """
        validate(config)
        self.config = config
        self._absent = absent
        run, train, generate = config["run"], config["train"], config["generate"]
        self.systems: list[str] = run["systems"]
        self.columns = model_columns(config)
        # What the run names, and what its columns are read off besides; only the former is tested.
        self.training_sets = training_sets(config) | column_training_sets(config)
        self.tested = embeddings(config, training_sets(config))
        self.embeddings = self.tested | self._column_embeddings()
        self.filtered: bool = config["dual_filter"]["enabled"]
        self.parsed: bool = config["evaluate"]["syntax"] is not None
        self.training_corpora: list[str] = train["corpora"] or run["corpora"]
        self.generate_corpora: list[str] = generate["corpora"] or run["corpora"]
        self.trusted = [name for name in run["corpora"] if config["corpora"][name].get("trusted")]
        # Of duplicates the first survives. Measured corpora come first, so that none of their pairs
        # is trained on; trusted ones come before others, so that no pair of theirs is doubted.
        held_out = [name for name in run["corpora"] if name not in self.training_corpora]
        measured = [train["test"], train["dev"]]
        self.corpora = list(dict.fromkeys([*measured, *held_out, *self.trusted, *run["corpora"]]))
        self.roles = ["forward", "backward"] + (list(FILTER_ROLES) if self.filtered else [])
        self._hashes = FileHashes(Path(config["results"]) / ".input_hashes.json")
        for unit in self.units():
            self.key(*unit)

    # --- units -------------------------------------------------------------------------------

    def units(self) -> list[Unit]:
        """Return all units of the run, in the order of the flow."""
        filtering: list[Unit] = []
        if self.filtered:
            filtering = [("subword", "filter"), *(("train", role) for role in FILTER_ROLES)]
            filtering += [("dual_filter", "scores"), ("dual_filter", "kept")]
        return [
            *(("corpus", name) for name in self.corpora),
            ("clean", None),
            *filtering,
            ("subword", "main"),
            ("train", "forward"),
            ("train", "backward"),
            ("generate", "references"),
            *((("generate", "idf"),) if any(map(self.needs_idf, self.systems)) else ()),
            *((stage, system) for stage in self._system_stages for system in self.systems),
            *self._after_what_they_read(
                [
                    *self._column_units(),
                    *(("filter", name) for name in self.training_sets),
                    *self._embed_units(),
                ]
            ),
            *(("evaluate", system) for system in self.systems),
            ("release", None),
        ]

    def _after_what_they_read(self, units: list[Unit]) -> list[Unit]:
        """Return the units in an order in which each follows those among them that it reads."""
        ordered: dict[Unit, None] = {}

        def append(unit: Unit) -> None:
            for each in self.upstream(unit):
                if each in units and each not in ordered:
                    append(each)
            ordered[unit] = None

        for unit in units:
            if unit not in ordered:
                append(unit)
        return list(ordered)

    def _column_units(self) -> list[Unit]:
        """Return the units of the columns that a model computes."""
        names = self.columns_of_kind("language_model")
        names += [f"{column}-{system}" for column, many in self.columns.items() for system in many]
        return [("filter", name) for name in names]

    def columns_of_kind(self, kind: str) -> list[str]:
        """Return the run's columns that a `language_model`, a `classifier` ... computes."""
        return [column for column in self.columns if kind in self.config["columns"][column]]

    def _column_embeddings(self) -> dict[str, dict[str, Any]]:
        """Return the embeddings behind columns, as `embeddings` does."""
        return {
            name: part
            for column in self.columns_of_kind("embedding")
            for system in self.columns[column]
            for name, part in column_embedding(column, system, self.config).items()
        }

    def embedding_of(self, column: str, system: str) -> Unit:
        """Return the unit of the embedding behind a column of a system."""
        (name,) = column_embedding(column, system, self.config)
        return ("embed", name)

    def column_units(self, system: str, names: list[str]) -> dict[str, Unit]:
        """Return the units of those of some columns of a system that a model computes."""
        return {
            name: ("filter", f"{name}-{system}") for name in names if name in self.config["columns"]
        }

    def training_set_columns(self, training_set: str) -> dict[str, Unit]:
        """Return the units of the columns that a model computes and a training set needs."""
        names = columns_of(self.training_sets[training_set])
        return self.column_units(self.system_of(training_set), names)

    def _filter_upstream(self, instance: str) -> list[Unit]:
        if instance in self.training_sets:
            system = ("filter", self.system_of(instance))
            return [system, *self.training_set_columns(instance).values()]
        if instance in self.systems:
            return [("select", instance)]
        if instance in self.columns:  # a language model
            return [self.pairs, ("generate", "references")]
        column, system = instance.split("-")
        model: list[Unit] = []
        if column in self.columns_of_kind("language_model"):
            model = [("filter", column)]
        if column in self.columns_of_kind("embedding"):
            model = [self.embedding_of(column, system)]
        return [("filter", system), *model]

    def _embed_units(self) -> list[Unit]:
        """Return the evaluation data, the embeddings, and the test of those that the run names."""
        if not self.embeddings:
            return []
        test = ["sts"] if self.tested else []
        return [("embed", name) for name in ("evaluation", *self.embeddings, *test)]

    def tested_units(self) -> list[Unit]:
        """Return what the report reads of embeddings: their training sets, and their test."""
        names = dict.fromkeys(each["training_set"] for each in self.tested.values())
        return [*(("filter", name) for name in names), ("embed", "sts")] if names else []

    def system_of(self, training_set: str) -> str:
        """Return the system whose pairs a training set takes."""
        return self.training_sets[training_set]["system"]

    @property
    def _system_stages(self) -> list[str]:
        """Return the stages that have a unit of each system, but for the last: evaluate."""
        parsing = ["syntax"] if self.parsed else []
        return ["generate", "score", "select", *parsing, "filter"]

    @property
    def pairs(self) -> Unit:
        """The unit with the cleaned and filtered bitext."""
        return ("dual_filter", "kept") if self.filtered else ("clean", None)

    def upstream(self, unit: Unit) -> list[Unit]:
        """Return the units that `unit` reads."""
        stage, instance = unit
        match stage:
            case "corpus":
                return []
            case "clean":
                return [("corpus", name) for name in self.corpora]
            case "subword":
                return [("clean", None) if instance == "filter" else self.pairs]
            case "train":
                return [("subword", "filter" if instance in FILTER_ROLES else "main")]
            case "dual_filter":
                if instance == "kept":
                    return [("clean", None), ("dual_filter", "scores")]
                return [("clean", None), *(("train", role) for role in FILTER_ROLES)]
            case "generate":
                if instance in ("references", "idf"):
                    return [self.pairs]
                idf = [("generate", "idf")] if self.needs_idf(instance) else []
                return [("generate", "references"), *idf, ("train", "forward")]
            case "score":
                return [("generate", instance), ("train", "backward")]
            case "select":
                return [("score", instance), ("train", "forward")]
            case "syntax":
                return [("select", instance)]
            case "evaluate":
                read = [(part, instance) for part in self._system_stages[1:]]
                columns = self.column_units(instance, self.config["evaluate"]["columns"])
                return [*read, *columns.values(), ("train", "forward")]
            case "filter":
                return self._filter_upstream(instance)
            case "embed":
                evaluation = ("embed", "evaluation")
                if instance == "evaluation":
                    return []
                if instance == "sts":
                    return [evaluation, *(("embed", name) for name in self.tested)]
                return [("filter", self.embeddings[instance]["training_set"]), evaluation]
            case "release":
                apart = ("filter", "embed", "release")
                read = [each for each in self.units() if each[0] not in apart]
                return [*read, *self.tested_units()]
        raise ValueError(f"unknown stage {stage}")

    def description(self, unit: Unit) -> dict[str, Any]:
        """Return what the unit's manifest says of it besides its records."""
        stage, instance = unit
        key = self.key(stage, instance)
        return {
            "name": "/".join(part for part in (stage, instance, key) if part),
            "stage": stage,
            "instance": instance,
            "version": STAGE_VERSIONS[stage],
            "config": self.stage_config(unit),
        }

    def stage_config(self, unit: Unit) -> dict[str, Any]:
        """Return the unit's part of the configuration, as its commands get it."""
        return getattr(self, f"_{unit[0]}_config")(unit[1])

    @functools.cache  # noqa: B019 - one layout lives as long as its process
    def key(self, stage: str, instance: str | None = None) -> str:
        """Return `v<N>-<digest>` of a unit."""
        unit = (stage, instance)
        content = {
            "stage": stage,
            "version": STAGE_VERSIONS[stage],
            "config": self._content(unit),
            "upstream": [self.key(*each) for each in self.upstream(unit)],
        }
        digest = hashlib.sha256(canonical(content).encode("utf-8")).hexdigest()
        return f"v{STAGE_VERSIONS[stage]}-{digest[:12]}"

    def folder(self, stage: str, instance: str | None = None) -> str:
        """Return a unit's folder, below the working directory."""
        parts = [self.config["results"], stage, instance, self.key(stage, instance)]
        return "/".join(part for part in parts if part)

    def shards(self, stage: str, instance: str | None = None) -> int:
        """Return the number of shards 0000, 0001, ... that a unit consists of."""
        if stage in ("corpus", "clean", "dual_filter", "subword"):
            return self.config["shards"]["early"]
        if (stage, instance) == ("generate", "idf"):
            return 0
        single = {*self.training_sets, *self.columns_of_kind("language_model")}
        if stage in ("generate", "score", "select", "syntax") or (
            stage == "filter" and instance not in single
        ):
            return self.config["shards"]["late"]
        return 0

    def shard_names(self, stage: str, instance: str | None = None) -> list[str]:
        """Return 0000, 0001, ... for a unit."""
        return [f"{shard:04d}" for shard in range(self.shards(stage, instance))]

    def early_shards(self, late: str) -> list[str]:
        """Return the names of the early shards that make up the late shard `late`."""
        size = self.config["shards"]["early"] // self.config["shards"]["late"]
        first = int(late) * size
        return [f"{shard:04d}" for shard in range(first, first + size)]

    def parts(self, stage: str, instance: str | None = None) -> list[str]:
        """Return the names of a unit's records besides those of its shards."""
        match stage, instance:
            case "corpus", _:
                return ["rejected.tsv"]
            case "subword", _:
                return ["source", "reference"]
            case "train", _:
                return ["model"]
            case "generate", "references":
                return ["sampling"]
            case "generate", "idf":
                return ["idf"]
            case "select", _:
                return ["thresholding"]
            case "filter", _:
                return self._filter_parts(instance)
            case "embed", "evaluation":
                return ["evaluation"]
            case "embed", "sts":
                return ["testing"]
            case "embed", _:
                return ["model"]
            case "evaluate", _:
                return ["evaluation", "counting"]
            case "release", _:
                return ["tables/tables", *(f"{system}/paraphrases" for system in self.systems)]
        return []

    def _filter_parts(self, instance: str) -> list[str]:
        if instance in self.training_sets:
            return ["pairs"]
        column, dash, _ = instance.partition("-")
        trained = self.columns_of_kind("classifier" if dash else "language_model")
        return ["model"] if column in trained else []

    def input_files(self, corpus: str) -> list[str]:
        """Return the files that a corpus is read from; none for a testbed corpus."""
        downloads = self.downloads(corpus)
        if downloads:
            return [download.path for download in downloads]
        block = self._located_block(corpus)
        return [path for key in _TEXT_KEYS if key in block for path in block[key]]

    def sts_files(self) -> list[str]:
        """Return the files of the data sets that embeddings are tested on."""
        return _files_below(self._located(self.config["sts"]["data"]), "sts.data")

    def embedding_files(self, name: str) -> dict[str, list[str]]:
        """Return the files that an embedding starts from and is chosen by, by configuration key."""
        part = self._embed_config(name)
        entry = f"embeddings.{self.embeddings[name]['entry']}"
        vectors, development = f"{entry}.model.vectors", f"{entry}.training.development"
        return {
            vectors: _files_below(as_list(part["model"]["vectors"] or []), vectors),
            development: _files_below(part["training"]["development"] or [], development),
        }

    def _located(self, paths: list[str]) -> list[str]:
        """Return paths that begin with the data folder."""
        return [str(Path(self.config["data"]) / path) for path in paths]

    def needs_idf(self, system: str) -> bool:
        """Tell whether a system chooses words by their IDF."""
        return "idf" in self._constraints(system)

    def pair_files(self, system: str) -> list[str]:
        """Return the files of paraphrases that a system's constraints are read from."""
        return list(self._located_pairs(system).values())

    def _constraints(self, system: str) -> dict[str, Any]:
        return self.config["systems"][system].get("constraints") or {}

    def _located_pairs(self, system: str) -> dict[str, str]:
        pairs = self._constraints(system).get("pairs", {})
        return {kind: str(Path(self.config["data"]) / path) for kind, path in pairs.items()}

    def downloads(self, corpus: str) -> list[Download]:
        """Return the files that a corpus is downloaded from; none for any other corpus.

        Raises:
            InputError: it is not pinned: the hash of a file is not known, or not even its URL.
        """
        block = self.config["corpora"][corpus]
        if not block.keys() & {"mtdata", "url"}:
            return []
        if block.get("sha256") is None:
            raise InputError(
                f"corpora.{corpus}: the sha256 of what is to be downloaded is not known yet. Get "
                "and pin it once, with the config files and settings of this run: python -m "
                "workflow_scripts.corpus.pin --configfile ... --output pins.yaml; then add "
                "pins.yaml to --configfile (docs/corpus.md)"
            )
        kept = Path(self.config["downloads"])
        return [
            Download(url, sha256, str(kept / sha256 / file_name(url)))
            for url, sha256 in zip(as_list(block["url"]), as_list(block["sha256"]), strict=True)
        ]

    def _located_block(self, name: str) -> dict[str, Any]:
        """Return a corpus block whose paths are lists and say where the files are.

        That is below the data folder; for a downloaded corpus below where downloads are kept. Its
        origin makes no difference to what is imported, nor does whether it is trusted.
        """
        data = Path(self.config["data"])
        apart = {"trusted", "mtdata", "url", "sha256"}
        block = {k: v for k, v in self.config["corpora"][name].items() if k not in apart}
        kept = {Path(each.path).name: each.path for each in self.downloads(name)}

        def located(path: str) -> str:
            file, slash, member = path.partition("/")
            return f"{kept[file]}{slash}{member}" if kept else str(data / path)

        paths = {
            key: [located(path) for path in as_list(value)]
            for key, value in block.items()
            if key in _TEXT_KEYS
        }
        if kept:
            paths["sha256"] = {each.path: each.sha256 for each in self.downloads(name)}
        return {**block, **paths}

    def _content(self, unit: Unit) -> dict[str, Any]:
        """Return what the digest covers: the configuration part, files by content, shards."""
        stage, instance = unit
        content = dict(self.stage_config(unit))
        content["shards"] = [self.shards(*part) for part in (unit, *self.upstream(unit))]
        if stage == "corpus":
            content["block"] = self._block_content(instance)
        if stage == "train" and "folder" in content["model"]:
            content["model"] = self._own_model_content(self.config["train"]["models"][instance])
        if stage == "embed" and instance != "sts":
            content |= self._embed_content(instance)
        if stage == "generate" and instance in self.systems and self.pair_files(instance):
            content["constraints"] = {
                **content["constraints"],
                "pairs": self._pairs_content(instance),
            }
        if stage == "filter" and "file" in content:
            key = f"columns.{instance.split('-')[0]}.vectors.file"
            content["file"] = self._hashes.sha256(content["file"], key)
        if stage == "syntax":
            content["folder"] = self._parser_content(content)
        return content

    def _embed_content(self, instance: str) -> dict[str, Any]:
        """Return what the digest covers instead of paths: files by name and content."""

        def hashed(files: list[str], key: str) -> list[list[str]]:
            names = (os.path.relpath(file, self.config["data"]) for file in files)
            hashes = (self._hashes.sha256(file, key) for file in files)
            return [list(pair) for pair in zip(names, hashes, strict=True)]

        if instance == "evaluation":
            return {"data": hashed(self.sts_files(), "sts.data")}
        part = self._embed_config(instance)
        files = self.embedding_files(instance)
        vectors, development = (hashed(paths, key) for key, paths in files.items())
        return {
            "model": part["model"] | {"vectors": [each[1] for each in vectors]},
            "training": part["training"] | {"development": development},
        }

    def _block_content(self, name: str) -> dict[str, Any]:
        block = self._located_block(name)
        if name in self._absent:
            return block
        if "sha256" in block:  # the names of these files hold their hashes
            kept = Path(self.config["downloads"])
            names = {
                key: [Path(path).relative_to(kept).as_posix() for path in block[key]]
                for key in _TEXT_KEYS
                if key in block
            }
            return {**block, **names, "sha256": sorted(block["sha256"].values())}
        hashes = {
            key: [self._hashes.sha256(path, f"corpora.{name}.{key}") for path in block[key]]
            for key in _TEXT_KEYS
            if key in block
        }
        return {**block, **hashes}

    def _pairs_content(self, system: str) -> dict[str, str]:
        key = f"systems.{system}.constraints.pairs"
        pairs = self._located_pairs(system)
        return {kind: self._hashes.sha256(path, f"{key}.{kind}") for kind, path in pairs.items()}

    def _own_model_content(self, name: str) -> dict[str, str]:
        model = self.config["models"][name]
        paths = {file: f"{model['folder']}/{file}" for file in _MODEL_FOLDER_FILES}
        paths |= {key: model[key] for key in _MODEL_FILE_KEYS}
        return {file: self._hashes.sha256(path, f"models.{name}") for file, path in paths.items()}

    def _parser_content(self, part: dict[str, Any]) -> dict[str, str]:
        files = parser_files(part["folder"], part["language"], part["package"])
        return {
            name: self._hashes.sha256(path, "evaluate.syntax.folder")
            for name, path in files.items()
        }

    # --- configuration parts -----------------------------------------------------------------

    def _corpus_config(self, name: str) -> dict[str, Any]:
        return {
            "name": name,
            "block": self._located_block(name),
            "shards": self.config["shards"]["early"],
            "max_line_bytes": self.config["clean"]["max_line_bytes"],
            "seed": self.config["seed"],
        }

    def _clean_config(self, _: None) -> dict[str, Any]:
        sides = self.config["languages"]
        limits = {k: v for k, v in self.config["clean"].items() if k != "max_line_bytes"}
        return {
            **limits,
            "charset": {side: sides[side]["charset"] for side in sides},
            "corpora": self.corpora,
        }

    def _dual_filter_config(self, instance: str) -> dict[str, Any]:
        train = self.config["train"]
        exempt = list(dict.fromkeys([*self.trusted, train["dev"], train["test"]]))
        if instance == "scores":
            return {"skip": exempt, "precision": self.config["compute"]["precision"]}
        part = self.config["dual_filter"]
        bound = {"sum": "max_sum", "cross_entropy": "min_score"}[part["method"]]
        return {"method": part["method"], bound: part[bound], "trusted": exempt}

    def _subword_config(self, instance: str) -> dict[str, Any]:
        corpora = self.training_corpora
        if instance == "filter":
            corpora = [name for name in corpora if name in self.trusted]
        train, part = self.config["train"], self.config["subword"]
        if not part["samples"]:  # what sampling needs has no say then
            part = {key: value for key, value in part.items() if key not in ("nbest", "alpha")}
        return {
            **part,
            "train": corpora,
            "dev": train["dev"],
            "test": train["test"],
            "seed": self.config["seed"],
        }

    def _train_config(self, role: str) -> dict[str, Any]:
        train = self.config["train"]
        model = self.config["models"][train["models"][role]]
        # The default backend, and a model that is not trained, have no say in the digest.
        chosen = train["backend"] != "sockeye" and "folder" not in model
        return {
            "role": role,
            "direction": role.removeprefix("filter_"),
            "model": model,
            "seed": self.config["seed"],
            **({"backend": train["backend"]} if chosen else {}),
        }

    def _generate_config(self, instance: str) -> dict[str, Any]:
        if instance == "references":
            limit = self.config["generate"]["limit"]
            if isinstance(limit, dict):
                limit = {name: limit[name] for name in self.generate_corpora if name in limit}
            return {"corpora": self.generate_corpora, "limit": limit, "seed": self.config["seed"]}
        if instance == "idf":
            return {"corpora": self.training_corpora}
        system = self.config["systems"][instance]
        constraints = system.get("constraints")
        if self.pair_files(instance):
            constraints = {**constraints, "pairs": self._located_pairs(instance)}
        return {
            "system": instance,
            "search": system["search"],
            "constraints": constraints,
            "precision": self.config["compute"]["precision"],
            "seed": self.config["seed"],
        }

    def _score_config(self, system: str) -> dict[str, Any]:
        part = self.config["systems"][system]["score"]
        return {**part, "precision": self.config["compute"]["precision"]}

    def _select_config(self, system: str) -> dict[str, Any]:
        part = self.config["systems"][system]["select"]
        keep = {key: value for key, value in part["keep"].items() if value is not None}
        return {**part, "keep": keep}

    def _filter_config(self, instance: str) -> dict[str, Any]:
        if instance in self.training_sets:
            return self.training_sets[instance]
        if instance in self.systems:
            return {}
        return self._column_config(*instance.split("-"))

    def _column_config(self, column: str, system: str | None = None) -> dict[str, Any]:
        ((kind, block),) = self.config["columns"][column].items()
        if kind == "vectors":
            return {"file": str(Path(self.config["data"]) / block["file"])}
        # All is in the model that it reads.
        if kind == "embedding" or (kind == "language_model" and system):
            return {}
        if kind == "language_model":
            return {**block, "corpora": block["corpora"] or self.config["run"]["corpora"]}
        return {**block, "seed": self.config["seed"]}

    def _embed_config(self, instance: str) -> dict[str, Any]:
        sts, seed = self.config["sts"], self.config["seed"]
        language = self.config["languages"]["reference"]["code"]
        if instance == "evaluation":
            corpora = [self.config["corpora"][name] for name in self.config["run"]["corpora"]]
            simulated = any("testbed" in corpus for corpus in corpora)
            return {
                "data": self._located(sts["data"]),
                "testbed": sts["testbed"] if simulated else None,
                "language": language,
                "seed": seed,
            }
        if instance == "sts":
            return {"bootstrap": sts["bootstrap"], "seed": seed}
        part = self.embeddings[instance]
        vectors, development = part["model"]["vectors"], part["training"]["development"]
        return {
            "name": instance,
            "model": part["model"] | {"vectors": vectors and self._located([vectors])[0]},
            "training": part["training"]
            | {"development": development and self._located(development)},
            "repetition": part["repetition"],
            "language": language,
            "seed": seed,
        }

    def _syntax_config(self, _: str) -> dict[str, Any]:
        part = self.config["evaluate"]["syntax"]
        return {
            **{key: part[key] for key in ("folder", "package", "share")},
            "language": self.config["languages"]["reference"]["code"],
            "seed": self.config["seed"],
        }

    def _evaluate_config(self, system: str) -> dict[str, Any]:
        corpora = self.generate_corpora
        part = self.config["evaluate"]
        return {
            "system": system,
            "best": self.config["systems"][system]["select"]["best"],
            "groups": {
                "seen": [name for name in corpora if name in self.training_corpora],
                "held_out": [name for name in corpora if name not in self.training_corpora],
            },
            "testbed": [name for name in corpora if "testbed" in self.config["corpora"][name]],
            "bootstrap": part["bootstrap"],
            "statistics": self.statistics_config(),
            # How the trees come about is the part of the syntax stage.
            "syntax": {"levels": part["syntax"]["levels"]} if self.parsed else None,
            "seed": self.config["seed"],
        }

    def _release_config(self, _: None) -> dict[str, Any]:
        entries = {
            each["entry"]: {"name": each["entry"], **{k: each[k] for k in ("model", "training")}}
            for each in self.tested.values()
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
            "systems": {name: self.config["systems"][name] for name in self.systems},
            "embeddings": list(entries.values()),
            "seed": self.config["seed"],
        }

    def statistics_config(self) -> dict[str, Any]:
        """Return the configuration of the corpus statistics: the pairs, and columns by kind."""
        part = self.config["evaluate"]
        kinds = {name: next(iter(self.config["columns"][name])) for name in part["columns"]}
        return {"pairs": part["pairs"], "columns": kinds, "seed": self.config["seed"]}

    def vocabulary_config(self, unit: Unit, side: str) -> dict[str, Any]:
        """Return the configuration of the SentencePiece model of one side."""
        part = self.stage_config(unit)
        keys = ("model_type", "coverage", "split_digits", "sentences", "seed")
        return {
            **{key: part[key] for key in keys},
            "side": side,
            "vocab_size": part["vocab_size"][side],
            "corpora": part["train"],
        }

    def system_release_config(self, system: str) -> dict[str, Any]:
        """Return the configuration of the released corpus of one system."""
        shown = ("quoted", "embeddings")  # by the report alone
        part = {k: v for k, v in self._release_config(None).items() if k not in shown}
        block = part.pop("systems")[system]
        return {**part, "system": system, "block": block, "best": block["select"]["best"]}
