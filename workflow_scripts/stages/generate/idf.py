"""How rare words are: IDF = log2(N / df) over the training references, each a document.

This definition gives Table 2 of ParaBank (Hu et al., AAAI 2019). Only lower-case alphabetic tokens
count, as they stand: ParaBank chooses its constraints among these alone (section 3.2).
"""

import heapq
import math
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import TableWriter, read_rows
from workflow_scripts.core.files.rows import DocumentFrequencyRow, PairRow
from workflow_scripts.core.files.space import explained
from workflow_scripts.core.progress import progress
from workflow_scripts.stages.generate.constraint_words import Split, plain_words, words_of
from workflow_scripts.stages.generate.tokenizer import splitter

# Distinct words counted in memory; more go to disk, sorted, and are merged.
MOST_WORDS = 1 << 20

Count = tuple[str, int]


def document_frequencies(
    references: Iterable[str], split: Split, folder: Path, most: int = MOST_WORDS
) -> Iterator[Count]:
    """Yield every word and the number of references it stands in, in the order of the words.

    Args:
        references: read once.
        split: gives their words.
        folder: for temporary files.
        most: distinct words in memory; the rest of the vocabulary is on disk.
    """
    counts: Counter[str] = Counter()
    runs: list[Path] = []
    for reference in references:
        counts.update(plain_words(words_of(reference, split)))
        if len(counts) >= most:
            runs.append(folder / str(len(runs)))
            lines = (f"{word}\t{count}\n" for word, count in sorted(counts.items()))
            with (
                explained(runs[-1]),
                runs[-1].open("w", encoding="utf-8", newline="\n") as stream,
            ):
                stream.writelines(lines)
            counts.clear()
    merged = heapq.merge(*map(_read_run, runs), sorted(counts.items()))
    for word, group in groupby(merged, key=itemgetter(0)):
        yield word, sum(count for _, count in group)


def _read_run(path: Path) -> Iterator[Count]:
    with path.open(encoding="utf-8", newline="\n") as stream:
        for line in stream:
            word, _, count = line.partition("\t")
            yield word, int(count)


def count_shards(folder: Path, shards: int, output: Path, config: dict[str, Any]) -> None:
    """Write the document frequencies of the training corpora's references, from `pairs` shards.

    The record's rows are references: `rows_out` were counted, those of other corpora are rejected.
    Memory does not grow with the corpus or its vocabulary.

    Raises:
        InputError: the corpora have no references, a shard is damaged, or spaCy is missing.
    """
    paths = shard_paths(folder, shards)
    for path in paths:
        verify(path)
    corpora = set(config["corpora"])
    rows: Counter[bool] = Counter()

    def references() -> Iterator[str]:
        for path in paths:
            for row in read_rows(path, PairRow, columns=["reference", "corpus"]):
                used = row["corpus"] in corpora
                rows[used] += 1
                if used:
                    yield row["reference"]

    with (
        tempfile.TemporaryDirectory(prefix="paraloom-idf-") as temporary,
        TableWriter(output, DocumentFrequencyRow) as writer,
    ):
        split = splitter(config["language"])
        counted = document_frequencies(progress(references(), desc="idf"), split, Path(temporary))
        for word, count in counted:
            writer.write({"word": word, "references": count})
        if not rows[True]:
            raise InputError(f"train.corpora: no pair of {sorted(corpora)} is left to count words")
    write_record(
        output,
        rows.total(),
        rows[True],
        {"corpus_not_used": rows[False]},
        extra={"words": writer.rows_written},
    )


def read_idf(path: Path, config: dict[str, Any]) -> dict[str, float]:
    """Return the IDF (bits) of the words that constraints may be chosen from.

    However large the corpus, there are at most 2^upper x (words of a mean reference) of them.

    Args:
        path: what `count_shards` wrote.
        config: {"bounds": [lower, upper] of the IDF, "exempt": words without a lower bound,
            "min_references": that a word must stand in}.
    """
    total = verify(path)["rows_out"]
    (lower, upper), exempt = config["bounds"], set(config["exempt"])
    by_word = {}
    for row in read_rows(path, DocumentFrequencyRow):
        word, count = row["word"], row["references"]
        idf = math.log2(total / count)
        if count >= config["min_references"] and (lower <= idf or word in exempt) and idf <= upper:
            by_word[word] = idf
    return by_word


main = command(count_shards, __name__)
