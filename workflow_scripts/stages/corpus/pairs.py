"""The pairs of one corpus in the order of its files, and the lines that are rejected."""

from collections.abc import Iterator
from itertools import zip_longest
from typing import Any, NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.archive import expand
from workflow_scripts.core.files.packed_lines import read_lines
from workflow_scripts.plan.schema import filled


class Pair(NamedTuple):
    """One pair; `place`: its line number from 1, after `<file number>:` if there are several."""

    place: str
    source: str
    reference: str


class Rejected(NamedTuple):
    """One rejected line: its file and number, the reason, and the bytes that were read of it."""

    file: str
    line: int
    reason: str
    text: bytes


def problem(line: bytes, max_bytes: int) -> str | None:
    """Return why a line can't be one side of a pair, or None."""
    if len(line) > max_bytes:
        return "too_long"
    if b"\0" in line:
        return "nul"
    try:
        text = line.decode("utf-8")
    except UnicodeDecodeError:
        return "not_utf8"
    return None if text.strip() else "empty"


def _pair_or_rejected(
    place: str, number: int, sides: list[tuple[str, bytes]], max_bytes: int
) -> Pair | Rejected:
    """Check both sides of a line, each given as (file, bytes); the first bad side is named."""
    for file, line in sides:
        if reason := problem(line, max_bytes):
            return Rejected(file, number, reason, line)
    (_, source), (_, reference) = sides
    return Pair(place, source.decode("utf-8"), reference.decode("utf-8"))


def _text_pairs(
    source: str, reference: str, prefix: str, max_bytes: int
) -> Iterator[Pair | Rejected]:
    """Yield the lines of two parallel files.

    Raises:
        InputError: one file has more lines than the other.
    """
    sources, references = read_lines(source, max_bytes), read_lines(reference, max_bytes)
    for number, (left, right) in enumerate(zip_longest(sources, references), 1):
        if left is None or right is None:
            in_source = number - 1 if left is None else number + sum(1 for _ in sources)
            in_reference = number - 1 if right is None else number + sum(1 for _ in references)
            raise InputError(
                f"{source} has {in_source} lines, {reference} has {in_reference}: the two sides of "
                "a bitext must be equally long, line n of one translating line n of the other"
            )
        sides = [(source, left), (reference, right)]
        yield _pair_or_rejected(f"{prefix}{number}", number, sides, max_bytes)


def _tsv_pairs(
    path: str, columns: tuple[int, int], header: bool, ranked: bool, prefix: str, max_bytes: int
) -> Iterator[Pair | Rejected]:
    """Yield the lines of a tab-separated file; quotation marks have no special meaning.

    If they are `ranked`, the second column and each one after it give a pair with the first.
    """
    for number, line in enumerate(read_lines(path, max_bytes), 1):
        if header and number == 1:
            continue
        cells = line.split(b"\t")
        if len(line) > max_bytes:
            yield Rejected(path, number, "too_long", line)
        elif len(cells) <= max(columns):
            yield Rejected(path, number, "columns", line)
        else:
            source, reference = columns
            for cell in cells[reference : None if ranked else reference + 1]:
                sides = [(path, cells[source]), (path, cell)]
                yield _pair_or_rejected(f"{prefix}{number}", number, sides, max_bytes)


def _sentences(path: str, prefix: str, max_bytes: int) -> Iterator[Pair | Rejected]:
    """Yield the lines of a text as references without a source."""
    for number, line in enumerate(read_lines(path, max_bytes), 1):
        if reason := problem(line, max_bytes):
            yield Rejected(path, number, reason, line)
        else:
            yield Pair(f"{prefix}{number}", "", line.decode("utf-8"))


def _testbed_pairs(options: dict[str, Any], max_bytes: int) -> Iterator[Pair | Rejected]:
    """Yield the pairs of the testbed as if they were lines of a file."""
    from workflow_scripts.testbed.generate import pairs  # slow: only where there is a testbed

    for number, texts in enumerate(pairs(**options), 1):
        sides = [("testbed", text.encode("utf-8")) for text in texts[:2]]
        yield _pair_or_rejected(str(number), number, sides, max_bytes)


def _paths(value: str | list[str]) -> list[str]:
    paths = [value] if isinstance(value, str) else value
    return [file for path in paths for file in expand(path)]


def read_pairs(
    name: str, block: dict[str, Any], max_bytes: int, seed: int
) -> Iterator[Pair | Rejected]:
    """Yield every line of a corpus, as a pair or rejected with its reason.

    Args:
        name: the corpus' name in the config, for messages.
        block: the corpus' block of the config: `source` and `reference` (a path or a list of
            paths each), `tsv` with `columns` and `header` (from outside also `ranked`), `text`,
            whose pairs have an empty source, or `testbed`.
        max_bytes: the most bytes of a line; a TSV line counts as a whole.
        seed: for a testbed that has no seed of its own.

    Raises:
        InputError: see `read_lines`; or the two sides have different numbers of files or lines;
            or the testbed has no such meanings or noise.
    """
    if "testbed" in block:
        testbed = filled({"seed": seed} | block["testbed"], "testbed_corpus")
        yield from _testbed_pairs(testbed, max_bytes)
        return
    if "tsv" in block:
        paths = _paths(block["tsv"])
        columns = (block["columns"]["source"], block["columns"]["reference"])
        header, ranked = filled(block, "corpus")["header"], block.get("ranked", False)
        for path, prefix in zip(paths, _prefixes(paths), strict=True):
            yield from _tsv_pairs(path, columns, header, ranked, prefix, max_bytes)
        return
    if "text" in block:
        paths = _paths(block["text"])
        for path, prefix in zip(paths, _prefixes(paths), strict=True):
            yield from _sentences(path, prefix, max_bytes)
        return
    sources, references = _paths(block["source"]), _paths(block["reference"])
    if len(sources) != len(references):
        raise InputError(
            f"corpora.{name}: {len(sources)} source files, but {len(references)} reference files"
        )
    for source, reference, prefix in zip(sources, references, _prefixes(sources), strict=True):
        yield from _text_pairs(source, reference, prefix, max_bytes)


def _prefixes(paths: list[str]) -> list[str]:
    """Return for each file the text before the line number in the ids of its pairs."""
    return [""] if len(paths) == 1 else [f"{number}:" for number in range(1, len(paths) + 1)]
