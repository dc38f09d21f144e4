"""Speed of top-k sampling and of scoring on one core, next to what its matrix products allow.

Usage: python -m tests.bench.bench_nmt_sampling [--model FOLDER] [--sentences N] [--rows N]

Without a model it writes a random Transformer of 6 layers, 512 units, 2,048 hidden units and
20,000 pieces, whose outputs run to their maximum length of 20 tokens; they are counted although
`sample` drops them. The sources are random pieces; every constraint set forbids a few random words.
The roofline is the time of the same matrix products alone, on as many rows as may be at work,
for every token that is put out. Sharing of prefixes saves products, so the ratio may pass 1.
"""

import argparse
import random
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import torch

from tests.unit.nmt.folders import write_model
from workflow_scripts.nmt.checkpoint import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.scoring import score


def requests(model: Model, sentences: int, sets: int) -> Iterator[SampleRequest]:
    """Yield requests for random sources, with 0 to 5 words each."""
    chance = random.Random(1)
    source_size, target_size = model.source_vocab.words, model.target_vocab.words
    for sentence in range(sentences):
        source = [chance.randrange(4, source_size) for _ in range(19)]
        for number in range(sets):
            avoid = [
                tuple(chance.randrange(4, target_size) for _ in range(chance.choice((1, 1, 2))))
                for _ in range(chance.randint(0, 5))
            ]
            yield SampleRequest(str(sentence), number, source, avoid)


def products(model: Model, rows: int) -> Callable[[], None]:
    """Return the matrix products of one decoder step of `rows` rows, and nothing else."""
    weights = [
        weight
        for layer in model.weights.decoder
        for weight in (
            layer.attention.inward,
            layer.attention.out,
            layer.cross.query,
            layer.cross.out,
            layer.feed_forward.weight1,
            layer.feed_forward.weight2,
        )
    ]
    weights.append(model.weights.output)
    operands = [(torch.randn(rows, weight.shape[1]), weight.T) for weight in weights]
    results = [torch.empty(rows, weight.shape[0]) for weight in weights]

    def run() -> None:
        for (left, right), result in zip(operands, results, strict=True):
            torch.mm(left, right, out=result)

    return run


def seconds(action: Callable[[], object], repeats: int) -> float:
    """Return the least CPU time of `action` in `repeats` runs."""
    times = []
    for _ in range(repeats):
        start = time.process_time()
        action()
        times.append(time.process_time() - start)
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path)
    parser.add_argument("--sentences", type=int, default=12)
    parser.add_argument("--sets", type=int, default=5)
    parser.add_argument("--samples", type=int, default=30)
    parser.add_argument("--rows", type=int, default=512)
    parser.add_argument("--precision", default="fp32")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        source = arguments.model or write_model(
            Path(folder) / "model",
            **{"layers": 6, "size": 512, "heads": 8, "hidden": 2048, "vocabulary": 20_000},
            **{"longest": 100, "length_ratio": 1.0, "end_bias": -30.0},
        )
        model = load_model(source, "cpu", arguments.precision)
    results = []

    def generate() -> None:
        results.extend(
            sample(
                model,
                requests(model, arguments.sentences, arguments.sets),
                k=10,
                samples=arguments.samples,
                seed=1,
                batch_rows=arguments.rows,
            )
        )

    elapsed = seconds(generate, 1)
    tokens = sum(
        result.dropped * model.max_output_length(len(result.request.source))
        + sum(len(output) + 1 for output in result.outputs)
        for result in results
    )
    print(f"sampling: {tokens / elapsed:,.0f} tokens per CPU-second")
    if arguments.precision == "fp32":
        roofline = arguments.rows / seconds(products(model, arguments.rows), 5)
        print(f"roofline: {roofline:,.0f} tokens per CPU-second")
        print(f"ratio: {tokens / elapsed / roofline:.2f}")
    pairs = [(result.request.source, result.request.source) for result in results] * 8
    elapsed = seconds(lambda: list(score(model, pairs)), 1)
    tokens = sum(len(target) + 1 for _, target in pairs)
    print(f"scoring: {tokens / elapsed:,.0f} tokens per CPU-second")


if __name__ == "__main__":
    main()
