"""Speed of generation and scoring on one core, next to every system that can do the same.

Usage: python -m benchmarks.bench_nmt [--small] [--only sampling beam constrained scoring]

All systems get the weights of one random Transformer (6 layers of 512, feed-forward 2,048, 20,000
pieces; with --small 2 layers of 128, 512, 2,000 pieces), whose outputs run to 20 tokens, and the
same real sentences: 19 words of the Czech side of Multi30k (where PARALOOM_DATA is absent: of the
testbed), words as pieces. Before anything is timed, their scores are compared. Every round takes
another part of the sentences through all systems, one after the other, so that a noisy machine is
noisy for all; figures are medians over the rounds, in output tokens per second of CPU time. Every
system has one thread.

The roofline is the time of the matrix products of one decoder step alone, on as many rows as may
be at work, for every token that is put out. Samples that still agree share their products, and
scoring also encodes: the share of the roofline says how much is lost, and may pass 1.
"""

import argparse
import os
import random
import statistics
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path

import torch

from benchmarks.peers import in_ctranslate2, in_paraloom, in_sockeye2, in_sockeye3, in_transformers
from benchmarks.peers.tasks import (
    OUTPUT_TOKENS,
    SOURCE_PIECES,
    TOP_K,
    Sentence,
    Shape,
    Timing,
    pieces,
    timed,
)
from tests.unit.nmt.folders import write_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.vocabulary import SYMBOLS
from workflow_scripts.stages.train.sockeye2 import find_interpreter
from workflow_scripts.testbed.generate import pairs as testbed_pairs

ROOT = Path(__file__).resolve().parents[1]
LARGE = Shape(layers=6, size=512, heads=8, hidden=2048, vocabulary=20_000)
SMALL = Shape(layers=2, size=128, heads=4, hidden=512, vocabulary=2_000)
SETS, SAMPLES, BEAM, ROWS = 5, 30, 12, 512
TARGETS = 30  # per sentence, to be scored
# Systems that work sentence by sentence are timed on one of so many.
SENTENCE_BY_SENTENCE = 4
# Largest difference of scores, in nats per token, at which two systems have the same weights.
TOLERANCE = 1e-4

OURS = "Paraloom fp32"
BF16 = "Paraloom bf16"
INT8 = "Paraloom int8"
OWN = (OURS, BF16, INT8)
BEST = "the best of ours"
CONSTRAINED = "CTranslate2 int8, 30 rows, constraints"
FREE = "CTranslate2 int8, 150 rows, none"
FULL, EIGHT = "CTranslate2 fp32", "CTranslate2 int8"
PRODUCTS = "matrix products alone (roofline), fp32"
SOCKEYE2 = "Sockeye 2, batches"
# For each model and mode: how many times as fast as a peer one of OWN, or their BEST, is to be.
AIMS = {
    LARGE: {
        "sampling": [(BEST, CONSTRAINED, 2.5), (BEST, FREE, 1.6)],
        "scoring": [(BEST, FULL, 4), (BEST, EIGHT, 4)],
        "beam": [(OURS, FULL, 1.15), (BEST, EIGHT, 1.2)],
        "constrained": [(BEST, SOCKEYE2, 10)],
    },
    SMALL: {
        "sampling": [(BEST, f"{FULL}, 30 rows, constraints", 1.2)],
        "scoring": [(BEST, FULL, 1.5)],
        "beam": [(BEST, FULL, 1.0)],
    },
}

System = Callable[[list[Sentence]], Timing]


def words() -> tuple[str, list[list[str]]]:
    """Return the name of a corpus and its sentences as lists of words."""
    data = Path(os.environ.get("PARALOOM_DATA", ROOT.parent / "shared" / "data"))
    path = data / "multi30k" / "train.cs"
    if path.is_file():
        return "Multi30k", [line.split() for line in path.read_text(encoding="utf-8").splitlines()]
    texts = [pair[0].split() for pair in testbed_pairs(1, 0, 4_000)]
    doubled = [left + right for left, right in zip(texts[::2], texts[1::2], strict=True)]
    return "the testbed, two sentences each", doubled


def sources(vocabulary: int, count: int) -> tuple[str, list[list[int]]]:
    """Return the name of a corpus and the piece ids of `count` sentences, cut to 19 words."""
    name, lines = words()
    common = Counter(word for line in lines for word in line).most_common(vocabulary - len(SYMBOLS))
    ids = {word: index for index, (word, _) in enumerate(common, start=len(SYMBOLS))}
    known = ([ids[word] for word in line if word in ids][:SOURCE_PIECES] for line in lines)
    found = [line for line in known if len(line) == SOURCE_PIECES]
    return name, found[:count]


def sentences(model: Model, texts: list[list[int]]) -> list[Sentence]:
    """Make the tasks: constraints are taken from what the model writes of its own accord."""
    chance = random.Random(1)
    size = model.target_vocab.words
    plain = [result.outputs[0] for result in translate(model, map(BeamRequest, texts), beam_size=1)]
    tasks = []
    for number, (source, output) in enumerate(zip(texts, plain, strict=True)):
        other = plain[(number + 1) % len(plain)]
        avoid = []
        for _ in range(SETS):
            start = chance.randrange(len(output) - 1)
            single = [(token,) for token in chance.sample(output, 2)]
            avoid.append([*single, tuple(output[start : start + 2])])
        # Never what the first set, which constrained beam search gets, forbids.
        free = [token for token in other if (token,) not in avoid[0]] or [size - 1]
        wanted = (free[0], size - 2 - number)
        targets = [
            [chance.randrange(len(SYMBOLS), size) for _ in range(SOURCE_PIECES)]
            for _ in range(TARGETS)
        ]
        tasks.append(Sentence(source, avoid, wanted, targets))
    return tasks


def scorer(score: Callable[[list, int], list[float]]) -> System:
    """Make a system of a function that scores pairs, so many rows at once."""

    def run(part: list[Sentence]) -> int:
        pairs = [(each.source, target) for each in part for target in each.targets]
        score(pairs, ROWS)
        return OUTPUT_TOKENS * len(pairs)

    return timed(run)


def sampled(systems: "Systems", tasks: list[Sentence]) -> list[Sentence]:
    """Return the sentences with targets as a run has them: its distinct samples.

    CTranslate2 draws them, as ours drops samples that do not end.
    """
    words = pieces(list(range(systems.model.target_vocab.words)))
    ids = {piece: index for index, piece in enumerate(words)}
    found = []
    for each in tasks:
        drawn = systems.full.sampled(each, SAMPLES)
        targets = {tuple(ids[piece] for piece in one[:SOURCE_PIECES]) for one in drawn}
        found.append(replace(each, targets=sorted(map(list, targets))))
    return found


def own_prefixes(tasks: list[Sentence]) -> float:
    """Return how many different prefixes the targets of a sentence have, per token of theirs."""
    tokens = OUTPUT_TOKENS * sum(len(each.targets) for each in tasks)
    distinct = sum(
        len({tuple(one[:length]) for one in each.targets for length in range(OUTPUT_TOKENS)})
        for each in tasks
    )
    return distinct / tokens


def some(system: System) -> System:
    """Let a slow system have one of SENTENCE_BY_SENTENCE sentences, and one at least."""
    return lambda part: system(part[::SENTENCE_BY_SENTENCE])


def singly(system: System) -> System:
    """Give a system one sentence at a time, and only some of them."""

    def run(part: list[Sentence]) -> Timing:
        timings = [system([sentence]) for sentence in part[::SENTENCE_BY_SENTENCE]]
        return Timing(*map(sum, zip(*timings, strict=True)))

    return run


def roofline(model: Model) -> System:
    """Make a system of the decoder's matrix products alone."""
    run = in_paraloom.products(model, ROWS)

    def measure(_: list[Sentence]) -> Timing:
        times = []
        for _ in range(7):
            start = time.process_time()
            run()
            times.append(time.process_time() - start)
        return Timing(ROWS, min(times))

    return measure


def compare_scores(tasks: list[Sentence], systems: dict[str, Callable]) -> None:
    """Print how far the scores of all systems are from ours.

    Raises:
        SystemExit: a system that computes in fp32 has other scores: not the same weights.
    """
    pairs = [(each.source, each.targets[0]) for each in tasks[:16]]
    ours = systems[OURS](pairs, ROWS)
    print(f"scores of {len(pairs)} pairs, largest difference from {OURS} (NLL per token):")
    for name, score in systems.items():
        gap = max(abs(a - b) for a, b in zip(ours, score(pairs, ROWS), strict=True))
        print(f"  {name:<44}{gap:.1e}")
        if not gap < TOLERANCE and "int8" not in name and "bf16" not in name:
            raise SystemExit(f"{name} does not have the weights of the model")


def compare_searches(model: Model, tasks: list[Sentence], peer: in_sockeye2.Sockeye2) -> None:
    """Print how Sockeye 2's translations compare with ours, with constraints and without."""
    for constrained in (False, True):
        part = tasks[:4]
        requests = [
            BeamRequest(each.source, [each.wanted], each.avoid[0])
            if constrained
            else BeamRequest(each.source)
            for each in part
        ]
        ours = list(translate(model, requests, beam_size=BEAM, batch_rows=ROWS))
        _, theirs = peer.search(part, constrained=constrained)
        kind = "constrained" if constrained else "plain"
        equal = sum(
            " ".join(pieces(result.outputs[0])) == output["translation"]
            for result, output in zip(ours, theirs, strict=True)
        )
        own = statistics.mean(result.nlls[0] for result in ours)
        other = statistics.mean(output["score"] for output in theirs)
        print(
            f"  {kind} beam {BEAM}, Sockeye 2 and ours: {equal} of {len(part)} translations equal, "
            f"mean NLL {other:.4f} and {own:.4f}"
        )


def measure(
    title: str, systems: dict[str, System], parts: list[list[Sentence]]
) -> dict[str, float]:
    """Take every part through all systems; print and return tokens per CPU-second (medians)."""
    speeds: dict[str, list[float]] = {name: [] for name in systems}
    for part in parts:
        for name, system in systems.items():
            tokens, seconds = system(part)
            speeds[name].append(tokens / seconds)
    medians = {name: statistics.median(values) for name, values in speeds.items()}
    own, best = medians[OURS], max(medians[name] for name in OWN)
    head = ("tokens/s", "fp32 is", "best is")
    print(f"\n{title}\n  {'':<44}{head[0]:>9}  {head[1]:>8}  {head[2]:>8}  range")
    for name, median in medians.items():
        ratios = ("", "") if name in OWN else (own / median, best / median)
        first, second = (f"{ratio:.2f}x" if ratio else "" for ratio in ratios)
        low, high = min(speeds[name]), max(speeds[name])
        print(
            f"  {name:<44}{median:>9,.0f}  {first:>8}  {second:>8}  {low:,.0f} to {high:,.0f}",
            flush=True,
        )
    return medians


def compare_with_aims(medians: dict[str, float], mode: str, shape: Shape) -> None:
    """Print whether the AIMS of a mode are met; a peer that is missing has none."""
    for ours, peer, factor in AIMS[shape].get(mode, ()):
        if peer in medians:
            own = max(medians[name] for name in OWN) if ours == BEST else medians[ours]
            ratio = own / medians[peer]
            verdict = "met" if ratio >= factor else "missed"
            print(f"  aim: {ours} {factor:g} times {peer}: {ratio:.2f}, {verdict}")


@dataclass
class Systems:
    """All systems in this process, with the weights of one model."""

    shape: Shape
    model: Model
    half: Model
    whole: Model
    full: in_ctranslate2.Translator
    small: in_ctranslate2.Translator
    hugging: in_transformers.Generator
    sockeye: in_sockeye3.Sockeye

    def scores(self) -> dict[str, Callable[[list, int], list[float]]]:
        """Return what scores (source, target) pairs, so many rows at once."""
        return {
            OURS: lambda pairs, rows: in_paraloom.scores(self.model, pairs, rows),
            BF16: lambda pairs, rows: in_paraloom.scores(self.half, pairs, rows),
            INT8: lambda pairs, rows: in_paraloom.scores(self.whole, pairs, rows),
            FULL: self.full.score,
            EIGHT: self.small.score,
            "transformers (Pegasus)": self.hugging.score,
            "Sockeye 3": self.sockeye.score,
        }


def load(folder: Path, shape: Shape, work: Path) -> Systems:
    """Give all systems the weights of a Sockeye 3 model folder."""
    converted = in_ctranslate2.convert(folder, shape, work / "ctranslate2")
    return Systems(
        shape,
        load_model(folder, "cpu"),
        load_model(folder, "cpu", "bf16"),
        load_model(folder, "cpu", "int8"),
        in_ctranslate2.Translator(converted, "float32"),
        in_ctranslate2.Translator(converted, "int8"),
        in_transformers.Generator(folder, shape),
        in_sockeye3.Sockeye(folder),
    )


def sampling(systems: Systems, parts: list[list[Sentence]]) -> None:
    """Compare top-k sampling with negative constraints."""
    full, small, hugging = systems.full, systems.small, systems.hugging
    medians = measure(
        f"top-{TOP_K} sampling, {SETS} constraint sets x {SAMPLES} samples",
        {
            OURS: timed(in_paraloom.sampler(systems.model, SAMPLES, ROWS)),
            BF16: timed(in_paraloom.sampler(systems.half, SAMPLES, ROWS)),
            INT8: timed(in_paraloom.sampler(systems.whole, SAMPLES, ROWS)),
            f"{FULL}, 30 rows, constraints": some(timed(full.sample(SAMPLES))),
            CONSTRAINED: some(timed(small.sample(SAMPLES))),
            f"{FULL}, 150 rows, none": some(timed(full.sample_freely(SAMPLES))),
            FREE: some(timed(small.sample_freely(SAMPLES))),
            "transformers, 30 rows, constraints": some(timed(hugging.sample(SAMPLES))),
            "transformers, 150 rows, none": some(timed(hugging.sample_freely(SAMPLES))),
            f"Sockeye 3, {ROWS} rows, none": some(
                timed(systems.sockeye.sample_freely(SAMPLES, TOP_K, ROWS))
            ),
            PRODUCTS: roofline(systems.model),
            "matrix products alone (roofline), bf16": roofline(systems.half),
            "matrix products alone (roofline), int8": roofline(systems.whole),
        },
        parts,
    )
    compare_with_aims(medians, "sampling", systems.shape)


def scoring(systems: Systems, parts: list[list[Sentence]]) -> None:
    """Compare forced decoding: of targets that share nothing, and of what was sampled."""
    scorers = {name: scorer(score) for name, score in systems.scores().items()}
    scorers[PRODUCTS] = roofline(systems.model)
    medians = measure(f"scoring, {TARGETS} targets a sentence", scorers, parts)
    compare_with_aims(medians, "scoring", systems.shape)
    few = [sampled(systems, part[::SENTENCE_BY_SENTENCE]) for part in parts]
    share = own_prefixes([each for part in few for each in part])
    title = f"scoring, {SETS} constraint sets x {SAMPLES} samples, {share:.2f} prefixes a token"
    measure(title, scorers, few)


def beam(systems: Systems, parts: list[list[Sentence]]) -> None:
    """Compare beam search without constraints."""
    medians = measure(
        f"beam {BEAM}, best translation",
        {
            OURS: timed(in_paraloom.beam(systems.model, BEAM, ROWS, constrained=False)),
            BF16: timed(in_paraloom.beam(systems.half, BEAM, ROWS, constrained=False)),
            INT8: timed(in_paraloom.beam(systems.whole, BEAM, ROWS, constrained=False)),
            FULL: timed(systems.full.beam(BEAM, ROWS)),
            EIGHT: timed(systems.small.beam(BEAM, ROWS)),
            "transformers (Pegasus)": timed(systems.hugging.beam(BEAM, ROWS)),
            "Sockeye 3": timed(systems.sockeye.beam(BEAM, ROWS)),
        },
        parts,
    )
    compare_with_aims(medians, "beam", systems.shape)


def constrained(
    systems: Systems, parts: list[list[Sentence]], peer: in_sockeye2.Sockeye2 | None
) -> None:
    """Compare beam search with constraints, which only Sockeye 2 has besides us."""
    searches = {
        OURS: timed(in_paraloom.beam(systems.model, BEAM, ROWS, constrained=True)),
        BF16: timed(in_paraloom.beam(systems.half, BEAM, ROWS, constrained=True)),
        INT8: timed(in_paraloom.beam(systems.whole, BEAM, ROWS, constrained=True)),
    }
    if peer is not None:
        compare_searches(systems.model, parts[0], peer)
        search = peer.beam(constrained=True)
        searches |= {SOCKEYE2: some(search), "Sockeye 2, singly": singly(search)}
    title = f"constrained beam {BEAM}: one positive phrase, three negative ones"
    medians = measure(title, searches, parts)
    compare_with_aims(medians, "constrained", systems.shape)


def start_sockeye2(
    stack: ExitStack, python: str, folder: Path, shape: Shape, work: Path
) -> in_sockeye2.Sockeye2 | None:
    """Start Sockeye 2, or say that it is missing."""
    try:
        python = find_interpreter(python)
    except InputError as error:
        print(f"\nno peer for constrained beam search: {error}")
        return None
    return stack.enter_context(in_sockeye2.started(python, folder, shape, work, BEAM))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--small", action="store_true", help="a model of 2 layers of 128")
    parser.add_argument("--quick", action="store_true", help="a small model, few sentences")
    kinds = ("sampling", "scoring", "beam", "constrained")
    parser.add_argument("--only", nargs="+", choices=kinds, default=kinds)
    parser.add_argument("--sentences", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument(
        "--mxnet-python",
        default=os.environ.get("PARALOOM_MXNET_PYTHON", "python3.8"),
        help="the interpreter of envs/mxnet.yaml; default: PARALOOM_MXNET_PYTHON, or python3.8",
    )
    options = parser.parse_args()
    torch.set_num_threads(1)
    shape = SMALL if options.quick or options.small else LARGE
    if options.quick:
        options.sentences, options.rounds = 8, 2
    with ExitStack() as stack:
        work = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder = write_model(
            work / "model",
            **shape._asdict(),
            **{"longest": 100, "length_ratio": 1.0, "end_bias": -30.0, "symbol_bias": -30.0},
        )
        systems = load(folder, shape, work)
        corpus, texts = sources(shape.vocabulary, options.sentences)
        tasks = sentences(systems.model, texts)
        print(f"{shape}; {len(tasks)} sentences of {corpus}; torch {torch.__version__}, one thread")
        compare_scores(tasks, systems.scores())
        rounds = min(options.rounds, len(tasks))
        parts = [tasks[first::rounds] for first in range(rounds)]
        batches = [tasks[: ROWS // BEAM]] * rounds
        if "sampling" in options.only:
            sampling(systems, parts)
        if "scoring" in options.only:
            scoring(systems, parts)
        if "beam" in options.only:
            beam(systems, batches)
        if "constrained" in options.only:
            peer = start_sockeye2(stack, options.mxnet_python, folder, shape, work)
            constrained(systems, batches, peer)


if __name__ == "__main__":
    main()
