"""A small model of sentence-transformers with random weights, as its library saves it."""

from collections.abc import Sequence
from pathlib import Path

import torch
from sentence_transformers import SentenceTransformer
from sentence_transformers.sentence_transformer import modules
from tokenizers import Tokenizer, normalizers, pre_tokenizers, processors
from tokenizers.models import WordPiece
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

VOCABULARY = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "the", "dog", "cat", "sees", "."]


def write_model(
    folder: Path, layers: int = 1, words: Sequence[str] = VOCABULARY, **shape: int
) -> Path:
    """Write the model below a folder, and return its own; `shape` changes its configuration."""
    tokenizer = Tokenizer(WordPiece({word: i for i, word in enumerate(words)}, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    marks = {"pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]"}
    marks |= {"sep_token": "[SEP]", "mask_token": "[MASK]"}
    PreTrainedTokenizerFast(tokenizer_object=tokenizer, **marks).save_pretrained(folder / "plain")
    torch.manual_seed(1)
    sizes = {"hidden_size": 8, "num_attention_heads": 2, "intermediate_size": 8}
    sizes |= {"max_position_embeddings": 32, "num_hidden_layers": layers, "vocab_size": len(words)}
    BertModel(BertConfig(**(sizes | shape))).save_pretrained(folder / "plain")
    transformer = modules.Transformer(str(folder / "plain"))
    pooling = modules.Pooling(transformer.get_embedding_dimension())
    model = SentenceTransformer(modules=[transformer, pooling], device="cpu")
    model.save(str(folder / "model"))
    return folder / "model"
