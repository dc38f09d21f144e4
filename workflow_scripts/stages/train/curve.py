"""The learning curve of a training, as a table and as a plot.

The perplexities are Sockeye's own: label smoothing included, all batches weighed alike.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from workflow_scripts.core.files.atomic import atomic_path, write_text
from workflow_scripts.core.files.tsv import table_text

# matplotlib takes a second to import, and is imported where there is something to draw.
if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLUMNS = (
    "checkpoint",
    "updates",
    "epoch",
    "learning_rate",
    "train_perplexity",
    "validation_perplexity",
)


def read_metrics(path: Path) -> list[dict[str, str]]:
    """Return Sockeye's `metrics` file: per checkpoint a dict of its `name=value` fields."""
    lines = path.read_text(encoding="utf-8").splitlines()
    return [dict(field.split("=", 1) for field in line.split("\t")[1:]) for line in lines]


def curve(
    metrics: list[dict[str, str]], checkpoint_updates: int, updates: int
) -> list[dict[str, Any]]:
    """Return one row of `COLUMNS` per checkpoint; the last one may come early, at `updates`."""
    return [
        {
            "checkpoint": checkpoint,
            "updates": min(checkpoint * checkpoint_updates, updates),
            "epoch": int(row["epoch"]),
            "learning_rate": float(row["learning-rate"]),
            "train_perplexity": float(row["perplexity-train"]),
            "validation_perplexity": float(row["perplexity-val"]),
        }
        for checkpoint, row in enumerate(metrics, start=1)
    ]


def write_table(path: Path, rows: list[dict[str, Any]]) -> None:
    """Write the curve as tab-separated values with a header."""
    cells = ([_cell(row[column]) for column in COLUMNS] for row in rows)
    write_text(path, table_text(COLUMNS, cells))


def _cell(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def plot(rows: list[dict[str, Any]], title: str) -> "Figure":
    """Draw both perplexities over the updates, and mark the best checkpoint."""
    from matplotlib.figure import Figure
    from matplotlib.ticker import LogLocator, NullFormatter

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    updates = [row["updates"] for row in rows]
    validation = [row["validation_perplexity"] for row in rows]
    if rows:
        training = [row["train_perplexity"] for row in rows]
        axes.plot(updates, training, color="tab:gray", marker=".", label="training")
        axes.plot(updates, validation, color="tab:blue", marker=".", label="validation")
        best = min(range(len(rows)), key=validation.__getitem__)
        axes.plot(updates[best], validation[best], "o", color="tab:red", markerfacecolor="none")
        axes.annotate(
            f"{validation[best]:.2f}",
            (updates[best], validation[best]),
            xytext=(0, 8),
            textcoords="offset points",
            ha="center",
            color="tab:red",
        )
        axes.set_yscale("log")
        axes.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.yaxis.set_major_formatter("{x:g}")
        axes.yaxis.set_minor_formatter(NullFormatter())
        axes.legend()
    axes.set_xlabel("updates")
    axes.set_ylabel("perplexity per target piece, smoothed labels")
    axes.set_title(title)
    axes.grid(alpha=0.3, which="both")
    return figure


def write_plot(path: Path, rows: list[dict[str, Any]], title: str) -> None:
    """Write the plot as SVG, the same bytes for the same rows."""
    import matplotlib

    with matplotlib.rc_context({"svg.hashsalt": "learning curve", "svg.fonttype": "none"}):
        figure = plot(rows, title)
        with atomic_path(path) as temporary:
            figure.savefig(temporary, format="svg", metadata={"Date": None})
