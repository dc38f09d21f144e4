"""What is wrong with `dual_filter` beyond what a schema can say.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.core.config import Config
from workflow_scripts.core.schema import filled


def problems(config: Config) -> Iterator[str]:
    """Yield why the filter's models would have no data, where it takes part."""
    if not config["dual_filter"]["enabled"]:
        return
    training = config["train"]["corpora"] or config["run"]["corpora"]
    # Names that stand in no catalogue are told of elsewhere.
    blocks = (config["corpora"].get(name, {}) for name in training)
    if not any(filled(block, "corpus")["trusted"] for block in blocks):
        yield "dual_filter: no corpus of train.corpora is trusted, so its models have no data"
