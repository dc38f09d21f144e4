"""Tells of a model folder what it is, as one JSON object, and whether it can be used.

The keys: `kind`; `source` and `target`, the languages; `layers` of encoder and decoder; `size` of
their vectors; `vocabulary`, the pieces of source and target; `shortlist`, whether it has one;
`licence`; `refused`, the reasons why the model can't be used. What is not known is null. The exit
status is 1 if there are reasons. With --compare there is one more, `compared`: on how many
`sentences` of the file the library that published the model (transformers) has the `same_ids` and
the `same_outputs`, and the greatest difference of `log_probabilities` (nats).

Languages and licence are what names of files and the model's own notes say; nobody has checked
them. Weights are read too: a damaged model is refused here already.
"""

import argparse
import json
from itertools import islice
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.core.files.model_notes import Notes, read_notes
from workflow_scripts.nmt.beside_transformers import compare
from workflow_scripts.nmt.loaders import LOADERS, load_model
from workflow_scripts.nmt.loaders.description import Summary
from workflow_scripts.nmt.pieces import raw_coders

# So many sentences of a file are compared; a large model takes seconds for each.
_COMPARED = 20


def inspect(folder: Path, sentences: list[str] | None = None) -> dict[str, Any]:
    """Return what is known of a model's folder; it is compared on sentences if there are any."""
    refused: list[str] = []
    kind, summary, notes, shortlist = None, Summary(), Notes(), None
    compared: dict[str, Any] = {}
    try:
        files = model_files(folder)
        kind, shortlist = files.kind, files.shortlist is not None
        notes = read_notes(folder, files)
        summary = LOADERS[kind].summary(folder, files)
        refused += summary.refused
        if not refused:
            model = load_model(folder, "cpu", shortlist=shortlist)
            if model.source_spm is not None:
                raw_coders(model)
            if sentences is not None:
                found = compare(folder, sentences)
                compared = {"compared": found.shown()}
                refused += found.refused
    except InputError as error:
        refused.append(str(error))
    return {
        "kind": kind,
        "source": notes.source,
        "target": notes.target,
        "layers": summary.layers,
        "size": summary.size,
        "vocabulary": summary.vocabulary,
        "shortlist": shortlist,
        "licence": notes.licence,
        "refused": refused,
        **compared,
    }


def _lines(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8") as file:
            return [line.strip() for line in islice(file, _COMPARED)]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def main(argv: list[str] | None = None) -> int:
    """Print what is known of a model's folder; return 1 if the model is refused."""
    parser = CommandParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of the model")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="FILE",
        help=f"sentences in the model's source language, the first {_COMPARED} lines",
    )
    args = parser.parse_args(argv)
    sentences = None if args.compare is None else _lines(args.compare)
    description = inspect(args.folder, sentences)
    print(json.dumps(description, ensure_ascii=False))
    return 1 if description["refused"] else 0


if __name__ == "__main__":
    run(main)
