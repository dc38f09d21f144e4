from itertools import chain

import numpy as np
import pytest
import torch

from tests.unit.embed import examples
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.training import loop
from workflow_scripts.encoding.encoders import ENCODERS, Encoder, Entry
from workflow_scripts.stages.embed import training as module
from workflow_scripts.stages.embed.training import Seeds, Training, mega_batch_size, scrambled

PAIRS = examples.simulated_pairs(60)


def training(folder, changes=None, seeds=(1, 1), score=None, pairs=PAIRS, **model):
    built = examples.model(pairs, **model)
    data = examples.prepared(pairs, built, folder)
    settings = examples.TRAINING | (changes or {})
    return Training(built, data, settings, Seeds(*seeds), score=score)


def weights(run):
    return {name: value.clone() for name, value in run.model.network.state_dict().items()}


def same(one, other):
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


@pytest.mark.slow
@pytest.mark.parametrize(("encoders", "combine"), examples.ARCHITECTURES)
def test_going_on_from_a_checkpoint_ends_with_the_same_bits(tmp_path, encoders, combine):
    options = {"encoders": encoders, "combine": combine}
    changes = {"dropout": 0.2, "l2_network": 1e-4, "l2_vectors": 1e-4, "anneal": 4}
    whole = training(tmp_path, changes, **options)
    whole.run()
    checkpoint = tmp_path / "checkpoint.pt"
    stops = 0
    while True:
        part = training(tmp_path, changes, **options)
        allowed = iter(range(2))
        original = part.update

        def limited(batch, original=original, allowed=allowed):
            if next(allowed, None) is None:
                raise KeyboardInterrupt
            original(batch)

        part.update = limited
        try:
            part.run(checkpoint, every=0.0)
            break
        except KeyboardInterrupt:
            stops += 1
    assert stops > 2
    assert same(weights(part), weights(whole))
    assert part.history == whole.history


def test_a_run_depends_on_its_seeds_alone(tmp_path):
    runs = [training(tmp_path, seeds=seeds) for seeds in ((1, 1), (1, 1), (1, 2), (2, 1))]
    for run in runs:
        run.run()
    first, again, *others = map(weights, runs)
    assert same(first, again)
    assert not any(same(first, other) for other in others)


@pytest.mark.rest
@pytest.mark.parametrize(("encoders", "combine"), examples.ARCHITECTURES)
def test_training_lowers_the_loss(tmp_path, encoders, combine):
    run = training(tmp_path, {"epochs": 12}, encoders=encoders, combine=combine)
    run.run()
    losses = [entry["loss"] for entry in run.history]
    assert len(losses) == 12
    assert losses[-1] < 0.9 * losses[0]


def test_annealed_mega_batches_grow_by_one():
    settings = {"mega_batch": 3, "anneal": 10}
    assert [mega_batch_size(settings, done) for done in (0, 9, 10, 19, 20, 1000)] == [
        *(1, 1, 2, 2, 3, 3)
    ]
    assert mega_batch_size({"mega_batch": 40, "anneal": None}, 0) == 40


def test_every_pair_is_trained_on_once_an_epoch(tmp_path, monkeypatch):
    seen = []
    original = module.MegaBatch.__init__

    def noted(self, data, model, chosen, *more):
        seen.append(chosen.tolist())
        original(self, data, model, chosen, *more)

    monkeypatch.setattr(module.MegaBatch, "__init__", noted)
    run = training(tmp_path, {"mega_batch": 2, "batch": 7})
    run.run()
    half = len(seen) // 2
    orders = list(chain(*seen[:half])), list(chain(*seen[half:]))
    assert sorted(orders[0]) == sorted(orders[1]) == list(range(len(PAIRS)))
    assert orders[0] != orders[1]
    assert max(map(len, seen)) == 14
    assert run.updates == 2 * -(-len(PAIRS) // 7)


def test_scrambling_shuffles_that_share_of_the_sentences():
    random = np.random.default_rng(1)
    lengths = np.full(2000, 12)
    ids = np.tile(np.arange(12), 2000)
    found, same_lengths = scrambled((ids, lengths), 0.3, random)
    rows = found.reshape(2000, 12)
    assert np.array_equal(same_lengths, lengths)
    assert np.array_equal(np.sort(rows), ids.reshape(2000, 12))
    moved = (rows != np.arange(12)).any(axis=1)
    assert moved.mean() == pytest.approx(0.3, abs=0.03)
    firsts = rows[moved][:, 0]
    assert np.bincount(firsts, minlength=12).min() > 25


@pytest.mark.slow
@pytest.mark.parametrize("name", ENCODERS)
def test_sentences_are_scrambled_where_order_matters(tmp_path, name):
    runs = [training(tmp_path, {"scramble": share}, encoders=[name]) for share in (0.0, 1.0)]
    for run in runs:
        run.run()
    assert same(*map(weights, runs)) != ENCODERS[name].encoder.order_matters


class First(Encoder, order_matters=True, sorted_by_length=False):
    """The vector of a sentence's first token."""

    def __init__(self, dimension, hidden):
        super().__init__()
        self.size = dimension

    def forward(self, vectors, tokens, dropout):
        ids, lengths = tokens
        return vectors[ids[torch.cumsum(lengths, 0) - lengths]]


def test_a_new_encoder_is_scrambled_as_it_says(tmp_path, monkeypatch):
    monkeypatch.setitem(ENCODERS, "first", Entry(First))
    before, after = (
        training(tmp_path, {"scramble": share, "epochs": 1}, encoders=["first"])
        for share in (0.0, 1.0)
    )
    before.run()
    after.run()
    assert not same(weights(before), weights(after))


@pytest.mark.slow
def test_l2_terms_pull_to_zero_and_to_the_initial_vectors(tmp_path):
    sizes = {}
    for name, changes in (("none", {}), ("l2", {"l2_network": 1.0, "l2_vectors": 10.0})):
        run = training(tmp_path, changes | {"epochs": 5}, encoders=["gran"])
        before = run.model.network.tables[0].detach().clone()
        run.run()
        moved = (run.model.network.tables[0].detach() - before).norm()
        sizes[name] = (moved, run.model.network.encoders[0].gate.weight.norm())
    assert sizes["l2"][0] < 0.5 * sizes["none"][0]
    assert sizes["l2"][1] < 0.5 * sizes["none"][1]


def test_the_best_epoch_by_the_development_set_is_kept(tmp_path):
    scores = iter([0.2, 0.7, 0.7, 0.1])
    states = []

    def score(model):
        states.append({name: value.clone() for name, value in model.network.state_dict().items()})
        return next(scores)

    run = training(tmp_path, {"epochs": 4}, score=score)
    run.run()
    assert [entry["development"] for entry in run.history] == [0.2, 0.7, 0.7, 0.1]
    assert same(weights(run), states[1])


def test_pairs_of_one_meaning_alone_have_no_negatives_and_change_nothing(tmp_path):
    run = training(tmp_path, pairs=[("The dog sleeps.", "A dog naps.")] * 4)
    before = weights(run)
    run.run()
    assert same(weights(run), before)
    assert [entry["loss"] for entry in run.history] == [0.0, 0.0]


def test_a_diverged_training_says_what_to_do(tmp_path):
    run = training(tmp_path)
    run.model.network.tables[0].data.fill_(float("nan"))
    with pytest.raises(InputError, match=r"lower training\.learning_rate"):
        run.run()


def test_an_empty_training_set_is_an_error(tmp_path):
    built = examples.model(PAIRS)
    data = examples.prepared([], built, tmp_path)
    with pytest.raises(InputError, match="no pair"):
        Training(built, data, examples.TRAINING, Seeds(1, 1))


def test_progress_names_pairs_epoch_and_loss(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(loop, "INTERVAL_SECONDS", 0.0)
    training(tmp_path).run()
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith(f"embed: pairs: 30 of {2 * len(PAIRS)} rows")
    assert "epoch 1 of 2, loss 0." in lines[0]
