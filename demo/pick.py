"""Picks the demo's sentence pairs from a file of Tatoeba's, one Portuguese and one English a line.

    python demo/pick.py por-eng.tsv --folder demo

The same file and seed give the same pairs.
"""

import argparse
import random
from collections.abc import Iterable
from pathlib import Path

Pair = tuple[str, str]

WORDS = range(4, 16)  # of an English sentence
SIZES = {"tatoeba.por-eng.tsv": 1700, "tatoeba-test.por-eng.tsv": 300}


def usable(pairs: Iterable[Pair]) -> list[Pair]:
    """Return pairs of that many words that encode in Latin-1, each sentence in one pair only.

    Sentences that differ only in case, blanks and punctuation are the same here.
    """
    seen: set[str] = set()
    found = []
    for pair in pairs:
        keys = {"".join(filter(str.isalnum, side)).casefold() for side in pair}
        if len(pair[1].split()) in WORDS and not keys & seen and _is_latin(pair):
            seen |= keys
            found.append(pair)
    return found


def _is_latin(pair: Pair) -> bool:
    try:
        "".join(pair).encode("latin-1")
    except UnicodeEncodeError:
        return False
    return True


def pick(pairs: Iterable[Pair], seed: int) -> dict[str, list[Pair]]:
    """Return the pairs of each file: drawn from all usable ones, none of them twice."""
    drawn = random.Random(seed).sample(usable(pairs), sum(SIZES.values()))
    files, first = {}, 0
    for name, size in SIZES.items():
        files[name] = drawn[first : first + size]
        first += size
    return files


def main() -> None:
    """Write the files of `SIZES`."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("pairs", type=Path, help="TSV: Portuguese, English")
    parser.add_argument("--folder", type=Path, required=True)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    lines = arguments.pairs.read_text(encoding="utf-8").splitlines()
    columns = [line.split("\t") for line in lines]
    picked = pick(((source, reference) for source, reference in columns), arguments.seed)
    for name, pairs in picked.items():
        text = "".join(f"{source}\t{reference}\n" for source, reference in pairs)
        (arguments.folder / name).write_text(text, encoding="utf-8", newline="\n")


if __name__ == "__main__":
    main()
