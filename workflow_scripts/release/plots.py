"""The report's plots, as SVG elements for HTML: the same text for the same figures.

Text and axes take the colour and the font of the page, so that a plot fits light and dark ones.
"""

import io
import re
from typing import Any

from markupsafe import Markup, escape
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import LogLocator, MaxNLocator, NullLocator, StrMethodFormatter

# Readable on white and on near-black.
COLOURS = ("#3b82c4", "#d97706", "#2e9e6b", "#9367d8", "#c9558f", "#8a8f98")
MARK = "#d9534f"
# Stands for the page's text colour until the SVG is written.
_TEXT = "#010203"
_STYLE = {
    "svg.fonttype": "none",
    "svg.hashsalt": "paraloom",
    "font.size": 9,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.titlesize": 10,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.15,
    "legend.frameon": False,
    **dict.fromkeys(
        (
            "text.color",
            "axes.labelcolor",
            "axes.edgecolor",
            "axes.titlecolor",
            "xtick.color",
            "ytick.color",
            "grid.color",
        ),
        _TEXT,
    ),
}
# Width and height in inches; three panels fill the page, and so do two wide ones.
_PANEL = (3.5, 2.5)
_WIDE_PANEL = (5.2, 2.8)


def learning_curve(rows: list[dict[str, float]], role: str) -> Markup:
    """Draw both perplexities of a model's learning_curve.tsv over its updates."""
    with rc_context(_STYLE):
        figure, (axes,) = _panels(1, _WIDE_PANEL)
        updates = [row["updates"] for row in rows]
        validation = [row["validation_perplexity"] for row in rows]
        training = [row["train_perplexity"] for row in rows]
        axes.plot(updates, training, color=COLOURS[-1], linestyle="--", label="training")
        axes.plot(updates, validation, color=COLOURS[0], label="validation")
        best = min(range(len(rows)), key=validation.__getitem__)
        axes.plot(updates[best], validation[best], "o", color=MARK, markersize=4, label="best")
        axes.set(yscale="log", xlabel="updates", ylabel="perplexity", title=role)
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter(StrMethodFormatter("{x:g}"))
        axes.yaxis.set_minor_locator(NullLocator())
        axes.xaxis.set_major_locator(MaxNLocator(5, integer=True))
        axes.legend()
        label = f"{role}: validation perplexity falls to {validation[best]:.3f}"
        return _svg(figure, f"curve-{role}", label)


def score_histogram(scores: dict[str, Any], max_sum: float | None, system: str) -> Markup:
    """Draw the candidates' NLLs, forward, backward and their sum with the threshold."""
    with rc_context(_STYLE):
        figure, panels = _panels(3, sharey=True)
        for axes, colour, score in zip(
            panels, COLOURS, ("forward", "backward", "sum"), strict=False
        ):
            bins = scores[score][:-1]
            edges = [scores["width"] * edge for edge in range(len(bins) + 1)]
            axes.stairs(bins, edges, fill=True, color=colour, alpha=0.8)
            last = max((edge for edge, count in enumerate(bins, 1) if count), default=10)
            axes.set(xlim=(0, scores["width"] * last), xlabel="nats per token", title=score)
            axes.yaxis.set_major_locator(MaxNLocator(5, integer=True))
        panels[0].set_ylabel("candidates")
        if max_sum is not None:
            panels[2].axvline(max_sum, color=MARK, linestyle="--")
            panels[2].annotate(
                f"threshold {max_sum:.3g}",
                (max_sum, 1),
                xycoords=("data", "axes fraction"),
                xytext=(4, 0),
                textcoords="offset points",
                va="top",
                color=MARK,
            )
            panels[2].set_xlim(right=max(panels[2].get_xlim()[1], 1.5 * max_sum))
        return _svg(figure, f"scores-{system}", f"Histograms of the candidates' NLLs, {system}")


def ranks(groups: dict[str, dict[str, list[dict[str, Any]]]]) -> Markup:
    """Draw 1-BLEU over the ranks with its intervals: a panel for each group of references.

    Args:
        groups: the `ranks` of measures.json, by group and by system.
    """
    with rc_context(_STYLE):
        figure, panels = _panels(len(groups), sharey=True)
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
                    color=COLOURS[number % len(COLOURS)],
                    marker="o",
                    markersize=4,
                    capsize=2,
                    label=system,
                )
            axes.set(xlabel="rank", title=group)
            axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        panels[0].set_ylabel("1−BLEU")
        panels[0].legend()
        return _svg(figure, "ranks", "1−BLEU of each rank with 95 % intervals")


def _panels(
    count: int, size: tuple[float, float] = _PANEL, **options: Any
) -> tuple[Figure, list[Axes]]:
    width, height = size
    figure = Figure(figsize=(width * count, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False, **options)[0])


def _svg(figure: Figure, name: str, label: str) -> Markup:
    """Return the figure as an SVG element whose ids begin with `name`."""
    buffer = io.StringIO()
    metadata = dict.fromkeys(("Date", "Creator", "Format", "Type"))
    figure.savefig(buffer, format="svg", transparent=True, metadata=metadata)
    text = buffer.getvalue()
    text = text[text.index("<svg") :].replace(_TEXT, "currentColor")
    text = re.sub(r"<style.*?</style>", "", text, flags=re.DOTALL)  # would style the whole page
    text = re.sub(r"font-family: [^;]*; ", "", text)
    # Several plots share a page, so their ids must differ.
    name = re.sub(r"[^\w-]", "_", name)
    text = re.sub(r'(\bid="|url\(#|href="#)', rf"\g<1>{name}-", text)
    width = re.search(r'width="([\d.]+)pt"', text).group(1)
    text = re.sub(r'\b(?:width|height)="[\d.]+pt" ', "", text, count=2)
    opening = f'<svg role="img" aria-label="{escape(label)}" style="max-width: {width}pt"'
    return Markup(opening + text.removeprefix("<svg"))
