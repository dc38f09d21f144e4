"""A trained model as a module of sentence-transformers.

This file, parts.py, encoders.py and tokens.py travel in the model's folder. There they are loaded
without this package, and so import each other by relative names.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import torch
from sentence_transformers.base.modules import InputModule
from torch import Tensor

from .encoders import Network
from .parts import Parts, read, write
from .tokens import Tokeniser

if TYPE_CHECKING:
    from sentence_transformers.base.modality_types import PairInput, SingleInput


class SentenceModule(InputModule):
    """From sentences to their vectors, tokenisation included."""

    config_file_name = "embedding.json"

    def __init__(self, config: dict[str, Any], tokenisers: dict[str, Tokeniser], network: Network):
        super().__init__()
        self.config = config
        self.tokenisers = tokenisers
        self.network = network

    def get_config_dict(self) -> dict[str, Any]:
        """Return the configuration, as `Parts` describes it."""
        return self.config

    def preprocess(
        self,
        inputs: "Sequence[SingleInput | PairInput]",
        prompt: str | None = None,
        **_: Any,
    ) -> dict[str, Tensor]:
        """Return the token ids and lengths of each encoder.

        Raises:
            TypeError: an input is no sentence; the library has models of images as well.
        """
        sentences = []
        for sentence in inputs:
            if not isinstance(sentence, str):
                raise TypeError(f"this model encodes sentences (str), not {type(sentence)}")
            sentences.append((prompt or "") + sentence)
        by_kind = {kind: tokeniser.ids(sentences) for kind, tokeniser in self.tokenisers.items()}
        features = {}
        for index, kind in enumerate(self.config["tokens"]):
            features[f"ids{index}"], features[f"lengths{index}"] = map(
                torch.from_numpy, by_kind[kind]
            )
        return features

    def forward(self, features: dict[str, Tensor], **_: Any) -> dict[str, Tensor]:
        """Add the vectors as `sentence_embedding`, shape (sentences, size)."""
        tokens = [
            (features[f"ids{index}"], features[f"lengths{index}"])
            for index in range(len(self.config["tokens"]))
        ]
        features["sentence_embedding"] = self.network(tokens)
        return features

    def get_embedding_dimension(self) -> int:
        """Return the size of a sentence vector."""
        return self.network.size

    def save(self, output_path: str, *_: Any, **__: Any) -> None:
        """Write what `load` reads."""
        write(Path(output_path), Parts(self.config, self.tokenisers, self.network))

    @classmethod
    def load(
        cls,
        model_name_or_path: str,
        subfolder: str = "",
        token: bool | str | None = None,
        cache_folder: str | None = None,
        revision: str | None = None,
        local_files_only: bool = False,
        init_defaults: dict[str, Any] | None = None,
        **_: Any,
    ) -> Self:
        """Read a model folder, here or on the Hugging Face hub.

        Raises:
            FileNotFoundError: there is no such folder.
        """
        folder = cls.load_dir_path(
            model_name_or_path, subfolder, token, cache_folder, revision, local_files_only
        )
        if folder is None:
            raise FileNotFoundError(f"{model_name_or_path}: no such model folder")
        return cls(*read(Path(folder)))
