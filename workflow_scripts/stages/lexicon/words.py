"""The words of a lexicon, and what is learnt of their alignment, from training sets."""

from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.parquet import TableWriter
from workflow_scripts.core.files.rows import LexiconLinkRow, LexiconWordRow, TrainingPairRow
from workflow_scripts.core.files.shard_frame import Input, rows_of
from workflow_scripts.core.progress import progress
from workflow_scripts.stages.lexicon.alignment import Table, cells, joined, learnt, same_words
from workflow_scripts.stages.lexicon.results import TOO_LONG
from workflow_scripts.stages.lexicon.texts import (
    MOST_WORDS,
    OTHER,
    UNKNOWN,
    Tokens,
    batches,
    encoded,
    is_word,
    read_texts,
    too_long,
)

_ROWS = 1 << 16
# Sentences of the sample that are numbered at once, two of each pair.
_SENTENCES = 1 << 15


class Vocabulary:
    """The words of sentences as they come, with their counts.

    Memory grows with the number of different tokens.
    """

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._tokens = np.zeros(0, np.int64)
        self._sentences = np.zeros(0, np.int64)
        self._references = np.zeros(0, np.int64)
        self.tokens = Tokens(lambda token: self._numbers.setdefault(token, len(self._numbers)))

    def add(self, pairs: Sequence[tuple[list[int], list[int]]]) -> None:
        """Count the tokens of some pairs, which `tokens` made; a reference comes first."""
        size = len(self._numbers)
        sentences = [sentence for pair in pairs for sentence in pair]
        flat = np.array([number for sentence in sentences for number in sentence], np.int64)
        owners = np.repeat(np.arange(len(sentences)), [len(sentence) for sentence in sentences])
        owners, once = np.divmod(np.unique(owners * size + flat), max(1, size))
        more = size - len(self._tokens)

        def added(counts: NDArray[np.int64], numbers: NDArray[np.int64]) -> NDArray[np.int64]:
            return np.pad(counts, (0, more)) + np.bincount(numbers, minlength=size)

        self._tokens = added(self._tokens, flat)
        self._sentences = added(self._sentences, once)
        self._references = added(self._references, once[owners % 2 == 0])

    def known(self, least: int) -> tuple[list[str], dict[str, NDArray[np.int64]]]:
        """Return the words that came `least` times or more, the most frequent one first.

        With them comes how often each came (`tokens`), in how many sentences, and in how many
        references. There are `MOST_WORDS` at most.
        """
        tokens = self._tokens
        frequent = [
            (-int(tokens[number]), word, number)
            for word, number in self._numbers.items()
            if tokens[number] >= least and is_word(word)
        ]
        places = [number for _, _, number in sorted(frequent)[:MOST_WORDS]]
        every = list(self._numbers)
        counts = {
            "tokens": tokens[places],
            "sentences": self._sentences[places],
            "references": self._references[places],
        }
        return [every[place] for place in places], counts

    def renumbered(self, words: list[str]) -> NDArray[np.int32]:
        """Return the number of each token among known words, or from UNKNOWN or OTHER on."""
        numbers = np.arange(len(self._numbers), dtype=np.int32)
        words_too = np.fromiter(map(is_word, self._numbers), bool, len(self._numbers))
        numbers += np.where(words_too, UNKNOWN, OTHER).astype(np.int32)
        places = [self._numbers[word] for word in words]
        numbers[places] = np.arange(1, len(words) + 1)
        return numbers


class Sample:
    """Pairs of sentences in little memory, as the numbers of their tokens."""

    def __init__(self) -> None:
        self._flat, self._lengths = array("i"), array("i")

    def add(self, pair: tuple[list[int], list[int]]) -> None:
        """Keep a pair."""
        for sentence in pair:
            self._flat.extend(sentence)
            self._lengths.append(len(sentence))

    def table(self, numbers: NDArray[np.int32], words: int) -> Table:
        """Return what is learnt from the pairs.

        Args:
            numbers: the number of each token among known words.
            words: known ones.
        """
        of_batches = [
            cells(batch, same_words(batch))
            for part in self._parts(numbers)
            for batch in batches(part)
        ]
        return learnt(joined(of_batches), words)

    def _parts(self, numbers: NDArray[np.int32]) -> Iterator[list[tuple[list[int], list[int]]]]:
        """Yield the pairs, renumbered, some at a time."""
        ends = np.cumsum(np.array([0, *self._lengths], np.int64))
        flat = np.frombuffer(self._flat, np.int32)
        for start in range(0, len(self._lengths), _SENTENCES):
            edges = ends[start : start + _SENTENCES + 1]
            part = numbers[flat[edges[0] : edges[-1]]].tolist()
            edges = (edges - edges[0]).tolist()
            sentences = [part[one:other] for one, other in pairwise(edges)]
            yield list(zip(sentences[::2], sentences[1::2], strict=True))


def write_words(config: dict[str, Any], training_sets: list[Path], output: Path) -> None:
    """Find the words of a lexicon, and learn how they are aligned.

    Args:
        config: `max_tokens`, `min_count` and `sample`.
        training_sets: their files.
        output: the file of the words with their counts; the table of alignments stands beside it.

    Raises:
        InputError: no pair is short enough, or a file is damaged.
    """
    pairs = Input(training_sets, TrainingPairRow).count()
    vocabulary, sample = Vocabulary(), Sample()
    read = used = sampled = 0
    for batch in progress(read_texts(training_sets, 0, pairs), pairs, "words", rows_of):
        usable = []
        for pair in encoded(batch, vocabulary.tokens):
            # Spread evenly over all pairs; all of them, if they are not more.
            drawn = (read + 1) * config["sample"] // pairs > read * config["sample"] // pairs
            read += 1
            if not too_long(pair, config["max_tokens"]):
                usable.append(pair)
                if drawn:
                    sample.add(pair)
                    sampled += 1
        used += len(usable)
        vocabulary.add(usable)
    if not sampled:
        raise InputError(
            f"none of {read:,} pairs that were looked at has {config['max_tokens']} tokens or "
            "fewer in both sentences; raise max_tokens or sample, or name other training sets"
        )
    words, counts = vocabulary.known(config["min_count"])
    table = sample.table(vocabulary.renumbered(words), len(words))
    with TableWriter(output, LexiconWordRow) as writer:
        for start in range(0, len(words), _ROWS):
            part = slice(start, start + _ROWS)
            columns = {name: of_words[part] for name, of_words in counts.items()}
            writer.write_columns({"word": words[part], **columns})
    links = output.with_name("links.parquet")
    with TableWriter(links, LexiconLinkRow) as writer:
        for start in range(0, len(table.keys), _ROWS):
            part = slice(start, start + _ROWS)
            writer.write_columns({"key": table.keys[part], "count": table.counts[part]})
    write_record(
        output,
        read,
        used,
        {TOO_LONG: read - used},
        {"words": len(words), "learnt_from": sampled},
        files=[output, links],
    )


main = command(write_words, __name__)
