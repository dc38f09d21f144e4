"""Checks of systems whose candidates a rewriter writes: `systems.<name>.rewriter`.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.plan.catalogues.pair_features import NEEDS, column_features
from workflow_scripts.plan.catalogues.rewriters import (
    finished_rewriter,
    rewriter,
    rewriter_of,
    rewriters,
    sources_behind,
    systems_behind,
    written_by_rewriter,
)
from workflow_scripts.plan.catalogues.training_sets import model_columns, outside_corpora
from workflow_scripts.plan.config import Config


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the run's systems that a rewriter writes."""
    for system in config["run"]["systems"]:
        block = rewriter_of(config, system)
        if block is None:
            continue
        where, name = f"systems.{system}", block["name"]
        if name not in rewriters(config):
            yield f"{where}.rewriter.name: '{name}' is not among run.rewriters; add it there"
        elif _known(config, name) and rewriter(config, name)["templates"] is not None:
            yield (
                f"{where}.rewriter.name: '{name}' reads templates in front of sentences, which a "
                "system does not give; name a rewriter without templates"
            )
        elif _known(config, name) and (
            block["references"] == "held_out" and not rewriter(config, name)["training_sets"]
        ):
            yield (
                f"{where}.rewriter.references: '{name}' is a finished model, for which no "
                f"references are held out; say references: all, or name training sets in "
                f"rewriters.{name}.training_sets"
            )
        if circle := _circle(config, system):
            yield f"{where}.rewriter: {circle}"
        theirs = _outside(config, name) if block["references"] == "held_out" else []
        if theirs:
            yield (
                f"{where}.rewriter.references: '{name}' learns from pairs from outside "
                f"({', '.join(theirs)}), and may hold out theirs alone, which are no references of "
                f"this run; leave them out of rewriters.{name}.systems, or say references: all"
            )
        if config["systems"][system]["select"]["keep"].get("reference_quantile") is not None:
            yield (
                f"{where}.select.keep.reference_quantile: the references are scored by the forward "
                f"model, and candidates by the rewriter '{name}'; give max_sum or quantile"
            )
    yield from _column_problems(config)


def notes(config: Config) -> Iterator[str]:
    """Yield which systems have a rewriter read what it has learnt from."""
    for system in config["run"]["systems"]:
        block = rewriter_of(config, system)
        if block and block["references"] == "all" and not finished_rewriter(config, block["name"]):
            yield (
                f"systems.{system}.rewriter.references: all: the rewriter '{block['name']}' has "
                "learnt from references that it reads here, so its outputs judge nothing"
            )


def _circle(config: Config, first: str) -> str | None:
    """Return how a system's rewriter comes to learn from the system itself; None if it does not."""
    ways: dict[str, str] = {first: ""}
    todo = [first]
    while todo:
        system = todo.pop()
        block = rewriter_of(config, system)
        if block is None or not _known(config, block["name"]):
            continue
        for behind in systems_behind(config, block["name"]):
            name = block["name"]
            way = f"{ways[system]}'{name}' learns from what {behind} writes"
            if behind == first:
                return f"{way}, a circle; take {behind} out of rewriters.{name}.systems"
            if behind not in ways and written_by_rewriter(config, behind):
                ways[behind] = f"{way} (systems.{behind}.rewriter), and "
                todo.append(behind)
    return None


def _outside(config: Config, name: str) -> list[str]:
    """Return the corpora from outside whose pairs a rewriter learns from."""
    if not _known(config, name):
        return []
    behind = sources_behind(config, name)
    return [corpus for corpus in outside_corpora(config) if corpus in behind]


def _known(config: Config, name: str) -> bool:
    """Tell whether the run has a rewriter, and its training sets."""
    if name not in rewriters(config) or name not in config.get("rewriters", {}):
        return False
    entries = rewriter(config, name)["training_sets"]
    return all(entry in config["training_sets"] for entry in entries)


def _column_problems(config: Config) -> Iterator[str]:
    features = column_features(config)
    for column, systems in model_columns(config).items():
        written = [name for name in systems if written_by_rewriter(config, name)]
        if written and column in features:
            name = features[column]["name"]
            if "reference_forward_nll" in NEEDS[name]:
                yield (
                    f"columns.{column}: {name} takes NLLs of the forward model, and the candidates "
                    f"of {', '.join(written)} have those of a rewriter; take the column out of "
                    "evaluate.columns and of the training sets of these systems"
                )
