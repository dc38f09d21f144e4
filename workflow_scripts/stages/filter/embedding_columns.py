"""What is wrong with columns that an embedding or an encoder of the pipeline computes.

Such a column (`columns.<name>.embedding`) needs an embedding, which needs a training set, which
other columns may choose, and so on. None of these may be the first column again. An encoder
(`columns.<name>.encoder`) needs two training sets: its own, and that of the embedding that finds
its negatives.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterator
from typing import Any, NamedTuple

from workflow_scripts.plan.catalogues.training_sets import entry_columns, model_columns
from workflow_scripts.plan.schema import filled


def problems(config: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with these columns; other checks report unknown names."""
    for column, systems in model_columns(config).items():
        if "embedding" not in config["columns"][column]:
            continue
        entry = config["columns"][column]["embedding"]["training_set"]
        block = filled(config["training_sets"].get(entry, {}), "training_set")
        where, named = f"columns.{column}.embedding.training_set", f"training_sets.{entry}"
        if block["grid"]:
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
            yield _described(circle)


class Step(NamedTuple):
    """A training set that a column needs.

    Attributes:
        entry: of `training_sets`.
        key: of the configuration, that names it.
        needs: says so, for messages.
    """

    entry: str
    key: str
    needs: str


def _steps(column: str, config: dict[str, Any]) -> list[Step]:
    """Return the training sets behind a column."""
    block = config["columns"].get(column, {})
    if "embedding" in block:
        entry, key = block["embedding"]["training_set"], f"columns.{column}.embedding.training_set"
        return [Step(entry, key, f"columns.{column} is trained on training_sets.{entry}")]
    name = block.get("encoder", {}).get("name")
    encoder = config.get("encoders", {}).get(name)
    if encoder is None:
        return []
    own, negatives = encoder["training_set"], encoder["embedding"]["training_set"]
    where, asks = f"encoders.{name}", f"columns.{column} asks encoders.{name}"
    return [
        Step(own, f"{where}.training_set", f"{asks}, which is trained on training_sets.{own}"),
        Step(
            negatives,
            f"{where}.embedding.training_set",
            f"{asks}, whose embedding is trained on training_sets.{negatives}",
        ),
    ]


def _circle(column: str, config: dict[str, Any]) -> dict[str, Step]:
    """Return a shortest circle of a column: how each column on it needs the next one."""
    ways: list[tuple[str, dict[str, Step]]] = [(column, {})]
    seen = set()
    for last, way in ways:  # grows meanwhile
        for step in _steps(last, config):
            for needed in entry_columns(config["training_sets"].get(step.entry, {})):
                if needed == column:
                    return {**way, last: step}
                if needed not in seen:
                    seen.add(needed)
                    ways.append((needed, {**way, last: step}))
    return {}


def _described(circle: dict[str, Step]) -> str:
    columns, steps = list(circle), list(circle.values())
    ways = (
        f"{step.needs}, which is chosen by columns.{following}"
        for step, following in zip(steps, [*columns[1:], columns[0]], strict=True)
    )
    return (
        f"{steps[0].key}: a circle: {'; '.join(ways)}; name a training set that it does not choose"
    )
