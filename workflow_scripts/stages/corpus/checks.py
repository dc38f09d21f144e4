"""Checks of `corpora` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.files.paths import file_name
from workflow_scripts.plan import selection
from workflow_scripts.plan.catalogues.merges import without_bitext
from workflow_scripts.plan.catalogues.model_blocks import as_trained_here, finished
from workflow_scripts.plan.catalogues.written_sources import is_text, written_corpora
from workflow_scripts.plan.config import Config


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the catalogue of corpora, and with the run's choice of them."""
    for name, block in config["corpora"].items():
        yield from _download_problems(name, block)
    if without_bitext(config):  # none of its corpora are read
        return
    yield from _written_problems(config)
    train = config["train"]
    for name in dict.fromkeys([*config["run"]["corpora"], train["dev"], train["test"]]):
        yield from _language_problems(name, config)


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


def _language_problems(name: str | None, config: Config) -> Iterator[str]:
    """Yield in which languages a corpus is and the run is not.

    A configuration that leaves `train.test` out has that of config.yaml, which is the demo's.
    """
    for side, code in config["corpora"].get(name or "", {}).get("languages", {}).items():
        if code != (wanted := config["languages"][side]["code"]):
            keys = [f"train.{key}" for key in ("dev", "test") if config["train"][key] == name]
            named = " and ".join([*(["run.corpora"] if not keys else []), *keys])
            yield (
                f"corpora.{name} is in '{code}' by its languages.{side}, and languages.{side}.code "
                f"is '{wanted}'; name another corpus in {named}{', or null' if keys else ''}"
            )


def _written_problems(config: Config) -> Iterator[str]:
    """Yield why sources can't be written, and where written ones would pass for bitext."""
    blocks, train = config["corpora"], config["train"]
    for key in ("dev", "test"):
        if is_text(blocks.get(train[key], {})):
            yield (
                f"train.{key}: the sources of '{train[key]}' are written by a model, and a model "
                "measured on them would be measured on its own output; name bitext"
                f"{', or null' if key == 'test' else ''}"
            )
    for name in written_corpora(config):
        if "trusted" in blocks[name]:
            yield (
                f"corpora.{name}.trusted: that is for bitext which people translated, and a model "
                "writes these sources; take it out"
            )
        for role, work in (("backward", "write its sources"), ("forward", "score them")):
            model = train["models"][role]
            block = config["models"].get(model, {})
            if model not in config["models"] or not as_trained_here(block):
                continue
            if finished(block):
                circle = f"models.{model} counts as trained on the bitext of this run"
                remedy = f"say in models.{model}.trained_on what it was trained on"
            else:
                circle = (
                    f"models.{model} is trained on the bitext of this run, and corpora.{name} is "
                    "part of that"
                )
                remedy = (
                    f"name a finished model in train.models.{role}, such as one that a run "
                    f"without corpora.{name} has trained"
                )
            yield (
                f"corpora.{name}.text: a circle: train.models.{role} is to {work}, but {circle}; "
                f"{remedy} (docs/corpus.md)"
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
    for key in ("source", "reference", "tsv", "text"):
        for path in _several(block.get(key)):
            if path.partition("/")[0] not in files:
                yield (
                    f"corpora.{name}.{key}: '{path}' does not begin with the name of a downloaded "
                    f"file ({', '.join(files)})"
                )
