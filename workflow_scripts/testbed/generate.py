"""Testbed bitext: numbered meanings as Czech and English sentences, with noise on request.

paraloom testbed generate --count 20000 --source OUT --reference OUT
"""

import argparse
import math
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.testbed.meaning import capacity
from workflow_scripts.testbed.noise import KINDS, Item, clean


def checked_rates(noise: dict[str, float] | None) -> dict[str, float]:
    """Return the rates of noise by kind, sorted.

    Raises:
        InputError: an unknown kind, a rate out of [0, 1], or rates that sum to more than 1.
    """
    rates = dict(sorted((noise or {}).items()))
    for kind, rate in rates.items():
        if kind not in KINDS:
            raise InputError(f"no noise of kind {kind!r}; there are {', '.join(KINDS)}")
        if not 0 <= rate <= 1 or math.isnan(rate):
            raise InputError(f"the rate of noise {kind!r} must be between 0 and 1, not {rate}")
    if sum(rates.values()) > 1 + 1e-9:
        raise InputError(f"the rates of noise sum to {sum(rates.values()):g}, more than 1")
    return rates


def _drawn_kind(rates: dict[str, float], point: float) -> str | None:
    for kind, rate in rates.items():
        if point < rate:
            return kind
        point -= rate
    return None


def items(
    seed: int,
    first: int,
    count: int,
    noise: dict[str, float] | None = None,
    realisations: int = 1,
) -> Iterator[Item]:
    """Yield the pairs of the meanings `first` to `first + count - 1`, `realisations` of each.

    A pair depends only on the seed, its numbers and the rates of noise. A pair stays clean where
    its kind of noise is impossible (no number to change, nothing to negate).

    Raises:
        InputError: see `checked_rates`; or some of the numbers have no meaning.
    """
    rates = checked_rates(noise)
    if first < 0 or count < 0 or first + count > capacity():
        raise InputError(
            f"testbed meanings are numbered from 0 to {capacity() - 1}: "
            f"{count} from {first} on are not among them"
        )
    for index in range(first, first + count):
        for number, item in enumerate(clean(seed, index, realisations)):
            kind = _drawn_kind(rates, fraction(seed, "noise", index, number)) if rates else None
            if kind is not None:
                rng = generator(seed, "noise", kind, index, number)
                noisy = KINDS[kind](item, index, seed, rng)
                item = item if noisy == item else replace(noisy, noise=kind)
            yield item


def pairs(
    seed: int,
    first: int,
    count: int,
    noise: dict[str, float] | None = None,
    realisations: int = 1,
) -> Iterator[tuple[str, str, str | None]]:
    """Yield (source, reference, kind of noise or None); see `items`."""
    for item in items(seed, first, count, noise, realisations):
        yield item.source, item.reference, item.noise


def write(bitext: Iterator[Item], paths: dict[str, Path]) -> None:
    """Write the attributes that `paths` names, each to its file, one pair a line."""
    with ExitStack() as stack:
        files = {}
        for attribute, path in paths.items():
            temporary = stack.enter_context(atomic_path(path))
            file = temporary.open("w", encoding="utf-8", newline="\n")
            files[attribute] = stack.enter_context(file)
        for item in bitext:
            for attribute, file in files.items():
                print(getattr(item, attribute) or "", file=file)


def _rate(text: str) -> tuple[str, float]:
    kind, _, rate = text.partition("=")
    try:
        return kind, float(rate)
    except ValueError:
        raise argparse.ArgumentTypeError(f"{text!r} is not kind=rate") from None


def main(argv: list[str] | None = None) -> None:
    """Write testbed bitext as text files."""
    parser = CommandParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, required=True, help="number of meanings")
    parser.add_argument("--seed", type=int, default=1, help="of everything (1)")
    parser.add_argument("--first", type=int, default=0, help="number of the first meaning (0)")
    parser.add_argument("--realisations", type=int, default=1, help="pairs of each meaning (1)")
    parser.add_argument(
        "--noise",
        type=_rate,
        nargs="+",
        default=[],
        metavar="KIND=RATE",
        help=f"share of pairs that get it; kinds: {', '.join(KINDS)}",
    )
    outputs = {
        "source": "Czech sentences",
        "reference": "English sentences",
        "trees": "trees of the English sentences, empty where noise left none",
        "labels": "kinds of noise, empty lines for clean pairs",
    }
    for name, what in outputs.items():
        required = name in ("source", "reference")
        parser.add_argument(f"--{name}", type=Path, required=required, help=f"file of {what}")
    arguments = parser.parse_args(argv)
    if arguments.realisations < 1:
        raise InputError(f"--realisations must be at least 1, not {arguments.realisations}")
    noise = dict(arguments.noise)
    if len(noise) < len(arguments.noise):
        raise InputError("--noise names a kind twice; name it once")
    bitext = items(
        arguments.seed,
        arguments.first,
        arguments.count,
        noise,
        arguments.realisations,
    )
    attributes = {"source": "source", "reference": "reference", "tree": "trees", "noise": "labels"}
    paths = {
        attribute: getattr(arguments, name)
        for attribute, name in attributes.items()
        if getattr(arguments, name)
    }
    places = [path.resolve() for path in paths.values()]
    if twice := [path for path in places if places.count(path) > 1]:
        raise InputError(f"{twice[0]} is the file of two outputs; name a file of its own for each")
    total = arguments.count * arguments.realisations
    write(progress(bitext, total, "pairs"), paths)


if __name__ == "__main__":
    run(main)
