"""Test all embeddings of a run on its STS data sets.

Each one is compared with itself before training, and with word overlap. Embeddings of one entry are
compared with each other: how much more one training set teaches than another.
"""

import sys
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.encoding.embedding import load
from workflow_scripts.encoding.interface import RECORD
from workflow_scripts.stages.embed.baselines import baselines
from workflow_scripts.stages.embed.correlations import Similarities, gain, overlaps, result
from workflow_scripts.stages.embed.evaluation import read_collected, without_tested
from workflow_scripts.stages.embed.sts import model_similarities
from workflow_scripts.stages.embed.sts_readers import DataSet, reported_and_development


def tested(
    data_sets: Sequence[DataSet],
    by_state: Mapping[str, Similarities],
    baseline: Similarities,
    config: dict[str, Any],
) -> dict[str, Any]:
    """Return the figures of one model.

    Args:
        data_sets: what it is tested on.
        by_state: the similarities of the `trained` model and of the `untrained` one.
        baseline: the overlaps.
        config: `bootstrap` (samples behind each interval), `language` and `seed`.

    Returns:
        For both the `result`, and the trained one's `gain` over `untrained` and `overlap`.
    """
    others = {"untrained": by_state["untrained"], "overlap": baseline}
    return {
        **{name: result(data_sets, similarities) for name, similarities in by_state.items()},
        "gain": {
            name: gain(
                data_sets, [by_state["trained"]], [other], config["bootstrap"], config["seed"]
            )
            for name, other in others.items()
        },
    }


def over_seeds(repetitions: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return mean and standard deviation, over seeds, of the mean correlations."""
    summary: dict[str, Any] = {}
    for state in ("trained", "untrained"):
        rows = [figures[state]["mean"] for figures in repetitions]
        for measure in ("pearson", "spearman"):
            values = [row[measure] for row in rows if row[measure] is not None]
            if values:
                summary.setdefault(state, {})[measure] = {
                    "mean": round(float(np.mean(values)), DECIMALS),
                    "deviation": round(float(np.std(values, ddof=1)), DECIMALS)
                    if len(values) > 1
                    else None,
                }
    return summary


class Point(NamedTuple):
    """A model on a point of a grid, as the development data show it.

    Attributes:
        pairs: that it was trained on.
        development: its mean Pearson on the development data, the mean of its seeds; None without
            pairs.
    """

    pairs: int
    development: float | None


def measured_point(folders: Iterable[Path], development: Sequence[DataSet]) -> Point:
    """Return what the development data say of a model, given its folders, one of each seed."""
    pairs, values = 0, []
    for folder in folders:
        pairs = verify(folder / RECORD)["rows_out"]
        if pairs:
            correlations = result(development, model_similarities(load(folder), development))
            values.append(correlations["mean"]["pearson"])
    return Point(pairs, round(float(np.mean(values)), DECIMALS) if values else None)


def chosen(points: Mapping[str, Point], tuned: dict[str, list[str]]) -> list[dict[str, Any]]:
    """Return which point of each grid is best on the development data (BT17, 5.5 to 5.7).

    Args:
        points: by `<entry>-<training set>`.
        tuned: the training sets of each grid, by `<entry>-<system>`.

    Returns:
        For each embedding and grid: `embedding`, `grid`, `points` (`training_set`, `pairs` and
        `development`) and `training_set`, the best of the points that have pairs: the first of
        several; None if none has.
    """
    choices = []
    for entry in dict.fromkeys(name.partition("-")[0] for name in points):
        for grid, names in tuned.items():
            own = {name: points[key] for name in names if (key := f"{entry}-{name}") in points}
            known = [name for name, point in own.items() if point.development is not None]
            if own:
                choices.append(
                    {
                        "embedding": entry,
                        "grid": grid,
                        "points": [
                            {"training_set": name, **point._asdict()} for name, point in own.items()
                        ],
                        "training_set": max(
                            known, key=lambda name: own[name].development or 0.0, default=None
                        ),
                    }
                )
    return choices


def differences(
    data_sets: Sequence[DataSet],
    trained: dict[str, list[Similarities]],
    config: dict[str, Any],
) -> dict[str, list[dict[str, Any]]]:
    """Return how much more one training set teaches than another, for each entry of embeddings.

    Args:
        data_sets: what the models are tested on.
        trained: the similarities of the trained models by `<entry>-<training set>`, one of each
            seed.
        config: see `tested`.

    Returns:
        By entry, for each two of its training sets the `gain` of the `second` over the `first`,
        each the mean of its seeds.
    """
    entries: dict[str, dict[str, list[Similarities]]] = {}
    for name, seeds in trained.items():
        entry, _, training_set = name.partition("-")
        entries.setdefault(entry, {})[training_set] = seeds
    drawn = config["bootstrap"], config["seed"]
    return {
        entry: [
            {
                "first": first,
                "second": second,
                "gain": gain(data_sets, training_sets[second], training_sets[first], *drawn),
            }
            for first, second in combinations(training_sets, 2)
        ]
        for entry, training_sets in entries.items()
    }


def compare(
    config: dict[str, Any], models: dict[str, dict[str, Path]], evaluation: Path
) -> dict[str, Any]:
    """Return the figures of all models.

    Args:
        config: see `tested`; `development`, names of data sets that points of grids are chosen on
            and that are not reported, and `tuned`, these points, where there are any.
        models: the model folders of each embedding, by its seeds.
        evaluation: the table of the data sets.

    Raises:
        InputError: most pairs for development are reported, or a file is damaged.
    """
    record = verify(evaluation)
    data_sets, development = reported_and_development(
        read_collected(evaluation), config.get("development", [])
    )
    development, removed = without_tested(
        development,
        data_sets,
        "sts.development",
        "name other data sets, or take out of sts.data what overlaps with them",
    )
    if removed:
        print(
            f"sts: {removed:,} pairs for development are in the data sets that are reported; no "
            "point of a grid is chosen by them",
            file=sys.stderr,
        )
    baseline = overlaps(data_sets)
    grids = config.get("tuned", {})
    on_grids = {name for names in grids.values() for name in names}
    candidates = {
        name: seeds for name, seeds in models.items() if name.partition("-")[2] in on_grids
    }
    points = {
        name: measured_point(seeds.values(), development)
        for name, seeds in progress(candidates.items(), len(candidates), "sts: points of grids")
    }
    tuned = chosen(points, grids)
    best = {f"{choice['embedding']}-{choice['training_set']}" for choice in tuned}
    # Only the chosen points are tested, beside what is on no grid.
    reported = {name: seeds for name, seeds in models.items() if name in best or name not in points}
    embeddings: dict[str, Any] = {}
    trained: dict[str, list[Similarities]] = {}
    todo = [(name, *seed) for name, seeds in reported.items() for seed in seeds.items()]
    for name, seed, folder in progress(todo, len(todo), "sts: models"):
        verify(folder / RECORD)
        similarities = {
            state: model_similarities(load(folder, untrained=state == "untrained"), data_sets)
            for state in ("trained", "untrained")
        }
        figures = tested(data_sets, similarities, baseline, config)
        embeddings.setdefault(name, {"seeds": {}})["seeds"][seed] = figures
        trained.setdefault(name, []).append(similarities["trained"])
    for embedding in embeddings.values():
        embedding["over_seeds"] = over_seeds(list(embedding["seeds"].values()))
    return {
        "config": config,
        "pairs": {data_set.name: len(data_set.scores) for data_set in data_sets},
        "development": {data_set.name: len(data_set.scores) for data_set in development},
        "tuned": tuned,
        "missing": record["extra"]["missing"],
        "overlap": result(data_sets, baseline),
        "baselines": {
            name: result(data_sets, similarities)
            for name, similarities in baselines(data_sets, config["language"]).items()
        },
        "embeddings": embeddings,
        "differences": differences(data_sets, trained, config),
    }


def write_comparison(
    config: dict[str, Any], evaluation: Path, output: Path, models: dict[str, Path] | None = None
) -> None:
    """Test all embeddings of a run on its STS data sets.

    Args:
        config: see `compare`.
        evaluation: the STS data (Parquet).
        output: JSON file; its record is `testing.json` beside it.
        models: the model folders, by `<embedding>/<seed>`.
    """
    torch.set_num_threads(1)
    seeds: dict[str, dict[str, Path]] = {}
    for name, folder in (models or {}).items():
        embedding, _, seed = name.rpartition("/")
        seeds.setdefault(embedding, {})[seed] = folder
    figures = compare(config, seeds, evaluation)
    write_json(output, figures)
    pairs = sum(figures["pairs"].values())
    write_record(output.with_name("testing.json"), pairs, pairs, {}, files=[output])


main = command(write_comparison, __name__)
