"""The entries of a lexicon from what was counted: as Parquet, as TSV, and in PPDB's columns."""

import math
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record, shard_paths, verify, write_record
from workflow_scripts.core.files.packed_writers import gzip_writer, zstd_writer
from workflow_scripts.core.files.parquet import TableWriter, read_batches, read_rows
from workflow_scripts.core.files.rows import (
    LexiconCountRow,
    LexiconPhrasesRow,
    LexiconRow,
    LexiconTagRow,
)
from workflow_scripts.stages.lexicon.counting import Block, merged
from workflow_scripts.stages.lexicon.entry_scores import mutual_information, probability, score
from workflow_scripts.stages.lexicon.phrase_pairs import (
    first_words,
    has_marked,
    last_words,
    unpacked,
)
from workflow_scripts.stages.lexicon.results import (
    ACROSS,
    WITHIN,
    read_words,
)
from workflow_scripts.stages.lexicon.texts import WORD_BITS
from workflow_scripts.stages.lexicon.together import word_pair

Blocks = Callable[[], Iterator[Block]]
Figures = NDArray[np.float64]

# Entries that are turned into text at once.
_ROWS = 1 << 14
_BLOCK_ROWS = 1 << 15


class Entries(NamedTuple):
    """Pairs of phrases, each once, in one of its two orders.

    Attributes:
        first: a phrase, packed, shape (entries,), as all that follow.
        second: the other.
        pairs: of sentences in which they are aligned.
        total: of the first phrase: all its alignments; one with the same phrase counts twice.
        other: of the second one.
        cross: mutual information across sentences; NaN unless both are single words.
        within: that within a sentence.
    """

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    pairs: NDArray[np.int64]
    total: NDArray[np.int64]
    other: NDArray[np.int64]
    cross: Figures
    within: Figures


def are_entries(block: Block, least: int) -> NDArray[np.bool_]:
    """Return which rows of counted pairs of phrases become entries.

    They came `least` times, and begin and end with other words: two phrases that share a word at
    an end say no more than what is left of both, and equal ones say nothing.
    """
    first, second, count = block.T
    apart = first_words(first) != first_words(second)
    apart &= last_words(first) != last_words(second)
    return apart & (count >= least)


def totals(blocks: Iterator[Block], phrases: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return how often each phrase is aligned, in rising order of the phrases.

    A pair of sentences is read in both directions, so one in which a phrase is aligned with its
    like counts twice.
    """
    counts = np.zeros(len(phrases), np.int64)
    for block in blocks:
        for side in (0, 1):
            places = np.searchsorted(phrases, block[:, side])
            places = np.minimum(places, len(phrases) - 1)
            here = phrases[places] == block[:, side]
            np.add.at(counts, places[here], block[here, 2])
    return counts


def looked_up(blocks: Iterator[Block], keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the counts of some keys, which may be in any order; 0 where there is none."""
    different, back = np.unique(keys, return_inverse=True)
    counts = np.zeros(len(different), np.int64)
    for block in blocks:
        places = np.minimum(np.searchsorted(different, block[:, 0]), max(0, len(different) - 1))
        if len(different):
            here = different[places] == block[:, 0]
            counts[places[here]] = block[here, 1]
    return counts[back]


def candidates(phrases: Blocks, least: int) -> Block:
    """Return the counted pairs of phrases that `are_entries`, shape (pairs, 3)."""
    empty = np.zeros((0, 3), np.int64)
    return np.concatenate([empty, *(block[are_entries(block, least)] for block in phrases())])


def entries(
    chosen: Block,
    phrases: Blocks,
    across: Blocks,
    within: Blocks,
    sentences: NDArray[np.int64],
    most: int,
) -> Entries:
    """Return the entries of what was counted.

    Args:
        chosen: pairs of phrases that become entries, with their counts.
        phrases: gives a pass over all pairs of phrases.
        across: over words in both sentences of a pair.
        within: over words in one sentence.
        sentences: that have each word, from that with number 1.
        most: sentences, all of them.
    """
    first, second, count = chosen.T
    different = np.unique(np.concatenate([first, second]))
    sums = totals(phrases(), different) if len(different) else different
    total, other = (sums[np.searchsorted(different, phrase)] for phrase in (first, second))
    words = np.flatnonzero((first >> WORD_BITS == 0) & (second >> WORD_BITS == 0))
    keys = word_pair(first[words], second[words])
    one, two = (sentences[phrase[words] - 1] for phrase in (first, second))
    figures = []
    for counts in (across, within):
        numbers = np.full(len(first), np.nan)
        numbers[words] = mutual_information(looked_up(counts(), keys), one, two, most)
        figures.append(numbers)
    return Entries(first, second, count, total, other, *figures)


def read_tags(path: Path | None) -> dict[str, str]:
    """Return the part of speech of each word that has one; none without a file."""
    if path is None:
        return {}
    verify(path)
    return {row["word"]: row["tag"] for row in read_rows(path, LexiconTagRow)}


def columns(lexicon: Entries, words: list[str], tags: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Yield the columns of the lexicon's rows, best first, some rows at a time.

    Each entry gives two rows, one for each of its phrases. It has a part of speech if both of its
    phrases are single words that have the same.
    """
    values = score(lexicon.pairs, lexicon.total, lexicon.other)
    # Both rows of an entry have one score. Of equal scores the more frequent entry comes first,
    # then that with the more frequent words.
    one = np.concatenate([lexicon.first, lexicon.second])
    other = np.concatenate([lexicon.second, lexicon.first])
    entry = np.tile(np.arange(len(values)), 2)
    order = np.lexsort((other, one, -lexicon.pairs[entry], -values[entry]))
    text = np.array(["", *words], object)
    for start in range(0, len(order), _ROWS):
        rows = order[start : start + _ROWS]
        number, turned = entry[rows], rows >= len(values)
        of_phrase = np.where(turned, lexicon.other[number], lexicon.total[number])
        of_paraphrase = np.where(turned, lexicon.total[number], lexicon.other[number])
        count = lexicon.pairs[number]
        sides = [
            [" ".join(text[unpacked(phrase)]) for phrase in side[rows].tolist()]
            for side in (one, other)
        ]
        parts = [[tags.get(phrase) for phrase in side] for side in sides]
        common = [part if part == second else None for part, second in zip(*parts, strict=True)]
        yield {
            "phrase": sides[0],
            "paraphrase": sides[1],
            "tag": pa.array(common, pa.string()),
            "score": values[number],
            "pmi_cross": pa.array(lexicon.cross[number], from_pandas=True),
            "pmi_within": pa.array(lexicon.within[number], from_pandas=True),
            "count": count,
            "p_paraphrase": probability(count, of_phrase),
            "p_phrase": probability(count, of_paraphrase),
        }


_NAMES = list(LexiconRow.__annotations__)


def tsv_line(row: dict[str, Any]) -> str:
    """Return a row as a line of the TSV; what is not known is empty."""
    fields = (row[name] for name in _NAMES)
    texts = (f"{value:.6g}" if isinstance(value, float) else value for value in fields)
    return "\t".join("" if value is None else str(value) for value in texts)


def ppdb_line(row: dict[str, Any]) -> str:
    """Return a row in the columns of PPDB 2.0: see `generate.ppdb`.

    As there, p(e|f) is that of the paraphrase given the phrase, and probabilities are negative
    logarithms. The category of a row without a part of speech is [X], as in PPDB's phrases. The
    relation is not known; a pair of sentences says that both mean the same.
    """
    figures = {
        "PPDB2.0Score": row["score"],
        "p(e|f)": -math.log(row["p_paraphrase"]),
        "p(f|e)": -math.log(row["p_phrase"]),
        **{"PMICross": row["pmi_cross"], "PMIWithin": row["pmi_within"], "Count": row["count"]},
    }
    features = " ".join(
        f"{name}={figure:.6g}" for name, figure in figures.items() if figure is not None
    )
    category = f"[{row['tag'] or 'X'}]"
    return " ||| ".join((category, row["phrase"], row["paraphrase"], features, "", "Equivalence"))


def _blocks(paths: list[Path], row: type) -> Blocks:
    """Return what gives passes over the merged counts of all shards."""

    def read(path: Path) -> Iterator[Block]:
        for batch in read_batches(path, row, None, _BLOCK_ROWS):
            yield np.column_stack([column.to_numpy() for column in batch.columns])

    return lambda: merged(map(read, paths))


def write_entries(
    config: dict[str, Any],
    words: Path,
    counts: Path,
    shards: int,
    output: Path,
    tags: Path | None = None,
) -> None:
    """Make the entries of a lexicon from what was counted.

    Memory holds the entries; what was counted goes by in order.

    Args:
        config: `min_count`; `attested`, whether entries need words of references.
        words: folder of the words.
        counts: folder of the counts.
        shards: of the counts.
        tags: the file of the words' parts of speech; None: there is none.

    Raises:
        InputError: there is no entry, or a file is damaged.
    """
    known, parts = read_words(words), read_tags(tags)
    used = read_record(words / "words.parquet")["rows_out"]
    paths = shard_paths(counts, shards)
    read = sum(verify(path)["rows_out"] for path in paths)
    if read != used:
        raise InputError(
            f"{counts} has counts of {read:,} pairs and {words} the words of {used:,}; delete "
            "both and run again"
        )
    across, within = (
        _blocks([path.with_name(f"{path.stem}{suffix}.parquet") for path in paths], LexiconCountRow)
        for suffix in (ACROSS, WITHIN)
    )
    phrases = _blocks(paths, LexiconPhrasesRow)
    chosen = candidates(phrases, config["min_count"])
    if not len(chosen):
        raise InputError(
            f"no two different phrases are aligned in {config['min_count']} of {used:,} pairs; "
            "lower min_count, or name training sets with more pairs"
        )
    strange = np.zeros(len(chosen), bool)
    if config["attested"]:
        first, second, _ = chosen.T
        nowhere = known.references == 0
        strange = has_marked(first, nowhere) | has_marked(second, nowhere)
    if strange.all():
        raise InputError(
            f"each of {len(chosen):,} entries has a word that no reference has; set attested to "
            "false, or name training sets with more pairs"
        )
    lexicon = entries(chosen[~strange], phrases, across, within, known.sentences, 2 * used)
    files = [output / name for name in ("lexicon.parquet", "lexicon.tsv.zst", "ppdb.gz")]
    with (
        TableWriter(files[0], LexiconRow) as table,
        zstd_writer(files[1]) as tsv,
        gzip_writer(files[2]) as ppdb,
    ):
        tsv.write("\t".join(_NAMES) + "\n")
        for chunk in columns(lexicon, known.words, parts):
            table.write_columns(chunk)
            rows = pa.table({name: chunk[name] for name in _NAMES}).to_pylist()
            tsv.writelines(f"{tsv_line(row)}\n" for row in rows)
            ppdb.writelines(f"{ppdb_line(row)}\n" for row in rows)
    figures = {
        "rows": table.rows_written,
        "phrases": phrases_of(lexicon),
        "unattested": int(strange.sum()),
    }
    write_record(output / "lexicon.parquet", used, used, {}, figures, files)


def phrases_of(lexicon: Entries) -> int:
    """Return how many different phrases the entries have."""
    return len(np.unique(np.concatenate([lexicon.first, lexicon.second])))


main = command(write_entries, __name__)
