"""Systems that merge what other runs selected: `systems.<name>.merge` (docs/systems.md).

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.plan.catalogues.pair_features import (
    KNOWN_WORDS,
    NEEDS,
    REFERENCE_NLLS,
    run_grammar,
)
from workflow_scripts.plan.catalogues.training_sets import model_columns, outside_corpora
from workflow_scripts.plan.config import Config

# Between the name of a run and a corpus in a tag, and between two tags, as between the names of
# variants: `cs:czeng fr:giga`. Names have neither.
OF, AND = ":", " "
# What a feature may need of a run's bitext or models.
_OF_BITEXT = {KNOWN_WORDS, *REFERENCE_NLLS}


def merging(config: Config) -> list[str]:
    """Return the run's systems that merge what other runs selected."""
    blocks = config["systems"]
    return [name for name in config["run"]["systems"] if "merge" in blocks.get(name, {})]


def without_bitext(config: Config) -> bool:
    """Tell whether the run has no bitext and no models.

    It merges what others selected, or trains on pairs from outside alone.
    """
    return bool(merging(config)) or not config["run"]["systems"]


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with a run of merges, or with one without that has no bitext."""
    run, merges = config["run"], merging(config)
    if not without_bitext(config):
        if not run["corpora"]:
            yield "run.corpora: it is empty; name the bitext, one or more of corpora"
        return
    if not run["systems"] and not outside_corpora(config):
        yield "run.systems: it is empty; name a system, or pairs from outside in run.outside"
    kind = "of merges" if merges else "without systems"
    others = [name for name in run["systems"] if name not in merges]
    if others:
        yield (
            f"run.systems: {', '.join(merges)} merge other runs, and {', '.join(others)} generate; "
            "make the others in a run of their own, and merge that one too"
        )
    for where, problem in _useless(config).items():
        if problem:
            yield f"{where}: a run {kind} has no bitext and no models; {problem}"
    for name in merges:
        yield from _system_problems(f"systems.{name}", config["systems"][name])


def _useless(config: Config) -> dict[str, str]:
    """Return the keys that need bitext or models, each with the remedy; "" where all is well."""
    return {
        "run.corpora": "set it to []" if config["run"]["corpora"] else "",
        "dual_filter.enabled": "set it to false" if config["dual_filter"]["enabled"] else "",
        "evaluate.reference_scores": (
            "set it to false" if config["evaluate"].get("reference_scores") else ""
        ),
        **{
            f"evaluate.{key}": "take it out"
            if config["evaluate"].get(key) and not merging(config)
            else ""
            for key in ("answers", "ratings", "documents")
        },
        **{
            f"columns.{name}": "take it out of evaluate.columns and of training sets"
            for name in model_columns(config)
            if _reads_bitext(config["columns"][name])
        },
    }


def _reads_bitext(column: dict[str, Any]) -> bool:
    if "language_model" in column:
        return True
    if "feature" not in column:
        return False
    block = column["feature"]
    return run_grammar(block) or not _OF_BITEXT.isdisjoint(NEEDS[block["name"]])


def _system_problems(where: str, system: dict[str, Any]) -> Iterator[str]:
    generating = ("search", "searches", "sources", "constraints", "score", "rewriter")
    useless = [key for key in generating if key in system]
    if useless:
        yield f"{where}: merge takes the place of {', '.join(useless)}; take them out"
    names: dict[tuple[str, str], str] = {}
    for name, merged in system["merge"].items():
        first = names.setdefault((merged["run"], merged["system"]), name)
        if first != name:
            yield (
                f"{where}.merge: {first} and {name} are the same system of the same run, "
                f"{merged['system']} of {merged['run']}; correct one of them"
            )
    select = system["select"]
    if select.get("judge") is not None:
        yield f"{where}.select.judge: a run of merges has no models for its features; take it out"
    if select["keep"].get("reference_quantile") is not None:
        yield f"{where}.select.keep: a run of merges scores no references; give a quantile"
