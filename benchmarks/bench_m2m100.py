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
RATIOS = {OURS: FULL, INT8: EIGHT}

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
    first = model.marks.first
    assert first is not None

    def marked(run: Callable[[list[Sentence]], int]) -> System:
        return timed(lambda part: run([replace(s, source=[first, *s.source]) for s in part]))

    return {
        "sampling": marked(lambda part: in_paraloom.sampler(model, SAMPLES, ROWS)(part[:1])),
        "beam": marked(in_paraloom.beam(model, BEAM, ROWS, constrained=False)),
        "scoring": marked(scoring(lambda pairs, rows: in_paraloom.scores(model, pairs, rows))),
    }


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
    """Print the speeds of all systems with the weights of one model.

    Raises:
        SystemExit: CTranslate2 has other scores in fp32: not the same weights.
    """
    folder = write_m2m100(work / "model", **shape)
    translators = {}
    for name, precision in ((FULL, "float32"), (EIGHT, "int8")):
        target = work / precision
        # In a process of its own, which gives its memory back.
        process = multiprocessing.get_context("spawn").Process(
            target=in_ctranslate2.convert_m2m100, args=(folder, target, precision)
        )
        process.start()
        process.join()
        around, prefix = ([LANGUAGES[1]], ["</s>"]), [LANGUAGES[0]]
        translators[name] = in_ctranslate2.Translator(target, precision, around, prefix)
    models = {name: load(folder, precision) for name, precision in ((OURS, "fp32"), (INT8, "int8"))}
    systems = {name: ours(model) for name, model in models.items()}
    systems |= {name: theirs(translator) for name, translator in translators.items()}
    sentences = tasks(shape["vocabulary"], rounds * SENTENCES)
    print(f"\n{shape}; torch {torch.__version__}, one thread")
    compare_scores(sentences[:SENTENCES], models, translators)
    speeds: dict[str, dict[str, list[float]]] = {}
    for first in range(0, len(sentences), SENTENCES):
        part = sentences[first : first + SENTENCES]
        for mode in ("sampling", "beam", "scoring"):
            for name, runs in systems.items():
                tokens, seconds = runs[mode](part)
                of_mode = speeds.setdefault(mode, {})
                of_mode.setdefault(name, []).append(tokens / seconds)
    for mode, of_mode in speeds.items():
        medians = {name: statistics.median(values) for name, values in of_mode.items()}
        print(f"{mode}, tokens/s")
        for name, values in of_mode.items():
            peer = RATIOS.get(name)
            ratio = f"{medians[name] / medians[peer]:.2f} times {peer}" if peer else ""
            print(
                f"  {name:<20}{medians[name]:>8.1f}  {min(values):.1f} to {max(values):.1f}  "
                f"{ratio}",
                flush=True,
            )


def compare_scores(
    sentences: list[Sentence],
    models: dict[str, Model],
    translators: dict[str, in_ctranslate2.Translator],
) -> None:
    """Print how far the scores of all systems are from ours in fp32.

    Raises:
        SystemExit: CTranslate2's are other ones in fp32.
    """
    pairs = [(each.source, target) for each in sentences for target in each.targets]
    found = {
        name: in_paraloom.scores(
            model, [([model.marks.first, *source], target) for source, target in pairs], ROWS
        )
        for name, model in models.items()
    }
    found |= {name: each.score(pairs, ROWS) for name, each in translators.items()}
    for name, nlls in found.items():
        gaps = [b - a for a, b in zip(found[OURS], nlls, strict=True)]
        print(f"  {name:<20}NLL {statistics.mean(nlls):.4f}, largest gap {max(map(abs, gaps)):.1e}")
        if name == FULL and max(map(abs, gaps)) > TOLERANCE:
            raise SystemExit(f"{name} does not have the weights of the model")


if __name__ == "__main__":
    main()
