"""Fit a judge of the run to the user's labels or ratings, with the models of the run."""

import argparse
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.cli import add_inputs, json_argument, run
from workflow_scripts.core.device import choose_device
from workflow_scripts.core.encoder_blocks import DEFAULT
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.features import ENCODER, NEEDS
from workflow_scripts.core.input_files import unchanged
from workflow_scripts.core.manifest import write_record
from workflow_scripts.core.rows import PairRow
from workflow_scripts.dual_filter.scores import Direction
from workflow_scripts.judge.bench import Decoder
from workflow_scripts.judge.encoder import encoder_folder
from workflow_scripts.judge.examples import read_labels, read_ratings
from workflow_scripts.judge.fit import encoder_of, fit_judge
from workflow_scripts.judge.fitting import Examples
from workflow_scripts.judge.load import load_models
from workflow_scripts.judge.pairs import Pairs
from workflow_scripts.nmt.options import SCORING_BATCH, parse_with_compute
from workflow_scripts.score.references import score_references

# The record of judge.json, which looks like a record itself.
RECORD = "fitting"


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


def scored_references(
    pairs: Pairs, forward: Path, backward: Path, on: dict[str, Any], batch_tokens: int
) -> Pairs:
    """Return the pairs with the NLLs of their references themselves, by the models of the run."""
    assert pairs.sources is not None
    both = dict.fromkeys(zip(pairs.sources, pairs.references, strict=True))

    def rows() -> Iterator[PairRow]:
        for source, reference in both:
            yield {"id": "", "source": source, "reference": reference, "corpus": ""}

    models = (
        Direction(forward, "source", "reference", **on),
        Direction(backward, "reference", "source", **on),
    )
    found = dict(zip(both, score_references(rows(), *models, batch_tokens), strict=True))
    own = [found[each] for each in zip(pairs.sources, pairs.references, strict=True)]
    return replace(
        pairs,
        reference_forward_nll=np.array([each["forward_nll"] for each in own]),
        reference_backward_nll=np.array([each["backward_nll"] for each in own]),
    )


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
    device, batch = choose_device(arguments.device).type, arguments.batch_tokens
    models = load_models(config["features"], config, arguments.words, arguments.grammar, device)
    given = examples(config)
    if arguments.forward is not None:
        if any(each.pairs.sources is None or not all(each.pairs.sources) for each in given):
            raise InputError(
                "judge: some features need the translation models, and so the source of each "
                f"labelled pair; {given[0].source['file']} has pairs without: add them, or take "
                "the features forward_total, forward_worst, forward_gain and backward_gain out"
            )
        decoder = Decoder(arguments.forward, device, config["precision"], batch)
        given = [replace(each, pairs=decoder.decoded(each.pairs)) for each in given]
        if arguments.backward is not None:
            on = {"device": device, "precision": config["precision"]}
            where = (arguments.forward, arguments.backward)
            given = [
                replace(each, pairs=scored_references(each.pairs, *where, on, batch))
                for each in given
            ]
    about = {}
    if any(ENCODER in NEEDS[name] for name in config["features"]):
        own = None if config["encoder"] == DEFAULT else encoder_folder(config["encoder"])
        about["encoder"], _ = encoder_of(own)
    judge = fit_judge(given, config["features"], models, about, config["seed"], print)
    path = judge.save(arguments.output.parent)
    rows = sum(map(len, given))
    write_record(path.with_name(RECORD), rows, rows, {}, files=[path])


if __name__ == "__main__":
    run(main)
