"""Compute a feature of every pair of a shard: one of the features that the judge knows."""

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import remedy, verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ReferenceScoreRow
from workflow_scripts.plan.catalogues.pair_features import REFERENCE_NLLS
from workflow_scripts.stages.filter.values import column_values
from workflow_scripts.stages.judge.features import FEATURES, Feature, Models
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs
from workflow_scripts.stages.judge.load import load_models

# Pairs of one call: many sentences of like length, where that saves an encoder padding.
BATCH = 4096
_NLLS = {"forward_nll": "translation_cost", "backward_nll": "backward_nll"}


def reference_nlls(path: Path) -> dict[str, tuple[float, float]]:
    """Return the forward and the backward NLL of each reference of a shard, by its id."""
    verify(path)
    rows = read_rows(path, ReferenceScoreRow)
    return {row["id"]: (row["forward_nll"], row["backward_nll"]) for row in rows}


def pairs_of(
    batch: pa.RecordBatch, needed: tuple[str, ...], references: dict[str, tuple[float, float]]
) -> Pairs:
    """Return the pairs of a batch of `pair_columns`, with the columns that a feature needs.

    Raises:
        KeyError: a reference has no score.
    """
    nlls = {
        name: batch.column(column).to_numpy(zero_copy_only=False).astype(np.float64)
        for name, column in _NLLS.items()
        if name in needed
    }
    if not set(REFERENCE_NLLS).isdisjoint(needed):
        scores = [references[identifier] for identifier in batch.column("id").to_pylist()]
        nlls |= dict(zip(REFERENCE_NLLS, np.array(scores).T, strict=True))
    texts = (batch.column(side).to_pylist() for side in ("reference", "paraphrase"))
    return Pairs(*texts, **nlls)


def stream_feature(
    pairs: Path, output: Path, feature: Feature, models: Models, scores: Path | None
) -> None:
    """Stream a `pair_columns` shard into a `pair_values` shard with its record.

    Args:
        pairs: the `pair_columns` shard.
        output: the `pair_values` shard.
        feature: which one.
        models: what it needs.
        scores: the NLLs of the references of this shard, if it needs them.

    Raises:
        InputError: a file is damaged, or has no score of a reference.
    """
    references = reference_nlls(scores) if scores else {}

    def values(batch: pa.RecordBatch) -> Numbers:
        try:
            batch_pairs = pairs_of(batch, feature.columns, references)
        except KeyError as error:
            raise InputError(
                f"{scores} has no reference {error.args[0]}; {remedy(Path(str(scores)))}"
            ) from error
        return feature.compute(batch_pairs, models)

    texts = ["reference", "paraphrase"]
    columns = [*texts, *(_NLLS[name] for name in feature.columns if name in _NLLS)]
    column_values(pairs, output, columns, values, feature.name, BATCH)


def write_feature(
    config: dict[str, Any],
    pairs: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    words: Path | None = None,
    grammar: Path | None = None,
    reference_scores: Path | None = None,
) -> None:
    """Compute a feature of every pair of a shard.

    Args:
        config: `name` of the feature, `language`; `encoder`, if it needs one.
        pairs: the `pair_columns` shard.
        output: the `pair_values` shard; its record stands beside it.
        words: what `generate.known_words` wrote, if it needs it.
        grammar: `model.json` of a grammar model; None for the one that ships.
        reference_scores: the shard of `score.references`, if it needs it.
    """
    torch.set_num_threads(1)
    with unchanged(inputs or {}):
        feature = FEATURES[config["name"]]
        models = load_models([feature.name], config, words, grammar, "cpu")
        stream_feature(pairs, output, feature, models, reference_scores)


main = command(write_feature, __name__)
