"""The searches of the forward model behind one function: samples, or a beam's n-best list."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from workflow_scripts.nmt.automaton import Phrase
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.plan.schema import filled


@dataclass(frozen=True)
class Decoding:
    """What the search found for one constraint set.

    `outputs`: piece ids without </s>, in the order drawn, or best first; `nlls`: in nats per
    token, </s> included; `unfinished`: samples that reached the maximum length, or 1 where a beam
    found nothing; `unmet`: wanted phrases that then were not met.
    """

    outputs: list[list[int]]
    nlls: list[float]
    unfinished: int
    unmet: int = 0


@dataclass(frozen=True)
class Request:
    """One search: of a source (piece ids) without the phrases of `avoid`, with those of `wanted`.

    A wanted phrase counts where its last word ends. `id` and `set` seed the samples, which can't
    have wanted phrases.
    """

    id: str
    set: int
    source: list[int]
    avoid: list[Phrase]
    wanted: list[Phrase] = field(default_factory=list)


def decode(
    model: Model, requests: Iterable[Request], search: dict[str, Any], seed: int, batch_rows: int
) -> Iterator[Decoding]:
    """Yield what the search finds for every request, in order.

    Args:
        model: the forward model.
        requests: read only as the search has room for them.
        search: the `search` block of a system.
        seed: of the samples.
        batch_rows: hypotheses at work at once.
    """
    search = filled(search, search["method"])
    if search["method"] == "sample":
        samples = sample(
            model,
            (
                SampleRequest(request.id, request.set, request.source, request.avoid)
                for request in requests
            ),
            samples=search["samples"],
            seed=seed,
            k=search["k"],
            top_p=search["top_p"],
            min_p=search["min_p"],
            epsilon=search["epsilon"],
            temperature=search["temperature"],
            batch_rows=batch_rows,
        )
        for drawn in samples:
            yield Decoding(drawn.outputs, drawn.nlls, drawn.dropped)
    else:
        beams = translate(
            model,
            (
                BeamRequest(request.source, request.wanted, request.avoid, whole_words=True)
                for request in requests
            ),
            beam_size=search["beam_size"],
            nbest=search["nbest"],
            batch_rows=batch_rows,
        )
        for beam in beams:
            yield Decoding(beam.outputs, beam.nlls, int(not beam.outputs), len(beam.unmet))
