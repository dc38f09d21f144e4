"""What the fuzz tests share: how many cases, how files are damaged, what a reader may do.

A reader returns what an independent, simple reader returns, or raises InputError with the name of
the file. It raises nothing else, ends, and needs little memory.
"""

import itertools
import math
import os
import resource
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, settings
from hypothesis import strategies as st

from workflow_scripts.core.errors import InputError

# Cases of each property; `make fuzz` sets it.
CASES = int(os.environ.get("PARALOOM_FUZZ", "60"))
# No input of these tests has more than some kilobytes.
_MOST_KILOBYTES = 300_000
_LONGEST_SECONDS = 60
_numbers = itertools.count()


def fuzz(share: float = 1.0) -> settings:
    """Return the settings of a property that gets this share of the cases."""
    return settings(
        max_examples=max(1, int(CASES * share)),
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )


@contextmanager
def file(folder: Path, name: str, content: bytes) -> Iterator[Path]:
    """Write a file under a name that no other case has; `name` is the end of it."""
    path = folder / f"{next(_numbers)}{name}"
    path.write_bytes(content)
    try:
        yield path
    finally:
        path.unlink()


class HangError(BaseException):
    """A reader did not end."""


def _stop(*_: object) -> None:
    raise HangError


def outcome(path: Path, read: Callable[[], Any]) -> Any:
    """Return what a reader returns, or None where it refuses the file by its name."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    handler = signal.signal(signal.SIGALRM, _stop)
    signal.alarm(_LONGEST_SECONDS)
    try:
        found = read()
    except InputError as error:
        assert path.name in str(error)
        str(error).encode("utf-8", "surrogatepass")
        return None
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, handler)
        assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < _MOST_KILOBYTES
    assert found is not None
    return found


# One damage: where, in parts of a million of the file; what; and how much of it.
_places = st.integers(0, 10**6)
_damage = st.one_of(
    st.tuples(st.just("flip"), _places, st.integers(0, 7)),
    st.tuples(st.just("cut"), _places, st.just(0)),
    st.tuples(st.just("drop"), _places, st.integers(1, 40)),
    st.tuples(st.just("double"), _places, st.integers(1, 600)),
    st.tuples(st.just("zero"), _places, st.integers(1, 600)),
    st.tuples(st.just("insert"), _places, st.binary(min_size=1, max_size=20)),
    st.tuples(st.just("append"), _places, st.binary(min_size=1, max_size=20)),
)
damages = st.lists(_damage, max_size=3)


def damaged(content: bytes, many: list[tuple[str, int, Any]]) -> bytes:
    """Return the content after some damages."""
    for kind, millionths, what in many:
        place = len(content) * millionths // (10**6 + 1)
        before, after = content[:place], content[place:]
        match kind:
            case "flip" if after:
                content = before + bytes([after[0] ^ 1 << what]) + after[1:]
            case "cut":
                content = before
            case "drop":
                content = before + after[what:]
            case "double":
                content = before + after[:what] + after
            case "zero":
                content = before + bytes(len(after[:what])) + after[what:]
            case "insert":
                content = before + what + after
            case "append":
                content += what
    return content


def lines_of(content: bytes) -> list[bytes]:
    """Return the lines of a text, simply."""
    lines = content.split(b"\n")
    lines = lines if lines[-1] else lines[:-1]
    if lines:
        lines[0] = lines[0].removeprefix(b"\xef\xbb\xbf")
    return [line.removesuffix(b"\r") for line in lines]


# Parts of which texts are made: what means something to one format or another.
_parts = st.sampled_from(
    [
        *(b"\t", b"\t", b"\n", b"\n", b"\r\n", b" ", b"\0", b"\xff", b"\xef\xbb\xbf", b" ||| "),
        *(b"1", b"2.5", b"-3e2", b"nan", b"inf", b"1e999", b"1_0", b"(3, 2)", b"0", b"word"),
        *("ž".encode(), "\u2028".encode(), "٣".encode(), b"\xed\xa0\x80", b"x" * 40),
        *(b"PPDB2.0Score=1.5", b"sentence_A", b"relatedness_score", b"PPDB2.0Score=nan"),
    ]
)
texts = st.lists(st.one_of(_parts, st.binary(max_size=4)), max_size=12).map(b"".join)


def decoded(lines: list[bytes]) -> list[str] | None:
    """Return the lines as text, None where one is not UTF-8."""
    try:
        return [line.decode("utf-8") for line in lines]
    except UnicodeDecodeError:
        return None


def number(text: str) -> float | None:
    """Return a number in plain ASCII digits, None where it is none."""
    if not text.strip() or set(text.strip()) - set("0123456789+-.eE"):
        return None
    try:
        value = float(text)
    except ValueError:
        return None
    return value if abs(value) != float("inf") else None


def known(text: str) -> float | None:
    """Return a number, None where there is none.

    Raises:
        ValueError: what stands there is no number.
    """
    if text.strip() and number(text) is None:
        raise ValueError
    return number(text)


# What stands in cells of tables.
words = st.sampled_from(["a", "b c", "ž", "\u2028", '"', "\\", "NA", "x" * 30, "0", "-", "\ufeff"])
figures = st.sampled_from(["", "0", "1", "2", "2.5", "100", "-1", " 3", "1e2"])
odd_cells = st.sampled_from(["", " ", "nan", "1e308", "1_0", "٣", "101", "9" * 5000, "\r", "\0"])


@st.composite
def tables(draw: st.DrawFn, cells: dict[str, st.SearchStrategy[str]], least: int = 0) -> bytes:
    """Generate a table with a header, given the cells of each column; some have an odd cell."""
    names = draw(st.permutations(sorted(cells)))
    names = names[: draw(st.integers(least or len(names), len(names)))]
    names += draw(st.lists(st.sampled_from(["other", *cells]), max_size=1)) if least else []
    of = st.tuples(*(cells.get(name, words) for name in names))
    rows = [list(row) for row in draw(st.lists(of, max_size=6))]
    odd = st.tuples(st.integers(0, 5), st.integers(0, len(names) - 1), odd_cells)
    for row, column, cell in draw(st.lists(odd, max_size=1)) if rows else ():
        rows[row % len(rows)][column] = cell
    return "".join("\t".join(row) + "\n" for row in [names, *rows]).encode()


def simple_table(content: bytes, required: Iterable[str], more: Iterable[str] = ()) -> Any:
    """Return the rows of a table by column, simply; None where it is none."""
    lines = decoded(lines_of(content))
    if not lines or "\0" in "".join(lines):
        return None
    names, *rows = [line.split("\t") for line in lines]
    rows = [row for row in rows if row != [""]]
    if not {*required} <= {*names} or any(names.count(name) > 1 for name in (*required, *more)):
        return None
    if any(len(row) != len(names) for row in rows):
        return None
    return [dict(zip(names, row, strict=True)) for row in rows]


# Requests to rewriters, right and wrong.
_texts = ["Muž spí.", "", " ", "\0", "\ud800", "x" * 2001, "\ufdfa" * 20, "¿?", "ﬁ"]
_sentences = st.sampled_from(_texts)
_lists = st.lists(st.sampled_from([*_texts[1:], "man", "<s> The"]), max_size=3)
_counts = st.sampled_from([0, 1, 3, 21, -1, 1.0, 1.5, True, None, 10**400, 1e308, "2", math.nan])
_values = st.one_of(_sentences, _lists, _counts, st.just({}))
_REQUEST = {
    **{"text": _sentences, "avoid": _lists, "use": _lists, "number": _counts, "samples": _counts},
    **{"avoid_forms": st.booleans(), "use_forms": st.booleans(), "avoid_pieces": st.booleans()},
    **{"template": _sentences, "system": _sentences, "seed": _counts, "id": _values},
}
request_fields = st.one_of(
    st.fixed_dictionaries({}, optional=_REQUEST).map(lambda some: {"text": _texts[0], **some}),
    st.fixed_dictionaries(_REQUEST),
    st.dictionaries(st.sampled_from([*_REQUEST, "x"]), _values, max_size=3),
)


def single(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON, none of whose keys stands there twice."""
    assert len(dict(pairs)) == len(pairs)
    return dict(pairs)


# What may stand in the place of any value in a JSON file.
json_values = st.one_of(
    *(st.none(), st.booleans(), st.integers(-3, 2**70), st.floats(), st.text(max_size=5)),
    st.sampled_from([[], {}, [1.0], [0.0, 1.0], [[1.0]], 1e200, -1e308, 10**400, "1", 0]),
)
