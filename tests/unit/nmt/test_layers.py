"""Layers equal those of torch, before and after which a norm stands, with a bias everywhere."""

import pytest
import torch
from torch import Tensor, nn

from workflow_scripts.nmt.attention import CrossAttention, SelfAttention, attend_whole
from workflow_scripts.nmt.blocks import NORM_EPSILON, FeedForward, Frame, Grid, Moment, Norm
from workflow_scripts.nmt.linear import Linear, fill_up
from workflow_scripts.nmt.network import DecoderLayer, EncoderLayer

SIZE, HEADS, HIDDEN = 16, 4, 24
COUNT, WIDTH, LENGTHS = 3, 5, [4, 7, 1]
SHAPE = {"dim_feedforward": HIDDEN, "dropout": 0.0, "layer_norm_eps": NORM_EPSILON}


def layer(kind: type[nn.Module], norm_first: bool) -> nn.Module:
    """Return a layer of torch with random weights, norms included."""
    torch.manual_seed(7)
    made = kind(SIZE, HEADS, **SHAPE, batch_first=True, norm_first=norm_first).eval()
    for parameter in made.parameters():
        nn.init.normal_(parameter, mean=0.1, std=0.3)
    return made


def frame(norm: nn.LayerNorm, norm_first: bool) -> Frame:
    own = Norm(norm.weight, norm.bias)
    return Frame(before=own) if norm_first else Frame(after=own)


def weights(attention: nn.MultiheadAttention) -> dict[str, Linear]:
    """Return the products of an attention of torch by their roles."""
    parts = zip(attention.in_proj_weight.chunk(3), attention.in_proj_bias.chunk(3), strict=True)
    query, key, value = (Linear(*part) for part in parts)
    out = Linear(attention.out_proj.weight, attention.out_proj.bias)
    return {"query": query, "key": key, "value": value, "out": out}


def feed_forward(made: nn.Module, norm: nn.LayerNorm, norm_first: bool) -> FeedForward:
    first, second = (Linear(each.weight, each.bias) for each in (made.linear1, made.linear2))
    return FeedForward(frame(norm, norm_first), first, second, activation="relu")


def decoder_layer(made: nn.TransformerDecoderLayer, norm_first: bool) -> DecoderLayer:
    return DecoderLayer(
        SelfAttention.of(frame(made.norm1, norm_first), HEADS, **weights(made.self_attn)),
        CrossAttention.of(frame(made.norm2, norm_first), HEADS, **weights(made.multihead_attn)),
        feed_forward(made, made.norm3, norm_first),
    )


def valid() -> Tensor:
    """Return which source positions [COUNT, longest] hold a token."""
    return torch.arange(max(LENGTHS)) < torch.tensor(LENGTHS)[:, None]


@pytest.mark.parametrize("norm_first", [True, False])
@torch.inference_mode()
def test_encoder_layer(norm_first: bool):
    made = layer(nn.TransformerEncoderLayer, norm_first)
    own = EncoderLayer(
        SelfAttention.of(frame(made.norm1, norm_first), HEADS, **weights(made.self_attn)),
        feed_forward(made, made.norm2, norm_first),
    )
    x = torch.randn(COUNT, max(LENGTHS), SIZE)
    rows = own(fill_up(x.flatten(0, 1)), Grid(*x.shape[:2]), valid()[:, None, None])
    found = rows[: COUNT * max(LENGTHS)].view_as(x)
    expected = made(x, src_key_padding_mask=~valid())
    assert torch.allclose(found[valid()], expected[valid()], atol=1e-5)


@pytest.mark.parametrize("norm_first", [True, False])
@torch.inference_mode()
def test_decoder_layer_at_once_and_step_by_step(norm_first: bool):
    made = layer(nn.TransformerDecoderLayer, norm_first)
    own = decoder_layer(made, norm_first)
    x, encoded = torch.randn(COUNT, WIDTH, SIZE), torch.randn(COUNT, max(LENGTHS), SIZE)
    causal = nn.Transformer.generate_square_subsequent_mask(WIDTH)
    expected = made(x, encoded, tgt_mask=causal, memory_key_padding_mask=~valid())

    sources, mask = Grid(*encoded.shape[:2]), valid()[:, None, None]
    keys, values = own.cross.remember(fill_up(encoded.flatten(0, 1)), sources)
    grid = Grid(COUNT, WIDTH)
    rows = own(
        fill_up(x.flatten(0, 1)),
        lambda rows: own.prefix.forced(rows, grid),
        lambda query: attend_whole(keys, values, mask, grid, query),
    )
    assert torch.allclose(rows[: COUNT * WIDTH].view_as(x), expected, atol=1e-5)

    state, one = own.prefix.state(COUNT, x), Grid(COUNT, 1)
    state.grow(WIDTH)
    for position in range(WIDTH):
        moment = Moment.of(torch.full((COUNT,), position), WIDTH)
        rows = own(
            fill_up(x[:, position]),
            lambda rows, moment=moment: state.step(rows, moment),
            lambda query: attend_whole(keys, values, mask, one, query),
        )
        assert torch.allclose(rows[:COUNT], expected[:, position], atol=1e-5)
