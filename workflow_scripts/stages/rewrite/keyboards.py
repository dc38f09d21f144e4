"""Which letters lie beside each other on the keyboards of some languages."""

from functools import cache

# The rows of letters, each shifted to the right by half a key against the one above it.
_QWERTY = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_QWERTZ = ("qwertzuiop", "asdfghjkl", "yxcvbnm")
_AZERTY = ("azertyuiop", "qsdfghjklm", "wxcvbn")
_RUSSIAN = ("йцукенгшщзхъ", "фывапролджэ", "ячсмитьбю")
_LAYOUTS = {
    **dict.fromkeys(("cs", "de", "hr", "hu", "sk", "sl"), _QWERTZ),
    "fr": _AZERTY,
    "ru": _RUSSIAN,
}


@cache
def neighbours(language: str) -> dict[str, str]:
    """Return the letters beside each letter, in its own row and in those above and below.

    Args:
        language: a code; one without a layout of its own has the American one. Letters that a
            layout lacks have no neighbours.
    """
    rows = _LAYOUTS.get(language, _QWERTY)
    places = {
        letter: (row, column + row / 2)
        for row, letters in enumerate(rows)
        for column, letter in enumerate(letters)
    }
    return {
        letter: "".join(
            other
            for other, (other_row, other_column) in places.items()
            if other != letter and abs(row - other_row) <= 1 and abs(column - other_column) <= 1
        )
        for letter, (row, column) in places.items()
    }
