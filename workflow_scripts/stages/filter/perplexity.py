"""Compute a language model's column of a shard of pairs.

It is the perplexity of the paraphrase (BT17 5.6), or the feature `language_model` of the judge.
"""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from workflow_scripts.core.command import command
from workflow_scripts.core.files.manifest import read_record, verify_file
from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS
from workflow_scripts.stages.filter.kenlm import LanguageModel
from workflow_scripts.stages.filter.language_model import MODEL, RECORD
from workflow_scripts.stages.filter.sample import is_learnt
from workflow_scripts.stages.filter.values import BatchValues, by_models, column_values

SIDES = ["reference", "paraphrase"]


def values_of(model: Path, config: dict[str, Any]) -> BatchValues:
    """Return the function that computes the column; a reference that was learnt has no value.

    Args:
        model: its folder.
        config: with `relative` the column is the log-probability of the paraphrase minus that of
            the reference, and the perplexity of the paraphrase without; `punctuation`, if it is
            not dropped.
    """
    file = model / MODEL
    verify_file(file, RECORD)
    learnt = read_record(model / RECORD).get("extra", {}).get("learnt")
    asked = LanguageModel(file, TOKENISERS[config.get("punctuation", DROPPED)])

    def values(batch: pa.RecordBatch) -> NDArray[Any]:
        references, paraphrases = (batch.column(side).to_pylist() for side in SIDES)
        if config.get("relative", False):
            found = asked.log_probability(paraphrases) - asked.log_probability(references)
        else:
            found = asked.perplexity(paraphrases)
        known = [learnt is None or not is_learnt(learnt, reference) for reference in references]
        return np.where(known, found, np.nan)

    return values


def write_perplexities(
    config: dict[str, Any],
    pairs: Path,
    model: Path,
    output: Path,
    corpora: list[str] | None = None,
) -> None:
    """Compute the column of a language model for every pair of a shard.

    Args:
        config: see `values_of`.
        pairs: the `pair_columns` shard.
        model: folder of what `filter.language_model` wrote, or of those of corpora.
        output: the `pair_values` shard; its record stands beside it.
        corpora: those that have a model each.
    """
    values = by_models(model, corpora or [], partial(values_of, config=config))
    column_values(pairs, output, SIDES, values, "perplexity")


main = command(write_perplexities, __name__)
