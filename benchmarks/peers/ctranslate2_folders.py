"""Folders of CTranslate2, made by its own converters from models in memory."""

import copy
from pathlib import Path
from typing import Any

from ctranslate2.converters import transformers

from tests.unit.nmt.families import Kind, write
from workflow_scripts.nmt.loaders.hugging_face_config import FAMILIES


class _Tokenizer:
    """What the converters ask of a tokenizer: the names of all rows."""

    special_tokens_map: dict[str, Any] = {}  # noqa: RUF012 - nobody writes into it
    num_madeup_words = 0
    bos_token, eos_token, unk_token, pad_token = "<s>", "</s>", "<unk>", "<pad>"

    def __init__(self, kind: Kind, size: int):
        self.names = [*kind.names, *(f"madeupword{row}" for row in range(len(kind.names), size))]
        self.unk_token_id = kind.names.index("<unk>")

    def get_vocab(self) -> dict[str, int]:
        return {name: row for row, name in enumerate(self.names)}

    def convert_ids_to_tokens(self, row: int) -> str:
        return self.names[row]


def convert(model: Any, kind: Kind, folder: Path, precision: str) -> None:
    """Write a model of Hugging Face, in `precision` "float32" or "int8"."""
    # The converter multiplies what it quantises in place.
    model = copy.deepcopy(model)
    # It asks for keys that the classes do not have any more.
    family = FAMILIES[model.config.model_type]
    model.config.normalize_before = family.pre_norm
    model.config.normalize_embedding = family.embedding_norm
    if kind.name == "MBart" and kind.prompt[0] == model.config.eos_token_id:
        model.config.tokenizer_class = "MBart50Tokenizer"
    tokenizer = _Tokenizer(kind, model.config.vocab_size)
    spec = transformers._MODEL_LOADERS[type(model.config).__name__](model, tokenizer)
    spec.validate()
    spec.optimize(precision)
    folder.mkdir()
    spec.save(str(folder))
    if kind.chosen is not None:
        write(folder / "paraloom.json", kind.chosen)
