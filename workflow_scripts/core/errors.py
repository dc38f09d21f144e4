from __future__ import annotations

import re

# What would steer a terminal: controls, but for tabs and line feeds, and marks that turn the
# direction of writing. Names of files and members, and bytes of damaged ones, may hold them.
_STEERING = re.compile("[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def printable(text: str) -> str:
    """Return `text` with what would steer a terminal written as escapes."""
    return _STEERING.sub(lambda match: ascii(match[0])[1:-1], text)


class InputError(Exception):
    """The user can mend this: the message names the file, line or key and says what to do."""

    def __init__(self, message: str):
        super().__init__(printable(message))
