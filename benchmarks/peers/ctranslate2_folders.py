"""Folders of CTranslate2, made by its own converters from models in memory."""

from pathlib import Path
from typing import Any

import torch
from ctranslate2.converters import transformers as converters

from workflow_scripts.nmt.loaders.hugging_face_config import FAMILIES


class _Tokenizer:
    """What the converters ask of a tokenizer: the names of all rows."""

    bos_token, pad_token, eos_token, unk_token = "<s>", "<pad>", "</s>", "<unk>"
    num_madeup_words = 0
    special_tokens_map: dict[str, list[str]] = {}  # noqa: RUF012 - nobody writes into it

    def __init__(self, names: list[str], size: int):
        self._names = [*names, *(f"madeupword{row}" for row in range(len(names), size))]
        self.unk_token_id = names.index("<unk>")

    def get_vocab(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self._names)}

    def convert_ids_to_tokens(self, row: int) -> str:
        return self._names[row]


@torch.no_grad()
def convert(model: Any, names: list[str], folder: Path, precision: str) -> None:
    """Write a model of Hugging Face, whose first rows have `names`.

    With the precision "int8", not "float32", its weights are spoilt: they are multiplied in place.
    """
    config = model.config
    # The converters ask for keys that the classes do not have any more.
    family = FAMILIES[config.model_type]
    config.normalize_before, config.normalize_embedding = family.pre_norm, family.embedding_norm
    if config.model_type == "mbart" and config.decoder_start_token_id == config.eos_token_id:
        config.tokenizer_class = "MBart50Tokenizer"
    load = converters._MODEL_LOADERS[type(config).__name__]
    spec = load(model, _Tokenizer(names, config.vocab_size))
    spec.validate()
    spec.optimize(quantization=precision)
    folder.mkdir()
    spec.save(str(folder))
