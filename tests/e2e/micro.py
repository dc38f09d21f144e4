"""A micro bitext in text files, a configuration whose run takes a minute, and one of all stages.

Such small models write nonsense; everything around them is the real pipeline. No candidate is
pruned and a quantile of them is kept, so that there are paraphrases whatever the models learn.
"""

import hashlib
import math
import os
import random
import re
import shutil
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from tests import stanza_package
from tests.configs import ROOT
from tests.configs import merged as merged
from tests.unit.transfer.conftest import write_senteval

Pair = tuple[str, str]

# Czech and English, by the places of a sentence.
_WORDS = """
Starý muž = The old man | Mladá žena = The young woman | Můj bratr = My brother
Naše učitelka = Our teacher | Malý chlapec = The little boy | Jeho sestra = His sister
Nový soused = The new neighbour | Každý žák = Every pupil | Ta dívka = That girl
Unavený řidič = The tired driver

vidí = sees | hledá = is looking for | kupuje = buys | má rád = likes | prodává = sells
nese = carries | popisuje = describes | kreslí = draws | fotí = photographs

velký dům = a big house | červené auto = a red car | starou knihu = an old book
tři jablka = three apples | bílého koně = a white horse | dlouhý dopis = a long letter
kočku = the cat | psa = the dog | 12 obrazů = 12 pictures | modrý kabát = a blue coat
staré hodiny = the old clock

na trhu = at the market | ve škole = at school | v parku = in the park
před domem = in front of the house | u řeky = by the river | každý den = every day
v neděli = on Sunday | s úsměvem = with a smile
"""
_PARTS = [
    [tuple(pair.split(" = ")) for pair in re.split(r" \| |\n", part)]
    for part in _WORDS.strip().split("\n\n")
]
MEANINGS = math.prod(map(len, _PARTS))

# A file beside the corpora: words and their paraphrases.
WORD_LIST = "words.txt"
_PARAPHRASES = ["sees watches", "buys purchases gets", "park garden", "house home", "likes loves"]

# Without its programs and its module the run has no column of a language model.
HAS_KENLM = find_spec("kenlm") and shutil.which(
    "lmplz", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}"
)

# Corpora by name: how many pairs each takes from the shuffled meanings.
SIZES = {"train": 420, "held_out": 24, "dev": 30, "test": 30, "web": 60}
PAPERS = ["bt2017", "paranmt", "parabank", "parabank2"]
MAX_SUM = 5.0  # far from both: clean pairs are below 4, noise is above 6
# What tests look up, or know by other names.
_REST = {
    "run": {"systems": PAPERS},
    "dual_filter": {"max_sum": MAX_SUM},
    "evaluate": {
        "syntax": {
            **{"folder": str(stanza_package.FOLDER), "package": stanza_package.PACKAGE},
            **{"levels": 3, "share": 1.0},
        }
    },
}
HERE = Path(__file__).parent


def digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def pair(meaning: int) -> Pair:
    """Return source and reference of one of the `MEANINGS` meanings."""
    chosen = []
    for part in _PARTS:
        meaning, index = divmod(meaning, len(part))
        chosen.append(part[index])
    source, reference = (" ".join(side) for side in zip(*chosen, strict=True))
    return f"{source}.", f"{reference}."


def bitext(seed: int = 1) -> dict[str, list[Pair]]:
    """Return the pairs of every corpus; no two pairs have the same meaning."""
    meanings = random.Random(seed).sample(range(MEANINGS), sum(SIZES.values()))
    corpora, first = {}, 0
    for name, size in SIZES.items():
        corpora[name] = [pair(meaning) for meaning in meanings[first : first + size]]
        first += size
    return corpora


def scrambled(pairs: Sequence[Pair], seed: int = 1) -> list[Pair]:
    """Return the pairs as noise: the characters of each reference are in random order."""
    order = random.Random(seed)
    return [
        (source, "".join(order.sample(reference, len(reference)))) for source, reference in pairs
    ]


def write_lines(path: Path, lines: Sequence[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")


def write_pairs(folder: Path, name: str, pairs: Sequence[Pair]) -> None:
    """Write `<name>.cs` and `<name>.en`."""
    write_lines(folder / f"{name}.cs", [source for source, _ in pairs])
    write_lines(folder / f"{name}.en", [reference for _, reference in pairs])


def write_bitext(folder: Path) -> Path:
    """Write the word list, and all corpora as text files; every third pair of `web` is noise."""
    folder.mkdir(parents=True)
    write_lines(folder / WORD_LIST, _PARAPHRASES)
    corpora = bitext()
    corpora["web"][::3] = scrambled(corpora["web"][::3])
    for name, pairs in corpora.items():
        write_pairs(folder, name, pairs)
    write_graded(folder / "graded.tsv", [reference for _, reference in corpora["dev"]])
    write_ratings(folder / "ratings.tsv")
    words = {word for _, reference in corpora["train"] for word in reference.lower().split()}
    draw = random.Random(1)
    vectors = [f"{word.rstrip('.')} {draw.random():.3f} -0.5" for word in sorted(words)]
    write_lines(folder / "vectors.txt", vectors)
    sentences = [reference for _, reference in corpora["train"]]
    outside = [f"{one}\t{other}" for one, other in pairwise(sentences[:20])]
    write_lines(folder / "outside.tsv", [*outside, "one side alone"])
    write_labels(folder / "labels.tsv", corpora["dev"])
    write_senteval(folder / "senteval")
    return folder


def write_graded(path: Path, sentences: list[str]) -> None:
    """Write an STS data set: each sentence with the next, scored by how many words they share."""
    pairs = zip(sentences, sentences[1:] + sentences[:1], strict=True)
    lines = (
        f"{len(set(first.split()) & set(second.split()))}\t{first}\t{second}\n"
        for first, second in pairs
    )
    path.write_text("".join(lines), encoding="utf-8", newline="\n")


def write_ratings(path: Path) -> None:
    """Write what two people might say of paraphrases of the first references."""
    columns = ("worker_id_anon", "ref_id", "ref_len", "sys_id", "candidate", "human_score", "gm")
    rows = [
        (who, f"train:{number}", 9, "micro", "A sentence.", 10 * number, 2)
        for who in ("a", "b")
        for number in range(1, 9)
    ]
    write_lines(path, ["\t".join(map(str, row)) for row in (columns, *rows)])


def write_labels(path: Path, pairs: list[Pair]) -> None:
    """Write labels for a judge: what says the same in other words is good, noise is bad."""
    lines = ["id\tsource\treference\tparaphrase\tforward_nll\tbackward_nll\tlabel"]
    for number, (pair, noise) in enumerate(zip(pairs, scrambled(pairs), strict=True)):
        source, reference = pair
        for text, label in ((reference.lower(), "good"), (noise[1], "bad")):
            lines.append(f"{number}\t{source}\t{reference}\t{text}\t\t\t{label}")
    write_lines(path, lines)


def text_corpus(name: str, **more: Any) -> dict[str, Any]:
    """Return the block of a corpus that `write_bitext` wrote."""
    return {"source": f"{name}.cs", "reference": f"{name}.en", **more}


def read(path: Path) -> dict[str, Any]:
    """Return a configuration."""
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def config(data: Path) -> dict[str, Any]:
    """Return the micro run on the bitext in `data`, as an override of config.yaml."""
    files = {"data": str(data), "corpora": {name: text_corpus(name) for name in SIZES}}
    found = merged(files, read(HERE / "micro.yaml"))
    if not HAS_KENLM:
        del found["training_sets"]["half"]["bounds"]["fluency"]
    return found


def whole(data: Path) -> dict[str, Any]:
    """Return a run that has a unit of every stage, with the systems of all papers.

    In `data` must be an encoder of sentences besides.
    """
    run = merged(merged(config(data), read(ROOT / "recipes" / "quantile.yaml")), _REST)
    return merged(run, read(HERE / "whole.yaml"))
