"""The folder of a trained model: its files and its figures, and the record that speaks for all."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.files.atomic import copy_file, write_json
from workflow_scripts.core.files.manifest import record_path, write_record
from workflow_scripts.stages.train import curve

RECORD = "model"
TABLE, PLOT, METRICS = "learning_curve.tsv", "learning_curve.svg", "metrics.json"


def write_figures(
    role: str, rows: list[dict[str, Any]], metrics: dict[str, Any], output: Path
) -> list[str]:
    """Write the figures of a model, whose curve has these rows; its old record goes first.

    Returns:
        The names of their files. A curve without rows has no plot.
    """
    record_path(output / RECORD).unlink(missing_ok=True)
    curve.write_table(output / TABLE, rows)
    write_json(output / METRICS, metrics)
    if not rows:
        return [TABLE, METRICS]
    curve.write_plot(output / PLOT, rows, f"{role} model")
    return [TABLE, PLOT, METRICS]


def publish_model(
    role: str,
    rows: list[dict[str, Any]],
    metrics: dict[str, Any],
    sources: Mapping[str, Path],
    output: Path,
    beside: Sequence[str] = (),
) -> None:
    """Copy a trained model and its figures to the output folder; the record comes last.

    Args:
        role: of the model; the plot's title names it.
        rows: of the learning curve.
        metrics: of the model, `segments` among them.
        sources: its files by their names in the folder.
        output: exists.
        beside: names of files that are already there, for which the record speaks as well.
    """
    figures = write_figures(role, rows, metrics, output)
    for name, path in sources.items():
        copy_file(path, output / name)
    trained, too_long = (metrics["segments"].get(key, 0) for key in ("train", "train_too_long"))
    write_record(
        output / RECORD,
        trained,
        trained - too_long,
        {"too_long": too_long},
        extra=metrics,
        files=[output / name for name in (*sources, *figures, *beside)],
    )
