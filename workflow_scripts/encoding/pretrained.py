"""Encoders in Hugging Face's form: opened without the network and without code that they bring."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import sha256
from workflow_scripts.encoding.sentence_vectors import require_words
from workflow_scripts.plan.catalogues.encoder_blocks import PLAIN, encoder_files

os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

# Nothing is asked of the hub, and no code that comes with a model is run.
_CLOSED: dict[str, Any] = {"local_files_only": True, "trust_remote_code": False}


@contextmanager
def _explained(folder: Path) -> Iterator[None]:
    """Turn what transformers raises into an error that the user can mend."""
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        yield
    # A folder may hold anything, and each kind of model reads it in its own way.
    except Exception as error:
        reason = (str(error).strip() or type(error).__name__).splitlines()[0]
        raise InputError(
            f"{folder}: transformers can't read this encoder ({reason}); it takes config.json, "
            "model.safetensors and the tokenizer's files, without code of its own; get it again, "
            "or name another"
        ) from error


def open_tokenizer(folder: Path) -> Any:
    """Return the tokenizer of an encoder.

    Raises:
        InputError: the folder holds none that can be read, none of the package tokenizers, or one
            without words, without a padding token or with more tokens than the encoder.
    """
    from transformers import AutoConfig, AutoTokenizer

    with _explained(folder):
        tokenizer = AutoTokenizer.from_pretrained(str(folder), use_fast=True, **_CLOSED)
        rows = getattr(AutoConfig.from_pretrained(str(folder), **_CLOSED), "vocab_size", None)
    if not tokenizer.is_fast:
        raise InputError(
            f"{folder}: its tokenizer is no fast one, which tokenizer.json holds; name an encoder "
            "that has it"
        )
    require_words(tokenizer, folder)
    if tokenizer.pad_token_id is None:
        raise InputError(
            f"{folder}: its tokenizer has no padding token, so it is none of an encoder of pairs; "
            "name one of the kind of BERT"
        )
    last = max(tokenizer.get_vocab().values())
    if rows is not None and last >= rows:
        raise InputError(
            f"{folder}: its tokenizer has the token {last} and config.json only {rows} tokens; "
            "they are of different encoders: get it again, with all files"
        )
    return tokenizer


def open_model(head: Any, folder: Path, seed: int = 0, **options: Any) -> Any:
    """Return a model of transformers with the weights of a folder, in evaluation mode.

    The folder may lack those of a new output layer, or have them for another number of classes, and
    lack those of the pooler, a layer on the first token: models that were trained to fill in words
    alone have none. They are drawn with `seed`.

    Args:
        head: the class, e.g. AutoModelForSequenceClassification.
        folder: of the encoder.
        seed: of new weights.
        options: changes of its configuration, e.g. `num_labels`.

    Raises:
        InputError: the folder holds no encoder that can be read, or lacks other weights.
    """
    torch.manual_seed(seed)
    with _explained(folder):
        model, loading = head.from_pretrained(
            str(folder),
            use_safetensors=True,
            dtype=torch.float32,
            output_loading_info=True,
            ignore_mismatched_sizes=True,
            **_CLOSED,
            **options,
        )
        body = "" if model.base_model is model else f"{model.base_model_prefix}."
        missing = [
            name
            for name in sorted(loading["missing_keys"])
            if name.startswith(body) and not name.startswith(f"{body}pooler.")
        ]
        if missing:
            raise ValueError(f"it lacks the weights {missing[0]}")
        # Each with both shapes.
        mismatched = [name for name, *_ in loading["mismatched_keys"] if name.startswith(body)]
        if mismatched:
            raise ValueError(
                f"the weights {mismatched[0]} are of another size than config.json says"
            )
    return model.eval()


# What the run keeps in the folder of an encoder besides; some of it comes after the encoder itself.
_BESIDE = {"manifest.json", "metrics.json", "model.json"}


def file_hashes(folder: Path) -> dict[str, str]:
    """Return the SHA-256 of each file that an encoder consists of: model and tokenizer.

    What the run itself writes beside them does not count.

    Raises:
        InputError: the folder holds no encoder in Hugging Face's form.
    """
    below = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    names = encoder_files(below, str(folder), PLAIN)
    return {name: sha256(folder / name) for name in names if name not in _BESIDE}


def longest(model: Any, wanted: int) -> int:
    """Return how many tokens an item may have: `wanted`, or what the encoder has positions for."""
    positions = getattr(model.config, "max_position_embeddings", None)
    if positions is None:
        return wanted
    # Positions of RoBERTa, MPNet and their like begin behind that of the padding token.
    first = [
        layer.padding_idx + 1
        for name, layer in model.named_modules()
        if name.endswith("position_embeddings") and getattr(layer, "padding_idx", None) is not None
    ]
    return min(wanted, positions - max(first, default=0))


def save(model: Any, tokenizer: Any, folder: Path) -> list[Path]:
    """Write an encoder in Hugging Face's form, and return its files."""
    model.save_pretrained(str(folder), safe_serialization=True)
    tokenizer.save_pretrained(str(folder))
    return sorted(path for path in folder.rglob("*") if path.is_file())
