"""Which training sets a run makes: the entries of `training_sets`, by system and point of the grid.

The Snakefile imports this module: only the standard library.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

from workflow_scripts.core.files.rows import MODEL_COLUMNS, PAIR_COLUMNS
from workflow_scripts.plan.schema import filled


def training_sets(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the training sets of a run by their names, each with all its settings.

    The name is `<entry>-<system>`, and one number for each axis of the grid: the place, from 1, of
    its value in the list. A corpus from outside stands as a system. The settings are system,
    bounds, folds (or None), max_tokens and sample (or None), and seed; also `first` (`folds`),
    `ranks`, `corpora` and `shared` where they change anything.
    """
    return {
        name: settings
        for entry in config["run"]["training_sets"]
        for name, settings in _expanded(entry, config)
    }


def outside_corpora(config: dict[str, Any]) -> list[str]:
    """Return the pair corpora from outside that the run names."""
    return config["run"].get("outside", [])  # configurations of earlier runs lack the key


def lacking_outside(block: dict[str, Any], corpus: dict[str, Any]) -> list[str]:
    """Return what an entry asks for and a corpus from outside lacks: columns, for example."""
    text = {*PAIR_COLUMNS} - {*MODEL_COLUMNS}
    block = filled(block, "training_set")
    ranks = [block["ranks"], *block["grid"].get("ranks", [])]
    lacking = [column for column in entry_columns(block) if column not in text]
    two = any(isinstance(rank, list) for rank in ranks) and not corpus.get("ranked")
    lacking += ["second paraphrase"] if two else []
    bitext = block["corpora"] is not None or "corpora" in block["grid"]
    return lacking + (["corpus of the bitext"] if bitext else [])


def sources(block: dict[str, Any], config: dict[str, Any]) -> list[str]:
    """Return the systems and the corpora from outside whose pairs an entry takes.

    Without `systems` it takes all of both, but only systems where it asks for what pairs from
    outside don't have.
    """
    if named := filled(block, "training_set")["systems"]:
        return named
    outside = [name for name, lacking in lacked(block, config).items() if not lacking]
    return [*config["run"]["systems"], *outside]


def lacked(block: dict[str, Any], config: dict[str, Any]) -> dict[str, list[str]]:
    """Return what an entry asks for and each corpus from outside lacks; unknown ones lack none."""
    known = config.get("outside", {})
    return {name: lacking_outside(block, known.get(name, {})) for name in outside_corpora(config)}


def known_entries(block: dict[str, Any], config: dict[str, Any]) -> list[str]:
    """Return the entries that a rewriter or lexicon names, but for unknown ones."""
    of_run = config["run"]["training_sets"]
    return [
        entry
        for entry in block["training_sets"]
        if entry in of_run and entry in config["training_sets"]
    ]


def problems_of_entries(where: str, block: dict[str, Any], config: dict[str, Any]) -> Iterator[str]:
    """Yield what is wrong with the training sets and systems that a rewriter or lexicon names."""
    for entry in block["training_sets"]:
        if entry not in config["run"]["training_sets"]:
            yield f"{where}.training_sets: '{entry}' is not among run.training_sets"
    known = known_entries(block, config)
    for entry in known:
        if filled(config["training_sets"][entry], "training_set")["grid"]:
            yield (
                f"{where}.training_sets: '{entry}' has a grid, of which there is more than one "
                "training set; make an entry without"
            )
    available = {
        system for entry in known for system in sources(config["training_sets"][entry], config)
    }
    for system in block["systems"] or []:
        if known and system not in available:
            yield f"{where}.systems: none of its training sets is of '{system}'"


def columns_of(settings: dict[str, Any]) -> list[str]:
    """Return the columns that a training set is chosen by, in the order of their names."""
    folds = [settings["folds"]["column"]] if settings["folds"] else []
    return sorted({*settings["bounds"], *folds})


def column_training_sets(config: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Return the training sets behind columns and encoders, as `training_sets`.

    The run need not name them. Such an entry has no grid (`filter.embedding_columns.problems`,
    `encoder.checks.problems`).
    """
    needed: dict[str, set[str]] = {}
    behind = [encoder_sets(name, config) for name in config["run"].get("encoders", [])]
    behind += [
        sets_behind(column, system, config)
        for column, systems in model_columns(config).items()
        for system in systems
    ]
    for entry, system in (pair for sets in behind for pair in sets):
        needed.setdefault(entry, set()).add(system)
    return {
        name: settings
        for entry, systems in needed.items()
        for name, settings in _expanded(entry, config)
        if settings["system"] in systems
    }


def sets_behind(column: str, system: str, config: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the training sets behind a column of a system: entries with systems.

    Unknown names are passed over, here and in `encoder_sets`.
    """
    block = config["columns"][column]
    if "encoder" in block:
        return encoder_sets(block["encoder"]["name"], config)
    entry = block.get("embedding", {}).get("training_set")
    return [(entry, system)] if entry in config["training_sets"] else []


def encoder_system(name: str, config: dict[str, Any]) -> str | None:
    """Return the system, or corpus from outside, whose pairs an encoder learns from.

    None if the encoder names none and its training set is of several (`encoder.checks`).
    """
    block = config["encoders"][name]
    if "system" in block:
        return block["system"]
    systems = sources(config["training_sets"].get(block["training_set"], {}), config)
    return systems[0] if len(systems) == 1 else None


def encoder_sets(name: str, config: dict[str, Any]) -> list[tuple[str, str]]:
    """Return the training sets behind an encoder: its own, and that of its embedding."""
    if name not in config.get("encoders", {}):
        return []
    block, system = config["encoders"][name], encoder_system(name, config)
    entries = dict.fromkeys([block["training_set"], block["embedding"]["training_set"]])
    return [(entry, system) for entry in entries if system and entry in config["training_sets"]]


def column_embeddings(config: dict[str, Any]) -> dict[str, dict[str, str]]:
    """Return the run's columns that an embedding computes: by column its name and training set."""
    columns = {name: config["columns"][name] for name in model_columns(config)}
    return {name: block["embedding"] for name, block in columns.items() if "embedding" in block}


def entry_columns(block: dict[str, Any]) -> list[str]:
    """Return the columns that the training sets of an entry are chosen by."""
    block = filled(block, "training_set")
    folds = [block["folds"]["column"]] if block["folds"] else []
    return sorted({*block["bounds"], *filled(block["grid"], "grid")["bounds"], *folds})


def model_columns(config: dict[str, Any]) -> dict[str, list[str]]:
    """Return the columns of the catalogue that the run needs, each with its systems.

    A column is needed if evaluate.columns names it, if a training set of the run is chosen by it,
    or if a training set behind such a column, or behind an encoder of the run, is. Unknown names
    are passed over.
    """
    every = config["run"]["systems"]
    entries = config["training_sets"]
    todo = [(column, system) for column in config["evaluate"]["columns"] for system in every]
    for block in (entries.get(name, {}) for name in config["run"]["training_sets"]):
        systems = [name for name in sources(block, config) if name in every]
        todo += [(column, system) for system in systems for column in entry_columns(block)]

    def chosen_by(sets: list[tuple[str, str]]) -> list[tuple[str, str]]:
        # Pairs from outside have no such columns.
        known = [(entries.get(entry, {}), system) for entry, system in sets if system in every]
        return [(column, system) for block, system in known for column in entry_columns(block)]

    for name in config["run"].get("encoders", []):
        todo += chosen_by(encoder_sets(name, config))
    needed: dict[str, list[str]] = {}
    for column, system in todo:  # grows meanwhile
        if column in config["columns"] and system not in needed.setdefault(column, []):
            needed[column].append(system)
            todo += chosen_by(sets_behind(column, system, config))
    return {column: needed[column] for column in config["columns"] if column in needed}


def ranges(bounds: list[list[Any]] | dict[str, Any]) -> list[list[Any]]:
    """Return the [least, greatest] of a column in a grid: as listed, or every two of its ends."""
    if isinstance(bounds, list):
        return bounds
    ends = filled(bounds, "ends")
    return [list(pair) for pair in product(ends["low"], ends["high"])]


def tuned(config: dict[str, Any]) -> dict[str, list[str]]:
    """Return the training sets of which the best is chosen: the points of a grid.

    By `<entry>-<system>`, for the entries of the run that say `tune`; where the grid has an axis
    of corpora, each of its values has a choice of its own, `<entry>-<system>-<corpora>` (BT17 5.5).
    """
    points: dict[str, list[str]] = {}
    for entry in config["run"]["training_sets"]:
        block = filled(config["training_sets"][entry], "training_set")
        for name, settings in _expanded(entry, config) if block["tune"] else []:
            apart = settings["corpora"] if "corpora" in block["grid"] else []
            points.setdefault("-".join([entry, settings["system"], *apart]), []).append(name)
    return points


def by_source(config: dict[str, Any]) -> bool:
    """Tell whether the run makes training sets of corpora one by one."""
    blocks = (config["training_sets"][entry] for entry in config["run"]["training_sets"])
    return any("corpora" in filled(block, "training_set")["grid"] for block in blocks)


def corpora_axis(grid: dict[str, Any], config: dict[str, Any]) -> list[list[str]]:
    """Return the values of a grid's axis of corpora; none if it has no such axis."""
    if grid.get("corpora") != "each":
        return grid.get("corpora", [])
    return [[corpus] for corpus in config["generate"]["corpora"] or config["run"]["corpora"]]


def axes(grid: dict[str, Any], config: dict[str, Any]) -> list[tuple[tuple[str, ...], list[Any]]]:
    """Return the axes of a grid: the path of the setting that varies, and its values."""
    bounds = filled(grid, "grid")["bounds"]
    paths: list[tuple[tuple[str, ...], list[Any]]] = [
        (("bounds", column), ranges(bounds[column])) for column in sorted(bounds)
    ]
    paths += [(("folds", "keep"), grid["keep"])] if "keep" in grid else []
    paths += [((key,), grid[key]) for key in ("sample", "ranks") if key in grid]
    return paths + ([(("corpora",), corpora_axis(grid, config))] if "corpora" in grid else [])


def _expanded(entry: str, config: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    block = {"seed": config["seed"]} | filled(config["training_sets"][entry], "training_set")
    grid = axes(block["grid"], config)
    points = list(product(*(enumerate(values, start=1) for _, values in grid)))
    for system in sources(config["training_sets"][entry], config):
        for point in points:
            settings = {
                "system": system,
                "bounds": dict(block["bounds"]),
                "folds": dict(block["folds"]) if block["folds"] else None,
                "max_tokens": block["max_tokens"],
                "sample": block["sample"],
                "seed": block["seed"],
                **_chosen_keys(block),
            }
            for (path, _), (_, value) in zip(grid, point, strict=True):
                node = settings if len(path) == 1 else settings[path[0]]
                node[path[-1]] = value
            yield "-".join([entry, system, *(str(number) for number, _ in point)]), settings


def _chosen_keys(block: dict[str, Any]) -> dict[str, Any]:
    """Return the keys that later versions brought, unless they leave everything as it was.

    So training sets of earlier versions keep their folders.
    """
    keys = {"first": "folds"} if block["folds"] and block["first"] == "folds" else {}
    return keys | {
        key: block[key] for key in ("ranks", "corpora", "shared") if block[key] is not None
    }
