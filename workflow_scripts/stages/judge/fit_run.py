"""Fit a judge of the run to the user's labels or ratings, with the models of the run."""

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from workflow_scripts.core.cli import add_inputs, json_argument, run
from workflow_scripts.core.device import choose_device
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.encoding.sentence_vectors import encoder_folder
from workflow_scripts.nmt.options import SCORING_BATCH, parse_with_compute
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT
from workflow_scripts.plan.catalogues.pair_features import ENCODER, NEEDS
from workflow_scripts.stages.dual_filter.pair_scores import Direction
from workflow_scripts.stages.judge.bench import Decoder
from workflow_scripts.stages.judge.fit import encoder_of, fit_judge
from workflow_scripts.stages.judge.fitting import Examples
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs
from workflow_scripts.stages.judge.load import load_models
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
    found = [read_labels(Path(config["labels"]))] if "labels" in config else []
    if "ratings" in config:
        ratings, texts = Path(config["ratings"]), Path(config["reference_texts"])
        found.append(read_ratings(ratings, texts, config["good"]))
    return found


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
        found: dict[str, Any] = {}
        for way, model in (("forward", self._forward), ("backward", self._backward)):
            if model is not None:
                own = getattr(pairs, f"{way}_nll")
                asked = self._nlls(model, sources, pairs.paraphrases)
                found[f"{way}_nll"] = asked if own is None else np.where(np.isnan(own), asked, own)
                found[f"reference_{way}_nll"] = self._nlls(model, sources, pairs.references)
        return replace(pairs, **found)

    def _nlls(self, model: Direction, sources: Sequence[str], texts: Sequence[str]) -> Numbers:
        rows: list[PairRow] = [
            {"id": "", "source": source, "reference": text, "corpus": ""}
            for source, text in zip(sources, texts, strict=True)
        ]
        return np.array(list(model.nlls(rows, self._batch_tokens)), np.float64)


def main(argv: list[str] | None = None) -> None:
    """Fit a judge to labels or ratings with the models of a run, and write judge.json."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    add_inputs(parser)
    parser.add_argument("--words", type=Path, help="words.txt, those of the references")
    parser.add_argument("--grammar", type=Path, help="its model.json; without: what ships")
    parser.add_argument("--forward", type=Path, help="folder of that model")
    parser.add_argument("--backward", type=Path, help="folder of that model")
    parser.add_argument("--output", type=Path, required=True, help="judge.json")
    arguments = parse_with_compute(parser, argv, SCORING_BATCH)
    with unchanged(arguments.inputs):
        fit(arguments)


def fit(arguments: argparse.Namespace) -> None:
    """Fit the judge that a command line asks for.

    Raises:
        InputError: a feature lacks what it needs, or a file is not as it should be.
    """
    config: dict[str, Any] = arguments.config
    on = On(choose_device(arguments.device).type, config["precision"], arguments.batch_tokens)
    features = config["features"]
    models = load_models(features, config, arguments.words, arguments.grammar, on.device)
    translators = Translators(arguments.forward, arguments.backward, on)
    given = [replace(each, pairs=translators.scored(each.pairs)) for each in examples(config)]
    about = {}
    if any(ENCODER in NEEDS[name] for name in features):
        own = None if config["encoder"] == DEFAULT else encoder_folder(config["encoder"])
        about["encoder"], _ = encoder_of(own)
    judge = fit_judge(given, features, models, about, config["seed"], print)
    path = judge.save(arguments.output.parent)
    rows = sum(map(len, given))
    write_record(path.with_name(RECORD), rows, rows, {}, files=[path])


if __name__ == "__main__":
    run(main)
