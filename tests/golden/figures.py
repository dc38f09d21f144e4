"""The figures of a stage's outputs: what golden.json holds, and how two of them are compared."""

import math
from typing import Any

import numpy as np

from tests.e2e import micro
from workflow_scripts.core.files.seal import canonical

# A model's numbers on another CPU; those of a training diverge further, update by update.
TOLERANCE = 1e-3
TRAINING_TOLERANCE = 0.02

Outputs = dict[str, Any]


def figures(outputs: Outputs) -> dict[str, Any]:
    """Return the hash and the sums of the numbers of each output."""
    result = {}
    for name, value in outputs.items():
        numbers: list[float] = []
        structure = canonical(_without_numbers(value, numbers))
        result[name] = {"sha256": micro.digest(structure), **_sums(numbers)}
    return result


def _without_numbers(value: Any, numbers: list[float]) -> Any:
    if isinstance(value, dict):
        return {key: _without_numbers(value[key], numbers) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_without_numbers(each, numbers) for each in value]
    if isinstance(value, float):
        if not math.isfinite(value):
            return str(value)
        numbers.append(value)
        return "a number"
    return value


def _sums(numbers: list[float]) -> dict[str, float]:
    """Return the mean of some numbers, and one in which each counts by its place."""
    if not numbers:
        return {}
    weights = np.linspace(1, 2, len(numbers))
    return {
        "mean": round(float(np.mean(numbers)), 6),
        "weighted": round(float(np.mean(weights * numbers)), 6),
    }


def differences(stage: str, found: dict[str, Any], expected: dict[str, Any]) -> list[str]:
    """Return the names of the outputs that are not as they should be."""
    tolerance = TRAINING_TOLERANCE if stage in ("train", "embed") else TOLERANCE
    return [
        name
        for name in sorted(found.keys() | expected.keys())
        if not _agree(found.get(name), expected.get(name), tolerance)
    ]


def _agree(one: dict[str, Any] | None, other: dict[str, Any] | None, tolerance: float) -> bool:
    if one is None or other is None or one.keys() != other.keys():
        return False
    return one["sha256"] == other["sha256"] and all(
        math.isclose(one[key], other[key], rel_tol=tolerance, abs_tol=tolerance)
        for key in one.keys() - {"sha256"}
    )
