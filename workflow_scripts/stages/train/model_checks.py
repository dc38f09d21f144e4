"""What a block of `models` must hold: a shape with its training, or a finished model.

The schema of the configuration says which keys that are. Jobs ask again, because they can be
started by hand.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from workflow_scripts.core.files.paths import file_name
from workflow_scripts.plan.catalogues.model_blocks import CHOSEN, SOURCES, TEXT_MODELS
from workflow_scripts.plan.schema import definition

# The keys of each kind of finished model, besides those that all of them may have.
_OF_SOURCE = {
    "folder": ("folder", *TEXT_MODELS),
    "url": ("url", "sha256", "path"),
    "hub": ("hub", "revision", "sha256", "path"),
    "package": ("package", "version", "sha256", "path"),
}
_OF_ALL = (*CHOSEN, "shortlist", "trained_on", "licence")
_SHAPE_KEYS = tuple(definition("model")["else"]["required"])
_KEYS = definition("model")["properties"]
_FINISHED_KEYS = {*_OF_ALL, *(key for keys in _OF_SOURCE.values() for key in keys)}


def problems(block: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with a block: keys that are missing or unknown, values in conflict."""
    if any(key in block for key in (*SOURCES, *TEXT_MODELS)):
        yield from _finished_problems(block)
        return
    missing = [key for key in _SHAPE_KEYS if key not in block]
    for key in missing:
        yield f"key '{key}' is missing"
    if unknown := [key for key in block if key not in _KEYS or key in _FINISHED_KEYS]:
        yield f"unknown {', '.join(unknown)}: take them out"
    if missing:
        return
    for key, choices in ((key, rule["enum"]) for key, rule in _KEYS.items() if "enum" in rule):
        if block.get(key, choices[0]) not in choices:
            yield f"{key} '{block[key]}' is none of {', '.join(choices)}"
    if block["size"] % block["heads"]:
        yield f"heads ({block['heads']}) does not divide size ({block['size']})"
    if block["schedule"] == "none" and block["warmup"]:
        yield "schedule none has no warm-up: set warmup to 0"
    if block["batch_words"] <= block["max_length"]:
        yield (
            f"batch_words ({block['batch_words']}) must exceed max_length ({block['max_length']}): "
            "a batch holds at least one sentence"
        )


def _finished_problems(block: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the block of a finished model."""
    sources = [key for key in SOURCES if key in block]
    if len(sources) != 1:
        others = f", not {' and '.join(sources)}" if sources else ""
        yield f"a model of your own has one of {', '.join(SOURCES)}{others}"
        return
    (source,) = sources
    known = (*_OF_SOURCE[source], *_OF_ALL)
    if unknown := [key for key in block if key not in known]:
        # Two blocks of one name are merged, so the keys may stand in the file below.
        yield f"unknown {', '.join(unknown)}: a model of your own has a name of its own"
    if (text_models := [key for key in TEXT_MODELS if key in block]) and len(text_models) < len(
        TEXT_MODELS
    ):
        (other,) = set(TEXT_MODELS) - set(text_models)
        yield f"key '{other}' is missing, which {text_models[0]} needs"
    if "tag" in block and "source" in block:
        yield "a model has a tag, or source and target, never both; take one out"
    if source == "package":
        for key in ("version", "path"):
            if key not in block:
                yield f"key '{key}' is missing, which package needs"
    path = PurePosixPath(block.get("path", "."))
    if path.is_absolute() or ".." in path.parts:
        yield f"path '{path}' leads out of the {source}; name a folder inside it"
    yield from _hash_problems(block, source)


def _hash_problems(block: dict[str, Any], source: str) -> Iterator[str]:
    """Yield what is wrong with the hashes of a finished model."""
    hashes = block.get("sha256")
    if source == "url":
        urls = _several(block["url"])
        if isinstance(hashes, dict):
            yield "sha256 of a url is one hash, or a list of them in the order of url"
        elif hashes is not None and len(_several(hashes)) != len(urls):
            yield f"{len(urls)} url, but {len(_several(hashes))} sha256"
        files = [file_name(url) for url in urls]
        for file in sorted({file for file in files if files.count(file) > 1}):
            yield f"two files of the name {file} in url"
        for file in files:
            if file.endswith(".json"):
                yield (
                    f"url of {file}: a .json file can't be downloaded by itself, as records of "
                    "downloads have such names; name an archive, or use hub or folder"
                )
    elif hashes is not None and not isinstance(hashes, dict):
        yield f"sha256 of a {source} is a mapping from the names of files to their hashes"


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]
