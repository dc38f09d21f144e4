"""Names of charsets.

The Snakefile imports this module: only the standard library.
"""

import codecs
import unicodedata

from workflow_scripts.core.errors import InputError


def told_character(character: str) -> str:
    """Return how a character is shown: itself if it can be seen alone, and its code point."""
    code = f"U+{ord(character):04X}"
    category = unicodedata.category(character)
    return code if category[0] in "CZM" else f"{character} {code}"


def _encodes_all(name: str) -> bool:
    """Tell whether an encoding has characters of all planes, as UTF-8 and UTF-16 have."""
    try:
        "\u0100\u0416\u4e00\U0001f600\ue000".encode(name)
    except UnicodeError:
        return False
    return True


def codec(name: str, side: str) -> str:
    """Return the name under which Python knows a charset: `latin-2` is its `latin2`.

    Raises:
        InputError: there is no such text encoding, or it has every character.
    """
    for candidate in (name, name.replace("-", "")):
        try:
            "".encode(candidate)
        except (LookupError, UnicodeError):
            continue
        if _encodes_all(candidate) and codecs.lookup(candidate).name != "utf-8":
            raise InputError(
                f"languages.{side}.charset: '{name}' has every character; write utf-8, which "
                "rejects traces of a wrong decoding alone, or a charset of the language, as latin-2"
            )
        return candidate
    raise InputError(
        f"languages.{side}.charset: '{name}' is not a text encoding that Python knows; try "
        "latin-1, latin-2, cp1250 or, to let every character pass, null"
    )
