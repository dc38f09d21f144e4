"""Embeddings in the tables of the papers: by training set, by data set, and what they gained.

All correlations are those of sts.json (docs/embed.md) x 100, as the papers print them.
"""

import re
from collections.abc import Iterable
from itertools import combinations
from statistics import fmean, stdev
from typing import Any, NamedTuple

from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.embed.sts_readers import BT17_TASKS

Figures = dict[str, Any]
# Groups of data sets of which the papers report the mean; others are shown one by one.
_YEAR = re.compile(r"\d{4}")
MEASURES = ("pearson", "spearman")
# The baselines of an sts.json by their names in its tables.
BASELINES = {"overlap": "word overlap", "bleu": "BLEU", "meteor": "METEOR-like"}
# The data sets of the STS competitions that ParaNMT's Table 10 is over.
_COMPETITIONS = ("2012", "2013", "2014", "2015", "2016")


# How the points of `source_rows` are chosen, where each source has a choice of its own.
TUNED = "tuned for each source"


class Model(NamedTuple):
    """An embedding with the training set that it was trained on, once for each of its seeds.

    Attributes:
        embedding: its entry in the configuration.
        training_set: `<entry>-<system>`, and its place in the grid.
        seeds: what sts.json has of each.
    """

    embedding: str
    training_set: str
    seeds: dict[str, Figures]


def models(
    sts: Figures, training_sets: Iterable[str], embeddings: Iterable[str] = ()
) -> list[Model]:
    """Return the models of an sts.json in the order of the configuration.

    JSON does not keep it: by name part 10 would come before part 2.

    Args:
        sts: sts.json.
        training_sets: all names, in order.
        embeddings: names of entries, in order; others come after them.
    """
    entries, names = list(embeddings), list(training_sets)
    tested = []
    for name, figures in sts["embeddings"].items():
        embedding, training_set = name.split("-", 1)
        seeds = sorted(figures["seeds"].items(), key=lambda item: int(item[0]))
        tested.append(Model(embedding, training_set, dict(seeds)))
    entries += sorted({model.embedding for model in tested} - set(entries))
    return sorted(
        tested,
        key=lambda model: (entries.index(model.embedding), names.index(model.training_set)),
    )


def embedding_names(config: dict[str, Any]) -> list[str]:
    """Return the entries of embeddings in the release's part of the configuration."""
    return [entry["name"] for entry in config.get("embeddings", [])]


def times_100(value: float | None) -> float | None:
    """Return a correlation as the papers print it, with as many digits as sts.json has."""
    return None if value is None else round(100 * value, 4)


def over_seeds(values: list[float | None]) -> dict[str, Any]:
    """Return `count`, `mean` and `deviation` (of the sample) of correlations, x 100."""
    known = [value for value in values if value is not None]
    return {
        "count": len(known),
        "mean": times_100(fmean(known)) if known else None,
        "deviation": times_100(stdev(known)) if len(known) > 1 else None,
    }


def data_columns(sts: Figures) -> list[str]:
    """Return what the papers have a column for: a year of SemEval, or else a data set."""
    years = [group for group in sts["overlap"]["mean"]["by_group"] if _YEAR.fullmatch(group)]
    return [*years, *(name for name in sts["pairs"] if name.partition(".")[0] not in years)]


def mean_columns(sts: Figures) -> dict[str, str]:
    """Return the means over data sets that a table shows, by their keys, with their headings."""
    tasks = sts["overlap"]["bt2017"]["data_sets"]
    of_tasks = {"bt2017": "the 22" if tasks == len(BT17_TASKS) else f"{tasks} of the 22"}
    return {**(of_tasks if tasks else {}), "mean": "mean"}


def baseline_results(sts: Figures) -> dict[str, Figures]:
    """Return the results of the baselines, by their keys in `BASELINES`."""
    return {"overlap": sts["overlap"], **sts["baselines"]}


def correlation(result: Figures, column: str, measure: str = "pearson") -> float | None:
    """Return the correlation of a data set, the mean of a year's, or the `mean` of all."""
    if column == "mean":
        return result["mean"][measure]
    if column in result["mean"]["by_group"] and column not in result:
        return result["mean"]["by_group"][column][measure]
    return result[column][measure]


def of_model(model: Model, column: str, state: str = "trained", measure: str = "pearson") -> Any:
    """Return `over_seeds` of a model in one column; `state` is `trained` or `untrained`."""
    return over_seeds([correlation(seed[state], column, measure) for seed in model.seeds.values()])


def chosen_by(settings: dict[str, Any]) -> str:
    """Return in words how a training set is chosen; `settings` as in its manifest."""
    # Manifests of earlier versions lack some keys.
    corpora = settings.get("corpora")
    said = [_bounds(column, *ends) for column, ends in sorted(settings["bounds"].items())]
    if settings["folds"]:
        folds = settings["folds"]
        parts = ", ".join(map(str, folds["keep"]))
        part = f"part {parts} of {folds['of']} by {folds['column']}"
        said.insert(0 if settings.get("first") == "folds" else len(said), part)
    if corpora is not None:
        said.insert(0, f"of {', '.join(corpora)}")
    if "shared" in settings:
        said.insert(0, f"references that {', '.join(settings['shared'])} share")
    ranks = settings.get("ranks")
    if isinstance(ranks, int):
        said.append(
            "the best of each reference" if ranks == 1 else f"number {ranks} of each reference"
        )
    elif ranks:
        said.append(f"paraphrase {ranks[0]} with paraphrase {ranks[1]} of each reference")
    if settings["sample"] is not None:
        said.append(f"{settings['sample']:,} pairs at most")
    if settings["max_tokens"] is not None:
        said.append(f"{settings['max_tokens']:,} words at most")
    return "; ".join(said) or "all pairs"


def _bounds(column: str, low: float | None, high: float | None) -> str:
    if low is None and high is None:
        return f"{column} known"
    if low is None or high is None:
        return f"{column} ≤ {high}" if low is None else f"{column} ≥ {low}"
    return f"{column} {low} to {high}"


def training_set_blocks(
    tested: list[Model], training_sets: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the tables of training sets by embedding, one for each entry of the configuration.

    The points of a grid, the folds and the systems of an entry are its rows, as the papers have
    them: Table 3 of ParaBank 2, 4 to 6 of ParaNMT-50M, 4 to 7, 12 and 13 of BT17.

    Returns:
        Dicts of `entry`, `embeddings` (the columns) and `rows`: `name`, `system`, `chosen_by`,
        `pairs`, and `cells` by embedding: `trained` and `untrained` as from `over_seeds`.
    """
    blocks: dict[str, dict[str, Any]] = {}
    for model in tested:
        entry = model.training_set.split("-")[0]
        block = blocks.setdefault(entry, {"entry": entry, "embeddings": [], "rows": {}})
        if model.embedding not in block["embeddings"]:
            block["embeddings"].append(model.embedding)
        row = block["rows"].setdefault(
            model.training_set, _described(model.training_set, training_sets)
        )
        row["cells"][model.embedding] = {
            state: of_model(model, "mean", state) for state in ("trained", "untrained")
        }
    order = list(training_sets)
    for block in blocks.values():
        # An embedding may lack training sets that a later one has.
        block["rows"] = sorted(block["rows"].values(), key=lambda row: order.index(row["name"]))
    return sorted(blocks.values(), key=lambda block: order.index(block["rows"][0]["name"]))


def _described(name: str, training_sets: dict[str, dict[str, Any]]) -> dict[str, Any]:
    manifest = training_sets[name]
    return {
        "name": name,
        "system": manifest["config"]["system"],
        "chosen_by": chosen_by(manifest["config"]),
        "pairs": manifest["rows_out"],
        "cells": {},
    }


def tuned_rows(
    sts: Figures, tested: list[Model], training_sets: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return the grids of which the best point was chosen (BT17, Tables 6, 7 and 12).

    Returns:
        Dicts of `embedding`, `grid` and `points`: dicts of `training_set`, `chosen_by`, `pairs`,
        `development` (mean Pearson's r x 100 on the development data), `chosen`, and `mean` and
        `bt2017` as from `over_seeds`, which only the chosen point has: others have None.
    """
    rows = []
    for grid in sts["tuned"]:
        own = (model for model in tested if model.embedding == grid["embedding"])
        of_set = {model.training_set: model for model in own}
        points = []
        for point in grid["points"]:
            name, best = point["training_set"], point["training_set"] == grid["training_set"]
            points.append(
                {
                    "training_set": name,
                    "chosen_by": chosen_by(training_sets[name]["config"]),
                    "pairs": point["pairs"],
                    "development": times_100(point["development"]),
                    "chosen": best,
                    "mean": of_model(of_set[name], "mean") if best else None,
                    "bt2017": of_model(of_set[name], "bt2017") if best else None,
                }
            )
        rows.append({"embedding": grid["embedding"], "grid": grid["grid"], "points": points})
    return rows


def source_rows(
    sts: Figures, tested: list[Model], training_sets: dict[str, dict[str, Any]]
) -> list[dict[str, Any]]:
    """Return means over sources of data, the values of `corpora` in a grid (BT17, Tables 5 to 7).

    Returns:
        Where there are two or more, dicts of `grid` (`<entry>-<system>`), `embedding`, `chosen_by`
        (`TUNED`: of each source the point that was chosen), `sources` (how many), `mean` and
        `bt2017` (Pearson's r x 100, means over sources), and `best`: of tuned sources a dict of
        `training_set`, `mean` and `bt2017`,
        the source whose point is best on the development data; else None.
    """
    development = {
        (grid["embedding"], point["training_set"]): point["development"]
        for grid in sts["tuned"]
        for point in grid["points"]
    }
    groups: dict[tuple[str, str, str], list[Model]] = {}
    for model in tested:
        settings = training_sets[model.training_set]["config"]
        if settings.get("corpora") is not None:
            grid = "-".join(model.training_set.split("-")[:2])
            on_grid = (model.embedding, model.training_set) in development
            how = TUNED if on_grid else chosen_by(dict(settings, corpora=None))
            groups.setdefault((grid, model.embedding, how), []).append(model)

    def figures(model: Model) -> dict[str, float | None]:
        return {column: of_model(model, column)["mean"] for column in ("mean", "bt2017")}

    rows = []
    for (grid, embedding, how), sources in groups.items():
        if len(sources) < 2:
            continue  # corpora that an entry names are one source, no axis
        best = None
        if how == TUNED:
            chosen = max(sources, key=lambda own: development[own.embedding, own.training_set])
            best = {"training_set": chosen.training_set, **figures(chosen)}
        means = {
            column: round(fmean(known), 4)
            if (known := _known(map(figures, sources), column))
            else None
            for column in ("mean", "bt2017")
        }
        names = {"grid": grid, "embedding": embedding, "chosen_by": how, "sources": len(sources)}
        rows.append({**names, **means, "best": best})
    return rows


def _known(figures: Iterable[dict[str, float | None]], column: str) -> list[float]:
    return [value for each in figures if (value := each[column]) is not None]


def data_set_rows(
    sts: Figures, tested: list[Model], quoted: list[dict[str, Any]]
) -> dict[str, list[dict[str, Any]]]:
    """Return the models by year and data set (ParaNMT-50M, Tables 8 and 9).

    Args:
        sts: sts.json.
        tested: its models.
        quoted: figures of other work, see `matching`.

    Returns:
        The rows by kind: `baselines`, `trained` and `quoted`. A row has `name`, `source` (training
        set, or paper and table) and `cells`: `over_seeds` by column of `data_columns` and
        `mean_columns`; a quoted row lacks the latter.
    """
    columns = [*data_columns(sts), *mean_columns(sts)]
    baselines = [
        {
            "name": BASELINES[name],
            "source": "",
            "cells": {column: over_seeds([correlation(result, column)]) for column in columns},
        }
        for name, result in baseline_results(sts).items()
    ]
    trained = [
        {
            "name": model.embedding,
            "source": model.training_set,
            "cells": {column: of_model(model, column) for column in columns},
        }
        for model in tested
    ]
    others: dict[tuple[str, str], dict[str, Any]] = {}
    for figure in matching(quoted, sts, data_columns(sts)):
        key = (figure["row"], source_of(figure))
        row = others.setdefault(key, {"name": key[0], "source": key[1], "cells": {}})
        row["cells"][figure["data"]] = {"count": 1, "mean": figure["pearson"], "deviation": None}
    return {
        "baselines": baselines,
        "trained": trained,
        "quoted": list(others.values()),
    }


def quotations(config: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the quoted figures in the release's part of the configuration, one by one.

    Returns:
        Dicts of `paper`, `table`, `row` (the model's name there), `data` (a data set or a year of
        SemEval) and `pearson` (x 100).
    """
    return [
        {"paper": paper, "table": table, "row": row, "data": data, "pearson": value}
        for paper, tables in filled(config, "release")["quoted"].items()
        for table, rows in tables.items()
        for row, figures in rows.items()
        for data, value in figures.items()
    ]


def source_of(quoted: dict[str, Any]) -> str:
    """Return where a quoted figure stands."""
    return f"{quoted['paper']}, {quoted['table']}"


def matching(quoted: list[dict[str, Any]], sts: Figures, names: list[str]) -> list[dict[str, Any]]:
    """Return the quoted figures that are of the same data as the run's.

    Args:
        quoted: as from `quotations`.
        sts: sts.json; a year counts only where none of its data sets is missing.
        names: the data sets and years that are asked for.
    """
    partial = {name.partition(".")[0] for name in sts["missing"]}
    return [
        figure
        for figure in quoted
        if figure["data"] in names
        and (figure["data"] in sts["pairs"] or figure["data"] not in partial)
    ]


def gain_rows(tested: list[Model]) -> list[dict[str, Any]]:
    """Return what each seed's model gained in mean Pearson, with 95 % intervals.

    Returns:
        Dicts of `embedding`, `training_set`, `seed`, and for `untrained` and `overlap` a dict of
        `pearson`, `low` and `high`, or None where there was nothing to test on.
    """
    return [
        {
            "embedding": model.embedding,
            "training_set": model.training_set,
            "seed": seed,
            **{over: _gain_times_100(gain) for over, gain in figures["gain"].items()},
        }
        for model in tested
        for seed, figures in model.seeds.items()
    ]


def difference_rows(sts: Figures, tested: list[Model]) -> list[dict[str, Any]]:
    """Return by how much each two training sets differ in what they teach an embedding.

    Returns:
        Dicts of `embedding`, `first`, `second` (training sets) and `gain`, that of the second over
        the first: a dict of `pearson`, `low` and `high`, or None where there was nothing to test
        on. In the order of `tested`.
    """
    entries = dict.fromkeys(model.embedding for model in tested)
    return [
        {"embedding": entry, **pair, "gain": _gain_times_100(pair["gain"])}
        for entry in entries
        for pair in sts["differences"][entry]
    ]


def encoder_differences(sts: Figures, tested: list[Model]) -> list[dict[str, Any]]:
    """Return how much each two embeddings on one training set differ (ParaNMT-50M, Table 10).

    Returns:
        Dicts of `training_set`, `first` and `second` (embeddings), `data_sets`, and `difference`:
        the mean over data sets of the absolute difference between both Pearson's r x 100, each
        the mean of its seeds. The data sets are those of the STS competitions of 2012 to 2016, or
        all if the run has none of these.
    """
    names = [name for name in sts["pairs"] if name.partition(".")[0] in _COMPETITIONS]
    names = names or list(sts["pairs"])
    by_set: dict[str, list[Model]] = {}
    for model in tested:
        by_set.setdefault(model.training_set, []).append(model)

    def difference(first: Model, second: Model) -> float | None:
        both = [(of_model(first, name)["mean"], of_model(second, name)["mean"]) for name in names]
        return round(fmean(abs(one - other) for one, other in both), 4) if both else None

    return [
        {
            "training_set": training_set,
            "first": first.embedding,
            "second": second.embedding,
            "data_sets": len(names),
            "difference": difference(first, second),
        }
        for training_set, several in by_set.items()
        for first, second in combinations(several, 2)
    ]


def _gain_times_100(gain: dict[str, float] | None) -> dict[str, float | None] | None:
    return None if gain is None else {key: times_100(value) for key, value in gain.items()}
