import json

import numpy as np
import pytest

from tests.tables import write_training_pairs
from tests.unit.filter.conftest import arguments, pair, write_table
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairColumnsRow, PairValueRow, StsPairRow
from workflow_scripts.encoding.embedding import load
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.embed import train
from workflow_scripts.stages.filter import embedding_score

MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")
PAIRS = [
    ("A dog sees the cat.", "The cat sees a dog."),
    ("A dog sees the cat.", "the old cat is here"),
    ("The old man is here.", "An old man was there."),
    ("zzz", "the cat"),
    ("the cat", ""),
    ("the cat", "the cat"),
]


@pytest.fixture(
    scope="module", params=["word", "trigram", "lstm", "blstm", "blstm_average", "gran", "pieces"]
)
def model(request, tmp_path_factory):
    """A model folder of each kind of encoder, as its stage writes it."""
    folder = tmp_path_factory.mktemp(request.param)
    write_training_pairs(folder / "pairs.parquet", PAIRS[:3] * 4)
    write_table(folder / "evaluation.parquet", StsPairRow, [])
    settings = {"encoders": ["word"], "tokens": "pieces", "vocabulary": 40}
    if request.param != "pieces":
        settings = {"encoders": [request.param]}
    config = {
        "name": "own",
        "model": MODEL | {"dimension": 6, "hidden": 6} | settings,
        "training": TRAINING | {"epochs": 1, "batch": 4, "mega_batch": 1},
        **{"repetition": 1, "language": "en", "seed": 1},
    }
    output = folder / "model"
    given = {"pairs": folder / "pairs.parquet", "evaluation": folder / "evaluation.parquet"}
    train.main(arguments(config, **given, work=folder / "work", device="cpu", output=output))
    return output


def column(folder, model, pairs, name="0000"):
    rows = [pair(f"c:{number}", 1, *texts) for number, texts in enumerate(pairs)]
    shard = write_table(folder / "in" / f"{name}.parquet", PairColumnsRow, rows)
    output = folder / "out" / f"{name}.parquet"
    embedding_score.main(arguments(pairs=shard, model=model, output=output))
    return output


def values(path):
    return [row["value"] for row in read_rows(path, PairValueRow)]


@pytest.mark.slow
def test_the_score_is_the_cosine_of_the_sides(model, tmp_path):
    found = values(column(tmp_path, model, PAIRS))
    vectors = [load(model).encode(pair).astype(np.float64) for pair in PAIRS]
    for value, (one, other) in zip(found, vectors, strict=True):
        norms = np.linalg.norm(one) * np.linalg.norm(other)
        assert (value is None) == (norms == 0)
        assert value is None or value == pytest.approx(one @ other / norms, abs=1e-5)
    # A side without any known token has no score; the same sentence is its own paraphrase.
    assert found[4] is None
    assert found[5] == pytest.approx(1, abs=1e-6)
    encoder = json.loads((model / "embedding.json").read_text("utf-8"))["tokens"][0]
    assert (found[3] is None) == (encoder != "pieces")


@pytest.mark.slow
def test_it_repeats_to_the_byte_whatever_the_batches(model, tmp_path, monkeypatch):
    some = [(f"the old cat {number % 7}", f"a dog {number % 5}") for number in range(40)]
    first, second = (column(tmp_path, model, some, name).read_bytes() for name in ("a", "b"))
    assert first == second
    monkeypatch.setattr(embedding_score, "BATCH", 7)
    again = values(column(tmp_path, model, some, "c"))
    assert again == pytest.approx(values(tmp_path / "out" / "a.parquet"), abs=1e-5)
