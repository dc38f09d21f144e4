"""Speed of M2M100's and NLLB's shape next to CTranslate2, on one thread.

Usage: python -m benchmarks.bench_m2m100 [--vocabularies N ...] [--rounds N] [--small]

12 + 12 layers of 1,024, 16 heads, feed-forward 4,096, random weights; `--small`: a sixteenth as
wide. CTranslate2's own converter writes its folders from ours. Before anything is timed, scores are
compared. Sources have 19 pieces, outputs run to 20 tokens. As in `bench_nmt`, each round takes
other sentences through all systems, and figures are medians in output tokens per second of CPU
time.
"""

import argparse
import multiprocessing
import random
import statistics
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import torch

from benchmarks.bench_nmt import EIGHT, FULL, INT8, OURS, TOLERANCE, System
from benchmarks.peers import in_ctranslate2, in_paraloom
from benchmarks.peers.tasks import OUTPUT_TOKENS, SOURCE_PIECES, Sentence, timed
from tests.unit.nmt.random_m2m100 import LANGUAGES, NLLB_600M, write_m2m100
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.vocabulary import SYMBOLS

SAMPLES, BEAM, ROWS = 60, 4, 64
# Per sentence, to be scored.
TARGETS = 8
SENTENCES = 4
# Two systems at a time are in memory: by their names, their precisions.
PAIRS = {(OURS, FULL): ("fp32", "float32"), (INT8, EIGHT): ("int8", "int8")}

Scorer = Callable[[list[tuple[list[int], list[int]]], int], list[float]]


def tasks(vocabulary: int, count: int) -> list[Sentence]:
    """Return sentences of random words, with targets of random words."""
    chance = random.Random(1)

    def words() -> list[int]:
        most = vocabulary - len(LANGUAGES) - 1
        return [chance.randrange(len(SYMBOLS), most) for _ in range(SOURCE_PIECES)]

    return [Sentence(words(), [[]], (), [words() for _ in range(TARGETS)]) for _ in range(count)]


def load(folder: Path, precision: str) -> Model:
    """Load our model, with outputs no longer than their sources."""
    model = load_model(folder, "cpu", precision)
    model.network.sizes = replace(model.network.sizes, longest_output=1.0)
    return model


def ours(model: Model) -> dict[str, System]:
    """Return what is timed of our core; sources begin with the code of their language."""

    def marked(run: Callable[[list[Sentence]], int]) -> System:
        return timed(
            lambda part: run([replace(s, source=[model.marks.first, *s.source]) for s in part])
        )

    return {
        "sampling": marked(lambda part: in_paraloom.sampler(model, SAMPLES, ROWS)(part[:1])),
        "beam": marked(in_paraloom.beam(model, BEAM, ROWS, constrained=False)),
        "scoring": timed(scoring(own_scorer(model))),
    }


def own_scorer(model: Model) -> Scorer:
    """Return what scores pairs whose sources have no code yet."""

    def score(pairs: list[tuple[list[int], list[int]]], rows: int) -> list[float]:
        marked = [([model.marks.first, *source], target) for source, target in pairs]
        return in_paraloom.scores(model, marked, rows)

    return score


def theirs(translator: in_ctranslate2.Translator) -> dict[str, System]:
    """Return what is timed of CTranslate2."""
    sample = translator.sample_freely(SAMPLES)
    return {
        "sampling": timed(lambda part: sample(part[:1])),
        "beam": timed(translator.beam(BEAM, ROWS)),
        "scoring": timed(scoring(translator.score)),
    }


def scoring(score: Scorer) -> Callable[[list[Sentence]], int]:
    """Return a function that scores the targets of sentences."""

    def run(part: list[Sentence]) -> int:
        pairs = [(each.source, target) for each in part for target in each.targets]
        return OUTPUT_TOKENS * len(score(pairs, ROWS))

    return run


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--vocabularies", nargs="+", type=int, default=(128_112, 256_206))
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--small", action="store_true", help="a sixteenth as wide")
    options = parser.parse_args()
    torch.set_num_threads(1)
    for vocabulary in options.vocabularies:
        shape = NLLB_600M | {"vocabulary": vocabulary}
        if options.small:
            shape |= {key: shape[key] // 16 for key in ("size", "hidden")}
        with tempfile.TemporaryDirectory() as work:
            compare(Path(work), shape, options.rounds)


def compare(work: Path, shape: dict[str, int], rounds: int) -> None:
    """Print the speeds of both systems in fp32, then in int8, with the weights of one model.

    Raises:
        SystemExit: CTranslate2 has other scores in fp32: not the same weights.
    """
    folder = write_m2m100(work / "model", **shape)
    sentences = tasks(shape["vocabulary"], rounds * SENTENCES)
    print(f"\n{shape}; torch {torch.__version__}, one thread")
    exact: list[float] = []
    for (name, peer), (precision, kind) in PAIRS.items():
        target = work / kind
        # In a process of its own, which gives its memory back.
        process = multiprocessing.get_context("spawn").Process(
            target=in_ctranslate2.convert_m2m100, args=(folder, target, kind)
        )
        process.start()
        process.join()
        translator = in_ctranslate2.Translator(
            target, kind, ([LANGUAGES[1]], ["</s>"]), [LANGUAGES[0]]
        )
        model = load(folder, precision)
        pairs = [(each.source, target) for each in sentences[:2] for target in each.targets]
        scores = {name: own_scorer(model)(pairs, ROWS), peer: translator.score(pairs, ROWS)}
        exact = exact or scores[name]
        for system, nlls in scores.items():
            gap = max(abs(b - a) for a, b in zip(exact, nlls, strict=True))
            print(f"  {system:<20}NLL {statistics.mean(nlls):.4f}, largest gap {gap:.1e}")
            if precision == "fp32" and gap > TOLERANCE:
                raise SystemExit(f"{peer} does not have the weights of the model")
        measure({name: ours(model), peer: theirs(translator)}, sentences)


def measure(systems: dict[str, dict[str, System]], sentences: list[Sentence]) -> None:
    """Print the speeds of two systems, and how many times as fast the first one is."""
    speeds: dict[str, dict[str, list[float]]] = {}
    for first in range(0, len(sentences), SENTENCES):
        part = sentences[first : first + SENTENCES]
        for mode in ("sampling", "beam", "scoring"):
            for name, runs in systems.items():
                tokens, seconds = runs[mode](part)
                speeds.setdefault(mode, {}).setdefault(name, []).append(tokens / seconds)
    for mode, of_mode in speeds.items():
        own, other = map(statistics.median, of_mode.values())
        print(f"{mode}, tokens/s: {own / other:.2f} times as fast")
        for name, values in of_mode.items():
            spread = f"{min(values):.1f} to {max(values):.1f}"
            print(f"  {name:<20}{statistics.median(values):>8.1f}  {spread}", flush=True)


if __name__ == "__main__":
    main()
