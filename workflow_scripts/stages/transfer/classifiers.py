"""The classifiers of the transfer tasks: SentEval's own logistic regression, and scikit-learn's.

SentEval's default is logistic regression that Adam trains on batches, with weights and batches from
seed 1111 and early stopping on held-out rows. This module does the same with numpy, and draws from
the same generators in the same order, so that it sees the same batches. Values of L2 differ in
nothing that is drawn: all of a grid are trained at once, each with its own early stopping.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from scipy import stats
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

Floats = NDArray[np.float32]
Integers = NDArray[np.int64]
# Features, shape (rows, features): of embeddings `Floats`, of bags of words a sparse matrix.
Features = Any

# SentEval's classifier, as its README sets it to compare with the literature.
BATCH = 64
_PASSES = 4  # over the rows between two looks at the held-out rows
_TENACITY = 5  # looks without a better one, not in a row, before the one that ends training
_MOST_PASSES = 200
# SentEval's model of relatedness.
_GRADE_PASSES = 50
_GRADE_TENACITY = 3
_MOST_GRADE_PASSES = 1000
GRADES = 5
# torch's defaults of Adam.
_RATE, _DECAYS, _EPSILON = 1e-3, (0.9, 0.999), 1e-8


class Fitted(NamedTuple):
    """Weights with the bias in the last row, shape (features + 1, classes), and their score.

    Attributes:
        weights: those with the best score on held-out rows.
        score: that score.
    """

    weights: Floats
    score: float

    def predict(self, features: Floats) -> Integers:
        """Return the class of each row."""
        return np.argmax(features @ self.weights[:-1] + self.weights[-1], axis=1)


def initial_weights(features: int, classes: int, seed: int) -> Floats:
    """Return the weights of a new linear layer of torch, with the bias in the last row."""
    torch.manual_seed(seed)
    layer = torch.nn.Linear(features, classes)
    with torch.no_grad():
        return np.concatenate([layer.weight.numpy().T, layer.bias.numpy()[None]])


class _Adam:
    """Adam as torch has it: weight decay is part of the gradient, of biases as well."""

    def __init__(self, weights: Floats, penalty: Floats):
        """Take the weights, which `step` changes, and the L2 of each column."""
        self.weights, self._penalty = weights, penalty
        self._mean, self._square = np.zeros_like(weights), np.zeros_like(weights)
        self._steps = 0

    def step(self, gradient: Floats) -> None:
        """Go one step; `gradient` is used up."""
        self._steps += 1
        first, second = (1 - decay**self._steps for decay in _DECAYS)
        gradient += self._penalty * self.weights
        self._mean *= _DECAYS[0]
        self._mean += (1 - _DECAYS[0]) * gradient
        np.square(gradient, out=gradient)
        self._square *= _DECAYS[1]
        self._square += (1 - _DECAYS[1]) * gradient
        np.sqrt(self._square, out=gradient)
        gradient *= 1 / np.sqrt(second)
        gradient += _EPSILON
        np.divide(self._mean, gradient, out=gradient)
        gradient *= _RATE / first
        self.weights -= gradient


def _with_ones(features: Floats) -> Floats:
    """Return features with a column of ones, whose weights are the bias."""
    return np.concatenate([features, np.ones((len(features), 1), np.float32)], axis=1)


def _softmax(scores: Floats) -> Floats:
    """Return the probabilities over the last axis, in the place of the scores."""
    scores -= scores.max(axis=-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(axis=-1, keepdims=True)
    return scores


def _pass(
    rows: Floats,
    adam: _Adam,
    random: np.random.RandomState,
    slope: Callable[[Floats, Integers], Floats],
) -> None:
    """Train on all rows once, in a new order.

    Args:
        rows: with ones, shape (rows, features + 1).
        adam: of the weights, shape (features + 1, columns).
        random: draws the order.
        slope: turns the scores of a batch, shape (batch, columns), and its rows' numbers into the
            gradient of the loss in the scores, of the same shape.
    """
    order = random.permutation(len(rows))
    for start in range(0, len(rows), BATCH):
        chosen = order[start : start + BATCH]
        batch = rows[chosen]
        adam.step(batch.T @ slope(batch @ adam.weights, chosen))


def fit(
    train: tuple[Floats, Integers],
    held_out: tuple[Floats, Integers] | None,
    classes: int,
    penalties: Sequence[float],
    seed: int,
    share: float = 0.05,
) -> list[Fitted]:
    """Train logistic regression by Adam, as SentEval does; one for each value of L2.

    Args:
        train: features, shape (rows, features), and classes.
        held_out: the same of the rows that training stops by; None: a drawn share of `train`,
            which is not trained on.
        classes: their number.
        penalties: the values of L2.
        seed: of weights and batches.
        share: that is held out where `held_out` is None.

    Returns:
        The weights that did best on the held-out rows, with the share of rows that are right.
    """
    features, labels = train
    random = np.random.RandomState(seed)
    if held_out is None:
        order = random.permutation(len(features))
        count = int(share * len(features))
        held_out = features[order[:count]], labels[order[:count]]
        features, labels = features[order[count:]], labels[order[count:]]
    rows, size = _with_ones(features), len(penalties)
    weights = np.tile(initial_weights(features.shape[1], classes, seed), size)
    adam = _Adam(weights, np.repeat(np.array(penalties, np.float32), classes))
    one_hot = np.eye(classes, dtype=np.float32)[labels]

    def slope(scores: Floats, chosen: Integers) -> Floats:
        likely = _softmax(scores.reshape(-1, size, classes))
        likely -= one_hot[chosen, None]
        likely /= len(chosen)
        return likely.reshape(len(chosen), -1)

    watched = _with_ones(held_out[0])
    best: list[Fitted | None] = [None] * size
    worse = [0] * size
    running = set(range(size))
    passes = 0
    while running and passes <= _MOST_PASSES:
        for _ in range(_PASSES):
            _pass(rows, adam, random, slope)
        passes += _PASSES
        predicted = np.argmax((watched @ weights).reshape(-1, size, classes), axis=2)
        right = (predicted == held_out[1][:, None]).sum(axis=0)
        for place in sorted(running):
            score, before = right[place] / max(1, len(watched)), best[place]
            if before is None or score > before.score:
                own = weights[:, place * classes : (place + 1) * classes]
                best[place] = Fitted(own.copy(), float(score))
            else:
                if worse[place] >= _TENACITY:
                    running.discard(place)
                worse[place] += 1
    return [fitted for fitted in best if fitted is not None]


def fit_sklearn(
    train: tuple[Features, Integers],
    tested: tuple[Features, Integers],
    strength: float,
    seed: int,
) -> tuple[float, Integers]:
    """Fit scikit-learn's logistic regression (L-BFGS); return its score and what it predicts.

    Args:
        train: features and classes.
        tested: the same of the rows that are predicted.
        strength: C, the inverse of L2.
        seed: as SentEval gives it; L-BFGS draws nothing.

    Returns:
        The share of `tested` that is right, and the class of each.
    """
    model = LogisticRegression(C=strength, random_state=seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # SentEval takes the 100 steps as well
        model.fit(*train)
    predicted = model.predict(tested[0])
    return float(np.mean(predicted == tested[1])), predicted


def ordinal(grades: NDArray[np.float64]) -> Floats:
    """Return grades from 1 to 5 as shares of the two whole grades around them (Tai et al., 2015).

    Returns:
        Shape (grades, 5).
    """
    whole = np.floor(grades)
    places = np.arange(1, GRADES + 1)
    above = (places == whole[:, None] + 1) * (grades - whole)[:, None]
    return (above + (places == whole[:, None]) * (whole - grades + 1)[:, None]).astype(np.float32)


def fit_grades(
    train: tuple[Floats, NDArray[np.float64]],
    held_out: tuple[Floats, NDArray[np.float64]],
    tested: Floats,
    seed: int,
) -> tuple[float, NDArray[np.float64]]:
    """Learn grades as SentEval does; return Pearson's r on held-out rows, and the tested grades.

    A softmax over five grades is trained by Adam, without L2, to the shares of `ordinal`, by the
    mean squared error. Every 50 passes Pearson's r on the held-out rows decides; training ends at
    the fourth look that brings nothing better. A grade is the mean of 1 to 5 by the softmax.

    Args:
        train: features and grades.
        held_out: the same of the rows that training stops by.
        tested: features.
        seed: of weights and batches.
    """
    random = np.random.RandomState(seed)
    targets = ordinal(train[1])
    rows = _with_ones(train[0])
    weights = initial_weights(train[0].shape[1], GRADES, seed)
    adam = _Adam(weights, np.zeros(GRADES, np.float32))

    def slope(scores: Floats, chosen: Integers) -> Floats:
        likely = _softmax(scores)
        error = (likely - targets[chosen]) * np.float32(2 / (len(chosen) * GRADES))
        return likely * (error - (error * likely).sum(axis=1, keepdims=True))

    watched, last = _with_ones(held_out[0]), _with_ones(tested)

    def graded(features: Floats) -> NDArray[np.float64]:
        return _softmax(features @ weights).astype(np.float64) @ np.arange(1, GRADES + 1)

    best, of_tested = -1.0, np.full(len(tested), np.nan)
    worse = passes = 0
    while passes <= _MOST_GRADE_PASSES:
        for _ in range(_GRADE_PASSES):
            _pass(rows, adam, random, slope)
        passes += _GRADE_PASSES
        score = _pearson(graded(watched), held_out[1])
        if score > best:
            best, of_tested = score, graded(last)
        else:
            if worse >= _GRADE_TENACITY:
                break
            worse += 1
    return best, of_tested


def _pearson(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Return Pearson's r; not a number where one side does not vary."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", stats.ConstantInputWarning)
        return float(stats.pearsonr(first, second).statistic)
