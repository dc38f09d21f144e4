"""Small models, training sets and configurations for the tests of the embed stage."""

import numpy as np
import torch

from tests.golden.inputs import arguments
from workflow_scripts.encoding.encoders import ENCODERS
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.embed.initial import initial_model, token_kinds
from workflow_scripts.stages.embed.prepared import prepare, read_prepared
from workflow_scripts.testbed.noise import clean

ARCHITECTURES = [
    *(([name], "add") for name in ENCODERS),
    (["word", "trigram"], "add"),
    (["word", "trigram", "blstm"], "concatenate"),
]
SMALL = {"dimension": 8, "hidden": 8, "vocabulary": 10_000}
MODEL = defaults("embedding_model") | {"combine": "add", **SMALL}
QUICK = {"epochs": 2, "batch": 10, "mega_batch": 3, "anneal": None, "learning_rate": 0.01}
TRAINING = defaults("embedding_training") | QUICK


def simulated_pairs(count, first=0):
    """Return two different English sentences of each of `count` meanings, where there are two."""
    items = ([item.reference for item in clean(1, first + n, 2)] for n in range(count))
    return [tuple(pair) for pair in items if pair[0] != pair[1]]


def sentences(pairs):
    return [sentence for pair in pairs for sentence in pair]


def model(pairs, **changes):
    """Return an untrained model."""
    return initial_model(MODEL | changes, lambda: sentences(pairs), 1, 1)


def prepared(pairs, built, folder):
    """Return a training set for a model."""
    folder.mkdir(exist_ok=True, parents=True)
    assert prepare(pairs, built.tokenisers, folder) == 0
    return read_prepared(folder, built.tokenisers)


def random_model(encoders, combine, kind="words", size=6):
    """Return a model whose weights are large enough to tell sentences apart."""
    pairs = simulated_pairs(20)
    built = model(
        pairs,
        encoders=encoders,
        combine=combine,
        tokens=kind,
        dimension=size,
        hidden=size,
        vocabulary=60 if kind == "pieces" else 10_000,
    )
    torch.manual_seed(3)
    for weights in built.network.parameters():
        weights.data.normal_()
    assert built.config["tokens"] == token_kinds({"encoders": encoders, "tokens": kind})
    return built


def flat(ragged):
    """Return ids as one list for each sentence."""
    ids, lengths = ragged
    return [list(part) for part in np.split(ids, np.cumsum(lengths)[:-1])]


def as_tensors(*rows):
    """Return lists of ids as the encoders take them."""
    ids = torch.tensor([each for row in rows for each in row], dtype=torch.long)
    return ids, torch.tensor([len(row) for row in rows])


def train_arguments(
    folder, pairs, evaluation, training=None, repetition=1, more=None, output="1", **changes
):
    """Spell the command line of a training that writes to `folder`; `more` is of its block."""
    config = {
        **{"name": "test", "language": "en", "seed": 1, "repetition": repetition},
        **{"model": MODEL | changes, "training": TRAINING | (training or {})},
        **(more or {}),
    }
    files = {"pairs": pairs, "evaluation": evaluation, "work": folder / "work"}
    return arguments(config, **files, device="cpu", output=folder / output)
