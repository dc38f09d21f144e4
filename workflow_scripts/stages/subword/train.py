"""Train the SentencePiece model of one side of the bitext (ParaBank 2, section 3.2)."""

import io
import re
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import sentencepiece

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow, Side
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction

# Sums over threads are added up in the threads' order, so the model depends on their number:
# one number for every machine.
_TRAINER_THREADS = 4
# Bytes; longer lines are left out by the trainer without a word. The corpus stage has its own
# limit, so nothing is left out here.
_MAX_LINE_BYTES = 1 << 20


class TooLargeError(InputError):
    """A vocabulary is too large for its text; `largest` is the largest possible."""

    def __init__(self, vocab_size: int, largest: int):
        super().__init__(
            f"subword.vocab_size {vocab_size} is too large for the training text: "
            f"the largest possible is {largest}"
        )
        self.largest = largest


def train_model(sentences: Iterable[str], config: dict[str, Any]) -> bytes:
    """Return a trained SentencePiece model as it is stored in its file.

    Text is not normalised again (the clean stage did that), so pieces join to the same text.

    Args:
        sentences: the training text, read once.
        config: `model_type`, `vocab_size`, `coverage` (share of characters that get a piece) and
            `split_digits` (every digit is a piece of its own); maybe `symbols`, strings that are
            one piece each wherever they stand.

    Raises:
        InputError: the text is empty, or the vocabulary is too large or too small for it.
    """
    model = io.BytesIO()
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_writer=model,
            model_type=config["model_type"],
            vocab_size=config["vocab_size"],
            character_coverage=config["coverage"],
            split_digits=config["split_digits"],
            normalization_rule_name="identity",
            max_sentence_length=_MAX_LINE_BYTES,
            num_threads=_TRAINER_THREADS,
            minloglevel=2,
            **({"user_defined_symbols": config["symbols"]} if "symbols" in config else {}),
        )
    except (OSError, RuntimeError) as error:
        raise _explained(str(error), config["vocab_size"]) from error
    return model.getvalue()


def _explained(message: str, vocab_size: int) -> InputError:
    """Say in the terms of our config what the trainer complains of."""
    too_large = re.search(r"set it to a value <= (\d+)", message)
    if too_large:
        return TooLargeError(vocab_size, int(too_large[1]))
    return InputError(_explain(message, vocab_size))


def _explain(message: str, vocab_size: int) -> str:
    too_small = re.search(r"smaller than required_chars\. \d+ vs (\d+)", message)
    if too_small:
        return (
            f"subword.vocab_size {vocab_size} is too small for the training text: it has "
            f"{too_small[1]} characters and symbols that need a piece; raise it, or lower coverage"
        )
    if "sentences_" in message or "is_empty" in message:
        return "no text to train a sub-word model on: are the training corpora empty?"
    return f"SentencePiece can't train this model: {message}"


def read_sentences(
    paths: Iterable[Path], side: Side, corpora: set[str]
) -> Iterator[tuple[str, str]]:
    """Yield id and text of one side of every pair of `corpora`."""
    for path in paths:
        for row in read_rows(path, PairRow, columns=["id", side, "corpus"]):
            if row["corpus"] in corpora:
                yield row["id"], row[side]


def sample_sentences(
    sentences: Iterable[tuple[str, str]], keep: float, seed: int, side: str
) -> Iterator[str]:
    """Pass on the seeded share `keep` of the sentences; which ones depends on their ids alone."""
    for identifier, text in sentences:
        if keep >= 1.0 or fraction(seed, "subword", side, identifier) < keep:
            yield text


def train_on_shards(config: dict[str, Any], paths: list[Path], output: Path) -> None:
    """Train on shards of pairs; write the model and its record.

    With `lower` in `config`, a vocabulary that is too large for the text is lowered to the largest
    possible, which the record then has.
    """
    for path in paths:
        verify(path)
    side: Side = config["side"]
    corpora = set(config["corpora"])
    total = sum(1 for _ in read_sentences(paths, side, corpora))
    if not total:
        raise InputError(
            f"no pairs of the training corpora {sorted(corpora)} are left to train a sub-word "
            "model on"
        )
    keep = config["sentences"] / total
    used = 0

    def counted() -> Iterator[str]:
        nonlocal used
        used = 0
        rows = progress(read_sentences(paths, side, corpora), total, f"subword {side}")
        for text in sample_sentences(rows, keep, config["seed"], side):
            used += 1
            yield text

    try:
        model, lowered = train_model(counted(), config), {}
    except TooLargeError as error:
        if not config.get("lower"):
            raise
        print(
            f"subword {side}: {config['vocab_size']:,} pieces are too many for the text of "
            f"{', '.join(sorted(corpora))}; {error.largest:,} are taken, the most that it allows. "
            "subword.filter_vocab_size gives another number",
            file=sys.stderr,
            flush=True,
        )
        lowered = {"vocab_size": error.largest}
        model = train_model(counted(), config | lowered)
    with atomic_path(output) as temporary:
        temporary.write_bytes(model)
    # No rows: the pairs of the stage are counted by the records of its segments.
    write_record(output, 0, 0, {}, extra={"sentences": used, "not_sampled": total - used} | lowered)


def train_side(config: dict[str, Any], folder: Path, shards: int, output: Path) -> None:
    """Train the SentencePiece model of one side of the bitext."""
    train_on_shards(config, shard_paths(folder, shards), output)


main = command(train_side, __name__)
