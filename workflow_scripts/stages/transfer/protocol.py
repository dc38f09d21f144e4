"""SentEval's protocol: how each kind of task is divided, tuned and tested (docs/transfer.md).

A classifier is `adam`, SentEval's own, or `sklearn`, its other choice. Each has its own grid.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.transfer.classifiers import (
    Features,
    Floats,
    Integers,
    fit,
    fit_grades,
    fit_sklearn,
)
from workflow_scripts.stages.transfer.senteval_readers import Row, TaskData
from workflow_scripts.stages.transfer.tasks import FOLDS, RELATEDNESS, SPLIT, TASKS

ADAM, SKLEARN = "adam", "sklearn"
# Raised when the same rows and settings give other answers: what is kept is made again.
VERSION = 1
# The seed of the folds of `FOLDS`, which no parameter of SentEval changes.
FOLD_SEED = 1111
# L2 of `adam`, and C of `sklearn`, whose grid for cross-validation on train is another one.
L2 = (1e-5, 1e-4, 1e-3, 1e-2)
C = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)
C_TRAIN_TEST = (0.5, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0)

Encode = Callable[[Sequence[str]], Features]
Part = tuple[Features, Integers]


class Answers(NamedTuple):
    """What a classifier says of the tested rows of a task.

    Attributes:
        found: class or grade of each tested row, in order; not a number: no grade was learnt.
        development: accuracy or Pearson's r x 100 by which the values of the grid were chosen, the
            mean of the folds.
        chosen: the value of the grid that was chosen, one for each tested fold; none of grades.
        score: SentEval's figure of a task in folds, the mean of the folds; None: of all rows.
    """

    found: NDArray[np.float64]
    development: float
    chosen: list[float]
    score: float | None = None


class Settings(NamedTuple):
    """How tasks are tested.

    Attributes:
        classifier: `adam` or `sklearn`.
        folds: of cross-validation.
        seed: of the classifier, and of the folds of `TRAIN_TEST`.
        scaled: whether all vectors of a task are divided by one number, so that the mean square of
            what stands in them is 1. SentEval does not; see docs/transfer.md.
    """

    classifier: str
    folds: int
    seed: int
    scaled: bool = False


def answers(data: TaskData, encode: Encode, settings: Settings) -> Answers:
    """Return what is predicted of the tested rows of a task.

    Args:
        data: the task.
        encode: turns sentences into vectors, shape (sentences, size).
        settings: see `Settings`.

    Raises:
        InputError: a class has fewer rows than there are folds.
    """
    task = TASKS[data.task]
    parts = {part: features(rows, encode) for part, rows in data.parts.items()}
    if task.kind == RELATEDNESS:
        return _relatedness(parts, data, settings)
    labels = {
        part: np.array([row.label for row in rows], np.int64) for part, rows in data.parts.items()
    }
    whole = {part: (parts[part], labels[part]) for part in parts}
    if task.kind == SPLIT:
        return _split(whole, settings, task.classes)
    try:
        if task.kind == FOLDS:
            return _folds(whole["all"], settings, task.classes)
        return _train_test(whole, settings, task.classes)
    except InputError as error:
        raise InputError(f"transfer: {data.task}: {error}") from error


def features(rows: Sequence[Row], encode: Encode) -> Features:
    """Return the features of rows: the vector u of a sentence, or |u - v| and u * v of two.

    Returns:
        Shape (rows, size), or (rows, 2 x size).
    """
    first = encode([row.first for row in rows])
    if not rows or rows[0].second is None:
        return first
    second = encode([row.second or "" for row in rows])
    if sparse.issparse(first):
        return sparse.hstack([abs(first - second), first.multiply(second)], "csr")
    return np.concatenate([np.abs(first - second), first * second], axis=1)


def _grid(settings: Settings, train_test: bool = False) -> tuple[float, ...]:
    if settings.classifier == ADAM:
        return L2
    return C_TRAIN_TEST if train_test else C


def _splits(part: Part, settings: Settings, seed: int) -> list[tuple[Integers, Integers]]:
    """Return the numbers of the rows that are kept and left out, of each fold."""
    smallest = int(np.bincount(part[1])[np.unique(part[1])].min())
    if smallest < settings.folds:
        raise InputError(
            f"a class has {smallest} rows, and {settings.folds} folds need as many; use "
            "fewer folds, or more data"
        )
    folds = StratifiedKFold(settings.folds, shuffle=True, random_state=seed)
    # The folds follow from the classes alone.
    return list(folds.split(np.zeros(len(part[1])), part[1]))


def _rows(part: Part, chosen: Integers) -> Part:
    return part[0][chosen], part[1][chosen]


def _scores(
    train: Part, held_out: Part, settings: Settings, grid: Sequence[float], classes: int
) -> list[float]:
    """Return the share of held-out rows that is right, for each value of the grid."""
    if settings.classifier == ADAM:
        models = fit(train, held_out, classes, grid, settings.seed)
        return [model.score for model in models]
    return [fit_sklearn(train, held_out, value, settings.seed)[0] for value in grid]


def _cross_validated(
    part: Part, settings: Settings, seed: int, grid: Sequence[float], classes: int
) -> tuple[float, float]:
    """Return the best value of a grid and its accuracy x 100, the mean of the folds."""
    scores = [
        _scores(_rows(part, trained_on), _rows(part, held_out), settings, grid, classes)
        for trained_on, held_out in _splits(part, settings, seed)
    ]
    return _best(np.mean(scores, axis=0), grid)


def _best(
    scores: Sequence[float] | NDArray[np.float64], grid: Sequence[float]
) -> tuple[float, float]:
    """Return the first of the best values; SentEval compares scores of two decimals."""
    rounded = [round(100 * float(score), 2) for score in scores]
    place = int(np.argmax(rounded))
    return grid[place], rounded[place]


def _final(train: Part, tested: Part, value: float, settings: Settings, classes: int) -> Integers:
    """Return the classes of the tested rows, after the value of the grid was chosen."""
    if settings.classifier == ADAM:
        (model,) = fit(train, None, classes, [value], settings.seed)
        return model.predict(tested[0])
    return fit_sklearn(train, tested, value, settings.seed)[1]


def _folds(part: Part, settings: Settings, classes: int) -> Answers:
    grid = _grid(settings)
    predicted = np.empty(len(part[1]), np.int64)
    chosen, development, scores = [], [], []
    for trained_on, held_out in _splits(part, settings, FOLD_SEED):
        train, tested = _rows(part, trained_on), _rows(part, held_out)
        value, score = _cross_validated(train, settings, FOLD_SEED, grid, classes)
        predicted[held_out] = _final(train, tested, value, settings, classes)
        chosen.append(value)
        development.append(score)
        scores.append(round(100 * float(np.mean(predicted[held_out] == tested[1])), 2))
    mean = round(float(np.mean(development)), 2)
    return Answers(predicted.astype(np.float64), mean, chosen, round(float(np.mean(scores)), 2))


def _train_test(parts: dict[str, Part], settings: Settings, classes: int) -> Answers:
    train, tested = parts["train"], parts["test"]
    grid = _grid(settings, train_test=True)
    value, score = _cross_validated(train, settings, settings.seed, grid, classes)
    predicted = _final(train, tested, value, settings, classes)
    return Answers(predicted.astype(np.float64), score, [value])


def _split(parts: dict[str, Part], settings: Settings, classes: int) -> Answers:
    train, dev, tested = parts["train"], parts["dev"], parts["test"]
    grid = _grid(settings)
    if settings.classifier == ADAM:
        # SentEval trains the chosen one again, which gives the same weights.
        models = fit(train, dev, classes, grid, settings.seed)
        value, score = _best([model.score for model in models], grid)
        predicted = models[grid.index(value)].predict(tested[0])
    else:
        value, score = _best(_scores(train, dev, settings, grid, classes), grid)
        predicted = fit_sklearn(train, tested, value, settings.seed)[1]
    return Answers(predicted.astype(np.float64), score, [value])


def _relatedness(parts: dict[str, Features], data: TaskData, settings: Settings) -> Answers:
    grades = {
        part: np.array([row.label for row in rows], np.float64) for part, rows in data.parts.items()
    }
    dense = {part: _dense(features) for part, features in parts.items()}
    score, predicted = fit_grades(
        (dense["train"], grades["train"]),
        (dense["dev"], grades["dev"]),
        dense["test"],
        settings.seed,
    )
    return Answers(predicted, round(100 * score, 2), [])


def _dense(features: Features) -> Floats:
    """Return features as they are held in memory; of bags of words those of SICK are few."""
    return features.toarray() if sparse.issparse(features) else features
