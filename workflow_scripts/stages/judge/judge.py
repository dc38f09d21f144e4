"""A judge: the probability that a paraphrase is good, from features of the pair (docs/judge.md).

A judge is a file `judge.json` of numbers: logistic coefficients, a set of them for each set of
features that may be known, and a calibration by the length of the reference.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.plan.catalogues.judges import DEFAULT, SHIPPED
from workflow_scripts.plan.catalogues.pair_features import NEEDS
from workflow_scripts.stages.judge.known_pairs import Numbers

FILE = "judge.json"
FORMAT = 1
_KEYS = ["format", "language", "features", "bands", "ranges", "sets", "about"]
_SET_KEYS = ["weights", "intercept", "slope", "shifts"]
_DECIMALS = 6
# No product of such numbers with a feature is infinite.
_GREATEST = 1e100
# No reference has so many words.
_LONGEST = 1 << 31


@dataclass(frozen=True)
class Coefficients:
    """What a judge does with pairs of which some features are known, and others are not.

    The log-odds of a pair are slope * (intercept + sum of weight * feature) + shift of its band.
    """

    weights: Mapping[str, float | Numbers]
    """By feature; shape (size,) where the feature is a vector."""
    intercept: float
    slope: float
    shifts: tuple[float, ...]
    """By band of lengths."""

    def margin(self, values: Mapping[str, Numbers]) -> Numbers:
        """Return intercept plus weights times features, shape (pairs,).

        Raises:
            InputError: a vector has another size than its weights.
        """
        total: Numbers = np.full(len(next(iter(values.values()))), self.intercept)
        for name, weight in self.weights.items():
            value = values[name]
            if value.shape[1:] != np.shape(weight):
                raise InputError(
                    f"the judge has weights of another size than its feature {name} has here; it "
                    "was fitted with another encoder: name that, or fit the judge again"
                )
            # A vector gets a sum for each pair by itself: no other pair of the batch changes it.
            total += (value * weight).sum(axis=1) if value.ndim == 2 else value * weight
        return total


@dataclass(frozen=True)
class Judge:
    """A fitted judge."""

    features: tuple[str, ...]
    sets: tuple[Coefficients, ...]
    """Those with more features come first."""
    ranges: Mapping[str, tuple[float, float]]
    """Of each feature that is a number: values beyond what was seen count as the nearest seen."""
    bands: tuple[int, ...]
    """The words of a reference at which another band of lengths begins."""
    language: str
    """Of the references, ISO 639."""
    about: Mapping[str, Any] = field(default_factory=dict)
    """Where the numbers come from, how good they are, and the encoder."""

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a judge: one that ships, a folder with judge.json, or such a file.

        Raises:
            InputError: there is none, or it is damaged.
        """
        path = SHIPPED.get(str(path), Path(path))
        path = path / FILE if path.is_dir() else path
        try:
            return cls.of(parse_json(path.read_text(encoding="utf-8")))
        except OSError as error:
            raise InputError(
                f"{path} can't be read: {error.strerror}; name a folder that "
                f"paraloom judge fit wrote, or '{DEFAULT}'"
            ) from error
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InputError(f"{path} is no judge ({error}); fit it again") from error

    @classmethod
    def of(cls, content: Mapping[str, Any]) -> Self:
        """Return the judge of the content of a file.

        Raises:
            KeyError: something is missing.
            ValueError: it is of another format, has an unknown key, or a value that no judge has.
            TypeError, AttributeError: a value is of another type.
        """
        if type(content["format"]) is not int or content["format"] != FORMAT:
            raise ValueError(f"its format is {content['format']}, and {FORMAT} is known")
        for block, known in ((content, _KEYS), *((each, _SET_KEYS) for each in content["sets"])):
            if unknown := sorted(block.keys() - known):
                raise ValueError(f"unknown key '{unknown[0]}'{suggestion(unknown[0], known)}")
        sets = tuple(
            Coefficients(
                {name: _weight(weight) for name, weight in fitted["weights"].items()},
                _number(fitted["intercept"]),
                _number(fitted["slope"]),
                tuple(map(_number, fitted["shifts"])),
            )
            for fitted in content["sets"]
        )
        ranges = {
            name: (_number(low), _number(high)) for name, (low, high) in content["ranges"].items()
        }
        read = cls(
            tuple(content["features"]),
            sets,
            ranges,
            tuple(content["bands"]),
            content["language"],
            content["about"],
        )
        read._require_sound()
        return read

    def _require_sound(self) -> None:
        """Refuse what no judge has.

        Raises:
            ValueError: something does not fit the rest.
        """
        encoder = self.about.get("encoder")
        bands = (0, *self.bands, _LONGEST)
        sound = {
            "features": NEEDS.keys() >= set(self.features) > set(),
            "list of features": len(set(self.features)) == len(self.features),
            "sets": len(self.sets) > 0
            and all({*self.features} >= each.weights.keys() > set() for each in self.sets),
            "shifts": all(len(each.shifts) == len(bands) - 1 for each in self.sets),
            # That of a misspelled feature would bound nothing.
            "ranges": all(low <= high for low, high in self.ranges.values()),
            "ranges of features": NEEDS.keys() >= self.ranges.keys(),
            "bands": all(type(high) is int and low < high for low, high in pairwise(bands)),
            "language": isinstance(self.language, str),
            "language code": self.language != "",
            "about": encoder is None or isinstance(encoder, dict),
        }
        if faults := [name for name, holds in sound.items() if not holds]:
            raise ValueError(f"its {faults[0]} can't be those of a judge")

    def save(self, folder: Path) -> Path:
        """Write judge.json, and return its path."""
        path = folder / FILE
        folder.mkdir(parents=True, exist_ok=True)
        write_json(path, self.content)
        return path

    @cached_property
    def content(self) -> dict[str, Any]:
        """What is written; numbers have 6 decimals."""
        return {
            "format": FORMAT,
            "language": self.language,
            "features": list(self.features),
            "bands": list(self.bands),
            "ranges": {name: list(map(_short, limits)) for name, limits in self.ranges.items()},
            "sets": [
                {
                    "weights": {name: _short(weight) for name, weight in fitted.weights.items()},
                    "intercept": _short(fitted.intercept),
                    "slope": _short(fitted.slope),
                    "shifts": list(map(_short, fitted.shifts)),
                }
                for fitted in self.sets
            ],
            "about": dict(self.about),
        }

    def probability(self, features: Mapping[str, Numbers], words: Numbers) -> Numbers:
        """Return the probability of each pair to be good, shape (pairs,).

        Args:
            features: numbers by name, shape (pairs,), of a vector (pairs, size). NaN is unknown,
                and so is a feature that is not there. Each pair is judged by the set of
                coefficients that uses most of what is known of it.
            words: of each reference, shape (pairs,).

        Returns:
            Probabilities; NaN where too little is known for any set.
        """
        result = np.full(len(words), np.nan)
        known = {name: known_rows(features[name]) for name in self.features if name in features}
        values = {name: self._within(name, features[name]) for name in known}
        band = band_of(words, self.bands)
        for fitted in self.sets:
            if not fitted.weights.keys() <= known.keys():
                continue
            rows = np.flatnonzero(
                np.isnan(result) & np.logical_and.reduce([known[name] for name in fitted.weights])
            )
            if len(rows):
                margin = fitted.margin({name: values[name][rows] for name in fitted.weights})
                log_odds = fitted.slope * margin + np.array(fitted.shifts)[band[rows]]
                result[rows] = np.exp(-np.logaddexp(0, -log_odds))
        return result

    def _within(self, name: str, values: Numbers) -> Numbers:
        if name not in self.ranges:
            return values
        return np.clip(values, *self.ranges[name])


def band_of(words: Numbers, bands: tuple[int, ...]) -> NDArray[np.intp]:
    """Return the number of the band of each reference's length, shape (pairs,)."""
    return np.searchsorted(np.array(bands), words, side="right")


def band_names(bands: tuple[int, ...]) -> list[str]:
    """Return what the bands are called: `1-7`, `8-14`, `15+` for bands at 8 and 15."""
    inner = [f"{first}-{last - 1}" for first, last in pairwise((1, *bands))]
    return [*inner, f"{bands[-1]}+" if bands else "all"]


def known_rows(values: Numbers) -> NDArray[np.bool_]:
    """Return whether a feature's numbers are known, for each pair, shape (pairs,)."""
    return np.isfinite(values) if values.ndim == 1 else np.isfinite(values).all(axis=1)


def _number(value: Any) -> float:
    """Return a number of a file.

    Raises:
        ValueError: it is none, or one that no fit gives.
    """
    if type(value) not in (int, float) or not abs(value) <= _GREATEST:
        raise ValueError(f"{value!r:.50} is none of its numbers")
    return float(value)


def _weight(value: Any) -> float | Numbers:
    """Return the weight of a feature, a list of them where the feature is a vector."""
    return np.array([*map(_number, value)]) if isinstance(value, list) else _number(value)


def _short(value: Any) -> Any:
    """Return a number, or the list of a vector's numbers, with 6 decimals."""
    if isinstance(value, np.ndarray):
        return [round(float(number), _DECIMALS) for number in value]
    return round(float(value), _DECIMALS)
