"""Compute the paraphrase score of every pair of a shard (PNMT 3.1): cosine of mean word vectors.

Words keep their apostrophes, as those of files of vectors do.
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.parquet import read_batches
from workflow_scripts.core.files.rows import PairColumnsRow
from workflow_scripts.core.files.vectors import Entry, read_vectors, summary
from workflow_scripts.core.progress import progress
from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS, words_with_apostrophes
from workflow_scripts.stages.filter.values import write_values

Split = Callable[[str], list[str]]


class WordVectors:
    """The vectors of some words."""

    def __init__(
        self,
        vectors: Iterable[tuple[str, NDArray[np.float32]]],
        wanted: set[str],
        split: Split = words_with_apostrophes,
    ):
        """Keep the vectors of the wanted words alone: a file of vectors can exceed memory.

        `split` gives the words of a sentence.
        """
        self._split = split
        known = {word: vector for word, vector in vectors if word in wanted}
        self._places = {word: place for place, word in enumerate(known)}
        self._matrix = np.array(list(known.values()), np.float64)

    def __len__(self) -> int:
        return len(self._places)

    def sums(self, sentences: list[str]) -> NDArray[np.float64]:
        """Return the sum of the vectors of each sentence's known words, shape (sentences, size)."""
        places = [
            [self._places[word] for word in self._split(sentence) if word in self._places]
            for sentence in sentences
        ]
        owners = np.repeat(np.arange(len(places)), list(map(len, places)))
        result = np.zeros((len(places), *self._matrix.shape[1:]))
        np.add.at(result, owners, self._matrix[[place for row in places for place in row]])
        return result

    def cosines(self, references: list[str], paraphrases: list[str]) -> NDArray[np.float64]:
        """Return the cosine of each pair; NaN where a side has no known word.

        A mean and a sum point the same way.
        """
        if not self._places:  # there are no words, so no pairs with any
            return np.full(len(references), np.nan)
        return cosines(self.sums(references), self.sums(paraphrases))


def cosines(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the cosine of each pair of rows, shape (rows,); NaN where one is all zeros."""
    norms = np.linalg.norm(first, axis=1) * np.linalg.norm(second, axis=1)
    products = np.einsum("ij,ij->i", first, second)
    return np.divide(products, norms, out=np.full(len(norms), np.nan), where=norms > 0)


def vocabulary(path: Path, split: Split) -> set[str]:
    """Return the words of both sides of a `pair_columns` shard."""
    seen: set[str] = set()
    for batch in read_batches(path, PairColumnsRow, ["reference", "paraphrase"]):
        for column in batch.columns:
            for text in column.unique().to_pylist():
                seen.update(split(text))
    return seen


def write_scores(
    config: dict[str, Any],
    pairs: Path,
    vectors: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
) -> None:
    """Compute the paraphrase score of every pair of a shard.

    Args:
        config: `punctuation`, whose marks are words of their own or dropped.
        pairs: the `pair_columns` shard.
        vectors: the file of word vectors, which is read at the start.
        output: the `pair_values` shard; its record stands beside it.

    Raises:
        InputError: the file of vectors is not what it should be.
    """
    verify(pairs)
    said = config["punctuation"]
    split = words_with_apostrophes if said == DROPPED else TOKENISERS[said]
    words = vocabulary(pairs, split)
    rejected: Counter[str] = Counter()
    read = 0

    def counted() -> Iterator[Entry]:
        nonlocal read
        for entry in read_vectors(vectors, rejected):
            read += 1
            yield entry

    with unchanged(inputs or {}):
        table = WordVectors(progress(counted(), desc="word vectors"), words, split)
    print(f"paraphrase score: {summary(vectors, read, rejected)}", file=sys.stderr)
    if words and not len(table):
        # A shard of few odd pairs is no fault of the file: who chooses by the column sees them all.
        print(
            f"warning: {vectors} has none of the {len(words):,} words of {pairs}, which are "
            "in lower case; its pairs get no value",
            file=sys.stderr,
        )
    counts = {"read": read, "rejected": dict(rejected), "known": len(table), "words": len(words)}
    write_values(pairs, output, table.cosines, "paraphrase score", extra={"vectors": counts})


main = command(write_scores, __name__)
