"""Parts of a data set that share no text."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import generator
from workflow_scripts.stages.encoder.tasks.examples import Pair, Question


def folds(examples: Sequence[Pair | Question], count: int, seed: int) -> list[NDArray[np.int64]]:
    """Return the places of examples in folds of about the same size, each in rising order.

    Examples that share a text, also through others, are in one fold: what is tested was not seen.

    Args:
        examples: of a task.
        count: folds.
        seed: of the order in which folds are filled.

    Raises:
        InputError: there are fewer examples without a common text than folds.
    """
    numbers: dict[str, int] = {}
    rows, columns = [], []
    for row, example in enumerate(examples):
        for text in example.texts():
            rows.append(row)
            columns.append(numbers.setdefault(text, len(numbers)))
    size = len(examples) + len(numbers)
    links = coo_array(
        (np.ones(len(rows)), (rows, np.array(columns, int) + len(examples))), shape=(size, size)
    )
    _, group = connected_components(links, directed=False)
    _, group = np.unique(group[: len(examples)], return_inverse=True)
    members: list[list[int]] = [[] for _ in range(int(group.max(initial=-1)) + 1)]
    for row, number in enumerate(group):
        members[number].append(row)
    if len(members) < count:
        raise InputError(
            f"{len(examples)} examples have only {len(members)} groups without a common text, too "
            f"few for {count} parts; give the task more data"
        )
    parts: list[list[int]] = [[] for _ in range(count)]
    order = generator(seed, "folds").permutation(len(members))
    # Large groups first, so that the folds come out even.
    for number in sorted(order, key=lambda number: -len(members[number])):
        min(parts, key=len).extend(members[number])
    return [np.array(sorted(part), np.int64) for part in parts]
