"""Which judges a run has, and what they need: the entries of `judges` (docs/judge.md).

The Snakefile imports this module: only the standard library.
"""

import functools
import hashlib
import json
import re
from pathlib import Path
from typing import Any

from workflow_scripts.plan.catalogues.pair_features import ENGLISH, NEEDS
from workflow_scripts.plan.schema import filled

_STAGE = Path(__file__).parents[2] / "stages" / "judge"
# The judges that ship with Paraloom, and the grammar model that ships. `other` serves all languages
# without one of their own.
DEFAULT, PORTUGUESE, OTHER = "default", "portuguese", "other"
SHIPPED = {name: _STAGE / f"{name}.json" for name in (DEFAULT, PORTUGUESE, OTHER)}
GRAMMAR = _STAGE / "grammar" / "english"
_BY_LANGUAGE = {**dict.fromkeys(ENGLISH, DEFAULT), **dict.fromkeys(("pt", "por"), PORTUGUESE)}
# What is said where `other` judges.
UNLABELLED = (
    "judge: no label is in '{}', so the judge was fitted to English ones: take its probability as "
    "an order, not as a share of good ones (reports/judge.md#other-languages)"
)

# What forced decoding by the forward model says about a candidate.
FORCED = ("forward_total", "forward_worst")
GRAMMAR_MODEL, LANGUAGE_MODEL = "grammar", "language_model"


def judge_of(config: dict[str, Any], system: str) -> str | None:
    """Return the entry of `judges` that a system's select names; None if there is none."""
    return config["systems"][system]["select"].get("judge")


def judges(config: dict[str, Any]) -> list[str]:
    """Return the judges that the run's systems name and the catalogue has."""
    systems = [name for name in config["run"]["systems"] if name in config["systems"]]
    named = dict.fromkeys(judge_of(config, system) for system in systems)
    return [name for name in named if name is not None and name in config.get("judges", {})]


def shipped_name(language: str) -> str:
    """Return which of the judges that ship is for references of a language, such as `pt-BR`."""
    return _BY_LANGUAGE.get(re.split("[-_]", language)[0].lower(), OTHER)


def block_of(config: dict[str, Any], name: str) -> dict[str, Any]:
    """Return an entry of `judges`; one that ships has the features of the run's language."""
    block, shipping = config["judges"][name], shipped_name(language_of(config))
    if is_own(block) or shipping == DEFAULT:
        return block
    return {**block, "features": list(shipped(shipping)["features"])}


def language_of(config: dict[str, Any]) -> str:
    """Return the code of the references' language."""
    return config["languages"]["reference"]["code"]


def is_own(block: dict[str, Any]) -> bool:
    """Tell whether a judge is fitted in the run, and not the one that ships."""
    return "labels" in block or "ratings" in block


def features(block: dict[str, Any]) -> list[str]:
    """Return the features of a judge of the catalogue."""
    return block["features"] if "features" in block else list(shipped(DEFAULT)["features"])


def needs(block: dict[str, Any]) -> set[str]:
    """Return what the features of a judge need, by `features.NEEDS`; unknown ones need nothing."""
    return {thing for name in features(block) for thing in NEEDS.get(name, ())}


def own_grammar(block: dict[str, Any]) -> bool:
    """Tell whether a judge asks a grammar model that the run trains."""
    return GRAMMAR_MODEL in needs(block) and filled(block, "judge")["grammar"] == "run"


def need(config: dict[str, Any], *wanted: str) -> bool:
    """Tell whether a judge of the run needs one of these."""
    return any(not needs(block_of(config, name)).isdisjoint(wanted) for name in judges(config))


@functools.cache
def shipped(name: str) -> dict[str, Any]:
    """Return a judge that ships; nobody changes it."""
    return json.loads(SHIPPED[name].read_text(encoding="utf-8"))


@functools.cache
def fingerprint(*paths: Path) -> str:
    """Return one hash of files that ship, or of all files of a folder that ships.

    Where one is missing, the job that reads it says so.
    """
    digest = hashlib.sha256()
    for path in filter(Path.exists, paths):
        for file in sorted(path.iterdir()) if path.is_dir() else [path]:
            digest.update(file.read_bytes())
    return digest.hexdigest()
