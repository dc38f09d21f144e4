"""Fit a judge: a logistic regression with signs that are known, calibrated by length.

ParaBank fits a regression to its ratings (5.1). Here it is logistic, and a pair's target lies
between 0 (bad) and 1 (good).
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import GroupKFold

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.judge.features import FEATURES
from workflow_scripts.stages.judge.judge import Coefficients, Judge, band_names, band_of, known_rows
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs

# Features that may only help (1) or only harm (-1) while the others stay as they are. The rest are
# free: those of lower layers, say, count against the last one.
SIGNS = {
    **dict.fromkeys(("cosine", "grammar", "grammar_gain", "language_model"), 1),
    **dict.fromkeys(("forward_gain", "backward_gain", "numbers", "names", "negation"), 1),
    **dict.fromkeys(("forward_nll", "forward_root", "forward_total", "forward_worst"), -1),
    **dict.fromkeys(("backward_nll", "unknown_words", "invented_words", "changed_pronouns"), -1),
    **dict.fromkeys(("dropped_words", "repeated_words", "doubled_words", "inner_capitals"), -1),
    **dict.fromkeys(("respelt_words", "untranslated_words", "lost_articles"), -1),
    **dict.fromkeys(("exchanged_words", "changed_marks", "divergence", "source_lost"), -1),
    **dict.fromkeys(("tokens_kept", "worst_kept"), 1),
}
BANDS = (8, 15, 30)
FOLDS = 10
# The penalty of squared coefficients of standardised features, in pairs. That of vectors is
# greater, as they have hundreds of numbers.
PENALTY = 5.0
VECTOR_PENALTY = 3000.0
# The penalty of how far a band is from all bands: some hundreds of labels tell little of it.
_BAND_PENALTY = 50.0
# The weight of a pair whose file lacks a feature that another file has. Pairs with that feature are
# like those of the other file, so coefficients beside it should be those of such pairs.
LACKING_WEIGHT = 0.1
_FEWEST_REFERENCES = 10
_BOOTSTRAPS = 400
_BINS = 5


@dataclass(frozen=True)
class Examples:
    """Judged pairs: labels, or ratings of people.

    Attributes:
        name: `labels` or `ratings`.
        pairs: the pairs.
        target: how good each is, from 0 to 1.
        good: whether each counts as good; the probability is that of this.
        bad: whether each counts as bad.
        score: the mean of people's ratings; None for labels.
        features: numbers of each pair by feature.
        sources: the files and their hashes.
    """

    name: str
    pairs: Pairs
    target: Numbers
    good: NDArray[np.bool_]
    bad: NDArray[np.bool_]
    score: Numbers | None
    features: Mapping[str, Numbers]
    sources: tuple[Mapping[str, Any], ...]

    def __len__(self) -> int:
        """Return the number of pairs."""
        return len(self.pairs)


class Design:
    """The features of all examples as a matrix of standardised columns.

    An unknown number counts as the mean of its file. A feature that a whole file lacks is learned
    from the other file; beside it, pairs of the file that lacks it count less.
    """

    def __init__(self, files: Sequence[Examples], features: Sequence[str]):
        self.features = tuple(features)
        self.files = np.repeat(np.arange(len(files)), [len(file) for file in files])
        self.target = np.concatenate([file.target for file in files])
        references = [text for file in files for text in file.pairs.references]
        self.groups = np.unique(references, return_inverse=True)[1]
        self.words = np.concatenate([file.features["words"] for file in files])
        self.ranges: dict[str, tuple[float, float]] = {}
        self._moments: dict[str, tuple[Any, float]] = {}
        self._columns: dict[str, Numbers] = {}
        self._lacking: dict[str, list[bool]] = {}
        for name in features:
            self._add(name, [file.features[name] for file in files])

    def _add(self, name: str, by_file: Sequence[Numbers]) -> None:
        known = [values[known_rows(values)] for values in by_file]
        known = [values for values in known if len(values)]
        if not known:
            raise InputError(
                f"the feature '{name}' is unknown for every pair; give what it needs, or leave it "
                "out of the features"
            )
        self._lacking[name] = [not known_rows(values).any() for values in by_file]
        means = [values.mean(axis=0) for values in known]
        mean = sum(means) / len(means)
        # One deviation for all numbers of a vector: each counts as much as it differs.
        deviation = float(np.sqrt(np.mean([values.var(axis=0).mean() for values in known])))
        if known[0].ndim == 1:
            together = np.concatenate(known)
            self.ranges[name] = (float(together.min()), float(together.max()))
        self._moments[name] = (mean, deviation or 1.0)
        of_files = [
            np.nanmean(values, axis=0) if known_rows(values).any() else mean for values in by_file
        ]
        size = known[0].shape[1:]
        filled = [
            np.where(
                known_rows(values).reshape(-1, *[1] * len(size)), values.reshape(-1, *size), own
            )
            if values.ndim == known[0].ndim
            else np.broadcast_to(own, (len(values), *size))
            for values, own in zip(by_file, of_files, strict=True)
        ]
        self._columns[name] = (np.concatenate(filled) - mean) / (deviation or 1.0)

    def weights(self, features: Sequence[str]) -> Numbers:
        """Return how much each pair counts when these features are fitted, shape (pairs,)."""
        none = [False] * (int(self.files.max()) + 1)  # an ablation may leave no feature
        lacking = np.any([none, *(self._lacking[name] for name in features)], axis=0)
        less = lacking & ~lacking.all()  # where each lacks another one, none is better
        return np.where(less, LACKING_WEIGHT, 1.0)[self.files]

    def matrix(self, features: Sequence[str]) -> Numbers:
        """Return columns of these features, then one for each file, shape (pairs, columns)."""
        columns = [self._columns[name].reshape(len(self.files), -1) for name in features]
        files = np.eye(self.files.max() + 1)[self.files]
        return np.column_stack([*columns, files])

    def penalties(self, features: Sequence[str]) -> Numbers:
        """Return the penalty of each column; those of files have none."""
        of_features = [
            np.full(self._size(name), VECTOR_PENALTY if self._is_vector(name) else PENALTY)
            for name in features
        ]
        return np.concatenate([*of_features, np.zeros(self.files.max() + 1)])

    def bounds(self, features: Sequence[str]) -> list[tuple[float | None, float | None]]:
        """Return the bounds of each column's coefficient."""
        by_sign = {1: (0.0, None), -1: (None, 0.0), 0: (None, None)}
        of_features = [
            by_sign[SIGNS.get(name, 0)] for name in features for _ in range(self._size(name))
        ]
        return [*of_features, *[(None, None)] * int(self.files.max() + 1)]

    def weights_of(
        self, features: Sequence[str], solution: Numbers
    ) -> tuple[dict[str, float | Numbers], float]:
        """Return coefficients of features as they come, and the intercept that centres them."""
        weights: dict[str, float | Numbers] = {}
        place, intercept = 0, 0.0
        for name in features:
            mean, deviation = self._moments[name]
            coefficients = solution[place : place + self._size(name)] / deviation
            weights[name] = coefficients if self._is_vector(name) else float(coefficients[0])
            intercept -= float(np.sum(coefficients * mean))
            place += self._size(name)
        return weights, intercept

    def _is_vector(self, name: str) -> bool:
        return self._columns[name].ndim == 2

    def _size(self, name: str) -> int:
        return self._columns[name].shape[1] if self._is_vector(name) else 1


def logistic(
    matrix: Numbers,
    target: Numbers,
    weights: Numbers,
    penalties: Numbers,
    bounds: Sequence[tuple[float | None, float | None]],
) -> Numbers:
    """Return the coefficients of a logistic regression, shape (columns,).

    Args:
        matrix: shape (pairs, columns); a column of ones is an intercept.
        target: from 0 to 1, shape (pairs,).
        weights: of the pairs.
        penalties: of each column's squared coefficient.
        bounds: lowest and highest coefficient of each column.
    """

    def loss(solution: Numbers) -> tuple[float, Numbers]:
        margin = matrix @ solution
        value = (weights * (np.logaddexp(0, margin) - target * margin)).sum()
        slope = matrix.T @ (weights * (expit(margin) - target))
        return value + (penalties * solution**2).sum() / 2, slope + penalties * solution

    result = minimize(
        loss, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 2000, "maxfun": 4000, "ftol": 1e-11, "gtol": 1e-6},
    )  # fmt: skip
    return np.asarray(result.x)


def _solve(design: Design, features: Sequence[str], rows: NDArray[np.bool_]) -> Numbers:
    return logistic(
        design.matrix(features)[rows],
        design.target[rows],
        design.weights(features)[rows],
        design.penalties(features),
        design.bounds(features),
    )


def splits(design: Design, seed: int) -> list[NDArray[np.bool_]]:
    """Return which pairs each fold holds out: a reference is in one fold.

    Raises:
        InputError: there are too few references.
    """
    references = int(design.groups.max()) + 1
    if references < _FEWEST_REFERENCES:
        raise InputError(
            f"a judge is fitted to pairs of at least {_FEWEST_REFERENCES} references; these are of "
            f"{references}"
        )
    folds = GroupKFold(min(FOLDS, references), shuffle=True, random_state=seed)
    held: list[NDArray[np.bool_]] = []
    for _, test in folds.split(design.groups, groups=design.groups):
        out = np.zeros(len(design.groups), bool)
        out[test] = True
        held.append(out)
    return held


def held_out_margins(
    design: Design, features: Sequence[str], folds: Sequence[NDArray[np.bool_]]
) -> Numbers:
    """Return the margin of each pair by coefficients of other references, shape (pairs,)."""
    matrix = design.matrix(features)
    # The file's own intercept is left out: in use, nobody knows which file a pair is like.
    files = int(design.files.max()) + 1
    margins = np.zeros(len(matrix))
    for out in folds:
        solution = _solve(design, features, ~out)
        margins[out] = matrix[out, :-files] @ solution[:-files]
    return margins


@dataclass(frozen=True)
class Calibration:
    """From margins to log-odds: slope * margin + shift of the band."""

    slope: float
    shifts: tuple[float, ...]

    def probability(self, margins: Numbers, band: NDArray[np.intp]) -> Numbers:
        """Return the probability of each pair, shape (pairs,)."""
        return expit(self.slope * margins + np.array(self.shifts)[band])


def calibrate(margins: Numbers, good: NDArray[np.bool_], band: NDArray[np.intp]) -> Calibration:
    """Return the calibration of held-out margins; the slope is never negative."""
    bands = len(BANDS) + 1
    matrix = np.column_stack([margins, np.ones(len(margins)), np.eye(bands)[band]])
    penalties = np.array([0.01, 0.01, *[_BAND_PENALTY] * bands])
    bounds: list[tuple[float | None, float | None]] = [(0, None), *[(None, None)] * (bands + 1)]
    target, weights = good.astype(np.float64), np.ones(len(good))
    slope, base, *shifts = logistic(matrix, target, weights, penalties, bounds)
    return Calibration(float(slope), tuple(float(base + shift) for shift in shifts))


def known_sets(features: Sequence[str]) -> list[tuple[str, ...]]:
    """Return the sets of features that may be known, the largest first.

    What needs the same columns and models of a pair is known or unknown together, and so is what
    needs some of them alone; what needs nothing is always known.
    """
    needs = {name: {*FEATURES[name].columns, *FEATURES[name].models} for name in features}
    groups = [need for place, need in enumerate(needs.values()) if need]
    groups = [need for place, need in enumerate(groups) if need not in groups[:place]]
    chosen = chain.from_iterable(combinations(groups, size) for size in range(len(groups), -1, -1))
    known = (set().union(*needed) for needed in chosen)
    sets = dict.fromkeys(tuple(n for n in features if needs[n] <= all_of) for all_of in known)
    return [names for names in sets if names]


def fit(
    files: Sequence[Examples],
    features: Sequence[str],
    language: str,
    about: Mapping[str, Any],
    seed: int = 1,
    tell: Callable[[str], None] = lambda _: None,
) -> Judge:
    """Return a judge of some features, fitted to labels or ratings.

    The first of the files is the one whose good pairs the probability is calibrated to.

    Args:
        files: files of judgments.
        features: names.
        language: of the references, ISO 639.
        about: what to keep with the judge besides its figures.
        seed: of the folds.
        tell: gets a line for each set of features that was fitted.

    Raises:
        InputError: a feature is unknown everywhere, there are too few references, or no good or no
            bad pair.
    """
    first = files[0]
    if not 0 < first.good.sum() < len(first):
        files_read = ", ".join(source["file"] for source in first.sources)
        raise InputError(
            f"{files_read}: {'all' if first.good.any() else 'none'} of the pairs are good; a judge "
            "needs good ones and others"
        )
    design = Design(files, features)
    folds, band = splits(design, seed), band_of(design.words, BANDS)
    of_first = design.files == 0
    sets, figures = [], []
    reliable: list[dict[str, Any]] = []
    for names in known_sets(features):
        solution = _solve(design, names, np.ones(len(design.files), bool))
        weights, intercept = design.weights_of(names, solution)
        margins = held_out_margins(design, names, folds)
        calibration = calibrate(margins[of_first], first.good, band[of_first])
        sets.append(Coefficients(weights, intercept, calibration.slope, calibration.shifts))
        probabilities = _held_out_probabilities(margins, first.good, of_first, band, folds)
        figures.append({"features": list(names), **_figures(files, design, probabilities)})
        tell(_line(figures[-1]))
        if not reliable:  # of all features
            reliable = reliability(probabilities[of_first], first.good, band[of_first])
    return Judge(
        tuple(features),
        tuple(sets),
        design.ranges,
        BANDS,
        language,
        {**about, "held_out": figures, "reliability": reliable},
    )


def ablation(files: Sequence[Examples], features: Sequence[str], seed: int) -> Iterator[str]:
    """Yield the held-out figures of all features, and of all but each one."""
    design = Design(files, features)
    folds, band = splits(design, seed), band_of(design.words, BANDS)
    of_first = design.files == 0
    for left_out in (None, *features):
        names = [name for name in features if name != left_out]
        margins = held_out_margins(design, names, folds)
        probabilities = _held_out_probabilities(margins, files[0].good, of_first, band, folds)
        figures = _figures(files, design, probabilities)
        yield f"{f'without {left_out}' if left_out else 'all'}\t" + "\t".join(
            f"{name} {measure} {figures[name][measure]['value']:.4f}"
            for name in figures
            for measure in ("auc", "spearman")
            if measure in figures[name]
        )


def _held_out_probabilities(
    margins: Numbers,
    good: NDArray[np.bool_],
    of_first: NDArray[np.bool_],
    band: NDArray[np.intp],
    folds: Sequence[NDArray[np.bool_]],
) -> Numbers:
    """Return probabilities whose calibration, too, is of other references."""
    probabilities = np.zeros(len(margins))
    for out in folds:
        rest = ~out[of_first]
        calibration = calibrate(margins[of_first][rest], good[rest], band[of_first][rest])
        probabilities[out] = calibration.probability(margins[out], band[out])
    return probabilities


def _figures(files: Sequence[Examples], design: Design, probabilities: Numbers) -> dict[str, Any]:
    figures: dict[str, Any] = {}
    for number, file in enumerate(files):
        of_file = design.files == number
        groups, predicted = design.groups[of_file], probabilities[of_file]
        clear = file.good | file.bad
        measures: dict[str, tuple[Callable[..., float], NDArray[Any], NDArray[np.bool_]]] = {}
        if 0 < file.good[clear].sum() < clear.sum():
            measures["auc"] = (roc_auc_score, file.good, clear)
        if file.score is not None:
            rated = np.isfinite(file.score)
            if len(np.unique(file.score[rated])) > 1:  # else there is no order to find
                measures["spearman"] = (lambda a, b: spearmanr(a, b).statistic, file.score, rated)
        figures[file.name] = {
            "pairs": len(file),
            "references": len(np.unique(groups)),
            **{
                name: interval(measure, truth[rows], predicted[rows], groups[rows])
                for name, (measure, truth, rows) in measures.items()
            },
        }
    return figures


def interval(
    measure: Callable[[Any, Any], float],
    truth: NDArray[Any],
    predicted: Numbers,
    groups: NDArray[np.intp],
) -> dict[str, float]:
    """Return a measure with the 95 % interval of a bootstrap over references."""
    rows = [np.flatnonzero(groups == group) for group in np.unique(groups)]
    random = np.random.default_rng(1)
    values = []
    for _ in range(_BOOTSTRAPS):
        drawn = np.concatenate([rows[i] for i in random.integers(len(rows), size=len(rows))])
        if len(np.unique(truth[drawn])) > 1:
            values.append(float(measure(truth[drawn], predicted[drawn])))
    low, high = np.quantile(values, [0.025, 0.975]) if values else (np.nan, np.nan)
    value = float(measure(truth, predicted))
    return {"value": round(value, 4), "low": round(float(low), 4), "high": round(float(high), 4)}


def reliability(
    probabilities: Numbers, good: NDArray[np.bool_], band: NDArray[np.intp]
) -> list[dict[str, Any]]:
    """Return for each band of lengths how often pairs of like probability are good."""
    return [
        {"words": name, "bins": list(_bins(probabilities[band == number], good[band == number]))}
        for number, name in enumerate(band_names(BANDS))
    ]


def _bins(probabilities: Numbers, good: NDArray[np.bool_]) -> Iterator[dict[str, Any]]:
    place = np.minimum((probabilities * _BINS).astype(int), _BINS - 1)
    for number in range(_BINS):
        rows = place == number
        if rows.any():
            yield {
                "from": number / _BINS,
                "to": (number + 1) / _BINS,
                "pairs": int(rows.sum()),
                "probability": round(float(probabilities[rows].mean()), 3),
                "good": round(float(good[rows].mean()), 3),
            }


def _line(figure: Mapping[str, Any]) -> str:
    parts = [f"{len(figure['features'])} features"]
    for name in ("labels", "ratings"):
        for measure in ("auc", "spearman"):
            if estimate := figure.get(name, {}).get(measure):
                parts.append(
                    f"{name} {measure} {estimate['value']:.3f} [{estimate['low']:.3f}, "
                    f"{estimate['high']:.3f}]"
                )
    return ", ".join(parts) + ": " + " ".join(figure["features"])
