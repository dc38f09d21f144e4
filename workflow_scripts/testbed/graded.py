"""Pairs of English sentences whose similarity is known, in the form of an STS data set.

paraloom testbed graded --first 700000 --count 500 --output graded.tsv

Sentence embeddings that were trained on testbed paraphrases are tested on such pairs. Take meanings
that no corpus has.
"""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import generator
from workflow_scripts.testbed import collocations, english
from workflow_scripts.testbed.meaning import capacity, meaning
from workflow_scripts.testbed.noise import renumbered
from workflow_scripts.testbed.participants import participants
from workflow_scripts.testbed.similarity import similarity
from workflow_scripts.testbed.structure import Meaning, well_formed

# STS scores go from 0 to this.
HIGHEST = 5.0
# How many other meanings may be the partner, and how many changes of the meaning itself.
_POOL = 100
_CHANGES = 6


def graded_pairs(seed: int, first: int, count: int) -> Iterator[tuple[float, str, str]]:
    """Yield (score, sentence, sentence) for each of the meanings `first` to `first + count - 1`.

    The score is 5 times the similarity of the two meanings. Scores spread over the whole scale: a
    similarity is drawn for each meaning, and its partner is the meaning whose similarity is
    nearest to it. The partner may be one of 100 others of the range, the meaning itself, or the
    meaning after 1 to 6 small changes. The two sentences are drawn independently.

    Raises:
        InputError: the range leaves that of the meanings, or is too small to have partners.
    """
    if first < 0 or count < 2 or first + count > capacity():
        raise InputError(
            f"graded pairs need at least 2 meanings from 0 to {capacity() - 1}: {count} from "
            f"{first} on are not"
        )
    for index in range(first, first + count):
        rng = generator(seed, "graded", index)
        what, wanted = meaning(seed, index), rng.random()
        others = first + rng.choice(count, size=min(count, _POOL), replace=False)
        options: list[Meaning] = [what, *_changed(what, rng)]
        options += [meaning(seed, int(other)) for other in others if other != index]
        scored = [(similarity(what, option), option) for option in options]
        score, partner = min(scored, key=lambda entry: abs(entry[0] - wanted))
        one, other = (english.reference(sense, rng).text for sense in (what, partner))
        yield round(HIGHEST * score, 3), one, other


def _changed(what: Meaning, rng: np.random.Generator) -> Iterator[Meaning]:
    """Yield a meaning after one small change, after two, ..."""
    for _ in range(_CHANGES):
        options = [
            option
            for option in (*renumbered(what, rng), *_renamed(what, rng), *_told_otherwise(what))
            if option != what and well_formed(option)
        ]
        if not options:
            return
        what = options[int(rng.integers(len(options)))]
        yield what


def _renamed(what: Meaning, rng: np.random.Generator) -> Iterator[Meaning]:
    """Yield the meaning with another person for one participant, for each who has a name."""
    people = collocations.people()
    for one in participants(what):
        if one.phrase in people:
            yield one.exchanged(people[int(rng.integers(len(people)))])


def _told_otherwise(what: Meaning) -> Iterator[Meaning]:
    """Yield the meaning denied, without one of its adverbials, and without its second clause."""
    main = what.main
    if main.tense != "habitual" and main.frame != "existential":
        yield replace(what, main=replace(main, negative=not main.negative))
    shorter = (
        replace(main, manner=None),
        replace(main, place=None),
        replace(main, time=None),
        replace(main, attitude=None),
        replace(main, degree=None),
    )
    for one in shorter if main.frame != "existential" else ():
        if one != main:
            yield replace(what, main=one)
    if what.subordinate is not None and main.frame != "clausal":
        yield Meaning(what.mood, main)


def write(pairs: Iterator[tuple[float, str, str]], path: Path) -> None:
    """Write one pair a line: score, sentence, sentence, with tabs between them."""
    with atomic_path(path) as temporary, temporary.open("w", encoding="utf-8", newline="\n") as out:
        for pair in pairs:
            print(*pair, sep="\t", file=out)


def main(argv: list[str] | None = None) -> None:
    """Write pairs of testbed sentences with the similarity of their meanings, 0 to 5."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--seed", type=int, default=1, help="of everything (1)")
    parser.add_argument("--first", type=int, required=True, help="number of the first meaning")
    parser.add_argument("--count", type=int, required=True, help="number of pairs")
    parser.add_argument("--output", type=Path, required=True, help="TSV file")
    arguments = parser.parse_args(argv)
    pairs = graded_pairs(arguments.seed, arguments.first, arguments.count)
    write(progress(pairs, arguments.count, "graded pairs"), arguments.output)


if __name__ == "__main__":
    run(main)
