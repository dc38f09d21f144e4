"""Make the SentencePiece model of one side of a rewriter, or take that of a translation model."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
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


def make_vocabulary(
    config: dict[str, Any],
    folder: Path,
    shards: int,
    output: Path,
    taken: Path | None = None,
    templates: Path | None = None,
) -> None:
    """Make the SentencePiece model of one side of a rewriter.

    Args:
        folder: of the shards of pairs.
        taken: the folder of the model whose vocabulary is taken, if it is.
        templates: the table of templates, which get symbols.

    Raises:
        InputError: see `train`, `check_spells` and `symbols`; a file is missing or damaged.
    """
    if taken is not None:
        if templates is not None:
            model = taken / "reference.model"
            verify_file(model, "model")
            check_spells(model, symbols(templates), taken)
        take(taken, output)
    else:
        of_templates = {} if templates is None else {"symbols": symbols(templates)}
        train({**config, **of_templates}, shard_paths(folder, shards), output)


main = command(make_vocabulary, __name__)
