"""Make the SentencePiece model of one side of a rewriter, or take that of a translation model."""

import argparse
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import copy_file
from workflow_scripts.core.files.manifest import shard_paths, verify, verify_file, write_record
from workflow_scripts.stages.rewrite import syntax_templates
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.subword.train import TooLargeError, train_on_shards


def take(folder: Path, output: Path) -> None:
    """Copy the SentencePiece model of the references from a model folder, and write its record.

    Raises:
        InputError: it is missing or damaged.
    """
    model = folder / "reference.model"
    verify_file(model, "model")
    copy_file(model, output)
    write_record(output, 0, 0, {})


def check_spells(model: Path, signs: list[str], folder: Path) -> None:
    """Check that a vocabulary that was taken has pieces for all that templates are spelt of.

    Raises:
        InputError: it lacks some, so that different templates would be read as the same.
    """
    segmenter = Segmenter(model)
    known = set(segmenter.vocabulary())
    if lacking := [sign for sign in signs if not known.issuperset(segmenter.pieces(sign))]:
        raise InputError(
            f"the vocabulary of {folder} has no pieces for {' '.join(lacking)}, which templates "
            "are spelt of, and would read templates as unknown: say subword: own, with model in "
            "place of continued"
        )


def train(config: dict[str, Any], paths: list[Path], output: Path) -> None:
    """Train on the training pairs of a rewriter.

    Raises:
        InputError: see `subword.train.train_model`; a vocabulary is too large for the text.
    """
    try:
        train_on_shards(config, paths, output)
    except TooLargeError as error:
        raise InputError(
            f"vocab_size {config['vocab_size']} is too large for the {config['side']} side of the "
            f"training pairs: the largest possible is {error.largest}. Set vocab_size of the "
            "rewriter"
        ) from error


def symbols(table: Path) -> list[str]:
    """Return what the templates of a table are spelt of: every label that the parser gave a target.

    Raises:
        InputError: the table is damaged.
    """
    verify(table)
    return syntax_templates.symbols(
        syntax_templates.known_labels(syntax_templates.read_table(table))
    )


def main(argv: list[str] | None = None) -> None:
    """Make the SentencePiece model of one side of a rewriter."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--folder", type=Path, required=True, help="shards of pairs")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--taken", type=Path, help="folder of the model whose vocabulary is taken")
    parser.add_argument("--templates", type=Path, help="table of templates, which get symbols")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    if arguments.taken is not None:
        if arguments.templates is not None:
            taken = arguments.taken / "reference.model"
            verify_file(taken, "model")
            check_spells(taken, symbols(arguments.templates), arguments.taken)
        take(arguments.taken, arguments.output)
    else:
        paths = shard_paths(arguments.folder, arguments.shards)
        config = arguments.config
        if arguments.templates is not None:
            config = {**config, "symbols": symbols(arguments.templates)}
        train(config, paths, arguments.output)


if __name__ == "__main__":
    run(main)
