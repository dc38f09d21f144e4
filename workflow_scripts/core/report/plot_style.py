"""The style of the report's plots. They are SVG elements for HTML; equal figures give equal text.

Text and axes take the colour and the font of the page, so that a plot fits light and dark pages.
"""

import io
import re
from contextlib import AbstractContextManager
from typing import Any

from markupsafe import Markup, escape
from matplotlib import rc_context
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import RcKeyType

# Readable on white and on near-black.
COLOURS = ("#3b82c4", "#d97706", "#2e9e6b", "#9367d8", "#c9558f", "#8a8f98")
MARK = "#d9534f"
# This stands for the page's text colour until the SVG is written.
_TEXT = "#010203"
_STYLE: dict[RcKeyType, Any] = {
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
PANEL = (3.5, 2.5)
WIDE_PANEL = (5.2, 2.8)


def style() -> AbstractContextManager[None]:
    """Return the context in which a plot is drawn and written."""
    return rc_context(_STYLE)


def panels(
    count: int, size: tuple[float, float] = PANEL, **options: Any
) -> tuple[Figure, list[Axes]]:
    """Return a figure with some panels side by side; `options` are those of `subplots`."""
    width, height = size
    figure = Figure(figsize=(width * count, height), layout="constrained")
    return figure, list(figure.subplots(1, count, squeeze=False, **options)[0])


def svg(figure: Figure, name: str, label: str) -> Markup:
    """Return the figure as an SVG element whose ids begin with `name`, read out as `label`."""
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
    width = re.findall(r'width="([\d.]+)pt"', text)[0]
    text = re.sub(r'\b(?:width|height)="[\d.]+pt" ', "", text, count=2)
    opening = f'<svg role="img" aria-label="{escape(label)}" style="max-width: {width}pt"'
    return Markup(opening + text.removeprefix("<svg"))
