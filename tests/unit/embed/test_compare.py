import json
from itertools import pairwise

import numpy as np
import pytest

from tests.unit.embed import examples
from tests.unit.embed.test_train import collected
from workflow_scripts.core.errors import InputError
from workflow_scripts.embed import compare, train
from workflow_scripts.embed.evaluation import read_collected
from workflow_scripts.embed.model import load
from workflow_scripts.embed.sts import model_similarities

PAIRS = examples.simulated_pairs(40)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two models, one of two seeds, and a set of pairs whose score is whether they belong."""
    path = tmp_path_factory.mktemp("compare")
    pairs = examples.pairs_table(path / "pairs.parquet", PAIRS)
    tested = examples.simulated_pairs(30, first=100)
    rows = [(5.0, *pair) for pair in tested]
    rows += [(0.0, one[0], other[1]) for one, other in pairwise(tested)]
    evaluation = collected(path, rows)
    for name, seed in (("word", 1), ("word", 2), ("trigram", 1)):
        arguments = examples.train_arguments(
            path / name, pairs, evaluation, {"epochs": 8}, seed, encoders=[name]
        )
        arguments[arguments.index("--output") + 1] = str(path / name / str(seed))
        train.main(arguments)
    return path


def figures(folder):
    models = [
        f"{name}/{seed}={folder / name / seed}"
        for name, seed in (("word", "1"), ("word", "2"), ("trigram", "1"))
    ]
    compare.main(
        [
            *("--config", json.dumps({"bootstrap": 100, "seed": 1})),
            *("--evaluation", str(folder / "evaluation.parquet"), "--models", *models),
            *("--output", str(folder / "sts.json")),
        ]
    )
    return json.loads((folder / "sts.json").read_text(encoding="utf-8"))


def test_each_model_stands_beside_its_untrained_self_and_overlap(folder):
    found = figures(folder)
    assert found["embeddings"].keys() == {"word", "trigram"}
    assert found["embeddings"]["word"]["seeds"].keys() == {"1", "2"}
    data = read_collected(folder / "evaluation.parquet")
    one = found["embeddings"]["word"]["seeds"]["2"]
    for state in ("trained", "untrained"):
        model = load(folder / "word" / "2", untrained=state == "untrained")
        expected = compare.result(data, model_similarities(model, data))
        assert one[state] == expected
    for baseline, figure in (
        ("untrained", one["untrained"]),
        ("overlap", found["overlap"]),
    ):
        gain = one["trained"]["mean"]["pearson"] - figure["mean"]["pearson"]
        assert one["gain"][baseline]["pearson"] == pytest.approx(gain, abs=1e-5)
    assert found["pairs"] == {"tested": len(data[0].scores)}
    assert "2016.headlines" in found["missing"]


def test_seeds_are_summed_up_by_mean_and_deviation(folder):
    found = figures(folder)["embeddings"]
    values = [each["trained"]["mean"]["pearson"] for each in found["word"]["seeds"].values()]
    summary = found["word"]["over_seeds"]["trained"]["pearson"]
    assert summary["mean"] == pytest.approx(np.mean(values), abs=1e-6)
    assert summary["deviation"] == pytest.approx(np.std(values, ddof=1), abs=1e-6)
    assert found["trigram"]["over_seeds"]["trained"]["pearson"]["deviation"] is None


def test_the_same_again_is_the_same_byte_by_byte(folder):
    figures(folder)
    first = (folder / "sts.json").read_bytes(), (folder / "testing.json").read_bytes()
    figures(folder)
    assert ((folder / "sts.json").read_bytes(), (folder / "testing.json").read_bytes()) == first


def test_a_damaged_model_is_found(folder):
    path = folder / "word" / "2" / "model.safetensors"
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    try:
        with pytest.raises(InputError, match=r"model\.safetensors differs"):
            figures(folder)
    finally:
        path.write_bytes(content)
