"""The files of a Stanza package in a folder, as its own `resources.json` lists them.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import json
from collections.abc import Sequence
from pathlib import Path

from workflow_scripts.core.errors import InputError

# The processors that parsing needs, and those that tagging does. Only some languages have
# multi-word tokens.
PROCESSORS = ("tokenize", "mwt", "pos", "constituency")
TAGGING = ("tokenize", "mwt", "pos")
OPTIONAL = {"mwt"}
PARSER_KEY = "evaluate.syntax"
TAGGER_KEY = "constraints.tagger"
# The languages of which Stanza publishes a constituency model in a package `default`.
PUBLISHED = ("da", "de", "en", "es", "id", "it", "ja", "pt", "vi")
TRAIN = (
    "; Stanza publishes no constituency model of '{language}' (it has {published}). Train one on "
    "trees of that language (paraloom train parser --language {language}), or "
    "set evaluate.syntax to null"
)
DOWNLOAD = (
    "python -c \"import stanza; stanza.download('{language}', package='{package}', "
    "processors='{processors}', model_dir='{folder}')\""
)


def parser_files(
    folder: str,
    language: str,
    package: str,
    key: str = PARSER_KEY,
    processors: Sequence[str] = PROCESSORS,
) -> dict[str, str]:
    """Return the path of each model that Stanza loads to parse or to tag.

    The keys are `<processor>/<model>`.

    Args:
        folder: as `stanza.download(..., model_dir=folder)` fills it, or `syntax.train`.
        language: its code in `resources.json`.
        package: a name among its packages, such as default.
        key: of the configuration that names the folder, for messages.
        processors: `PROCESSORS` to parse, or `TAGGING`.

    Raises:
        InputError: the folder lacks something; the message says what.
    """
    advice = _advice(folder, language, package, processors)
    index = Path(folder) / "resources.json"
    try:
        resources = json.loads(index.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{key}.folder: {index}: {error.strerror}{advice}") from error
    except (ValueError, RecursionError) as error:
        raise InputError(f"{key}.folder: {index} is not JSON: {error}{advice}") from error
    known = resources.get(language, {})
    if package not in known.get("packages", {}):
        raise InputError(
            f"{key}.package: {index} has no package '{package}' of the language '{language}'; "
            f"it has {', '.join(known.get('packages', {})) or 'none'}{advice}"
        )
    chosen = known["packages"][package]
    chosen = chosen.get("optional", {}) | chosen
    files = {}
    for processor in processors:
        if processor not in chosen:
            if processor in OPTIONAL:
                continue
            raise InputError(
                f"{key}.package: '{package}' of the language '{language}' has no {processor} "
                "model; choose a package that has one" + ("" if language in PUBLISHED else advice)
            )
        name = chosen[processor]
        needed = known.get(processor, {}).get(name, {}).get("dependencies", [])
        models = [(processor, name), *((need["model"], need["package"]) for need in needed)]
        for kind, model in models:
            path = Path(folder) / language / kind / f"{model}.pt"
            if not path.is_file():
                raise InputError(f"{key}.folder: {path} is missing{advice}")
            files[f"{kind}/{model}"] = str(path)
    return files


def _advice(folder: str, language: str, package: str, processors: Sequence[str]) -> str:
    """Return how to get the models: fetch them, or train them where nobody publishes any."""
    if "constituency" in processors and language not in PUBLISHED:
        return TRAIN.format(language=language, published=", ".join(PUBLISHED))
    wanted = ",".join(name for name in processors if name not in OPTIONAL)
    return "; fetch it: " + DOWNLOAD.format(
        folder=folder, language=language, package=package, processors=wanted
    )
