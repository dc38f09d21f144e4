"""Plain text for the command lines: who segments it, and in which pieces a phrase is written."""

import argparse
from pathlib import Path

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.text.normalisation import spellings, written_without_blanks
from workflow_scripts.core.text.piece_spelling import WORD_MARK
from workflow_scripts.nmt.automaton import Phrase
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import TextCoder, raw_coders, source_coder, target_coder
from workflow_scripts.nmt.vocabulary import BOS, SYMBOLS, UNK

# What may stand before a word without a blank between: the word's first piece then has no mark.
_LEADS = ('"', "'", "(", "-", "\u201c", "\u201e", "\u00ab", "\u00bf", "\u00a1")


def add_text_options(parser: argparse.ArgumentParser) -> None:
    """Add the options that say what texts are."""
    parser.add_argument(
        "--raw",
        action="store_true",
        help="texts are plain text, segmented by the SentencePiece models in the model's folder",
    )
    for side in ("source", "target"):
        parser.add_argument(
            f"--spm-{side}",
            type=Path,
            metavar="SPM.model",
            help=f"SentencePiece model: the {side} side is plain text, segmented by it",
        )


def coders(
    model: Model, folder: Path, raw: bool, spm_source: Path | None, spm_target: Path | None
) -> tuple[TextCoder, TextCoder]:
    """Return the coders of a model's two sides, as a command line asks for them.

    Args:
        model: of whatever kind.
        folder: where it was loaded from.
        raw: both sides are plain text; else only those with a SentencePiece model are, and the
            others are pieces with blanks between.
        spm_source: the SentencePiece model of the source; None for the folder's own, if `raw`.
        spm_target: that of the target.

    Raises:
        InputError: the folder does not tell the SentencePiece models.
    """
    if not raw:
        return source_coder(model, spm_source), target_coder(model, spm_target)
    if model.source_spm is None and (spm_source is None or spm_target is None):
        of_run = _models_of_run(folder)
        spm_source, spm_target = spm_source or of_run[0], spm_target or of_run[1]
    return raw_coders(model, spm_source, spm_target)


def _models_of_run(folder: Path) -> tuple[Path, Path] | tuple[None, None]:
    """Return the SentencePiece models of source and target beside a Sockeye model that a run wrote.

    They are those of the run's two languages; metrics.json tells the model's direction.

    Raises:
        InputError: it does not.
    """
    sides = folder / "source.model", folder / "reference.model"
    if not all(path.is_file() for path in sides):
        return None, None
    try:
        metrics = parse_json((folder / "metrics.json").read_text(encoding="utf-8"))
        direction = metrics["direction"]
    except (OSError, ValueError, KeyError, TypeError):
        direction = None
    if direction not in ("forward", "backward"):
        raise InputError(
            f"{folder} has source.model and reference.model, but no metrics.json that tells which "
            "of them is for the model's source: name those of both sides (--spm-source, "
            "--spm-target)"
        )
    return sides if direction == "forward" else (sides[1], sides[0])


def wanted(coder: TextCoder, text: str) -> Phrase:
    """Return the pieces that a wanted phrase is written in; none if it is empty.

    In plain text the phrase stands as it is, in its most probable segmentation: behind a blank, or
    at the start of the sentence if `<s>` ties it to that.
    """
    if not coder.raw:
        return coder.encode_phrase(text)
    start, words = _start(text)
    if written_without_blanks(words[:1]):
        return (*start, *_unmarked(coder, words))
    return (*start, *coder.encode(words)) if start else _inside(coder, words)


def forbidden(coder: TextCoder, text: str) -> list[Phrase]:
    """Return every sequence of pieces that writes a phrase to be avoided, which is not empty.

    In plain text the phrase is forbidden as it stands, in lower case and capitalised; alone and
    after punctuation that has no blank behind it, such as a quote; each in its most probable
    segmentation. Sequences with a piece that the model does not know are left out: it can't
    generate them anyway.
    """
    if not coder.raw:
        return [coder.encode_phrase(text)]
    start, words = _start(text)
    sequences: dict[Phrase, None] = {}
    for spelling in spellings(words, case=True):
        written = [_inside(coder, spelling)]
        for lead in _LEADS:
            written += [_inside(coder, lead + spelling), _unmarked(coder, lead + spelling)]
        if written_without_blanks(spelling[:1]):
            written.append(_unmarked(coder, spelling))
        sequences |= dict.fromkeys((*start, *ids) for ids in written if ids and UNK not in ids)
        if coder.unmarked_start and UNK not in (first := coder.encode(spelling)):
            sequences[(BOS, *first)] = None
    return list(sequences)


def whole_words(coder: TextCoder, constraints: list[str]) -> bool:
    """Tell whether wanted phrases count only where their last word ends.

    They do in plain text, but not in scripts that are written without blanks. There nothing shows
    where a word ends.
    """
    return coder.raw and not any(written_without_blanks(text.strip()[-1:]) for text in constraints)


def _start(text: str) -> tuple[Phrase, str]:
    """Return the <s> that ties a phrase to the start of the sentence, and the phrase."""
    first, *others = text.split() or [""]
    symbol = SYMBOLS[BOS]
    if first.startswith(symbol):
        return (BOS,), " ".join([first.removeprefix(symbol), *others]).strip()
    return (), " ".join([first, *others])


def _inside(coder: TextCoder, text: str) -> Phrase:
    """Return the pieces of a text that stands behind a blank."""
    return tuple(coder.ids(coder.phrase(text)))


def _unmarked(coder: TextCoder, text: str) -> Phrase:
    """Return the pieces of a text that follows other text without a blank; none if it is empty."""
    pieces = coder.pieces(text)
    if pieces:
        unmarked = pieces[0].removeprefix(WORD_MARK)
        pieces = [unmarked, *pieces[1:]] if unmarked else pieces[1:]
    return tuple(coder.ids(pieces))
