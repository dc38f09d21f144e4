"""The stage's sections of the report."""

import math
from typing import Any

from markupsafe import Markup

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.plan.catalogues import pools
from workflow_scripts.stages.evaluate import plots, tables
from workflow_scripts.stages.evaluate.exact_lengths import LENGTHS
from workflow_scripts.stages.evaluate.length_table import heading, length_table
from workflow_scripts.stages.evaluate.results import (
    all_measures,
    mean_modified_bleu,
    most_paraphrases,
    shown_groups,
)

# The stages whose jobs a system pays for each reference.
COSTLY = ("generate", "score", "judge", "select")


def cost_and_gain(run: FinishedRun) -> dict[str, Any]:
    """Return for each system what it gives, what that costs, and what other bounds would give."""
    measures = all_measures(run)
    gains = {system: figures["groups"]["all"] for system, figures in measures.items()}
    curves = {
        system: figures["precision"]
        for system, figures in measures.items()
        if "precision" in figures
    }
    return {
        "gains": gains,
        "costs": {system: costs(run, system) for system in measures},
        "curves": curves,
        "plot": plots.precision(curves) if curves else None,
    }


def costs(run: FinishedRun, system: str) -> dict[str, float]:
    """Return the CPU-seconds that a system costs by stage, as far as they were measured.

    What it cost to write sources for it is part of `generate`, also where other systems read them.
    """
    written = pools.written_unit(run.config["systems"][system])
    writing = [("generate", written)] if written else []
    found: dict[str, float] = {}
    for stage, instance in [*writing, *((stage, system) for stage in COSTLY)]:
        seconds = run.cpu_seconds(stage, instance) if run.has(stage, instance) else None
        if seconds is not None:
            found[stage] = found.get(stage, 0.0) + seconds
    return found


def scores(run: FinishedRun) -> dict[str, Any]:
    """Return the histograms of the candidates' scores."""
    measures = all_measures(run)
    histograms = {
        system: plots.score_histogram(
            figures["groups"]["all"]["scores"], figures["threshold"]["max_sum"], system
        )
        for system, figures in measures.items()
    }
    return {"measures": measures, "histograms": histograms}


def bounds(run: FinishedRun) -> dict[str, Any]:
    """Return what each bound would keep, beside the references' own sums."""
    by_system = all_measures(run, "bounds")
    # The references and their scores are the same for every system.
    own = next(iter(by_system.values()))["own"]
    quantiles = own["all"]["quantiles"]
    return {
        "bounds": by_system,
        "own": shown_groups(own),
        "quantiles": [one["quantile"] for one in quantiles],
        "plot": plots.bounds(by_system, quantiles),
        "rows": {system: bound_rows(figures, quantiles) for system, figures in by_system.items()},
    }


def bound_rows(figures: dict[str, Any], quantiles: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return a row for each quantile of the references, and one for the bound that was used.

    Args:
        figures: bounds.json of a system.
        quantiles: of the references' own sums.

    Returns:
        `quantile` (None if the bound that was used is none of these), `max_sum` (None: no bound,
        as the references can't be read), `used`, and `figures`, those of the bound; None where
        candidates that were pruned might be within it.
    """
    measured = {bound["max_sum"]: bound for bound in figures["bounds"]}
    used = figures["used"]
    wanted = [(one["quantile"], one["max_sum"]) for one in quantiles]
    if used is not None and used not in [bound for _, bound in wanted]:
        wanted.append((None, used))
    wanted.sort(key=lambda row: math.inf if row[1] is None else row[1])
    return [
        {
            **{"quantile": quantile, "max_sum": bound, "figures": measured.get(bound)},
            "used": bound is not None and bound == used,
        }
        for quantile, bound in wanted
    ]


def ratings(run: FinishedRun) -> dict[str, Any]:
    """Return what people say of every system."""
    by_system = all_measures(run, "ratings")
    lengths = {
        system: of_system["figures"]["by_length"]
        for system, of_system in by_system.items()
        if of_system["figures"]
    }
    return {
        # The people and the agreement are those of the file, the same for every system.
        "people": next(iter(by_system.values())),
        "found": by_system,
        "ratings": tables.ratings(run),
        "headings": [heading(span) for span in next(iter(lengths.values()), [])],
        "lengths": lengths,
    }


def diversity(run: FinishedRun) -> dict[str, Any]:
    """Return the differences of the paraphrases from the references and from each other."""
    measures = all_measures(run)
    groups = {system: shown_groups(figures["groups"]) for system, figures in measures.items()}
    return {
        "measures": measures,
        "most_paraphrases": most_paraphrases(measures),
        "groups": groups,
        # A system that a rewriter writes may have references of one group alone.
        "group_names": list(dict.fromkeys(name for own in groups.values() for name in own)),
        "rank_plot": rank_plot(measures),
        "lengths": length_table(measures),
        "exact_lengths": length_table(measures, exact=True),
        "syntax": _of_groups(measures, "syntax"),
        "matrices": {
            system: matrix(figures["groups"]["all"], figures["config"]["best"])
            for system, figures in measures.items()
            if figures["config"]["best"] > 1
        },
    }


def variants(run: FinishedRun) -> dict[str, Any]:
    """Return the variants of every system that has some, and the first rank of the others."""
    by_system, measures = all_measures(run, "variants"), all_measures(run)
    rated = any(figures["config"].get("ratings") for figures in measures.values())
    people = all_measures(run, "ratings") if rated else {}
    first_ranks = {
        system: [{**part, **part["ranks"][0]} for part in figures["groups"]["all"]["exact_lengths"]]
        for system, figures in measures.items()
        if system not in by_system
    }
    return {
        "variants": {system: figures["groups"]["all"] for system, figures in by_system.items()},
        "references": {system: figures["references"] for system, figures in by_system.items()},
        "by_variant": tables.variants(run).where(references="all"),
        "pairs": tables.variant_pairs(run).where(references="all"),
        "others": first_ranks,
        "lengths": LENGTHS,
        "mean_modified_bleu": mean_modified_bleu,
        "people": {system: people[system]["variants"] for system in by_system if rated},
    }


def rewriting(run: FinishedRun) -> dict[str, Any]:
    """Return each system that a rewriter writes beside those of the forward model."""
    by_system = all_measures(run, "rewriting")
    return {
        "pairs": [
            (bilingual, system, pair)
            for system, figures in by_system.items()
            for bilingual, pair in figures["bilingual"].items()
        ],
        "examples": {system: figures["examples"] for system, figures in by_system.items()},
        "language": run.config["languages"]["reference"],
    }


def statistics(run: FinishedRun) -> dict[str, Any]:
    """Return the statistics of the pairs."""
    return {
        "statistics": all_measures(run, "statistics"),
        "classifiers": tables.classifiers(run),
    }


def quality(run: FinishedRun) -> dict[str, Any] | None:
    """Return how many paraphrases keep the meaning; None without references of the testbed."""
    measures = all_measures(run)
    groups = _of_groups(measures, "testbed")
    return {"quality": groups, "most_paraphrases": most_paraphrases(measures)} if groups else None


def answers(run: FinishedRun) -> dict[str, Any]:
    """Return how many paraphrases are right answers, and the ranks that any system has."""
    by_system = all_measures(run, "answers")
    ranks = {rank for figures in by_system.values() for rank in figures["by_rank"]}
    return {"answers": by_system, "ranks": sorted(ranks, key=int)}


def _of_groups(
    measures: dict[str, dict[str, Any]], part: str
) -> list[tuple[str, str, dict[str, Any]]]:
    """Return system, group and the measures `part` of the groups that have it."""
    return [
        (system, name, group[part])
        for system, figures in measures.items()
        for name, group in figures["groups"].items()
        if group[part]
    ]


def matrix(group: dict[str, Any], best: int) -> list[list[float | None]]:
    """Return the comparison between ranks in one square, as in ParaBank 2's Table 2.

    1-BLEU stands above the diagonal, the words' intersection/union below it.
    """
    cells: list[list[float | None]] = [[None] * best for _ in range(best)]
    for pair in group["between"]:
        if pair["pairs"]:
            first, second = pair["first"] - 1, pair["second"] - 1
            cells[first][second] = pair["one_minus_bleu"]
            cells[second][first] = pair["words"]["intersection_over_union"]
    return cells


def rank_plot(measures: dict[str, dict[str, Any]]) -> Markup | None:
    """Return the plot of the ranks, or None where no reference has a paraphrase."""
    groups: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for system, figures in measures.items():
        for name, group in shown_groups(figures["groups"]).items():
            if group["difference"]:
                groups.setdefault(name, {})[system] = group["ranks"]
    return plots.ranks(groups) if groups else None
