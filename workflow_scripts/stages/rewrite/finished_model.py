"""Make a rewriter of a finished model, which the stage `train` took over."""

import os
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import atomic_path, copy_file, write_json
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.rewriter_card import CARD
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.raw import coders

_RECORD = "model"


def make_rewriter(config: dict[str, Any], model: Path, output: Path) -> None:
    """Put a finished model into the folder of a rewriter, beside what is said of it.

    The files are those of `model` where the file system can give a file two names, else copies:
    weights take gigabytes.

    Args:
        config: `prefix`, the text that the model reads in front of every sentence, and `about`.
        model: the folder of the model in the stage `train`.

    Raises:
        InputError: a file is damaged, or the model can't read the prefix.
    """
    record = verify(model / _RECORD)
    for name in record["files"]:
        _share(model / name, output / name)
    write_json(output / CARD, config["about"])
    if config["prefix"]:
        coders(load_model(output, "cpu"), output, True, None, None)
    files = [output / name for name in (*record["files"], CARD)]
    write_record(output / _RECORD, 0, 0, {}, extra=record["extra"], files=files)


def _share(path: Path, name: Path) -> None:
    """Give a file a second name, or copy it where that can't be."""
    try:
        with atomic_path(name) as temporary:
            os.link(path, temporary)
    except OSError:
        copy_file(path, name)


main = command(make_rewriter, __name__)
