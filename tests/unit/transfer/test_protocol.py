import numpy as np
import pytest
from scipy import sparse
from sklearn.model_selection import StratifiedKFold

from tests.unit.transfer.conftest import write_senteval
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.transfer import protocol
from workflow_scripts.stages.transfer.classifiers import fit
from workflow_scripts.stages.transfer.protocol import (
    ADAM,
    C_TRAIN_TEST,
    L2,
    SKLEARN,
    C,
    Settings,
    answers,
)
from workflow_scripts.stages.transfer.senteval_readers import Row, TaskData, read_task
from workflow_scripts.stages.transfer.tasks import TASKS, found

FOLDS = 3


def hashed_words(sentences):
    """Return vectors in which each word has its own drawn direction."""
    drawn = {}
    rows = np.zeros((len(sentences), 16), np.float32)
    for row, sentence in enumerate(sentences):
        for word in sentence.split():
            seed = sum(map(ord, word)) * 31 + len(word)
            drawn.setdefault(word, np.random.default_rng(seed).normal(size=16))
            rows[row] += drawn[word]
    return rows


def data(senteval, name):
    return read_task(TASKS[name], found([senteval])[name])


@pytest.mark.rest
@pytest.mark.parametrize("classifier", [ADAM, SKLEARN])
@pytest.mark.parametrize("name", TASKS)
def test_every_task_is_learnt_and_all_its_rows_are_answered(tmp_path, name, classifier):
    senteval = write_senteval(tmp_path / "data", 24 if classifier == SKLEARN else 200)
    task = data(senteval, name)
    given = answers(task, hashed_words, Settings(classifier, FOLDS, 1111))
    gold = np.array([row.label for row in task.tested])
    assert given.found.shape == gold.shape
    if name == "SICK-R":
        assert np.corrcoef(given.found, gold)[0, 1] > 0.7
        assert given.chosen == []
        assert 1 <= given.found.min() <= given.found.max() <= 5
    else:
        shares = np.bincount(gold.astype(int)) / len(gold)
        assert np.mean(given.found == gold) > shares.max() + 0.1
        grid = L2 if classifier == ADAM else C_TRAIN_TEST if name in ("TREC", "MRPC") else C
        assert set(given.chosen) <= set(grid)
        assert len(given.chosen) == (FOLDS if name in ("MR", "CR", "SUBJ", "MPQA") else 1)


def test_features_of_pairs_are_difference_and_product():
    rows = [Row(0.0, "a", "b"), Row(1.0, "b", "b")]
    table = {"a": [1.0, -2.0], "b": [3.0, 4.0]}

    def encode(sentences):
        return np.array([table[each] for each in sentences], np.float32)

    assert protocol.features(rows, encode).tolist() == [[2, 6, 3, -8], [0, 0, 9, 16]]
    thin = protocol.features(rows, lambda given: sparse.csr_matrix(encode(given)))
    assert thin.toarray().tolist() == [[2, 6, 3, -8], [0, 0, 9, 16]]
    assert protocol.features([Row(0.0, "a")], encode).tolist() == [[1, -2]]


def test_the_score_of_folds_is_the_mean_of_the_folds(senteval):
    task = data(senteval, "CR")
    given = answers(task, hashed_words, Settings(ADAM, 5, 1111))
    gold = np.array([row.label for row in task.tested])
    folds = StratifiedKFold(5, shuffle=True, random_state=1111).split(gold, gold)
    shares = [round(100 * np.mean(given.found[left] == gold[left]), 2) for _, left in folds]
    assert given.score == round(np.mean(shares), 2)


@pytest.mark.slow
def test_the_seed_draws_the_folds_of_trec_and_not_those_of_mr(senteval, monkeypatch):
    seeds = []
    splits = protocol._splits
    monkeypatch.setattr(
        protocol, "_splits", lambda part, s, seed: seeds.append(seed) or splits(part, s, seed)
    )
    answers(data(senteval, "TREC"), hashed_words, Settings(SKLEARN, FOLDS, 5))
    assert set(seeds) == {5}
    seeds.clear()
    answers(data(senteval, "MR"), hashed_words, Settings(SKLEARN, FOLDS, 5))
    assert set(seeds) == {1111}


def test_a_tie_takes_the_first_value_and_scores_have_two_decimals():
    assert protocol._best([0.5, 0.70001, 0.70004], (1.0, 2.0, 3.0)) == (2.0, 70.0)


def test_the_model_of_a_given_split_is_the_one_that_dev_chose(senteval):
    task = data(senteval, "SST2")
    given = answers(task, hashed_words, Settings(ADAM, FOLDS, 1111))
    parts = {
        part: (hashed_words([row.first for row in rows]), np.array([int(r.label) for r in rows]))
        for part, rows in task.parts.items()
    }
    (again,) = fit(parts["train"], parts["dev"], 2, given.chosen, 1111)
    assert given.development == round(100 * again.score, 2)
    assert np.array_equal(given.found, again.predict(parts["test"][0]))


def test_classes_smaller_than_the_folds_are_refused():
    rows = [Row(float(n > 0), f"word{n}") for n in range(8)]
    with pytest.raises(InputError, match="transfer: MR: a class has 1 rows, and 3 folds need"):
        answers(TaskData("MR", {"all": rows}, []), hashed_words, Settings(ADAM, FOLDS, 1))
