"""Checks of `corpora` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core import selection
from workflow_scripts.core.config import Config
from workflow_scripts.core.paths import file_name


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the downloads of the catalogue of corpora."""
    for name, block in config["corpora"].items():
        yield from _download_problems(name, block)


def notes(config: Config) -> Iterator[str]:
    """Yield the corpora whose language is not that of the configuration."""
    language = config["languages"]["reference"]["code"]
    if language == "en":
        return
    for name in selection.corpora(config):
        if "testbed" in config["corpora"][name]:
            yield (
                f"corpora.{name}: the testbed's references are English (en), and "
                f"languages.reference.code is '{language}'; name bitext of yours in run.corpora, "
                "train.dev and train.test"
            )


def _several(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [] if value is None else [value]


def _download_problems(name: str, block: dict[str, Any]) -> Iterator[str]:
    urls, hashes = _several(block.get("url")), _several(block.get("sha256"))
    if not urls:
        if hashes:
            yield f"corpora.{name}: sha256 without url"
        return
    if hashes and len(hashes) != len(urls):
        yield f"corpora.{name}: {len(urls)} url, but {len(hashes)} sha256"
    files = [file_name(url) for url in urls]
    for file in sorted({file for file in files if files.count(file) > 1}):
        yield f"corpora.{name}.url: two files of the name {file}; make two corpora of them"
    for key in ("source", "reference", "tsv"):
        for path in _several(block.get(key)):
            if path.partition("/")[0] not in files:
                yield (
                    f"corpora.{name}.{key}: '{path}' does not begin with the name of a downloaded "
                    f"file ({', '.join(files)})"
                )
