"""Exactness by family of model: transformers and CTranslate2 beside our core, as one table.

Usage: python -m benchmarks.bench_families [--only FAMILY ...] [--small]

No weights of these families were within reach. Logits are those of random weights at the shape of
a published model, all in fp32: the largest difference over sentences of LENGTHS pieces, and over a
sentence as long as the model reads. Searches and scores are those of a copy with the same flags, 2
layers a side and 64 wide, which is trained here until its sentences end: beam 4 beside `generate`
(length_penalty 1, early_stopping, max_length as ours), NLLs beside the class's loss, searches with
a piece that must occur and one that must not, and CTranslate2's folders, by its own converters,
beside its engine. Pieces are those of a tokenizer of the family's kind, learnt here.
"""

import argparse
import json
import multiprocessing
import random
import resource
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from copy import deepcopy
from pathlib import Path
from statistics import mean
from typing import Any, NamedTuple

import ctranslate2
import torch

from benchmarks.peers import ctranslate2_folders
from benchmarks.peers.hugging_face import (
    FAMILIES,
    SMALL,
    SMALL_VOCABULARY,
    Family,
    Language,
    made,
    trained,
)
from tests.unit.nmt import test_tokenizers as tokenizers
from tests.unit.nmt.families import (
    SIZES,
    Kind,
    core,
    forced,
    read,
    rows,
    widened,
    write,
    write_folder,
)
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.scoring import score

LENGTHS = (7, 16, 25, 41, 80)
# So many of a sentence's last logits are compared: more take too much memory.
MOST_KEPT = 100
BEAM, SOURCES = 4, 200
# Two outputs are a tie if our NLLs of them, per token, differ by less.
TIE, ENGINE_TIE = 1e-4, 1e-3
TOKENIZERS = {
    "nllb-200-distilled-600M": tokenizers.shifted,
    "m2m100_418M": tokenizers.with_vocabulary,
    "bart-large": tokenizers.byte_level,
    "mbart-large-50": tokenizers.metaspace,
    "pegasus-xsum": tokenizers.pegasus,
    "opus-mt-tc-big": tokenizers.unigram,
}
COLUMNS = (
    "shape of",
    "class",
    "layers, size",
    "vocabulary",
    "logits",
    "longest",
    "their scale",
    "GiB",
    "beam 4",
    "scoring",
    "pieces",
    "constraints",
    "CTranslate2: beam 4",
    "scoring",
    "int8",
)


class Logits(NamedTuple):
    """The largest difference for each sentence; the scale of the library's logits.

    `memory`: the most that the process had, in GiB, pages of the file among it.
    """

    differences: list[float]
    deviation: float
    largest: float
    memory: float


def published(family: Family, folder: Path, *, longest: bool = False) -> Logits:
    """Return `logits` of a published shape, from a process that gives its memory back."""
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        kind = widened(family.kind, family.vocabulary)
        return pool.submit(logits, kind, family.shape, folder, longest=longest).result()


@torch.inference_mode()
def logits(kind: Kind, shape: dict[str, int], folder: Path, *, longest: bool = False) -> Logits:
    """Compare the logits of random weights with the library's, for sentences of LENGTHS pieces.

    One model is in memory at a time. With `longest` there is one more sentence, which has as many
    positions on both sides as the class knows.
    """
    torch.set_num_threads(1)
    other = made(kind, shape)
    config = other.config
    marks = max(len(kind.prompt), sum(map(len, kind.source)))
    lengths = [*LENGTHS, *([config.max_position_embeddings - marks] if longest else [])]
    words, chance = Language.of(kind).words, random.Random(1)
    pairs = [[chance.choices(words, k=count) for _ in range(2)] for count in lengths]
    expected = [
        forced(other, kind, [source], [target])
        .logits[0][len(kind.prompt) - 1 :][-MOST_KEPT:]
        .clone()
        for source, target in pairs
    ]
    write_folder(folder, kind, other)
    del other
    model = load_model(folder, "cpu")
    columns = torch.tensor(rows(model, kind, config))
    differences = []
    for (source, target), wanted in zip(pairs, expected, strict=True):
        memory = model.remember(*model.encode([read(model, kind, source)[0]]))
        hidden = model.decode([core(model, target)], memory)[-MOST_KEPT:]
        found = model.network.output(hidden)[:, : len(columns)]
        # A token that is two symbols of ours counts as one of them.
        gap = (found - wanted[:, columns]).masked_fill(found == -torch.inf, 0)
        differences.append(float(gap.abs().max()))
    usual = torch.cat(expected[: len(LENGTHS)])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    return Logits(differences, float(usual.std()), float(usual.abs().max()), memory)


class Copy(NamedTuple):
    """A trained copy: the library's, and ours of the same weights, with pairs of its language."""

    kind: Kind
    other: Any
    model: Model
    pairs: list[tuple[list[int], list[int]]]

    def of_one_length(self) -> Iterator[list[tuple[list[int], list[int]]]]:
        """Yield the pairs by length, so that nothing has to be filled up."""
        for length in sorted({len(source) for source, _ in self.pairs}):
            yield [pair for pair in self.pairs if len(pair[0]) == length]


def trained_copy(family: Family, folder: Path) -> Copy:
    """Train the small copy of a family, and write its folder."""
    kind = widened(family.kind, SMALL_VOCABULARY)
    other = trained(kind)
    write_folder(folder, kind, other)
    return Copy(kind, other, load_model(folder, "cpu"), pairs_of(kind))


def pairs_of(kind: Kind) -> list[tuple[list[int], list[int]]]:
    """Return SOURCES pairs of a kind's language, by length."""
    language, chance = Language.of(kind), random.Random(3)
    lengths = sorted(chance.randint(3, 8) for _ in range(SOURCES))
    drawn = (language.pairs(1, length, chance) for length in lengths)
    return [(source, target) for [source], [target] in drawn]


class Search(NamedTuple):
    """How many outputs of two searches are equal.

    Of the others: how many are ties, and of the rest the differences of our NLLs, above zero where
    ours is the more probable output.
    """

    equal: int
    ties: int
    gaps: list[float]


def compared(
    model: Model,
    sources: list[list[int]],
    ours: list[list[int]],
    theirs: list[list[int]],
    tie: float,
) -> Search:
    """Compare outputs of two searches by our NLLs."""
    different = [each for each in zip(sources, ours, theirs, strict=True) if each[1] != each[2]]
    own = score(model, [(source, output) for source, output, _ in different])
    others = score(model, [(source, output) for source, _, output in different])
    gaps = [other - nll for nll, other in zip(own, others, strict=True)]
    rest = [gap for gap in gaps if abs(gap) >= tie]
    return Search(len(sources) - len(different), len(gaps) - len(rest), rest)


def best(model: Model, sources: list[list[int]]) -> list[list[int]]:
    """Return our best outputs at beam 4."""
    results = translate(model, map(BeamRequest, sources), beam_size=BEAM)
    return [result.outputs[0] for result in results]


@torch.inference_mode()
def beam_search(copy: Copy) -> Search:
    """Compare our beam search with `generate`; both may write words alone."""
    kind, other, model = copy.kind, copy.other, copy.model
    words, end = Language.of(kind).words, other.config.eos_token_id
    silent = [[row] for row in range(other.config.vocab_size) if row not in (*words, end)]
    sources, theirs = [], []
    for part in copy.of_one_length():
        inputs = [read(model, kind, source) for source, _ in part]
        sources += [source for source, _ in inputs]
        outputs = other.generate(
            input_ids=torch.cat([ids for _, ids in inputs]),
            decoder_input_ids=torch.tensor([kind.prompt] * len(part)),
            num_beams=BEAM,
            do_sample=False,
            length_penalty=1.0,
            early_stopping=True,
            max_length=len(kind.prompt) + model.max_output_length(len(inputs[0][0])),
            forced_eos_token_id=end,
            bad_words_ids=silent,
        )
        for output in outputs[:, len(kind.prompt) :].tolist():
            theirs.append(core(model, output[: output.index(end)]))
    return compared(model, sources, best(model, sources), theirs, TIE)


@torch.inference_mode()
def scoring(copy: Copy) -> float:
    """Return the largest difference of our NLL of a pair from the class's loss."""
    ours = score(copy.model, own_pairs(copy))
    theirs = [
        float(forced(copy.other, copy.kind, [source], [target], loss=True).loss)
        for source, target in copy.pairs
    ]
    return max(abs(nll - loss) for nll, loss in zip(ours, theirs, strict=True))


def own_pairs(copy: Copy, model: Model | None = None) -> list[tuple[list[int], list[int]]]:
    """Return the pairs in the ids of a model of ours."""
    model = model or copy.model
    return [
        (read(model, copy.kind, source)[0], core(model, target)) for source, target in copy.pairs
    ]


def constraints(copy: Copy) -> int:
    """Return for how many sources the best output has what it must have, and not what it mustn't.

    Wanted are two pieces that the free search does not write, forbidden is one that it writes; and
    the output's NLL is that of forced scoring.
    """
    chance, model = random.Random(4), copy.model
    sources = [source for source, _ in own_pairs(copy)]
    words = core(model, Language.of(copy.kind).words)
    free, requests = best(model, sources), []
    for source, output in zip(sources, free, strict=True):
        wanted = chance.sample([word for word in words if word not in output], 2)
        requests.append(BeamRequest(source, [tuple(wanted)], [(chance.choice(output),)]))
    results = list(translate(model, requests, beam_size=BEAM))
    nlls = score(model, [(each.request.source, each.outputs[0]) for each in results])
    return sum(map(_is_met, results, nlls))


def _is_met(result: Any, nll: float) -> bool:
    output, [wanted], [[forbidden]] = (
        result.outputs[0],
        result.request.constraints,
        result.request.avoid,
    )
    found = any(tuple(output[at : at + 2]) == wanted for at in range(len(output)))
    return found and forbidden not in output and abs(result.nlls[0] - nll) < 1e-5


class Peer:
    """CTranslate2's engine on a folder of its own converter, on one thread."""

    def __init__(self, copy: Copy, folder: Path, precision: str):
        kind = copy.kind
        ctranslate2_folders.convert(deepcopy(copy.other), kind.names, folder, precision)
        if kind.chosen is not None:
            write(folder / "paraloom.json", kind.chosen)
        self._engine = ctranslate2.Translator(str(folder), compute_type=precision, intra_threads=1)
        vocabulary = (folder / "shared_vocabulary.json").read_text(encoding="utf-8")
        self._names: list[str] = json.loads(vocabulary)
        before, behind = kind.source
        self._sources = [self._pieces([*before, *source, *behind]) for source, _ in copy.pairs]
        self._targets = [self._pieces(target) for _, target in copy.pairs]
        self._start = self._pieces(kind.prompt[1:])

    def _pieces(self, ids: list[int]) -> list[str]:
        return [self._names[row] for row in ids]

    def nlls(self) -> list[float]:
        """Return the NLL per token of every pair."""
        targets = [[*self._start, *target] for target in self._targets]
        found = self._engine.score_batch(self._sources, targets)
        kept = [each.log_probs[len(self._start) :] for each in found]
        return [-sum(each) / len(each) for each in kept]

    def outputs(self) -> list[list[str]]:
        """Return the pieces of the best outputs of words alone, at beam 4."""
        others = [name for name in self._names if "▁" not in name]
        found = self._engine.translate_batch(
            self._sources,
            target_prefix=[self._start] * len(self._sources) if self._start else None,
            beam_size=BEAM,
            length_penalty=1.0,
            disable_unk=True,
            suppress_sequences=[[name] for name in others if name not in ("</s>", "<unk>")],
        )
        return [each.hypotheses[0][len(self._start) :] for each in found]


class Engine(NamedTuple):
    """The engine beside ours: outputs and the largest difference of NLLs; that of means in int8."""

    outputs: Search
    scores: float
    int8: float


def engine(copy: Copy, work: Path) -> Engine:
    """Compare with CTranslate2, in fp32 and in int8."""
    whole, small = (Peer(copy, work / name, name) for name in ("float32", "int8"))
    model, in_eight = (load_model(work / name, "cpu") for name in ("float32", "int8"))
    pairs = own_pairs(copy, model)
    sources = [source for source, _ in pairs]
    written = [model.target_vocab.ids(output) for output in whole.outputs()]
    gaps = [abs(a - b) for a, b in zip(score(model, pairs), whole.nlls(), strict=True)]
    ours = list(score(in_eight, own_pairs(copy, in_eight)))
    return Engine(
        compared(model, sources, best(model, sources), written, ENGINE_TIE),
        max(gaps),
        abs(mean(ours) - mean(small.nlls())),
    )


def pieces(name: str, folder: Path) -> tuple[int, int]:
    """Return for how many sentences a family's kind of tokenizer gives the library's ids."""
    kind = TOKENIZERS[name](folder)
    texts = tokenizers.sentences()
    unknown = kind.own["<unk>"]
    equal = sum(
        [kind.own.get(piece, unknown) for piece in kind.coder.pieces(text)] == kind.expected(text)
        for text in texts
    )
    return equal, len(texts)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=FAMILIES, default=list(FAMILIES))
    parser.add_argument("--small", action="store_true", help="logits of the copies' shape")
    options = parser.parse_args()
    torch.set_num_threads(1)
    print(f"| {' | '.join(COLUMNS)} |\n" + "|---" * len(COLUMNS) + "|")
    for name in options.only:
        family = FAMILIES[name]
        if options.small:
            family = family._replace(vocabulary=SMALL_VOCABULARY, shape=SMALL)
        print(row(name, family), flush=True)


def shown(search: Search) -> str:
    """Return a search as a cell of the table."""
    cell = f"{search.equal} of {search.equal + search.ties + len(search.gaps)}"
    if search.ties:
        cell += f", {search.ties} ties"
    if search.gaps:
        better = sum(gap > 0 for gap in search.gaps)
        cell += f", ours better {better}, worse {len(search.gaps) - better}"
    return cell


def row(name: str, family: Family) -> str:
    """Return a family's line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        found = published(family, work / "published", longest=True)
        copy = trained_copy(family, work / "small")
        equal, texts = pieces(name, work)
        peer = engine(copy, work)
        cells = [
            name,
            family.kind.name,
            "{encoder_layers} + {decoder_layers}, {d_model}".format_map(SIZES | family.shape),
            f"{family.vocabulary:,}",
            f"{max(found.differences[:-1]):.1e}",
            f"{found.differences[-1]:.1e}",
            f"{found.deviation:.2f}, to {found.largest:.1f}",
            f"{found.memory:.1f}",
            shown(beam_search(copy)),
            f"{scoring(copy):.0e}",
            f"{equal} of {texts}",
            f"{constraints(copy)} of {SOURCES}",
            shown(peer.outputs),
            f"{peer.scores:.0e}",
            f"{peer.int8:.4f}",
        ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    main()
