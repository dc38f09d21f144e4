"""Two parallel text files: line n of one belongs to line n of the other."""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines


def read_pairs(references: Path, paraphrases: Path) -> Iterator[tuple[str, str]]:
    """Yield the lines of two files side by side.

    Raises:
        InputError: their numbers of lines differ, or are zero.
    """
    lengths = [0, 0]
    for pair in zip_longest(read_lines(references), read_lines(paraphrases)):
        lengths = [length + (line is not None) for length, line in zip(lengths, pair, strict=True)]
        if lengths[0] == lengths[1]:
            yield pair
    if lengths[0] != lengths[1]:
        raise InputError(
            f"{references} has {lengths[0]} lines and {paraphrases} has {lengths[1]}; "
            "they must be parallel, one sentence a line"
        )
    if not lengths[0]:
        raise InputError(f"{references} and {paraphrases} are empty; there is nothing to measure")
