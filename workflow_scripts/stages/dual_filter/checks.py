"""Checks of `dual_filter` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.plan.catalogues.model_blocks import as_trained_here
from workflow_scripts.plan.config import FILTER_ROLES, MAIN_ROLES, Config, unknown_names
from workflow_scripts.plan.schema import filled


def problems(config: Config) -> Iterator[str]:
    """Yield why the filter's models would have no data, if the filter is enabled."""
    if not config["dual_filter"]["enabled"]:
        return
    train, models = config["train"]["models"], config["models"]
    filters = [models[train[role]] for role in FILTER_ROLES if train[role] in models]
    if not any(map(as_trained_here, filters)):
        return
    block, test = config["dual_filter"], config["train"]["test"]
    if "dev" in block:
        yield from unknown_names("dual_filter.dev", [block["dev"]], "corpora", config)
        if block["dev"] == test:
            yield f"dual_filter: dev is train.test, '{test}'; a corpus can only be one of them"
    training = config["train"]["corpora"] or config["run"]["corpora"]
    if not all(name in config["corpora"] for name in training):
        return  # another check reports these names
    if not any(filled(config["corpora"][name], "corpus")["trusted"] for name in training):
        yield "dual_filter: no corpus of train.corpora is trusted, so its models have no data"
    others = [name for name in training if not filled(config["corpora"][name], "corpus")["trusted"]]
    main = [models[train[role]] for role in MAIN_ROLES if train[role] in models]
    if block.get("trusted_train") == "filter" and any(map(as_trained_here, main)) and not others:
        yield (
            "dual_filter.trusted_train: filter, but all of train.corpora are trusted, so the run's "
            "own models have no data"
        )
