import json
import random

import numpy as np
import pytest

from tests import tables
from tests.tables import candidate
from tests.unit.filter.conftest import arguments, pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairColumnsRow, PairValueRow, ScoredRow
from workflow_scripts.stages.filter import classifier as module
from workflow_scripts.stages.filter import classify, train_classifier
from workflow_scripts.stages.filter.classifier import Classifier, frequent_words
from workflow_scripts.stages.filter.train_classifier import (
    Example,
    Pools,
    hardest_pairs,
    pairs_of,
    split,
    split_references,
)

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
        write_table(tmp_path / "columns" / "0000.parquet", PairColumnsRow, rows)
        return tmp_path / "columns"

    return write


def train(folder, output, **config):
    train_classifier.main(arguments(CONFIG | config, folder=folder, shards=1, output=output))
    return json.loads((output / "metrics.json").read_text(encoding="utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("network", "texts"), [("average", telling), ("lstm", telling), ("lstm", ordered)]
)
def test_it_tells_references_from_paraphrases(columns, tmp_path, network, texts, capsys):
    folder, model, output = columns(texts), tmp_path / "model", tmp_path / "out" / "0000.parquet"
    metrics = train(folder, model, network=network)
    assert metrics["training_pairs"] + metrics["validation_pairs"] == 300
    assert metrics["validation"]["accuracy"] > 0.95
    assert read_record(model / "model")["extra"] == metrics["validation"]
    classify.main(arguments(pairs=folder / "0000.parquet", model=model, output=output))
    values = [row["value"] for row in read_rows(output, PairValueRow)]
    assert len(values) == 300
    said = capsys.readouterr().err
    updates = 4 * -(-metrics["training_pairs"] // 10)
    assert f"classifier: {updates} updates done in" in said
    assert "classifier: 300 rows done" in said
    assert np.mean(np.array(values) < 0.5) > 0.95


@pytest.mark.slow
def test_averages_do_not_see_order(columns, tmp_path):
    validation = train(columns(ordered), tmp_path / "model")["validation"]
    assert validation["accuracy"] == pytest.approx(0.5)
    assert validation["references"] + validation["paraphrases"] == pytest.approx(1, abs=1e-5)


def test_a_sample_of_pairs(columns, tmp_path):
    metrics = train(columns(telling), tmp_path / "model", pairs=50, epochs=1)
    assert metrics["training_pairs"] + metrics["validation_pairs"] == 50


def test_no_reference_is_trained_and_validated_on():
    rows = [
        {"id": f"c:{number // 3}", "reference": f"r{number // 3}", "paraphrase": "p"}
        for number in range(300)
    ]
    found = split(rows, CONFIG)
    sides = [{tuple(reference) for reference, _ in part} for part in found[:2]]
    assert not sides[0] & sides[1]
    assert len(found.validation) == pytest.approx(60, abs=30)
    with pytest.raises(InputError, match="needs more pairs"):
        split(rows[:3], CONFIG)


def with_lists(tmp_path, count=200, times=1):
    """References with a list of three: two copies, and one that a word tells apart.

    Each is there several times, with other ids, and in capitals as well.
    """
    rows = []
    for number in range(count * times):
        reference, paraphrase = (f"{text} n{number % count}" for text in telling(number % count))
        if number >= count:
            reference = f"{reference.upper()}!"
        for rank, text in enumerate((reference, paraphrase, reference), 1):
            rows.append(pair(f"c:{number}", rank, reference, text))
    write_table(tmp_path / "columns" / "0000.parquet", PairColumnsRow, rows)
    return tmp_path / "columns", rows


GRID = {"negatives": ["random", "hardest"], "l2": [0.0, 1e-5], "test": 0.1, "pairs": 100}


@pytest.mark.slow
def test_references_are_divided_exactly_and_tested_apart(tmp_path):
    """Wieting et al. (2017), 5.6.1: 40,000 / 5,000 / 5,000 references with their lists."""
    folder, _ = with_lists(tmp_path)
    settings = CONFIG | GRID | {"validation": 0.2}
    found = split_references(
        train_classifier.sampled(Pools([folder / "0000.parquet"]), settings), settings
    )
    assert [len(each) for each in found[:3]] == [70, 20, 10]
    metrics = train(folder, tmp_path / "model", **GRID)
    counts = [metrics[f"{part}_pairs"] for part in ("training", "validation", "test")]
    assert counts == [70, 20, 10]
    assert metrics["test"].keys() == {"accuracy", "references", "paraphrases"}
    both = metrics["test"]["references"] + metrics["test"]["paraphrases"]
    assert metrics["test"]["accuracy"] == pytest.approx(both / 2, abs=1e-6)
    assert [(point["negatives"], point["l2"]) for point in metrics["grid"]] == [
        *(("random", 0.0), ("random", 1e-5), ("hardest", 0.0), ("hardest", 1e-5))
    ]
    accuracies = [point["validation"]["accuracy"] for point in metrics["grid"]]
    best = accuracies.index(max(accuracies))
    assert (metrics["negatives"], metrics["l2"]) == (
        *(metrics["grid"][best][key] for key in ("negatives", "l2")),
    )
    assert metrics["validation"] == metrics["grid"][best]["validation"]


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 3])
def test_the_test_is_of_references_that_it_has_not_learnt(tmp_path, times):
    """And only what it has not learnt has a value; a reference with several ids is one."""
    folder, rows = with_lists(tmp_path, times=times)
    train(folder, tmp_path / "model", **GRID)
    output = tmp_path / "out" / "0000.parquet"
    classify.main(arguments(pairs=folder / "0000.parquet", model=tmp_path / "model", output=output))
    known = {row["id"] for row in read_rows(output, PairValueRow) if row["value"] is not None}
    settings = CONFIG | GRID
    sample = list(train_classifier.sampled(Pools([folder / "0000.parquet"]), settings))
    assert len(sample) == 300 * times
    found = split_references(sample, settings)
    assert [len(part) for part in found[:3]] == [70, 20, 10]
    assert {len(each.paraphrases) for part in found[:3] for each in part} == {3 * times}
    texts = {row["id"]: row["reference"] for row in rows}
    learnt = texts.keys() - known
    assert len(learnt) == 90 * times
    held, taken = (
        {" ".join(example.reference) for part in parts for example in part}
        for parts in ([found.test], found[:2])
    )
    assert len(held) == 10
    assert held <= {texts[each].lower().rstrip("!") for each in known}
    assert taken == {texts[each].lower().rstrip("!") for each in learnt}
    classifier = Classifier.load(tmp_path / "model")
    assert all(classifier.has_learnt(text) == (each in learnt) for each, text in texts.items())


def scored(number, corpus, *texts):
    reference, _ = telling(number)
    found = [candidate(text, 1.0, 1.0) for text in texts]
    return {**tables.pair(f"{corpus}:{number}", "z", reference), "candidates": found}


def test_negatives_are_of_the_whole_list_of_a_corpus(tmp_path):
    """Wieting et al. (2017), 5.6.1: all translations of the beam, not the ones that were kept."""
    copies = [[f"{telling(number)[0].upper()}!", "one", "another"] for number in range(5)]
    rows = [scored(number, corpus, *copies[number]) for corpus in "ab" for number in range(5)]
    rows.append(scored(7, "a", telling(7)[0]))  # nothing but a copy: no example
    path = write_table(tmp_path / "scored" / "0000.parquet", ScoredRow, rows)
    found = list(train_classifier.sampled(Pools([], "a", [path]), CONFIG | GRID))
    lists = {}
    for row in found:
        lists.setdefault(row["id"], []).append(row["paraphrase"])
    assert lists == {f"a:{number}": ["one", "another"] for number in range(5)}


@pytest.mark.slow
def test_each_corpus_has_a_classifier_that_knows_its_own_pairs(tmp_path):
    """The same mark tells a paraphrase in one corpus, and a reference in the other."""
    rows = []
    for number in range(100):
        one, other = (f"{text} n{number}" for text in telling(number))
        rows += [pair(f"a:{number}", 1, one, other), pair(f"b:{number}", 1, other, one)]
    folder, model = tmp_path / "columns", tmp_path / "model"
    path = write_table(folder / "0000.parquet", PairColumnsRow, rows)
    for corpus in "ab":
        given = arguments(CONFIG | GRID, folder=folder, shards=1, corpus=corpus)
        train_classifier.main([*given, "--output", str(model / corpus)])
    output = tmp_path / "out" / "0000.parquet"
    given = arguments(pairs=path, model=model, output=output)
    classify.main([*given, "--corpora", "a", "b"])
    values = {row["id"]: row["value"] for row in read_rows(output, PairValueRow)}
    known = {corpus: [key for key in values if key[0] == corpus and values[key]] for corpus in "ab"}
    assert all(len(ids) == 10 for ids in known.values())
    assert all(values[key] < 0.5 for ids in known.values() for key in ids)


def test_the_hardest_negative_is_the_most_probable_reference():
    class Told:
        def probabilities(self, sentences):
            return np.array([len(words) / 10 for words in sentences], np.float32)

    examples = [
        Example(["r"], [["a"], ["a", "b", "c"], ["a", "b"]]),
        Example(["s"], [["x", "y"], ["x"]]),
    ]
    assert hardest_pairs(Told(), examples) == [(["r"], ["a", "b", "c"]), (["s"], ["x", "y"])]


def test_random_negatives_are_of_the_list_and_seeded():
    examples = [Example(["r"], [["a"], ["b"], ["c"]])] * 60
    found = pairs_of(examples, 1, "training")
    assert {paraphrase[0] for _, paraphrase in found} == {"a", "b", "c"}
    assert found == pairs_of(examples, 1, "training")
    assert found != pairs_of(examples, 2, "training")


@pytest.mark.slow
def test_l2_draws_the_vectors_to_zero(tmp_path):
    folder, _ = with_lists(tmp_path)
    norms = []
    for l2 in (0.0, 0.1):
        train(folder, tmp_path / str(l2), negatives=["random"], l2=[l2], pairs=100)
        classifier = Classifier.load(tmp_path / str(l2))
        norms.append(float(classifier.network.embedding.weight.detach().square().sum()))
    assert norms[1] < 0.9 * norms[0]


@pytest.mark.slow
def test_it_starts_from_word_vectors(tmp_path, capsys):
    folder, _ = with_lists(tmp_path)
    file = tmp_path / "vectors.txt"
    numbers = " ".join(["0.5"] * 16)
    file.write_text(f"dog {numbers}\nelsewhere {numbers}\n", encoding="utf-8")
    settings = {"vectors": str(file), "learning_rate": 1e-9, "pairs": 100, "negatives": ["random"]}
    settings["vocabulary"] = 200
    metrics = train(folder, tmp_path / "model", **settings)
    classifier = Classifier.load(tmp_path / "model")
    vectors = classifier.network.embedding.weight.detach().numpy()
    # The word that only the file has is known, too.
    for word in ("dog", "elsewhere"):
        assert vectors[classifier.batch([[word]])[0][0, 0]] == pytest.approx(0.5, abs=1e-4)
    assert metrics["vectors"] == 2
    with pytest.raises(InputError, match=r"vectors of 16 numbers, but classifier\.size is 8"):
        train(folder, tmp_path / "other", **settings, size=8)
    file.write_text(f"DOG {numbers}\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"vectors\.txt: it has none of the \d+ words"):
        train(folder, tmp_path / "other", **settings)


def test_too_few_references_for_a_test_are_refused(tmp_path):
    folder, _ = with_lists(tmp_path, 4)
    with pytest.raises(InputError, match="none of 4 references is left to test on"):
        train(folder, tmp_path / "model", **GRID)


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


def test_a_classifier_that_diverges_is_an_error(columns, tmp_path):
    with pytest.raises(InputError, match=r"the loss is not finite.*lower learning_rate"):
        train(columns(telling), tmp_path / "model", learning_rate=1e30, l2=[1.0])
