"""Every kind of embedding learns what testbed sentences mean, better than word overlap knows it."""

import json

import pytest

from tests.golden.inputs import arguments
from tests.tables import write_training_pairs
from tests.unit.embed import examples
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.stages.embed import evaluation, sts_comparison, train
from workflow_scripts.testbed.noise import clean

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

MEANINGS = 2000
# A high rate and few epochs; LSTMs need more of them, and dropout to see more than single words.
SIZES = {"dimension": 64, "hidden": 64}
QUICK = {"epochs": 3, "batch": 100, "mega_batch": 2, "anneal": 10, "learning_rate": 0.005}
RECURRENT = QUICK | {"epochs": 6, "mega_batch": 1, "learning_rate": 0.01, "dropout": 0.3}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("embeddings")
    pairs = [
        (reference.reference, paraphrase.reference)
        for number in range(MEANINGS)
        for reference, *paraphrases in (clean(1, number, 3),)
        for paraphrase in paraphrases
        if paraphrase.reference != reference.reference
    ]
    write_training_pairs(path / "pairs.parquet", pairs)
    config = {"data": [], "testbed": {"first": 600_000, "count": 1000}, "language": "en", "seed": 1}
    output = path / "evaluation.parquet"
    evaluation.main(arguments(config, output=output))
    return path


@pytest.mark.parametrize(("encoders", "combine"), examples.ARCHITECTURES)
def test_every_model_beats_its_untrained_self_and_overlap(folder, encoders, combine):
    name = "-".join([*encoders, combine])
    train.main(
        examples.train_arguments(
            folder / name,
            folder / "pairs.parquet",
            folder / "evaluation.parquet",
            RECURRENT if encoders[0] in ("lstm", "blstm", "blstm_average") else QUICK,
            encoders=encoders,
            combine=combine,
            **SIZES,
        )
    )
    record = read_record(folder / name / "1" / "model")
    assert record["rows_out"] > 1.9 * MEANINGS
    config = {"bootstrap": 500, "language": "en", "seed": 1}
    files = {"evaluation": folder / "evaluation.parquet", "output": folder / name / "sts.json"}
    sts_comparison.main(arguments(config, **files, models=f"{name}/1={folder / name / '1'}"))
    found = json.loads((folder / name / "sts.json").read_text(encoding="utf-8"))
    gain = found["embeddings"][name]["seeds"]["1"]["gain"]
    assert gain["untrained"]["low"] > 0.1
    assert gain["overlap"]["low"] > 0
