"""Compute the columns of every pair (reference, paraphrase) of a shard that need no model."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.files.rows import PairColumnsRow, ParaphrasesRow
from workflow_scripts.core.files.shard_frame import Input, Stream, write_shard
from workflow_scripts.core.text.word_tokens import DROPPED
from workflow_scripts.stages.filter import pair_measures
from workflow_scripts.stages.filter.ngrams import Counts, count
from workflow_scripts.stages.filter.token_numbers import Lexicon, Tokens

# Pairs whose words are looked up at once.
BATCH = 8192


class Counter:
    """Counts the n-grams of pairs, keeping the words that it has met."""

    def __init__(self, punctuation: str = DROPPED) -> None:
        """Count words as `evaluate.punctuation` says."""
        self._lexicon = Lexicon(punctuation)

    def counts(
        self, references: pa.StringArray, paraphrases: pa.StringArray
    ) -> tuple[Counts, Counts]:
        """Return the counts of the pairs' words, and of their tokens by sacrebleu's tokeniser."""
        words, tokens = self.sides(references, paraphrases)
        return count(*words), count(*tokens)

    def sides(
        self, references: pa.StringArray, paraphrases: pa.StringArray
    ) -> tuple[tuple[Tokens, Tokens], tuple[Tokens, Tokens]]:
        """Return the words of both sides, and their tokens by sacrebleu's tokeniser."""
        # The paraphrases of one reference stand together; it is looked up once.
        encoded = references.dictionary_encode()
        different, chosen = len(encoded.dictionary), encoded.indices.to_numpy().astype(np.int64)
        kinds = self._lexicon.tokens(pa.concat_arrays([encoded.dictionary, paraphrases]))
        firsts = (kind.run(slice(None, different)) for kind in kinds)
        if different < len(references):
            firsts = (tokens.take(chosen) for tokens in firsts)
        seconds = (kind.run(slice(different, None)) for kind in kinds)
        words, tokens = zip(firsts, seconds, strict=True)
        return words, tokens

    def columns(
        self, references: pa.StringArray, paraphrases: pa.StringArray
    ) -> dict[str, NDArray[Any]]:
        """Return the columns that follow from the texts, each of shape (pairs,)."""
        sides, token_sides = self.sides(references, paraphrases)
        words, tokens = count(*sides), count(*token_sides)
        return {
            "reference_words": words.first[:, 0],
            "paraphrase_words": words.second[:, 0],
            **{f"overlap_{order}": pair_measures.overlap(words, order) for order in (1, 2, 3)},
            "intersection_over_union": pair_measures.intersection_over_union(*sides),
            "intersection_over_union_bags": pair_measures.intersection_over_union_bags(words),
            "bleu_nakov": pair_measures.bleu_nakov(words),
            **{
                f"sacrebleu_{method.replace('-', '_')}": pair_measures.sacrebleu(tokens, method)
                for method in pair_measures.SACREBLEU
            },
        }


def pair_batches(batches: Iterable[pa.RecordBatch]) -> Iterator[dict[str, pa.Array]]:
    """Yield the pairs of `paraphrases` batches, column by column, `BATCH` at most at a time."""
    for batch in batches:
        lists = batch.column("paraphrases")
        owners = pa.array(np.repeat(np.arange(len(batch)), lists.value_lengths().to_numpy()))
        paraphrases = lists.flatten()
        for start in range(0, len(paraphrases), BATCH):
            chunk, owner = paraphrases.slice(start, BATCH), owners.slice(start, BATCH)
            yield {
                "id": batch.column("id").take(owner),
                "reference": batch.column("reference").take(owner),
                "paraphrase": chunk.field("text"),
                "rank": chunk.field("rank"),
                "translation_cost": chunk.field("forward_nll"),
                "backward_nll": chunk.field("backward_nll"),
                "sum": chunk.field("sum"),
            }


def write_columns(config: dict[str, Any], paraphrases: Path, output: Path) -> None:
    """Compute the columns of every pair of a shard that need no model.

    Args:
        config: `punctuation`, if it is not dropped.
        paraphrases: the `paraphrases` shard.
        output: the `pair_columns` shard; its record stands beside it.
    """
    counter = Counter(config.get("punctuation", DROPPED))

    def with_columns(batches: Iterator[dict[str, pa.Array]]) -> Iterator[pa.RecordBatch]:
        for pairs in batches:
            yield pa.record_batch(pairs | counter.columns(pairs["reference"], pairs["paraphrase"]))

    rows = Input(paraphrases, ParaphrasesRow).batches(["id", "reference", "paraphrases"], BATCH)
    pairs = Stream(pair_batches(rows.items), size=lambda batch: len(batch["id"]))
    write_shard(pairs, with_columns, output, PairColumnsRow, "columns")


main = command(write_columns, __name__)
