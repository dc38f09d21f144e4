import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.nmt.decoder import BeamDecoder, Decoder
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.vocabulary import BOS

SOURCES = [[4], [5, 6, 7], [8] * 30]


def expected(model: Model, source: list[int], prefix: list[int]) -> torch.Tensor:
    """The output after `prefix` by teacher-forced decoding."""
    return model.decode([prefix], model.remember(*model.encode([source])))[-1]


@pytest.mark.rest
@pytest.mark.parametrize("kind", [Decoder, BeamDecoder])
@settings(deadline=None, max_examples=25)
@given(data=st.data())
def test_slots_follow_their_prefixes_wherever_they_move(either, kind, data):
    decoder = kind(either, capacity=12)
    slots: list[tuple[int, list[int]]] = []  # source and tokens read after <s>
    reads: list[int] = []
    for _ in range(data.draw(st.integers(1, 8))):
        if len(slots) <= 8:
            new = data.draw(st.lists(st.integers(0, 2), min_size=not slots, max_size=4))
            places = decoder.places([SOURCES[index] for index in new])
            decoder.start(torch.tensor(places, dtype=torch.int64))
            slots += [(index, []) for index in new]
            reads += [BOS] * len(new)
        hidden = decoder.step(torch.tensor(reads))
        for row, (index, prefix) in zip(hidden, slots, strict=True):
            assert torch.allclose(row, expected(either, SOURCES[index], prefix), atol=1e-4)
        parents = data.draw(st.lists(st.integers(0, len(slots) - 1), max_size=12))
        tokens = data.draw(
            st.lists(st.integers(4, 23), min_size=len(parents), max_size=len(parents))
        )
        targets = decoder.branch(torch.tensor(parents, dtype=torch.int64)).tolist()
        assert sorted(targets) == list(range(len(parents)))
        children = {
            target: (parent, token)
            for target, parent, token in zip(targets, parents, tokens, strict=True)
        }
        reads = [children[target][1] for target in range(len(parents))]
        slots = [
            (slots[parent][0], [*slots[parent][1], token])
            for parent, token in (children[target] for target in range(len(parents)))
        ]


def test_places_of_sentences_that_ended_are_used_again(either: Model):
    decoder = Decoder(either, capacity=2)
    assert decoder.places([[4], [5], [4]]) == [0, 1, 0]
    decoder.start(torch.tensor([0, 1]))
    decoder.step(torch.tensor([BOS, BOS]))
    decoder.branch(torch.tensor([1]))
    assert decoder.places([[6], [5]]) == [0, 1]


def test_equal_sentences_of_two_beams_have_places_of_their_own(either: Model):
    decoder = BeamDecoder(either, capacity=4)
    assert decoder.places([[4], [5], [4]]) == [0, 1, 2]
    decoder.start(torch.tensor([0, 1, 2]))
    decoder.step(torch.tensor([BOS] * 3))
    decoder.branch(torch.tensor([0, 2]))
    assert decoder.places([[4], [4]]) == [1, 3]


def test_positions_beyond_the_training_data_repeat_the_last(either: Model):
    decoder = Decoder(either, capacity=1)
    decoder.start(torch.tensor(decoder.places([[4]])))
    for _ in range(either.network.sizes.max_target + 5):
        hidden = decoder.step(torch.tensor([BOS]))
    assert torch.isfinite(hidden).all()


def test_more_slots_than_there_are_is_an_error(tiny: Model):
    decoder = Decoder(tiny, capacity=1)
    with pytest.raises(ValueError, match="2 new slots"):
        decoder.start(torch.tensor(decoder.places([[4], [5]])))
