"""A finished Sockeye 3 model of the user's own in place of a trained one."""

import shutil
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.vocabulary import Vocabulary
from workflow_scripts.plan.catalogues.model_blocks import TEXT_MODELS
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.train import model_checks
from workflow_scripts.stages.train.model_quality import read_pieces

# A sub-word model belongs to a vocabulary if it holds at least this share of its pieces; training
# text need not show them all.
_KNOWN_PIECES = 0.5
_OPTIONAL_FILES = ("args.yaml",)


def check_block(role: str, block: dict[str, Any]) -> dict[str, Path]:
    """Return the paths of a `models` block with a `folder`.

    Raises:
        InputError: keys other than the three paths, or a path that is not there.
    """
    if problems := list(model_checks.problems(block)):
        raise InputError(f"the model of {role}: {'; '.join(problems)}")
    paths = {key: Path(block[key]) for key in ("folder", *TEXT_MODELS)}
    for key, path in paths.items():
        if not path.exists():
            raise InputError(f"the model of {role}: {key} {path} does not exist")
    return paths


def copy_model(folder: Path, target: Path, names: tuple[str, ...]) -> None:
    """Copy a model folder's files (what links point to); `args.yaml` may be missing.

    Raises:
        InputError: another file is missing, or the model is not of Sockeye 3.
    """
    missing = [
        name for name in names if name not in _OPTIONAL_FILES and not (folder / name).is_file()
    ]
    if missing:
        raise InputError(f"{folder} is no Sockeye 3 model folder: {', '.join(missing)} missing")
    version = (folder / "version").read_text(encoding="utf-8", errors="replace").strip()
    if not version.startswith("3."):
        raise InputError(
            f"{folder} is a model of Sockeye {version}; Sockeye 3 is needed "
            "(paraloom model convert converts a model of Sockeye 2)"
        )
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for name in names:
        if (folder / name).is_file():
            shutil.copyfile(folder / name, target / name)
        else:
            (target / name).write_text("# trained elsewhere\n", encoding="utf-8")


def check_pieces(side: str, segmenter: Segmenter, own: Vocabulary, other: Vocabulary) -> None:
    """Refuse a sub-word model that does not belong to its side's vocabulary `own`.

    Raises:
        InputError: few of its pieces are there, or more of them in the `other` side's vocabulary.
    """
    pieces = segmenter.vocabulary()
    share, other_share = (
        sum(piece in vocabulary for piece in pieces) / len(pieces) for vocabulary in (own, other)
    )
    if share < other_share:
        raise InputError(
            f"{segmenter.path}: {share:.0%} of its pieces are in the model's vocabulary of the "
            f"{side} side, {other_share:.0%} in that of the other side: are source_model and "
            "reference_model exchanged?"
        )
    if share < _KNOWN_PIECES:
        raise InputError(
            f"{segmenter.path} does not belong to the model: only {share:.0%} of its pieces are in "
            f"the vocabulary of the {side} side"
        )


def rewrite_text(path: Path, old: Segmenter, new: Segmenter) -> None:
    """Segment a file of the subword stage again, with the model's own pieces."""
    texts = [old.text(pieces) for pieces in read_pieces(path)]
    lines = [" ".join(new.pieces(text)) + "\n" for text in texts]
    path.write_text("".join(lines), encoding="utf-8", newline="\n")
