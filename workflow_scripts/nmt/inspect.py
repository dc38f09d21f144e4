"""Tells of a model folder what it is, as one JSON object, and whether it can be used.

The keys: `kind`; `source` and `target`, the languages; `layers` of encoder and decoder; `size` of
their vectors; `vocabulary`, the pieces of source and target; `shortlist`, whether it has one;
`licence`; `refused`, the reasons why the model can't be used. What is not known is null. The exit
status is 1 if there are reasons.

Languages and licence are what names of files and the model's own notes say; nobody has checked
them. Weights are read too: a damaged model is refused here already.
"""

import argparse
import json
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.core.files.model_notes import Notes, read_notes
from workflow_scripts.nmt.loaders import LOADERS, load_model
from workflow_scripts.nmt.loaders.description import Summary
from workflow_scripts.nmt.pieces import raw_coders


def inspect(folder: Path) -> dict[str, Any]:
    """Return what is known of a model's folder."""
    refused: list[str] = []
    kind, summary, notes, shortlist = None, Summary(), Notes(), None
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
    }


def main(argv: list[str] | None = None) -> int:
    """Print what is known of a model's folder; return 1 if the model is refused."""
    parser = CommandParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of the model")
    description = inspect(parser.parse_args(argv).folder)
    print(json.dumps(description, ensure_ascii=False))
    return 1 if description["refused"] else 0


if __name__ == "__main__":
    run(main)
