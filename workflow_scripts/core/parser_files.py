"""The files of a Stanza package in a folder, as its own `resources.json` lists them.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import json
from pathlib import Path

from workflow_scripts.core.errors import InputError

# The processors that parsing needs. Only some languages have multi-word tokens.
PROCESSORS = ("tokenize", "mwt", "pos", "constituency")
OPTIONAL = {"mwt"}
# The languages of which Stanza publishes a constituency model in a package `default`.
PUBLISHED = ("da", "de", "en", "es", "id", "it", "ja", "pt", "vi")
TRAIN = (
    "; Stanza publishes no constituency model of '{language}' (it has {published}). Train one on "
    "trees of that language (python -m workflow_scripts.syntax.train --language {language}), or "
    "set evaluate.syntax to null"
)
DOWNLOAD = (
    "python -c \"import stanza; stanza.download('{language}', package='{package}', "
    "processors='tokenize,pos,constituency', model_dir='{folder}')\""
)


def parser_files(folder: str, language: str, package: str) -> dict[str, str]:
    """Return the path of each model that Stanza loads to parse, by `<processor>/<model>`.

    Args:
        folder: as `stanza.download(..., model_dir=folder)` fills it, or `syntax.train`.
        language: its code in `resources.json`.
        package: a name among its packages, such as default.

    Raises:
        InputError: the folder lacks something; the message says what.
    """
    key = "evaluate.syntax"
    advice = _advice(folder, language, package)
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
    for processor in PROCESSORS:
        if processor not in chosen:
            if processor in OPTIONAL:
                continue
            raise InputError(
                f"{key}.package: '{package}' of the language '{language}' has no {processor} "
                "model; choose a package that has one"
                + ("" if language in PUBLISHED else _advice(folder, language, package))
            )
        name = chosen[processor]
        needed = known.get(processor, {}).get(name, {}).get("dependencies", [])
        models = [(processor, name), *((each["model"], each["package"]) for each in needed)]
        for kind, model in models:
            path = Path(folder) / language / kind / f"{model}.pt"
            if not path.is_file():
                raise InputError(f"{key}.folder: {path} is missing{advice}")
            files[f"{kind}/{model}"] = str(path)
    return files


def _advice(folder: str, language: str, package: str) -> str:
    """Return how to get the models: fetch them, or train them where nobody publishes any."""
    if language not in PUBLISHED:
        return TRAIN.format(language=language, published=", ".join(PUBLISHED))
    return "; fetch it: " + DOWNLOAD.format(folder=folder, language=language, package=package)
