"""Checks of `train` and `models` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.core.config import FILTER_ROLES, ROLES, Config, strangers
from workflow_scripts.train import blocks


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the corpora of training, and with the models of the run's roles."""
    run, train = config["run"], config["train"]
    measured = (train["dev"], train["test"])
    for key in ("dev", "test"):
        yield from strangers(f"train.{key}", [train[key]], "corpora", config)
    for name in train["corpora"] or []:
        if name not in run["corpora"]:
            yield f"train.corpora: '{name}' is not among run.corpora"
    for role in ROLES:
        if role in FILTER_ROLES and not config["dual_filter"]["enabled"]:
            continue
        name = train["models"][role]
        yield from strangers(f"train.models.{role}", [name], "models", config)
        for problem in blocks.problems(config["models"][name]) if name in config["models"] else ():
            yield f"models.{name}: {problem}"
    for name in measured:
        if name in (train["corpora"] or run["corpora"]):
            yield f"train: '{name}' can't be trained on and measured on; take it out of one"
    if train["dev"] == train["test"]:
        yield f"train: dev and test are both '{train['dev']}'; a corpus can only be one of them"
