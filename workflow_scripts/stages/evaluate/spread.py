"""Mean and spread of the measures of several independent runs (ParaBank 2, 3.6)."""

import json
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.statistics.rounding import DECIMALS

# Keys that must agree between the runs; otherwise their figures can't be compared.
IDENTITY = ("system", "best", "groups")
# The keys of a group that hold measures; the others hold histograms and counts.
MEASURES = (
    "gain",
    "ranks",
    "by_length",
    "exact_lengths",
    "difference",
    "between",
    "testbed",
    "syntax",
)
LABELS = {"rank", "first", "second", "from", "to", "length"}
# Intervals belong to one run; the spread over runs takes their place.
OMITTED = {"interval", "low", "high", "variations"}


def combine(values: list[Any]) -> Any:
    """Return the values' mean and spread (largest minus smallest), leaf by leaf.

    Args:
        values: JSON values of one structure, one of each run. Null, a missing key or an empty list
            means that a run lacks the measure: then there is neither.
    """
    first = next((value for value in values if value is not None), None)
    if isinstance(first, dict):
        blocks = [value or {} for value in values]
        return {
            key: first[key] if key in LABELS else combine([block.get(key) for block in blocks])
            for key in dict.fromkeys(key for block in blocks for key in block)
            if key not in OMITTED
        }
    if isinstance(first, list):
        nothing = [None] * max(len(value or []) for value in values)
        return [combine(list(items)) for items in zip(*(v or nothing for v in values), strict=True)]
    if any(value is None for value in values):
        return None
    mean = sum(values) / len(values)
    return {
        "mean": round(mean, DECIMALS),
        "spread": round(max(values) - min(values), DECIMALS),
    }


def spread(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """Return mean and spread of the measures.json of at least two runs.

    Raises:
        InputError: there are fewer, or they are of different systems, ranks or groups.
    """
    if len(runs) < 2:
        raise InputError("a spread needs the measures.json of at least two runs")
    identities = [{key: run["config"][key] for key in IDENTITY} for run in runs]
    if any(identity != identities[0] for identity in identities):
        raise InputError(f"the runs differ: {identities}; compare runs of one system")
    groups = {
        group: {key: combine([run["groups"][group].get(key) for run in runs]) for key in MEASURES}
        for group in runs[0]["groups"]
    }
    return {**identities[0], "runs": len(runs), "groups": groups}


def read_measures(path: Path) -> dict[str, Any]:
    """Return a measures.json.

    Raises:
        InputError: it is missing or isn't one.
    """
    try:
        measures = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error
    except ValueError as error:
        raise InputError(f"{path} is not JSON: {error}") from error
    try:
        known = measures["config"].keys() >= set(IDENTITY)
        known = known and all("ranks" in group for group in measures["groups"].values())
    except (AttributeError, KeyError, TypeError):
        known = False
    if not known:
        raise InputError(f"{path} is no measures.json of evaluate.measures")
    return measures


def main(argv: list[str] | None = None) -> None:
    """Write mean and spread of several runs' measures.json."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--measures", type=Path, nargs="+", required=True, help="one of each run")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    write_json(arguments.output, spread([read_measures(path) for path in arguments.measures]))


if __name__ == "__main__":
    run(main)
