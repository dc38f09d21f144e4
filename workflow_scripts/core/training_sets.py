"""Which training sets a run makes: the entries of `training_sets`, by system and point of the grid.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

# The columns of every pair that need no model, beside its id and texts (docs/filter.md).
COUNT_COLUMNS = ("rank", "reference_words", "paraphrase_words")
PAIR_COLUMNS = (
    *COUNT_COLUMNS,
    *("translation_cost", "backward_nll", "sum"),
    *("overlap_1", "overlap_2", "overlap_3", "intersection_over_union"),
    *("bleu_nakov", "sacrebleu_exp", "sacrebleu_floor", "sacrebleu_add_k", "sacrebleu_none"),
)


def training_sets(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the training sets of a run by their names, each with all its settings.

    The name is `<entry>-<system>`, and one number for each axis of the grid: the place, from 1,
    of its value in the list. The settings are system, bounds, folds (or None), max_tokens and
    sample (or None), and seed.
    """
    return {
        name: settings
        for entry in config["run"]["training_sets"]
        for name, settings in _expanded(entry, config)
    }


def columns_of(settings: dict[str, Any]) -> list[str]:
    """Return the columns that a training set is chosen by, in the order of their names."""
    folds = [settings["folds"]["column"]] if settings["folds"] else []
    return sorted({*settings["bounds"], *folds})


def column_training_sets(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the training sets behind the columns that an embedding computes, as `training_sets`.

    The run need not name them. Such an entry has no grid (`embedding_columns.problems`).
    """
    return {
        name: settings
        for column, systems in model_columns(config).items()
        if (block := config["columns"][column].get("embedding"))
        for name, settings in _expanded(block["training_set"], config)
        if settings["system"] in systems
    }


def entry_columns(block: dict[str, Any]) -> list[str]:
    """Return the columns that the training sets of an entry are chosen by."""
    folds = [block["folds"]["column"]] if block.get("folds") else []
    return sorted({*block.get("bounds", {}), *block.get("grid", {}).get("bounds", {}), *folds})


def model_columns(config: dict[str, Any]) -> dict[str, list[str]]:
    """Return the columns of the catalogue that the run needs, each with its systems.

    Those that evaluate.columns names, those that training sets of the run are chosen by, and those
    that the training sets behind such columns are chosen by. Names that stand in no catalogue are
    passed over.
    """
    every = config["run"]["systems"]
    entries = config["training_sets"]
    todo = [(column, system) for column in config["evaluate"]["columns"] for system in every]
    for block in (entries.get(name, {}) for name in config["run"]["training_sets"]):
        systems = block.get("systems") or every
        todo += [(column, system) for system in systems for column in entry_columns(block)]
    needed: dict[str, list[str]] = {}
    for column, system in todo:  # grows meanwhile
        if column in config["columns"] and system not in needed.setdefault(column, []):
            needed[column].append(system)
            behind = config["columns"][column].get("embedding", {}).get("training_set")
            todo += [(each, system) for each in entry_columns(entries.get(behind, {}))]
    return {column: needed[column] for column in config["columns"] if column in needed}


def axes(grid: dict[str, Any]) -> list[tuple[tuple[str, ...], list[Any]]]:
    """Return the axes of a grid: the path of the setting that varies, and its values."""
    bounds = grid.get("bounds", {})
    paths = [(("bounds", column), bounds[column]) for column in sorted(bounds)]
    paths += [(("folds", "keep"), grid["keep"])] if "keep" in grid else []
    return paths + ([(("sample",), grid["sample"])] if "sample" in grid else [])


def _expanded(entry: str, config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    block = config["training_sets"][entry]
    grid = axes(block.get("grid", {}))
    points = list(product(*(enumerate(values, start=1) for _, values in grid)))
    for system in block.get("systems") or config["run"]["systems"]:
        for point in points:
            settings = {
                "system": system,
                "bounds": dict(block.get("bounds", {})),
                "folds": dict(block["folds"]) if block.get("folds") else None,
                "max_tokens": block.get("max_tokens"),
                "sample": block.get("sample"),
                "seed": block.get("seed", config["seed"]),
            }
            for (path, _), (_, value) in zip(grid, point, strict=True):
                node = settings if len(path) == 1 else settings[path[0]]
                node[path[-1]] = value
            yield "-".join([entry, system, *(str(number) for number, _ in point)]), settings
