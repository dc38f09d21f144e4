"""Names of charsets.

The Snakefile imports this module: only the standard library.
"""

import unicodedata

from workflow_scripts.core.errors import InputError


def told_character(character: str) -> str:
    """Return how a character is shown: itself if it can be seen alone, and its code point."""
    code = f"U+{ord(character):04X}"
    category = unicodedata.category(character)
    return code if category[0] in "CZM" else f"{character} {code}"


def codec(name: str, side: str) -> str:
    """Return the name under which Python knows a charset: `latin-2` is its `latin2`.

    Raises:
        InputError: there is no such text encoding.
    """
    for candidate in (name, name.replace("-", "")):
        try:
            "".encode(candidate)
        except (LookupError, UnicodeError):
            continue
        return candidate
    raise InputError(
        f"languages.{side}.charset: '{name}' is not a text encoding that Python knows; try "
        "latin-1, latin-2, cp1250 or, to let every character pass, null"
    )
