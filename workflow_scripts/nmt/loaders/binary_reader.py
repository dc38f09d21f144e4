"""Parts of a binary file, taken one after another. All numbers are little-endian."""

import struct
from pathlib import Path

from workflow_scripts.core.errors import InputError


class BinaryReader:
    """Takes parts of a file; a part that is not there is an error.

    `maker`: what writes such files, for messages.
    """

    def __init__(self, path: Path, content: memoryview, maker: str):
        self.path = path
        self.offset = 0
        self._content = content
        self._maker = maker

    def take(self, length: int, what: str) -> memoryview:
        """Return the next `length` bytes."""
        end = self.offset + length
        if end > len(self._content):
            raise self.error(
                f"{what} needs {length} bytes, {len(self._content) - self.offset} are left"
            )
        part = self._content[self.offset : end]
        self.offset = end
        return part

    def numbers(self, count: int, what: str, kind: str = "Q") -> tuple[int, ...]:
        """Return the next `count` integers, of 64 bits without sign if no other kind is given."""
        return struct.unpack(f"<{count}{kind}", self.take(struct.calcsize(kind) * count, what))

    def number(self, what: str, kind: str) -> int:
        """Return the next integer, of a kind of `struct`."""
        return self.numbers(1, what, kind)[0]

    def check_end(self) -> None:
        """Refuse a file that goes on."""
        if self.offset < len(self._content):
            raise self.error(f"{len(self._content) - self.offset} bytes follow the last item")

    def error(self, why: str) -> InputError:
        """Return the error of a damage at this place."""
        return InputError(
            f"{self.path}, byte {self.offset}: {why}; the file is damaged or is no model of "
            f"{self._maker}"
        )
