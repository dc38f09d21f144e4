"""Checks of what systems say of selection that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.schema import filled

# The keys of `keep` that bound the sum of both NLLs, and those that bound a judge's probability.
_SUMS = ("max_sum", "quantile", "reference_quantile")
PROBABILITIES = ("probability", "probability_quantile", "precision")
_CLUSTERED = ("cluster", "judged")


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with score and select of the run's systems."""
    for name in config["run"]["systems"]:
        if name in config["systems"]:
            where = f"systems.{name}"
            yield from _system_problems(where, config["systems"][name])
            yield from _judge_problems(where, config["systems"][name]["select"], config)


def _system_problems(where: str, system: dict[str, Any]) -> Iterator[str]:
    select = system["select"]
    merges = "merge" in system
    prune_above = None if merges else system["score"]["prune_above"]
    if select.get("score") == "rank" and not merges:
        yield f"{where}.select.score: rank is for a system that merges runs; take it out"
    keep = filled(select["keep"], "keep")
    max_sum = keep["max_sum"]
    if prune_above is not None and max_sum is not None and max_sum > prune_above:
        yield (
            f"{where}: select.keep.max_sum ({max_sum}) is above score.prune_above "
            f"({prune_above}), which would lose candidates that pass"
        )
    judged = select.get("judge") is not None
    sums = [key for key in _SUMS if keep[key] is not None]
    now = f" (now {' and '.join(sums)})" if sums else ""
    if len(sums) > 1 or not (sums or judged):
        yield (
            f"{where}.select.keep: give one of {', '.join(_SUMS)} a number{now}, and set the "
            "others to null where config.yaml or a recipe before yours has a number"
        )
    if select["method"] in _CLUSTERED and select["best"] > select["clusters"]:
        yield f"{where}: select.best ({select['best']}) needs at least as many clusters"


def _judge_problems(where: str, select: dict[str, Any], config: Config) -> Iterator[str]:
    keep, judge = filled(select["keep"], "keep"), select.get("judge")
    bounds = [key for key in PROBABILITIES if keep[key] is not None]
    asked = [f"method: {select['method']}"] if select["method"] == "judged" else []
    asked += ["score: judge"] if select.get("score") == "judge" else []
    asked += [f"keep.{key}" for key in bounds]
    known = config.get("judges", {})
    if judge is None:
        if asked:
            names = ", ".join(known) or "none yet"
            yield (
                f"{where}.select: {asked[0]} needs a judge; name an entry of judges ({names}) "
                "with the key judge"
            )
        return
    if judge not in known:
        yield f"{where}.select.judge: '{judge}' is not in judges{suggestion(judge, list(known))}"
        return
    if not asked:
        yield (
            f"{where}.select.judge: nothing asks the judge; write method: judged, score: judge or "
            f"one of keep's {', '.join(PROBABILITIES)}, or set judge to null"
        )
    if len(bounds) > 1:
        yield (
            f"{where}.select.keep: give one of {', '.join(PROBABILITIES)} a number (now "
            f"{' and '.join(bounds)}), and set the others to null"
        )
    if select["method"] == "judged":
        if not bounds:
            yield (
                f"{where}.select.keep: method judged drops what the judge finds too unlikely to be "
                f"good; give one of {', '.join(PROBABILITIES)} a number"
            )
        if select.get("score") == "sum":
            yield f"{where}.select.score: method judged ranks by the judge; take score out"
    if keep["precision"] is not None and "labels" not in known[judge]:
        yield (
            f"{where}.select.keep.precision: {judge} was not fitted to labels of this run; give "
            "probability or probability_quantile, or a judge with labels of your own"
        )
