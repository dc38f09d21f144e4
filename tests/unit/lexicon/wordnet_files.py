"""A small WordNet in the format of wndb(5WN)."""

from pathlib import Path

_DATA = {
    "noun": [
        "00000100 05 n 02 dog 0 domestic_dog 0 002 @ 00000200 n 0000 @ 00000300 n 0000 | a dog",
        "00000200 05 n 02 canine 0 canid 0 000 | of the family",
        "00000300 05 n 01 pet 0 000 | kept at home",
        "00000400 18 n 02 boy 0 male_child 0 001 ! 00000500 n 0101 | young",
        "00000500 18 n 01 girl 0 001 ! 00000400 n 0101 | young",
        "00000600 18 n 02 man 0 adult_male 0 000 | grown",
    ],
    "verb": [
        "00000100 40 v 02 buy 0 purchase 0 000 01 + 08 00 | obtain",
        "00000200 40 v 02 give_up 0 surrender 0 000 00 | stop",
    ],
    "adj": [
        "00000100 00 a 01 hot(p) 0 001 ! 00000200 a 0101 | warm",
        "00000200 00 a 01 cold 0 001 ! 00000100 a 0101 | not warm",
        "00000300 00 s 02 big 0 large 0 000 | great",
    ],
    "adv": ["00000100 02 r 02 quickly 0 rapidly 0 000 | fast"],
}
_EXCEPTIONS = {"noun": "geese goose\n", "verb": "bought buy\ngave give\n", "adj": "", "adv": ""}


def write_wordnet(folder: Path) -> Path:
    """Write the database files; return their folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, lines in _DATA.items():
        text = "".join(f"{line}\n" for line in ["  1 The licence of WordNet", *lines])
        (folder / f"data.{name}").write_text(text)
        (folder / f"{name}.exc").write_text(_EXCEPTIONS[name])
    return folder
