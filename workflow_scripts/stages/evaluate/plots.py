"""The report's plots of scores and measures."""

from typing import Any

import numpy as np
import pandas as pd
from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.report import plot_style

# The curves of bounds end where this share of the candidates is kept.
_MOST = 0.95
# Fewer candidates than this share have no 1-BLEU worth drawing.
_FEW = 0.01
# The width of a mark's label, as a share of the axis.
_LABEL = 0.07
_RANK = ["one_minus_bleu", "interval.low", "interval.high"]


def score_histogram(scores: dict[str, Any], max_sum: float | None, system: str) -> Markup:
    """Draw the candidates' NLLs, forward, backward and their sum with the threshold."""
    with plot_style.style():
        figure, panels = plot_style.panels(3, sharey=True)
        for axes, colour, score in zip(
            panels, plot_style.COLOURS, ("forward", "backward", "sum"), strict=False
        ):
            bins = scores[score][:-1]
            edges = [scores["width"] * edge for edge in range(len(bins) + 1)]
            axes.stairs(bins, edges, fill=True, color=colour, alpha=0.8)
            last = max((edge for edge, count in enumerate(bins, 1) if count), default=10)
            axes.set(xlim=(0, scores["width"] * last), xlabel="nats per token", title=score)
            axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        panels[0].set_ylabel("candidates")
        if max_sum is not None:
            panels[2].axvline(max_sum, color=plot_style.MARK, linestyle="--")
            panels[2].annotate(
                f"threshold {max_sum:.3g}",
                (max_sum, 1),
                xycoords=("data", "axes fraction"),
                xytext=(4, 0),
                textcoords="offset points",
                va="top",
                color=plot_style.MARK,
            )
            panels[2].set_xlim(right=max(panels[2].get_xlim()[1], 1.5 * max_sum))
        return plot_style.svg(
            figure, f"scores-{system}", f"Histograms of the candidates' NLLs, {system}"
        )


def bounds(by_system: dict[str, dict[str, Any]], quantiles: list[dict[str, Any]]) -> Markup:
    """Draw over the bound what it keeps of the candidates, and how different that is.

    Args:
        by_system: bounds.json by system.
        quantiles: of the references' own sums, which are marked.
    """
    marked = [one for one in quantiles if one["max_sum"] is not None]
    # As far as something happens: most references, nearly all candidates, the bounds in use.
    ends = [one["max_sum"] for one in marked]
    ends += [figures["used"] for figures in by_system.values() if figures["used"] is not None]
    ends += [
        next((one["max_sum"] for one in figures["bounds"] if one["kept"] >= _MOST * total), 0.0)
        for figures in by_system.values()
        if (total := figures["candidates"])
    ]
    width = 1.05 * max(ends, default=1.0)
    labelled = _apart(marked, _LABEL * width)
    with plot_style.style():
        figure, panels = plot_style.panels(2, plot_style.WIDE_PANEL)
        for number, (system, figures) in enumerate(by_system.items()):
            colour = plot_style.COLOURS[number % len(plot_style.COLOURS)]
            total = max(1, figures["candidates"])
            table = pd.DataFrame(figures["bounds"], columns=["max_sum", "kept", "one_minus_bleu"])
            table["share"] = 100 * table["kept"] / total
            enough = table[table["kept"] >= _FEW * total].dropna(subset="one_minus_bleu")
            drawn = table[["max_sum", "share"]], enough[["max_sum", "one_minus_bleu"]]
            for axes, points in zip(panels, drawn, strict=True):
                axes.plot(*points.to_numpy().T, color=colour, label=system)
                used = points[points["max_sum"] == figures["used"]]
                axes.plot(*used.to_numpy().T, "o", color=colour)
        for axes, title in zip(panels, ("candidates kept, %", "1−BLEU of those kept"), strict=True):
            for one in marked:
                axes.axvline(one["max_sum"], color=plot_style.MARK, linestyle=":", linewidth=0.8)
            for one in labelled:
                axes.annotate(
                    f"{one['quantile']:.0%}".replace("%", " %"),
                    (one["max_sum"], 1),
                    xycoords=("data", "axes fraction"),
                    xytext=(0, 2),
                    textcoords="offset points",
                    ha="center",
                    fontsize=7,
                    color=plot_style.MARK,
                )
            axes.set(xlim=(0, width), xlabel="bound, nats per token")
            axes.set_ylabel(title)
        panels[0].set_ylim(bottom=0)
        panels[0].legend()
        return plot_style.svg(figure, "bounds", "What each bound keeps, and its 1−BLEU")


def _apart(marked: list[dict[str, Any]], distance: float) -> list[dict[str, Any]]:
    """Return quantiles whose bounds are so far apart at least; those in the middle come first."""
    chosen: list[dict[str, Any]] = []
    for one in sorted(marked, key=lambda mark: abs(mark["quantile"] - 0.5)):
        if all(abs(one["max_sum"] - other["max_sum"]) >= distance for other in chosen):
            chosen.append(one)
    return chosen


def precision(by_system: dict[str, dict[str, Any]]) -> Markup:
    """Draw the expected share of good paraphrases over the references that each bound covers.

    Args:
        by_system: the `precision` of measures.json by system.
    """
    with plot_style.style():
        figure, (axes,) = plot_style.panels(1, plot_style.WIDE_PANEL)
        for number, (system, figures) in enumerate(by_system.items()):
            colour = plot_style.COLOURS[number % len(plot_style.COLOURS)]
            total = max(1, figures["references"])
            known = [one for one in figures["bounds"] if one["expected_good"] is not None]
            points = [(100 * one["covered"] / total, one["expected_good"]) for one in known]
            axes.plot(*np.array(points).reshape(-1, 2).T, ".-", color=colour, label=system)
            for one, point in zip(known, points, strict=True):
                axes.annotate(
                    f"{one['probability']:.1f}".removeprefix("0"),
                    point,
                    xytext=(3, 3),
                    textcoords="offset points",
                    fontsize=7,
                    color=colour,
                )
            used = figures["used"]
            if used["expected_good"] is not None:
                place = 100 * used["covered"] / total, used["expected_good"]
                axes.plot(*place, "o", markersize=9, fillstyle="none", color=plot_style.MARK)
        axes.set(xlabel="references covered, %", ylabel="expected good, %")
        axes.set_xlim(0, 100)
        axes.set_ylim(top=100)
        axes.legend(loc="lower left")
        return plot_style.svg(figure, "precision", "Coverage against expected precision")


def ranks(groups: dict[str, dict[str, list[dict[str, Any]]]]) -> Markup:
    """Draw 1-BLEU over the ranks with its intervals: a panel for each group of references.

    Args:
        groups: the `ranks` of measures.json, by group and by system.
    """
    with plot_style.style():
        figure, panels = plot_style.panels(len(groups), sharey=True)
        for axes, (group, systems) in zip(panels, groups.items(), strict=True):
            for number, (system, rows) in enumerate(systems.items()):
                shift = 0.06 * (number - (len(systems) - 1) / 2)
                table = pd.json_normalize(rows)
                values, low, high = table[_RANK].to_numpy().T
                axes.errorbar(
                    table["rank"] + shift,
                    values,
                    yerr=np.array([values - low, high - values]),
                    color=plot_style.COLOURS[number % len(plot_style.COLOURS)],
                    marker="o",
                    markersize=4,
                    capsize=2,
                    label=system,
                )
            axes.set(xlabel="rank", title=group)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        panels[0].set_ylabel("1−BLEU")
        panels[0].legend()
        return plot_style.svg(figure, "ranks", "1−BLEU of each rank with 95 % intervals")
