import re
from pathlib import Path

import pytest
import torch

from tests.configs import run_on_testbed
from tests.unit.embed.examples import as_tensors
from workflow_scripts.core.errors import InputError
from workflow_scripts.encoding.encoders import ENCODERS, Encoder, Entry, Network, Recurrent
from workflow_scripts.encoding.tokens import KINDS
from workflow_scripts.plan.schema import definition
from workflow_scripts.stages.catalogue import validate

ROOT = Path(__file__).resolve().parents[3]
ROWS = [[1, 2, 2], [], [4], [3, 1, 0, 2]]


def network(encoders, combine="add", dimension=4, hidden=4):
    torch.manual_seed(1)
    made = Network(encoders, [5] * len(encoders), dimension, hidden, combine)
    for table in made.tables:
        table.data.normal_()
    return made


def tokens_of(made, row):
    return made.tables[0][row]


def states(made, row):
    """Return the LSTM's states on one sentence, by a plain call without padding."""
    return made.encoders[0].lstm(tokens_of(made, row).unsqueeze(0))[0][0]


def both_states(made, row):
    """ParaNMT, section 4: both directions have the size of the sentence vector."""
    both = states(made, row)
    assert both.shape == (len(row), 12)
    return (both[:, :6] + both[:, 6:]) / 2


def gated(made, row):
    """Each token is gated by itself and the state."""
    gate, tokens = made.encoders[0].gate, tokens_of(made, row)
    return [
        token * torch.sigmoid(gate.weight[:, :4] @ token + gate.weight[:, 4:] @ state + gate.bias)
        for token, state in zip(tokens, states(made, row), strict=True)
    ]


@pytest.mark.parametrize(
    ("name", "size", "averaged"),
    [
        ("word", 4, tokens_of),
        ("trigram", 4, tokens_of),
        ("lstm", 6, states),
        ("blstm", 6, states),
        ("blstm_average", 6, both_states),
        ("gran", 4, gated),
    ],
)
def test_a_vector_is_the_average_that_its_encoder_says(name, size, averaged):
    made = network([name], hidden=6)
    found = made([as_tensors(*ROWS)])
    assert found.shape == (4, made.size) == (4, size)
    for row, vector in zip(ROWS, found, strict=True):
        expected = torch.stack([*averaged(made, row)]).mean(0) if row else torch.zeros(size)
        torch.testing.assert_close(vector, expected)


def test_combinations_add_or_stand_side_by_side():
    tokens = [as_tensors([1, 2], [3]), as_tensors([0], [4, 4])]
    for combine in ("add", "concatenate"):
        made = network(["word", "trigram"], combine)
        first, second = (
            torch.stack([table[row].mean(0) for row in rows])
            for table, rows in zip(made.tables, ([[1, 2], [3]], [[0], [4, 4]]), strict=True)
        )
        expected = first + second if combine == "add" else torch.cat([first, second], 1)
        torch.testing.assert_close(made(tokens), expected)
        assert made.size == expected.shape[1]


def test_each_encoder_has_its_own_table():
    made = network(["word", "lstm"])
    assert not torch.equal(made.tables[0], made.tables[1])


@pytest.mark.parametrize("name", sorted(ENCODERS))
def test_dropout_thins_the_token_vectors_and_keeps_their_mean(name):
    made = network([name])
    ids = as_tensors([1] * 20_000)
    torch.manual_seed(1)
    dropped = made([ids], dropout=0.5)
    assert not torch.equal(dropped, made([ids]))
    torch.manual_seed(1)
    torch.testing.assert_close(made([ids], dropout=0.5), dropped)
    if name in ("word", "trigram"):
        torch.testing.assert_close(dropped, made([ids]), rtol=0.1, atol=0.05)


@pytest.mark.parametrize("name", sorted(ENCODERS))
def test_tables_may_be_given_from_outside(name):
    made = network([name])
    rows = made.tables[0].detach()[[2, 4]].requires_grad_()
    outside = made([as_tensors([0, 1], [1])], [rows])
    torch.testing.assert_close(outside, made([as_tensors([2, 4], [4])]))
    outside.sum().backward()
    assert rows.grad.abs().sum() > 0


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({}, "'order_matters' and 'sorted_by_length'"),
        ({"order_matters": True}, "'sorted_by_length'"),
        ({"sorted_by_length": True}, "'order_matters'"),
    ],
)
@pytest.mark.parametrize("base", [Encoder, Recurrent])
def test_an_encoder_that_does_not_say_what_it_needs_cannot_be_defined(base, options, missing):
    with pytest.raises(TypeError, match=missing):

        class Silent(base, **options):
            """Says too little of itself."""


@pytest.mark.parametrize("name", ENCODERS)
def test_order_matters_where_the_encoder_says_so(name):
    made = network([name], hidden=6)
    one, other = (made([as_tensors(row)]) for row in ([1, 2, 3, 4], [4, 1, 3, 2]))
    assert torch.allclose(one, other) != ENCODERS[name].encoder.order_matters


def test_a_network_is_sorted_by_length_if_one_of_its_encoders_is(monkeypatch):
    class Last(Encoder, order_matters=True, sorted_by_length=True):
        def __init__(self, dimension, hidden):
            super().__init__()
            self.size = dimension

    monkeypatch.setitem(ENCODERS, "last", Entry(Last))
    assert not network(["word", "trigram"]).sorted_by_length
    assert network(["word", "last"]).sorted_by_length
    assert network(["gran"]).sorted_by_length


def test_a_configuration_may_name_exactly_these_encoders():
    keys = definition("embedding_model")["properties"]
    assert keys["encoders"]["items"]["enum"] == list(ENCODERS)
    kinds = set(keys["tokens"]["enum"])
    assert {entry.tokens for entry in ENCODERS.values()} - {None} <= KINDS.keys() - kinds


def test_the_docs_describe_every_encoder():
    text = (ROOT / "docs" / "embed.md").read_text(encoding="utf-8")
    table = text.partition("\n| encoder |")[2].partition("\n\n")[0]
    assert re.findall(r"(?m)^\| `(\w+)` \|", table) == list(ENCODERS)


def refused(**model):
    """Return why a configuration with such an embedding is refused; empty if it is not."""
    config = run_on_testbed()
    config["embeddings"]["word"]["model"] = model
    try:
        validate(config)
    except InputError as error:
        return str(error)
    return ""


@pytest.mark.slow
@pytest.mark.parametrize("first", ENCODERS)
@pytest.mark.parametrize("second", ENCODERS)
def test_encoders_are_added_if_they_have_one_size(first, second):
    if first == second:
        return
    names = [first, second]
    sizes = {network([name], dimension=4, hidden=6).size for name in names}
    message = refused(encoders=names, combine="add", dimension=4, hidden=6)
    assert ("to add encoders" in message) == (len(sizes) > 1)


@pytest.mark.parametrize("name", ENCODERS)
def test_what_an_encoder_cannot_have_is_refused(name):
    made = network([name], dimension=4, hidden=5)
    fits = made([as_tensors([1, 2])]).shape[1] == made.size
    assert (refused(encoders=[name], hidden=5) == "") == fits
    message = refused(encoders=[name], vectors="vectors.txt")
    assert ("only encoders of words" in message) == (ENCODERS[name].tokens is not None)
