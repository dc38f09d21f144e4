"""A made-up sts.json in round figures, its training sets, and figures of other work."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import write_record

# Years come as means of their data sets; of 2013 one of the papers' data sets is missing.
PAIRS = {"2012.MSRpar": 750, "2012.MSRvid": 750, "2013.FNWN": 189, "sick.test": 4927}


def result(*pearson: float) -> dict[str, Any]:
    """Return a model's result: of each data set Pearson's r, and Spearman's rho 0.1 less."""

    def both(value: float) -> dict[str, float]:
        return {"pearson": round(value, 6), "spearman": round(value - 0.1, 6)}

    single = dict(zip(PAIRS, pearson, strict=True))
    groups: dict[str, list[float]] = {}
    for name, value in single.items():
        groups.setdefault(name.partition(".")[0], []).append(value)
    mean = sum(pearson) / len(pearson)
    by_group = {group: both(sum(values) / len(values)) for group, values in groups.items()}
    return {
        **{name: {"n": PAIRS[name], **both(value)} for name, value in single.items()},
        "bt2017": {**both(mean), "data_sets": len(single)},  # all four are among the 22
        "mean": {**both(mean), "by_group": by_group},
        "weighted": both(mean),
        "all": {"n": sum(PAIRS.values()), **both(mean)},
    }


def seed(trained: list[float], untrained: list[float]) -> dict[str, Any]:
    gain = {"pearson": 0.2, "low": 0.15, "high": 0.251}
    return {
        "trained": result(*trained),
        "untrained": result(*untrained),
        "gain": {"untrained": gain, "overlap": {**gain, "pearson": -0.05, "low": -0.1}},
    }


LOSS = {"pearson": -0.15, "low": -0.2012, "high": 0.01}
LOW = [0.3, 0.5, 0.4, 0.4]  # mean 0.4
STS = {
    "config": {"bootstrap": 100, "seed": 1},
    "pairs": PAIRS,
    "missing": ["2013.headlines", "2013.OnWN", "2013.SMT", "2014.images"],
    "overlap": result(0.5, 0.7, 0.6, 0.6),
    "baselines": {"bleu": result(0.2, 0.4, 0.3, 0.3), "meteor": result(0.3, 0.5, 0.4, 0.4)},
    "embeddings": {
        # Means over data sets: 0.6 and 0.7; their sample deviation is 0.0707.
        "word-cost-beam-1": {
            "seeds": {"1": seed([0.4, 0.8, 0.5, 0.7], LOW), "2": seed([0.6, 0.8, 0.7, 0.7], LOW)}
        },
        "word-cost-beam-2": {"seeds": {"1": seed([0.5, 0.5, 0.5, 0.5], LOW)}},
        "word-all-beam": {"seeds": {"1": seed([0.8, 0.8, 0.8, 0.8], LOW)}},
        "trigram-cost-beam-1": {"seeds": {"1": seed([0.9, 0.9, 0.9, 0.9], LOW)}},
    },
    "development": {"2016.headlines": 249},
    "tuned": [
        {
            "embedding": "word",
            "grid": "cost-beam",
            "training_set": "cost-beam-2",
            "points": [
                {"training_set": "cost-beam-1", "pairs": 1200, "development": 0.41},
                {"training_set": "cost-beam-2", "pairs": 1201, "development": 0.42},
            ],
        },
        {
            "embedding": "trigram",
            "grid": "cost-beam",
            "training_set": None,
            "points": [{"training_set": "cost-beam-1", "pairs": 0, "development": None}],
        },
    ],
    "differences": {
        "trigram": [],
        "word": [
            {"first": "cost-beam-1", "second": "cost-beam-2", "gain": LOSS},
            {"first": "cost-beam-1", "second": "all-beam", "gain": None},
        ],
    },
}


def manifest(pairs: int, **settings: Any) -> dict[str, Any]:
    config = {"system": "beam", "bounds": {}, "folds": None, "sample": None, "max_tokens": None}
    rows = {"rows_in": pairs, "rows_out": pairs, "rejected": {}, "parts": {}}
    return {**rows, "config": {**config, "seed": 1, **settings}}


def fold(number: int) -> dict[str, Any]:
    return {"column": "translation_cost", "of": 2, "keep": [number]}


TRAINING_SETS = {
    "cost-beam-1": manifest(1200, folds=fold(1), bounds={"sum": [None, 3.5], "rank": [1, 2]}),
    "cost-beam-2": manifest(1201, folds=fold(2), max_tokens=2000000),
    "all-beam": manifest(2401),
}


# As in the configuration. Of 2013 some data is missing here, and all of 2014.
QUOTED = {
    "Doe 2020": {
        "Table 1": {
            "Theirs": {
                **{"2012": 66.6, "2013": 55.5, "2014": 44.4},
                **{"sick.test": 77.7, "2012.MSRvid": 33.3},
            },
            "Others": {"sick.test": 88.8},
        }
    }
}


def write_units(folder: Path) -> dict[str, Path]:
    """Write the test and the training sets as finished units; return their folders by name."""
    units = {f"filter/{name}": folder / name for name in TRAINING_SETS}
    for name, found in TRAINING_SETS.items():
        write_json(folder / name / "manifest.json", found | {"stage": "filter", "instance": name})
    write_json(folder / "sts" / "sts.json", STS)
    write_record(folder / "sts" / "testing", 0, 0, {}, files=[folder / "sts" / "sts.json"])
    return {**units, "embed/sts": folder / "sts"}
