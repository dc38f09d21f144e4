"""Tokens that every sentence of a model has beside its pieces: first, at the end, before <s>.

What the searches do with a lead is tested with theirs, by the fixture `either`.
"""

import pytest
import torch

from tests.unit.nmt.conftest import marked
from workflow_scripts.nmt.blocks import Norm
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.network import Embedding, Marks
from workflow_scripts.nmt.scoring import score
from workflow_scripts.nmt.vocabulary import BOS, EOS

SOURCES = [[5, 9, 7], [6], [18, 4, 4, 5, 8, 11]]


@torch.inference_mode()
@pytest.mark.parametrize("kind", ["tiny", "student"])
def test_the_lead_is_read_and_not_counted(kind: str, request: pytest.FixtureRequest):
    model: Model = request.getfixturevalue(kind)
    with_lead = marked(model, Marks(lead=(BOS, 7)))
    assert with_lead.max_target_pieces == model.max_target_pieces - 2
    for source in SOURCES:
        target = [8, 15, 6]
        hidden = model.decode([[7, BOS, *target]], model.remember(*model.encode([source])))
        rows = model.network.output(hidden[2:]).log_softmax(dim=1)
        expected = -rows[range(4), [*target, EOS]].mean()
        assert list(score(with_lead, [(source, target)])) == pytest.approx([float(expected)], 1e-5)


@torch.inference_mode()
def test_sources_have_their_marks(tiny: Model):
    model = marked(tiny, Marks(first=12, end=(9, EOS)))
    ids = model.source_ids(["▁5", "▁6"])
    assert (ids, model.source_ids([])) == ([12, 5, 6], [])
    assert model.max_source_pieces == tiny.max_source_pieces - 1
    (found, length), (expected, same) = model.encode([ids]), tiny.encode([[12, 5, 6, 9]])
    assert torch.equal(found, expected)
    assert torch.equal(length, same)


def test_embeddings_are_scaled_and_normalised():
    pieces, positions = torch.randn(5, 4), torch.randn(3, 4)
    weight, bias = torch.randn(4), torch.randn(4)
    table = Embedding(pieces, positions, 2.0, Norm(weight, bias, 1e-5))
    tokens = torch.tensor([[3, 0, 4]])
    expected = torch.layer_norm(pieces[tokens] * 2 + positions, (4,), weight, bias, 1e-5)
    assert torch.allclose(table.whole(tokens), expected)
    assert torch.allclose(table.at(tokens[0], torch.arange(3)), expected[0])
