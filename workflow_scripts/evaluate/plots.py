"""The report's plots of scores and measures."""

from typing import Any

from markupsafe import Markup
from matplotlib.ticker import MaxNLocator

from workflow_scripts.core.report import plots


def score_histogram(scores: dict[str, Any], max_sum: float | None, system: str) -> Markup:
    """Draw the candidates' NLLs, forward, backward and their sum with the threshold."""
    with plots.style():
        figure, panels = plots.panels(3, sharey=True)
        for axes, colour, score in zip(
            panels, plots.COLOURS, ("forward", "backward", "sum"), strict=False
        ):
            bins = scores[score][:-1]
            edges = [scores["width"] * edge for edge in range(len(bins) + 1)]
            axes.stairs(bins, edges, fill=True, color=colour, alpha=0.8)
            last = max((edge for edge, count in enumerate(bins, 1) if count), default=10)
            axes.set(xlim=(0, scores["width"] * last), xlabel="nats per token", title=score)
            axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        panels[0].set_ylabel("candidates")
        if max_sum is not None:
            panels[2].axvline(max_sum, color=plots.MARK, linestyle="--")
            panels[2].annotate(
                f"threshold {max_sum:.3g}",
                (max_sum, 1),
                xycoords=("data", "axes fraction"),
                xytext=(4, 0),
                textcoords="offset points",
                va="top",
                color=plots.MARK,
            )
            panels[2].set_xlim(right=max(panels[2].get_xlim()[1], 1.5 * max_sum))
        return plots.svg(
            figure, f"scores-{system}", f"Histograms of the candidates' NLLs, {system}"
        )


def ranks(groups: dict[str, dict[str, list[dict[str, Any]]]]) -> Markup:
    """Draw 1-BLEU over the ranks with its intervals: a panel for each group of references.

    Args:
        groups: the `ranks` of measures.json, by group and by system.
    """
    with plots.style():
        figure, panels = plots.panels(len(groups), sharey=True)
        for axes, (group, systems) in zip(panels, groups.items(), strict=True):
            for number, (system, rows) in enumerate(systems.items()):
                shift = 0.06 * (number - (len(systems) - 1) / 2)
                values = [row["one_minus_bleu"] for row in rows]
                errors = [
                    [
                        value - row["interval"]["low"]
                        for value, row in zip(values, rows, strict=True)
                    ],
                    [
                        row["interval"]["high"] - value
                        for value, row in zip(values, rows, strict=True)
                    ],
                ]
                axes.errorbar(
                    [row["rank"] + shift for row in rows],
                    values,
                    yerr=errors,
                    color=plots.COLOURS[number % len(plots.COLOURS)],
                    marker="o",
                    markersize=4,
                    capsize=2,
                    label=system,
                )
            axes.set(xlabel="rank", title=group)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        panels[0].set_ylabel("1−BLEU")
        panels[0].legend()
        return plots.svg(figure, "ranks", "1−BLEU of each rank with 95 % intervals")
