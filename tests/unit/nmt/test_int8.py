import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F  # noqa: N812

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt import int8
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.int8 import LARGEST, LARGEST_WITHOUT_VNNI, Int8Linear
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.precision import PRECISIONS
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.scoring import score

CPU = torch.device("cpu")

pytestmark = pytest.mark.skipif(
    not int8.can_compute(), reason="this torch has no products of 8-bit numbers"
)


def layers(bias: bool = True) -> tuple[Linear, Int8Linear]:
    """Return a plain layer and the one in 8 bits."""
    generator = torch.Generator().manual_seed(3)
    # Channels of very different size: each needs a scale of its own.
    weight = torch.randn(48, 32, generator=generator) * torch.logspace(-3, 2, 48)[:, None]
    plain = Linear(weight, torch.randn(48, generator=generator) if bias else None)
    return plain, Int8Linear.of(plain)


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("shape", [(1, 32), (37, 32), (3, 5, 32), (0, 32)])
@torch.inference_mode()
def test_outputs_are_those_of_the_rounded_factors(shape, bias):
    plain, layer = layers(bias)
    generator = torch.Generator().manual_seed(6)
    x = torch.randn(shape, generator=generator)
    residual = torch.randn(*shape[:-1], 48, generator=generator)
    if not x.numel():
        assert layer(x).shape == residual.shape
        return
    scale = x.abs().amax(dim=-1, keepdim=True) / int8.largest_input()
    expected = F.linear((x / scale).round().double() * scale, layer.plain().double())
    expected = (expected + plain.bias if bias else expected).float()
    assert torch.allclose(layer(x), expected, rtol=1e-5, atol=1e-5)
    assert torch.allclose(layer.activated(x, "relu"), expected.relu(), rtol=1e-5, atol=1e-5)
    assert torch.allclose(layer.added(x, residual), expected + residual, rtol=1e-5, atol=1e-5)
    rows = layer.in_parts(x)
    assert torch.equal(rows(slice(0, 1)), layer(x)[:1])
    assert torch.equal(rows(torch.tensor([0, 0])), layer(x)[[0, 0]])


def test_weights_keep_the_precision_of_their_channel():
    plain, layer = layers()
    gap = (layer.plain() - plain.weight).abs().amax(dim=1)
    # Half of a whole number, whatever the size of the channel.
    assert (gap <= plain.weight.abs().amax(dim=1) / LARGEST * 0.5001).all()
    assert layer.columns == plain.columns == 48


@pytest.mark.parametrize("matrices", [1, 2, 3])
def test_whole_weights_stay_what_they_are(matrices):
    """Students come in 8 bits."""
    generator = torch.Generator().manual_seed(4)
    parts = []
    for number in range(matrices):
        whole = torch.randint(1 - LARGEST, LARGEST, (16, 32), generator=generator).float()
        whole[3, 5] = LARGEST
        parts.append(whole * 0.013 * (number + 1))
    weight = torch.cat(parts)
    assert torch.allclose(Int8Linear.of(Linear(weight)).plain(), weight, rtol=1e-6, atol=0)
    # Others get a scale for each channel.
    other = weight + 0.004 * torch.rand(weight.shape, generator=generator)
    assert len(Int8Linear.of(Linear(other)).scale.unique()) == len(other)


def test_a_huge_weight_spoils_its_own_channel_only():
    # Next to it all others are nearly 0, which is whole as well.
    weight = torch.randn(48, 32, generator=torch.Generator().manual_seed(5))
    weight[7, 3] = 1e6
    gap = (Int8Linear.of(Linear(weight)).plain() - weight).abs().amax(dim=1)
    assert (gap <= weight.abs().amax(dim=1) / LARGEST * 0.5001).all()


@torch.inference_mode()
def test_strides_do_not_matter():
    plain, layer = layers()
    turned = Int8Linear.of(Linear(plain.weight.t().contiguous().t(), plain.bias))
    assert torch.equal(turned.plain(), layer.plain())
    x = torch.randn(37, 32)
    for strided in (x.t().contiguous().t(), torch.cat([x, x], dim=1)[:, 32:]):
        assert not strided.is_contiguous()
        assert torch.equal(turned(strided), layer(x))
        assert torch.equal(
            turned.added(strided, torch.ones(37, 48)), layer.added(x, torch.ones(37, 48))
        )


@torch.inference_mode()
def test_a_row_depends_on_itself_alone():
    _, layer = layers()
    x = torch.randn(64, 32) * torch.logspace(-4, 4, 64)[:, None]
    alone = torch.cat([layer(row[None]) for row in x])
    assert torch.equal(layer(x), alone)


@torch.inference_mode()
def test_rows_of_zeros_and_rows_that_are_broken():
    plain, layer = layers()
    x = torch.zeros(3, 32)
    x[1, 4], x[2, 5] = torch.nan, torch.inf
    found = layer(x)
    assert torch.equal(found[0], plain.bias)
    # A model that computes nonsense must not look as if it did not.
    assert not found[1:].isfinite().any()


PRODUCT = """
import torch
from workflow_scripts.nmt import int8
from workflow_scripts.nmt.linear import Linear

weight, x = torch.rand(48, 512) + 1, torch.rand(64, 512) + 1
layer, largest = int8.Int8Linear.of(Linear(weight)), int8.largest_input()
scale = x.amax(dim=1, keepdim=True) / largest
expected = ((x / scale).round().double() * scale) @ layer.plain().double().t()
gap = (layer(x) - expected).abs().max() / expected.max()
print(largest, int(layer.weight.to_dense().max()), bool(gap < 1e-6))
"""


# Without VNNI, then with it if the CPU has it.
@pytest.mark.rest
@pytest.mark.parametrize("instructions", ["AVX2", "DEFAULT"])
def test_products_do_not_overflow_whatever_the_instructions(instructions):
    environment = os.environ | {"ONEDNN_MAX_CPU_ISA": instructions}
    shown = subprocess.run(
        [sys.executable, "-c", PRODUCT], env=environment, check=True, capture_output=True, text=True
    ).stdout.split()
    assert shown[1:] == [str(LARGEST), "True"]
    if instructions == "AVX2":
        assert int(shown[0]) == LARGEST_WITHOUT_VNNI
        # Two products of the largest numbers, with unsigned inputs, fit into 16 bits.
        assert 2 * (2 * LARGEST_WITHOUT_VNNI + 1) * LARGEST < 2**15


def test_it_is_refused_where_it_cannot_be_had(monkeypatch: pytest.MonkeyPatch):
    precision = PRECISIONS["int8"]
    precision.check(CPU)
    with pytest.raises(InputError, match="int8 is for CPUs; on cuda use bf16"):
        precision.check(torch.device("cuda"))
    monkeypatch.setattr(torch.backends.mkldnn, "is_available", lambda: False)
    with pytest.raises(InputError, match=r"no products of 8-bit numbers .*use bf16 or fp32"):
        precision.check(CPU)


@pytest.mark.parametrize("folder", ["tiny_folder", "student_folder"])
def test_searches_and_scores_are_near_those_in_fp32(folder, request: pytest.FixtureRequest):
    path: Path = request.getfixturevalue(folder)
    exact, model = load_model(path, "cpu"), load_model(path, "cpu", "int8")
    sources = [[5, 6, 7], [8, 9], [10, 11, 12, 13]]
    searched = list(translate(model, map(BeamRequest, sources), beam_size=4, nbest=2))
    drawn = list(
        sample(
            model,
            [SampleRequest(str(n), 0, each, [(9,)]) for n, each in enumerate(sources)],
            samples=8,
            seed=1,
            k=5,
        )
    )
    found = [
        ((result.request.source, output), nll)
        for result in [*searched, *drawn]
        for output, nll in zip(result.outputs, result.nlls, strict=True)
    ]
    assert len(found) >= 10
    pairs, nlls = [pair for pair, _ in found], torch.tensor([nll for _, nll in found])
    forced = torch.tensor(list(score(model, pairs)))
    readable = forced.isfinite()
    assert readable.sum() > 5
    # Beams keep keys and values in bf16 where the CPU has it, which forced decoding does not.
    assert torch.allclose(forced[readable], nlls[readable], atol=0.02)
    gap = (forced - torch.tensor(list(score(exact, pairs))))[readable]
    assert 0 < gap.abs().max() < 0.1


@pytest.mark.parametrize(("multiplies", "kept"), [(True, torch.bfloat16), (False, torch.float32)])
def test_keys_and_values_are_in_bf16_where_the_cpu_multiplies_it(
    tiny_folder: Path, monkeypatch: pytest.MonkeyPatch, multiplies: bool, kept: torch.dtype
):
    monkeypatch.setattr("workflow_scripts.nmt.model.multiplies_bf16", lambda _: multiplies)
    assert load_model(tiny_folder, "cpu", "int8").kept(1).dtype == kept
