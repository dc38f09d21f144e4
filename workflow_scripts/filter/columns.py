"""Compute the columns of every pair (reference, paraphrase) of a shard that need no model."""

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.cli import run
from workflow_scripts.core.manifest import verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.core.tables import TableWriter, read_batches
from workflow_scripts.filter import measures
from workflow_scripts.filter.ngrams import Counts, count
from workflow_scripts.filter.tokens import Lexicon, Tokens

# Pairs that are counted at once: more have too many different words for integers of 63 bits.
BATCH = 1024


class Counter:
    """Counts the n-grams of pairs, keeping the words that it has met."""

    def __init__(self) -> None:
        self._lexicon = Lexicon()

    def counts(self, references: list[str], paraphrases: list[str]) -> tuple[Counts, Counts]:
        """Return the counts of the pairs' words, and of their tokens by sacrebleu's tokeniser."""
        places: dict[str, int] = {}
        chosen = np.array([places.setdefault(text, len(places)) for text in references], np.int64)
        words, tokens = self._lexicon.tokens([*places, *paraphrases])

        def counted(sentences: Tokens) -> Counts:
            first = sentences.part(slice(None, len(places))).take(chosen)
            return count(first, sentences.part(slice(len(places), None)))

        return counted(words), counted(tokens)

    def columns(self, references: list[str], paraphrases: list[str]) -> dict[str, NDArray[Any]]:
        """Return the columns that follow from the texts, each of shape (pairs,)."""
        words, tokens = self.counts(references, paraphrases)
        return {
            "reference_words": words.first[:, 0],
            "paraphrase_words": words.second[:, 0],
            **{f"overlap_{order}": measures.overlap(words, order) for order in (1, 2, 3)},
            "intersection_over_union": measures.intersection_over_union(words),
            "bleu_nakov": measures.bleu_nakov(words),
            **{
                f"sacrebleu_{method.replace('-', '_')}": measures.sacrebleu(tokens, method)
                for method in measures.SACREBLEU
            },
        }


def pair_batches(batches: Iterator[pa.RecordBatch]) -> Iterator[dict[str, pa.Array]]:
    """Yield the pairs of `paraphrases` batches, column by column, `BATCH` at most at a time."""
    for batch in batches:
        lists = batch.column("paraphrases")
        owners = pa.array(np.repeat(np.arange(len(batch)), lists.value_lengths().to_numpy()))
        found = lists.flatten()
        for start in range(0, len(found), BATCH):
            part, owner = found.slice(start, BATCH), owners.slice(start, BATCH)
            yield {
                "id": batch.column("id").take(owner),
                "reference": batch.column("reference").take(owner),
                "paraphrase": part.field("text"),
                "rank": part.field("rank"),
                "translation_cost": part.field("forward_nll"),
                "backward_nll": part.field("backward_nll"),
                "sum": part.field("sum"),
            }


def write_columns(input_path: Path, output: Path) -> None:
    """Stream a `paraphrases` shard into a `pair_columns` shard with its record."""
    verify(input_path)
    counter, columns = Counter(), ["id", "reference", "paraphrases"]
    batches = pair_batches(read_batches(input_path, "paraphrases", columns))
    with TableWriter(output, "pair_columns") as writer:
        for pairs in progress(batches, desc="columns, batches"):
            texts = pairs["reference"].to_pylist(), pairs["paraphrase"].to_pylist()
            writer.write_columns(pairs | counter.columns(*texts))
    write_record(output, writer.rows_written, writer.rows_written, {})


def main(argv: list[str] | None = None) -> None:
    """Compute the columns of every pair of a shard that need no model."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--input", type=Path, required=True, help="shard of paraphrases")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    write_columns(arguments.input, arguments.output)


if __name__ == "__main__":
    run(main)
