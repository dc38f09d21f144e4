"""Changes of one letter of a word, as hands make them at a keyboard."""


def omitted(word: str, at: int) -> str:
    """Return a word without one letter."""
    return word[:at] + word[at + 1 :]


def repeated(word: str, at: int) -> str:
    """Return a word with one letter twice."""
    return word[: at + 1] + word[at:]


def swapped(word: str, at: int) -> str:
    """Return a word with a letter and the next one exchanged."""
    return word[:at] + word[at + 1 : at + 2] + word[at] + word[at + 2 :]


def replaced(word: str, at: int, letter: str) -> str:
    """Return a word with another letter in one place."""
    return word[:at] + letter + word[at + 1 :]


def capitalised(word: str) -> str:
    """Return a word with a capital at its start; the other letters stay."""
    return word[0].upper() + word[1:]


def like(new: str, old: str) -> str:
    """Return `new` with a capital where `old` has one."""
    return capitalised(new) if old[0].isupper() else new
