import json
import random

import numpy as np
import pytest

from tests.unit.filter.conftest import arguments, pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import read_record
from workflow_scripts.core.tables import read_rows
from workflow_scripts.filter import classifier as module
from workflow_scripts.filter import classify, train_classifier
from workflow_scripts.filter.classifier import Classifier, frequent_words
from workflow_scripts.filter.train_classifier import split

CONFIG = {
    **{"network": "average", "size": 16, "vocabulary": 50, "pairs": 400, "validation": 0.2},
    **{"epochs": 4, "batch": 20, "learning_rate": 0.02, "seed": 1},
}
NAMES = ["dog", "cat", "man", "girl", "horse", "teacher"]


def telling(number):
    """A pair whose paraphrase has the words of its reference in another order, and a mark."""
    draw = random.Random(number)
    one, other = draw.sample(NAMES, 2)
    return f"the {one} sees the {other}", f"the {other} sees rather the {one}"


def ordered(number):
    """A pair whose sides differ in nothing but the order of their words."""
    draw = random.Random(number)
    one, other = draw.sample(NAMES, 2)
    return f"the {one} often sees the {other}", f"often the {one} sees the {other}"


@pytest.fixture
def columns(tmp_path):
    def write(texts, count=300):
        rows = [pair(f"c:{number}", 1, *texts(number)) for number in range(count)]
        write_table(tmp_path / "columns" / "0000.parquet", "pair_columns", rows)
        return tmp_path / "columns"

    return write


def train(folder, output, **config):
    train_classifier.main(arguments(CONFIG | config, folder=folder, shards=1, output=output))
    return json.loads((output / "metrics.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize(
    ("network", "texts"), [("average", telling), ("lstm", telling), ("lstm", ordered)]
)
def test_it_tells_references_from_paraphrases(columns, tmp_path, network, texts, capsys):
    folder, model, output = columns(texts), tmp_path / "model", tmp_path / "out" / "0000.parquet"
    metrics = train(folder, model, network=network)
    assert metrics["training_pairs"] + metrics["validation_pairs"] == 300
    assert metrics["validation"]["accuracy"] > 0.95
    assert read_record(model / "model")["extra"] == metrics["validation"]
    classify.main(arguments(input=folder / "0000.parquet", model=model, output=output))
    values = [row["value"] for row in read_rows(output, "pair_values")]
    assert len(values) == 300
    said = capsys.readouterr().err
    assert f"classifier, epoch 1: {metrics['training_pairs']} rows done" in said
    assert "classifier: 300 rows done" in said
    assert np.mean(np.array(values) < 0.5) > 0.95


def test_averages_do_not_see_order(columns, tmp_path):
    validation = train(columns(ordered), tmp_path / "model")["validation"]
    assert validation["accuracy"] == pytest.approx(0.5)
    assert validation["references"] + validation["paraphrases"] == pytest.approx(1, abs=1e-5)


def test_same_pairs_same_files(columns, tmp_path):
    folder = columns(telling, 100)
    for name in ("one", "two"):
        train(folder, tmp_path / name, network="lstm", epochs=1)
    for file in ("weights.pt", "vocabulary.json", "metrics.json", "model.json"):
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


def test_a_sample_of_pairs(columns, tmp_path):
    metrics = train(columns(telling), tmp_path / "model", pairs=50, epochs=1)
    assert metrics["training_pairs"] + metrics["validation_pairs"] == 50


def test_no_reference_is_trained_and_validated_on():
    rows = [
        {"id": f"c:{number // 3}", "reference": f"r{number // 3}", "paraphrase": "p"}
        for number in range(300)
    ]
    found = split(rows, CONFIG)
    sides = [{tuple(reference) for reference, _ in part} for part in found]
    assert not sides[0] & sides[1]
    assert len(found.validation) == pytest.approx(60, abs=30)
    with pytest.raises(InputError, match="needs more pairs"):
        split(rows[:3], CONFIG)


@pytest.mark.parametrize("network", module.NETWORKS)
def test_probabilities_do_not_depend_on_the_batch(network, monkeypatch):
    classifier = Classifier(network, 8, ["a", "b", "c"])
    sentences = [["a", "b"], [], ["c"], ["b", "x", "a", "a"], ["y"]]
    whole = classifier.probabilities(sentences)
    monkeypatch.setattr(module, "BATCH", 2)
    assert classifier.probabilities(sentences) == pytest.approx(whole, abs=1e-6)
    # Unknown words are alike, and so is a sentence without words.
    assert whole[1] == pytest.approx(whole[4])


def test_frequent_words_in_order():
    assert frequent_words([["b", "a"], ["c", "b"], ["a", "d"]], 3) == ["a", "b", "c"]


def test_a_damaged_model_is_refused(columns, tmp_path):
    train(columns(telling, 100), tmp_path / "model", epochs=1)
    weights = tmp_path / "model" / "weights.pt"
    weights.write_bytes(weights.read_bytes()[:-1] + b"x")
    with pytest.raises(InputError, match=r"weights\.pt differs"):
        Classifier.load(tmp_path / "model")
