"""Checks of `embeddings` that a schema cannot express.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

from collections.abc import Iterator

from workflow_scripts.plan.catalogues.embeddings import model_of
from workflow_scripts.plan.catalogues.encoder_entries import encoders
from workflow_scripts.plan.catalogues.training_sets import column_embeddings
from workflow_scripts.plan.config import Config
from workflow_scripts.plan.schema import filled

# Encoders whose vectors have the size `hidden`.
_HIDDEN = ("lstm", "blstm", "blstm_average")


def problems(config: Config) -> Iterator[str]:
    """Yield what is wrong with the embeddings that the run names, or that others of it need."""
    behind = [embedding["name"] for embedding in column_embeddings(config).values()]
    catalogue = config.get("encoders", {})
    blocks = [catalogue[encoder] for encoder in encoders(config) if encoder in catalogue]
    behind += [block["embedding"]["name"] for block in blocks]
    for name in dict.fromkeys([*config["run"]["embeddings"], *behind]):
        if name in config["embeddings"]:
            yield from _embedding_problems(name, config)


def notes(config: Config) -> Iterator[str]:
    """Yield that data sets must be of the references' language, where that is not English."""
    language = config["languages"]["reference"]["code"]
    if language != "en" and config["sts"]["data"] and config["run"]["embeddings"]:
        yield (
            f"sts.data: embeddings of '{language}' are tested on these data sets; those of the "
            f"papers are English, so name data sets of '{language}'"
        )


def _embedding_problems(name: str, config: Config) -> Iterator[str]:
    block = filled(config["embeddings"][name], "embedding")
    where, model = f"embeddings.{name}", model_of(block)
    # An embedding that others need is trained on what these name.
    tested = name in config["run"]["embeddings"]
    for training_set in (block["training_sets"] or []) if tested else []:
        if training_set not in config["run"]["training_sets"]:
            yield f"{where}.training_sets: '{training_set}' is not among run.training_sets"
    encoders = model["encoders"]
    if "blstm" in encoders and model["hidden"] % 2:
        yield f"{where}.model.hidden: blstm needs an even number, one half for each direction"
    sizes = {model["hidden" if encoder in _HIDDEN else "dimension"] for encoder in encoders}
    if model["combine"] == "add" and len(sizes) > 1:
        yield f"{where}.model: to add encoders, dimension and hidden must be the same"
    with_words = [encoder for encoder in encoders if encoder != "trigram"]
    if model["vectors"] is not None and (model["tokens"] != "words" or not with_words):
        yield f"{where}.model.vectors: only encoders of words start from a file of vectors"
