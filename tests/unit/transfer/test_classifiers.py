"""The classifiers, beside plain torch written from the description of SentEval's."""

import copy

import numpy as np
import pytest
import torch
from scipy import stats

from workflow_scripts.stages.transfer.classifiers import fit, fit_grades, fit_sklearn, ordinal


def drawn(rows, size, classes, seed=0, noise=1.0):
    random = np.random.default_rng(seed)
    labels = random.integers(classes, size=rows)
    centres = random.normal(size=(classes, size))
    features = centres[labels] + noise * random.normal(size=(rows, size)) * 2
    return features.astype(np.float32), labels.astype(np.int64)


def best_of_looks(model, train, loss, score, passes, most, looks, **options):
    """Return the best score, and the model that had it, of SentEval's loop with Adam.

    Batches of 64; `passes` between two looks at the score and `most` in all; it ends with so many
    looks that were no better.
    """
    adam = torch.optim.Adam(model.parameters(), **options)
    x, y = map(torch.from_numpy, train)
    best, kept, bad, done = -1.0, None, 0, 0
    while done <= most and bad < looks:
        for _ in range(passes):
            order = torch.from_numpy(np.random.permutation(len(x)))
            for start in range(0, len(x), 64):
                chosen = order[start : start + 64]
                adam.zero_grad()
                loss(model(x[chosen]), y[chosen]).backward()
                adam.step()
        done += passes
        with torch.no_grad():
            found = score(model)
        if found > best:
            best, kept = found, copy.deepcopy(model)
        else:
            bad += 1
    return best, kept


def torch_reference(train, held_out, classes, penalty, seed):
    """SentEval's default classifier: four passes between looks, six bad looks."""
    np.random.seed(seed)
    torch.manual_seed(seed)
    if held_out is None:
        order = np.random.permutation(len(train[0]))
        count = int(0.05 * len(order))
        held_out, train = (
            tuple(each[part] for each in train) for part in (order[:count], order[count:])
        )

    def score(model):
        return (model(torch.from_numpy(held_out[0])).argmax(1).numpy() == held_out[1]).mean()

    model = torch.nn.Linear(train[0].shape[1], classes)
    loss = torch.nn.functional.cross_entropy
    best, kept = best_of_looks(model, train, loss, score, 4, 200, 6, weight_decay=penalty)
    return best, np.concatenate([kept.weight.detach().numpy().T, kept.bias.detach().numpy()[None]])


@pytest.mark.slow
@pytest.mark.parametrize("classes", [2, 5])
@pytest.mark.parametrize("drawn_out", [False, True])
def test_fit_gives_the_weights_of_plain_torch_for_each_l2(classes, drawn_out):
    train = drawn(300, 12, classes)
    held_out = None if drawn_out else drawn(80, 12, classes, seed=1)
    penalties = [1e-5, 1e-2, 3.0]
    found = fit(train, held_out, classes, penalties, 1111)
    for each, penalty in zip(found, penalties, strict=True):
        score, weights = torch_reference(train, held_out, classes, penalty, 1111)
        assert each.score == pytest.approx(score)
        assert np.abs(each.weights - weights).max() < 2e-4
    assert not np.allclose(found[0].weights, found[2].weights, atol=3e-2)


def test_the_values_of_a_grid_do_not_change_each_other():
    train, held_out = drawn(200, 8, 3), drawn(60, 8, 3, seed=1)
    (alone,) = fit(train, held_out, 3, [1e-3], 7)
    among = fit(train, held_out, 3, [1e-5, 1e-3, 1e-1], 7)[1]
    assert np.abs(alone.weights - among.weights).max() < 1e-5


def test_another_seed_gives_other_weights_and_the_same_seed_the_same():
    train, held_out = drawn(200, 8, 2), drawn(60, 8, 2, seed=1)
    one, same, other = (fit(train, held_out, 2, [1e-3], seed)[0] for seed in (1, 1, 2))
    assert np.array_equal(one.weights, same.weights)
    assert not np.array_equal(one.weights, other.weights)


def test_predict_tells_classes_that_can_be_told():
    train = drawn(400, 6, 4, noise=0.1)
    (found,) = fit(train, None, 4, [1e-5], 1111)
    assert np.mean(found.predict(train[0]) == train[1]) > 0.9


def test_grades_are_shares_of_the_whole_grades_around_them():
    assert ordinal(np.array([1.0, 2.25, 4.9, 5.0])) == pytest.approx(
        np.array([[1, 0, 0, 0, 0], [0, 0.75, 0.25, 0, 0], [0, 0, 0, 0.1, 0.9], [0, 0, 0, 0, 1]]),
        abs=1e-6,
    )
    grades = np.linspace(1, 5, 41)
    assert ordinal(grades) @ np.arange(1, 6) == pytest.approx(grades, abs=1e-5)


def torch_grades(train, held_out, tested, seed):
    """SentEval's model of relatedness: mean squared error, fifty passes, four bad looks."""
    np.random.seed(seed)
    torch.manual_seed(seed)

    def grades(model, features):
        return model(torch.from_numpy(features)).detach().numpy() @ np.arange(1, 6)

    def score(model):
        return stats.pearsonr(grades(model, held_out[0]), held_out[1]).statistic

    model = torch.nn.Sequential(torch.nn.Linear(train[0].shape[1], 5), torch.nn.Softmax(dim=1))
    train, loss = (train[0], ordinal(train[1])), torch.nn.functional.mse_loss
    best, kept = best_of_looks(model, train, loss, score, 50, 1000, 4)
    return best, grades(kept, tested)


@pytest.mark.slow
def test_fit_grades_gives_the_grades_of_plain_torch():
    random = np.random.default_rng(3)

    def graded(rows):
        features = random.normal(size=(rows, 6)).astype(np.float32)
        grades = np.clip(3 + features[:, 0] + 0.3 * random.normal(size=rows), 1, 5)
        return features, grades

    train, held_out, tested = graded(150), graded(60), graded(40)
    score, found = fit_grades(train, held_out, tested[0], 1111)
    wanted_score, wanted = torch_grades(train, held_out, tested[0], 1111)
    assert score == pytest.approx(wanted_score, abs=1e-4)
    assert np.abs(found - wanted).max() < 2e-3
    assert stats.pearsonr(found, tested[1]).statistic > 0.8


def test_grades_that_do_not_vary_are_not_learnt():
    features = np.ones((70, 3), np.float32)
    grades = np.full(70, 3.0)
    score, found = fit_grades((features, grades), (features, grades), features, 1)
    assert score == -1
    assert np.isnan(found).all()


def test_sklearn_tells_classes_and_its_share():
    train, tested = drawn(200, 6, 3, noise=0.1), drawn(200, 6, 3, noise=0.1)
    score, found = fit_sklearn(train, tested, 1.0, 1111)
    assert score == np.mean(found == tested[1])
    assert score > 0.9
