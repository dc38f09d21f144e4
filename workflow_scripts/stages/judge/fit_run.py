"""Fit a judge of the run to the user's labels or ratings, with the models of the run."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.encoding.sentence_vectors import encoder_folder
from workflow_scripts.nmt.options import SCORED_TOKENS
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT
from workflow_scripts.plan.catalogues.pair_features import ENCODER, NEEDS
from workflow_scripts.stages.dual_filter.pair_scores import Direction
from workflow_scripts.stages.judge.bench import Decoder, with_comparison
from workflow_scripts.stages.judge.fit import fit_judge
from workflow_scripts.stages.judge.fitting import Examples
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs
from workflow_scripts.stages.judge.load import load_models
from workflow_scripts.stages.judge.opened import encoder_of
from workflow_scripts.stages.judge.rated_pairs import read_labels, read_ratings

# The record of judge.json, which looks like a record itself.
RECORD = "fitting"


class On(NamedTuple):
    """Where and how models compute."""

    device: str
    precision: str
    batch_tokens: int


def examples(config: dict[str, Any]) -> list[Examples]:
    """Return the pairs that a judge is fitted to: labels come first.

    Raises:
        InputError: a file is not as it should be.
    """
    judged = [read_labels(Path(config["labels"]))] if "labels" in config else []
    if "ratings" in config:
        ratings, texts = Path(config["ratings"]), Path(config["reference_texts"])
        judged.append(read_ratings(ratings, texts, config["good"]))
    return judged


class Translators:
    """The models of a run that score labelled pairs; None where no feature needs it."""

    def __init__(self, forward: Path | None, backward: Path | None, on: On):
        """Load the models in these folders.

        Raises:
            InputError: a folder is not what its training wrote, or can't be used.
        """
        where = {"device": on.device, "precision": on.precision}
        self._forward = Direction(forward, "source", "reference", **where) if forward else None
        self._backward = Direction(backward, "reference", "source", **where) if backward else None
        self._decoder = (
            Decoder(forward, on.device, on.precision, on.batch_tokens) if forward else None
        )
        self._batch_tokens = on.batch_tokens

    def scored(self, pairs: Pairs) -> Pairs:
        """Return pairs with their NLLs, as far as models are here and the sources are known.

        An NLL that is known already stays. It is infinite where a side is empty, or too long.
        """
        sources = pairs.sources
        if sources is None:
            return pairs
        if self._decoder is not None:
            pairs = self._decoder.decoded(pairs)
        if (model := self._forward) is not None:
            asked, known = self._nlls(model, sources, pairs.paraphrases), pairs.forward_nll
            own = self._nlls(model, sources, pairs.references)
            known = asked if known is None else np.where(np.isnan(known), asked, known)
            pairs = replace(pairs, forward_nll=known, reference_forward_nll=own)
        if (model := self._backward) is not None:
            own = self._nlls(model, sources, pairs.references)
            pairs = replace(pairs, reference_backward_nll=own)
            pairs = with_comparison(pairs, model.model, model.read, model.write, self._batch_tokens)
        return pairs

    def _nlls(self, model: Direction, sources: Sequence[str], texts: Sequence[str]) -> Numbers:
        rows: list[PairRow] = [
            {"id": "", "source": source, "reference": text, "corpus": ""}
            for source, text in zip(sources, texts, strict=True)
        ]
        return np.array(list(model.nlls(rows, self._batch_tokens)), np.float64)


def fit(
    config: dict[str, Any],
    output: Path,
    inputs: dict[str, str] | None = None,
    words: Path | None = None,
    grammar: Path | None = None,
    forward: Path | None = None,
    backward: Path | None = None,
    device: Device = "auto",
    batch_tokens: int = SCORED_TOKENS,
    threads: int = 1,
) -> None:
    """Fit a judge to labels or ratings with the models of a run.

    Args:
        config: `features`, `encoder`, `language`, `precision`, `good`, `seed`; the files that
            `examples` reads; `encoder_precision`, if it is not fp32.
        output: `judge.json`; its record is `fitting.json` beside it.
        words: what `generate.known_words` wrote, if a feature needs it.
        grammar: `model.json` of a grammar model; None for the one that ships.
        forward: folder of that model, if a feature needs it.
        backward: folder of that model, if a feature needs it.

    Raises:
        InputError: a feature lacks what it needs, or a file is not as it should be.
    """
    torch.set_num_threads(threads)
    on = On(choose_device(device).type, config["precision"], batch_tokens)
    features = config["features"]
    with unchanged(inputs or {}):
        models = load_models(features, config, words, grammar, on.device)
        translators = Translators(forward, backward, on)
        scored = [replace(file, pairs=translators.scored(file.pairs)) for file in examples(config)]
        about = {}
        if any(ENCODER in NEEDS[name] for name in features):
            folder = None if config["encoder"] == DEFAULT else encoder_folder(config["encoder"])
            about["encoder"], _ = encoder_of(folder)
        judge = fit_judge(scored, features, models, about, config["seed"], print)
        path = judge.save(output.parent)
    rows = sum(map(len, scored))
    write_record(path.with_name(RECORD), rows, rows, {}, files=[path])


main = command(fit, __name__)
