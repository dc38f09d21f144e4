"""Speed of beam search on one core, plain and constrained, next to Sockeye 3.

Usage: python -m tests.bench.bench_nmt_beam --model FOLDER --sources FILE [--beam-size N]

The sources are sentences of pieces with blanks between. Constrained runs want one piece of each
plain translation replaced by another one (positive) or forbid two of its pieces (negative).
Speed is counted in tokens of the best outputs, </s> included.
"""

import argparse
import logging
from collections.abc import Callable
from pathlib import Path

import torch
from sockeye.beam_search import CandidateScorer
from sockeye.inference import Translator, make_input_from_plain_string
from sockeye.model import load_model as load_sockeye_model

from tests.bench.bench_nmt_sampling import seconds
from workflow_scripts.nmt.beam import BeamRequest, BeamResult, translate
from workflow_scripts.nmt.checkpoint import load_model


def sockeye(folder: Path, beam_size: int, batch_size: int) -> Callable[[list[str]], list[int]]:
    """Return a function from texts to the lengths of Sockeye 3's translations."""
    logging.disable(logging.WARNING)
    device = torch.device("cpu")
    model, source_vocabs, target_vocabs = load_sockeye_model(
        str(folder), device=device, inference_only=True
    )
    translator = Translator(
        device=device,
        ensemble_mode="linear",
        scorer=CandidateScorer(1.0, 0.0, 0.0),
        batch_size=batch_size,
        beam_search_stop="all",
        models=[model],
        source_vocabs=source_vocabs,
        target_vocabs=target_vocabs,
        beam_size=beam_size,
        output_scores=True,
    )

    def run(texts: list[str]) -> list[int]:
        inputs = [make_input_from_plain_string(n, text) for n, text in enumerate(texts)]
        return [len(output.tokens) + 1 for output in translator.translate(inputs)]

    run(texts=["▁a"])  # its modules are traced at the first call
    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--sources", type=Path, required=True)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--beam-size", type=int, default=12)
    parser.add_argument("--rows", type=int, default=512)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model = load_model(arguments.model, "cpu")
    texts = arguments.sources.read_text(encoding="utf-8").splitlines()[: arguments.sentences]
    sources = [model.source_vocab.ids(text.split()) for text in texts]

    def search(name: str, requests: list[BeamRequest]) -> list[BeamResult]:
        results: list[BeamResult] = []
        settings = {"beam_size": arguments.beam_size, "batch_rows": arguments.rows}
        elapsed = seconds(lambda: results.extend(translate(model, requests, **settings)), 1)
        tokens = sum(len(result.outputs[0]) + 1 for result in results if result.outputs)
        print(f"{name}: {tokens / elapsed:,.0f} tokens per CPU-second")
        return results

    plain = [result.outputs[0] for result in search("plain", list(map(BeamRequest, sources)))]
    others = [*plain[1:], plain[0]]
    positive, negative = [], []
    for source, output, other in zip(sources, plain, others, strict=True):
        wanted = next((token for token in other if token not in output), output[0])
        positive.append(BeamRequest(source, [(wanted,)]))
        negative.append(BeamRequest(source, avoid=[(output[0],), (output[-1],)]))
    search("negative", negative)
    search("positive", positive)
    for batch_size in (1, arguments.rows // arguments.beam_size):
        lengths: list[int] = []
        run = sockeye(arguments.model, arguments.beam_size, batch_size)
        elapsed = seconds(lambda: lengths.extend(run(texts)), 1)  # noqa: B023 (called at once)
        speed = sum(lengths) / elapsed
        print(f"Sockeye 3, batches of {batch_size}: {speed:,.0f} tokens per CPU-second")


if __name__ == "__main__":
    main()
