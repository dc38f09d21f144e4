"""What a device writes beside what the CPU writes; `benchmarks/gpu.sh` asks a GPU."""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from tests.unit.nmt.test_beam import read_cases
from workflow_scripts.nmt.beam import translate
from workflow_scripts.nmt.divergence import Group, compared
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.scoring import score
from workflow_scripts.nmt.streaming import STRIDE

# Of the outputs this share is the CPU's, and their numbers differ by so much at most. A sample may
# be another where sums are rounded otherwise; in bf16 a token's probability moves by a hundredth.
BOUNDS = {"fp32": (0.98, 1e-3), "bf16": (0.4, 0.15)}
# Of each file of cases.
REQUESTS = 16

# The number of a request, and one of its outputs.
Output = tuple[int, tuple[int, ...]]
Outputs = list[tuple[Output, float]]


class Comparison(NamedTuple):
    """How many of the CPU's outputs a device writes, and how far the numbers of those differ."""

    what: str
    same: int
    outputs: int
    gap: float

    def is_close(self, precision: str) -> bool:
        """Tell whether it is within the bounds of a precision."""
        share, gap = BOUNDS[precision]
        return self.same >= share * self.outputs and self.gap <= gap


def _searched(results: Iterable[Any]) -> Outputs:
    return [
        ((number, tuple(output)), nll)
        for number, result in enumerate(results)
        for output, nll in zip(result.outputs, result.nlls, strict=True)
    ]


def _written(model: Model, cases: Path) -> Iterator[tuple[str, Outputs]]:
    """Yield what each way to generate and score gives."""
    for name in ("plain", "negative_phrase", "both"):
        requests = read_cases(model, cases / f"{name}.jsonl")[:REQUESTS]
        found = translate(model, requests, beam_size=12, nbest=3, stride=STRIDE)
        yield f"beam 12 ({name})", _searched(found)
    requests = read_cases(model, cases / "negative_phrase.jsonl")[:REQUESTS]
    samples = [SampleRequest(str(n), 0, one.source, one.avoid) for n, one in enumerate(requests)]
    for what, cut in {"k 10": {"k": 10}, "top-p": {"top_p": 0.9}}.items():
        found = sample(model, samples, **cut, samples=10, seed=1, stride=STRIDE)
        yield f"samples ({what})", _searched(found)
    sides = (
        [vocabulary.ids(line.split()) for line in (cases / name).read_text().splitlines()]
        for vocabulary, name in ((model.source_vocab, "score.cs"), (model.target_vocab, "score.en"))
    )
    pairs = list(zip(*sides, strict=True))[: 4 * REQUESTS]
    yield "scores", [((number, ()), nll) for number, nll in enumerate(score(model, pairs))]
    sources = [source for source, _ in pairs]
    groups = [
        Group(pair[1], pair[0], [other]) for pair, other in zip(pairs, sources[::-1], strict=True)
    ]
    found = compared(model, groups)
    yield "divergences", [((number, ()), one.divergence) for number, [one] in enumerate(found)]


def comparisons(oracle: Path, device: str, precision: str) -> Iterator[Comparison]:
    """Yield how a device compares, for each way to generate and score, on a trained model."""
    here, there = (load_model(oracle / "model", name, precision) for name in ("cpu", device))
    ways = zip(_written(here, oracle / "cases"), _written(there, oracle / "cases"), strict=True)
    for (what, expected), (_, found) in ways:
        same = Counter(output for output, _ in expected) & Counter(output for output, _ in found)
        numbers, others = dict(expected), dict(found)
        gap = max((abs(numbers[output] - others[output]) for output in same), default=0.0)
        yield Comparison(what, same.total(), max(len(expected), len(found)), gap)
