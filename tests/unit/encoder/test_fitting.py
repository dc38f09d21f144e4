import numpy as np
import pytest
import torch
from transformers import AutoModelForSequenceClassification

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import generator
from workflow_scripts.core.training import loop
from workflow_scripts.encoding.encoder_tokens import tokenised
from workflow_scripts.encoding.model_outputs import outputs
from workflow_scripts.encoding.pretrained import open_model, open_tokenizer
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.encoder.training import Fitting, learning_rate

pytestmark = pytest.mark.slow  # it loads transformers

SETTINGS = defaults("encoder_training") | {"batch": 4, "learning_rate": 1e-3}
# The class is whether the second sentence has the bird.
FIRST = ["the cat sees a dog .", "the big tree", "a small house and a dog likes the cat"] * 8
SECOND = ["the bird .", "an old house", "a dog", "a bird sees the big old tree"] * 6


def made(folder, settings=SETTINGS, measure=None, seed=1, spoilt=None, plan="a"):
    """Return a training, and its inputs."""
    model = open_model(AutoModelForSequenceClassification, folder, 5, num_labels=2)
    tokens = tokenised(open_tokenizer(folder), FIRST, SECOND, 32)
    labels = torch.tensor(["bird" in text for text in SECOND]).long()

    def inputs(items, epoch):
        if spoilt:
            spoilt(epoch)
        return tokens.batch(items) | {"labels": labels[torch.from_numpy(items)]}

    def random(*keys):
        return generator(seed, "test", *keys)

    options = {"measure": measure, "plan": {"data": plan}}
    return Fitting(model, inputs, tokens.lengths, settings, random, **options), inputs, tokens


def weights(training):
    return {name: value.clone() for name, value in training.network.state_dict().items()}


def same(one, other):
    return all(torch.equal(one[name], other[name]) for name in one)


def test_a_model_learns_and_its_curve_is_kept(encoder):
    """The loss falls to almost nothing, and each epoch ends with what was measured."""
    training, inputs, tokens = made(
        encoder, SETTINGS | {"epochs": 30, "learning_rate": 1e-2}, lambda: {"checked": 7.0}
    )
    training.run()
    assert training.history[-1]["loss"] < 0.05 < training.history[0]["loss"]
    assert [each["updates"] for each in training.history if "checked" in each] == [
        6 * epoch for epoch in range(1, 31)
    ]
    found = np.empty(len(FIRST))
    for items, answer in outputs(training.network, inputs, tokens.lengths, SETTINGS):
        found[items] = answer.logits.argmax(1)
    assert found.tolist() == ["bird" in text for text in SECOND]


@pytest.mark.parametrize("epoch", [0, 1, 2])
def test_a_training_that_was_killed_ends_with_the_same_bits(encoder, tmp_path, epoch):
    """Killed in each epoch, with a checkpoint after each update."""
    whole, _, _ = made(encoder)
    whole.run()

    calls = [0]

    def kill(current):
        calls[0] += current == epoch
        if calls[0] == 3:
            raise KeyboardInterrupt

    killed, _, _ = made(encoder, spoilt=kill)
    checkpoint = tmp_path / "checkpoint.pt"
    with pytest.raises(KeyboardInterrupt):
        killed.run(checkpoint, every=0)
    assert 0 < killed.updates < whole.total
    again, _, _ = made(encoder)
    again.network.classifier.weight.data.zero_()  # all comes from the checkpoint
    again.run(checkpoint, every=0)
    assert same(weights(again), weights(whole))
    assert again.history == whole.history


def test_a_checkpoint_of_another_plan_is_thrown_away(encoder, tmp_path, capsys):
    """Weights of other data would go unseen."""
    checkpoint = tmp_path / "checkpoint.pt"
    whole, _, _ = made(encoder)
    whole.run(checkpoint, every=0)
    other, _, _ = made(encoder, seed=2, plan="b")
    other.run(checkpoint, every=0)
    assert "starting over" in capsys.readouterr().err
    fresh, _, _ = made(encoder, seed=2)
    fresh.run()
    assert same(weights(other), weights(fresh))
    assert not same(weights(other), weights(whole))


def test_the_learning_rate_rises_and_falls():
    """Devlin et al. (2018), A.2: linear warmup over a share of the updates, linear decay to 0."""
    settings = {"learning_rate": 2.0, "warmup": 0.4}
    rates = [learning_rate(update, 10, settings) for update in range(10)]
    assert rates == pytest.approx([0.5, 1, 1.5, 2, 2, 10 / 6, 8 / 6, 1, 4 / 6, 2 / 6])
    assert learning_rate(0, 10, {"learning_rate": 2.0, "warmup": 0}) == 2.0


def test_biases_and_normalisation_do_not_decay(encoder):
    """With a loss that asks for nothing only the decay moves weights."""
    settings = SETTINGS | {"weight_decay": 0.5, "learning_rate": 0.1, "warmup": 0, "epochs": 1}
    training, _, _ = made(encoder, settings)
    training._loss = lambda model, given: 0 * sum(each.sum() for each in model.parameters())
    before = weights(training)
    training.run()
    for name, value in weights(training).items():
        assert torch.equal(value, before[name]) == (value.ndim <= 1), name


def test_each_epoch_has_each_item_once_and_another_order(encoder):
    """Batches are sorted by length inside, but neither epochs nor batches stand in that order."""
    training, _, tokens = made(encoder, SETTINGS | {"batch": 5})
    first, second = training._in_order(0), training._in_order(1)
    for batches in (first, second):
        assert sorted(np.concatenate(batches)) == list(range(len(FIRST)))
        assert all((np.diff(tokens.lengths[batch]) >= 0).all() for batch in batches)
    assert [each.tolist() for each in first] != [each.tolist() for each in second]
    means = [tokens.lengths[batch].mean() for batch in first]
    assert means != sorted(means)


def test_a_loss_that_is_not_finite_is_an_error(encoder):
    """The weights would be NaN, and nobody would see it."""
    training, _, _ = made(encoder)
    training._loss = lambda model, given: model(**given).loss * float("nan")
    with pytest.raises(InputError, match=r"not finite after 1 updates; lower training.learning_r"):
        training.run()


def test_a_weight_that_is_not_finite_is_an_error(encoder):
    """The last update spoils it, after its loss was looked at."""
    training, _, _ = made(encoder)
    step = training._optimizer.step

    def spoilt():
        step()
        if training.updates == training.total - 1:
            next(iter(training.network.parameters())).data[0] = float("nan")

    training._optimizer.step = spoilt
    with pytest.raises(InputError, match="a weight is not finite after 18 updates"):
        training.run()


def test_a_training_without_items_is_an_error(encoder):
    """Nothing would be learnt."""
    training, inputs, _ = made(encoder)
    with pytest.raises(InputError, match="nothing is left to train on"):
        Fitting(training.network, inputs, np.array([]), SETTINGS, generator)


def test_bfloat16_is_computed_in_it(encoder):
    """Weights stay float32; products have few digits."""
    exact, inputs, tokens = made(encoder)
    exact.network.eval()
    answers = {}
    for precision in ("float32", "bfloat16"):
        settings = SETTINGS | {"precision": precision}
        _, answer = next(outputs(exact.network, inputs, tokens.lengths, settings))
        answers[precision] = answer.logits.float()
    assert not torch.equal(answers["float32"], answers["bfloat16"])
    assert torch.allclose(answers["float32"], answers["bfloat16"], atol=0.05)
    training, _, _ = made(encoder, SETTINGS | {"precision": "bfloat16"})
    training.run()
    assert {value.dtype for value in training.network.parameters()} == {torch.float32}


def test_checkpoints_come_in_time(encoder, tmp_path, monkeypatch):
    """None before its time."""
    monkeypatch.setattr(loop.time, "monotonic", lambda: 0.0)
    fitting, _, _ = made(encoder)
    fitting.run(tmp_path / "checkpoint.pt")
    assert not (tmp_path / "checkpoint.pt").exists()
