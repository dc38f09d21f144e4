"""What is wrong with columns that an embedding of the pipeline computes.

Such a column (`columns.<name>.embedding`) needs an embedding, which needs a training set, which
other columns may choose, and so on. None of these may be the first column again.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterator
from typing import Any

from workflow_scripts.core.schema import filled
from workflow_scripts.core.training_sets import axes, entry_columns, model_columns


def problems(config: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with these columns; other checks report unknown names."""
    for column, systems in model_columns(config).items():
        entry = _training_set(column, config)
        block = filled(config["training_sets"].get(entry, {}), "training_set")
        where, named = f"columns.{column}.embedding.training_set", f"training_sets.{entry}"
        if axes(block["grid"]):
            yield f"{where}: {named} has a grid, which makes it several; name one without a grid"
        for system in systems:
            if system not in (block["systems"] or systems):
                yield (
                    f"{where}: {named}.systems lacks '{system}', whose pairs need this column; "
                    "add it there, or name another training set"
                )
    known: list[set[str]] = []
    for column in config["columns"]:
        circle = _circle(column, config)
        if circle and set(circle) not in known:
            known.append(set(circle))
            yield _described(circle, config)


def _training_set(column: str, config: dict[str, Any]) -> str | None:
    """Return the entry behind a column, None if no embedding computes it."""
    return config["columns"].get(column, {}).get("embedding", {}).get("training_set")


def _circle(column: str, config: dict[str, Any]) -> list[str]:
    """Return a shortest way from a column to itself, each needed by the one before; or nothing."""
    ways, seen = [[column]], set()
    for way in ways:  # grows meanwhile
        entry = _training_set(way[-1], config)
        for each in entry_columns(config["training_sets"].get(entry, {})):
            if each == column:
                return way
            if each not in seen:
                seen.add(each)
                ways.append([*way, each])
    return []


def _described(circle: list[str], config: dict[str, Any]) -> str:
    steps = (
        f"columns.{column} is trained on training_sets.{_training_set(column, config)}, which is "
        f"chosen by columns.{following}"
        for column, following in zip(circle, [*circle[1:], circle[0]], strict=True)
    )
    where = f"columns.{circle[0]}.embedding.training_set"
    return f"{where}: a circle: {'; '.join(steps)}; name a training set that it does not choose"
