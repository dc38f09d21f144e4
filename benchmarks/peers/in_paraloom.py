"""Our own core."""

from collections.abc import Callable
from itertools import count

import torch

from benchmarks.peers.tasks import OUTPUT_TOKENS, TOP_K, Sentence
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.scoring import score


def sampler(
    model: Model, samples: int, rows: int, *, constrained: bool = True
) -> Callable[[list[Sentence]], int]:
    """Return a function that samples every constraint set.

    Outputs that run to the maximum length are dropped, which makes them no cheaper: they count.
    """
    names = count()

    def run(sentences: list[Sentence]) -> int:
        requests = (
            SampleRequest(str(name), number, each.source, phrases if constrained else [])
            for name, each in zip(names, sentences, strict=False)
            for number, phrases in enumerate(each.avoid)
        )
        results = sample(model, requests, k=TOP_K, samples=samples, seed=1, batch_rows=rows)
        return sum(
            result.dropped * OUTPUT_TOKENS + sum(len(output) + 1 for output in result.outputs)
            for result in results
        )

    return run


def beam(
    model: Model, beam_size: int, rows: int, *, constrained: bool
) -> Callable[[list[Sentence]], int]:
    """Return a function that translates by beam search, with the constraints or without."""

    def run(sentences: list[Sentence]) -> int:
        requests = [
            BeamRequest(each.source, [each.wanted], each.avoid[0])
            if constrained
            else BeamRequest(each.source)
            for each in sentences
        ]
        results = translate(model, requests, beam_size=beam_size, batch_rows=rows)
        return sum(len(result.outputs[0]) + 1 for result in results if result.outputs)

    return run


def scores(model: Model, pairs: list[tuple[list[int], list[int]]], rows: int) -> list[float]:
    """Return the NLLs of pairs, about `rows` of them at once."""
    return list(score(model, pairs, batch_tokens=rows * OUTPUT_TOKENS))


def products(model: Model, rows: int) -> Callable[[], None]:
    """Return the matrix products of one decoder step of `rows` rows, and nothing else."""
    layers = [
        linear
        for layer in model.network.decoder
        for linear in (
            layer.prefix.inward,
            layer.prefix.out,
            layer.cross.inward,
            layer.cross.out,
            layer.feed_forward.inward,
            layer.feed_forward.out,
        )
    ]
    layers.append(model.network.output)
    rows_of = [torch.randn(rows, linear.plain().shape[1]).to(model.dtype) for linear in layers]

    @torch.inference_mode()
    def run() -> None:
        for linear, x in zip(layers, rows_of, strict=True):
            linear(x)

    return run
