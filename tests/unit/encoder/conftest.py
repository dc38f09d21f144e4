"""Small encoders for the tests."""

import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing
from transformers import BertConfig, BertModel, BertTokenizer

WORDS = ["the", "a", "cat", "dog", "sees", "likes", "big", "small", "old", "house", "tree", "bird"]
WORDS += ["and", "not", ".", ",", "##s"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def tiny_tokenizer(words=WORDS):
    """Return a tokenizer of whole words, as BERT has it."""
    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *words])}
    inner = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    inner.normalizer, inner.pre_tokenizer = BertNormalizer(), BertPreTokenizer()
    inner.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return BertTokenizer(tokenizer_object=inner)


def tiny_config(**options):
    """Return the configuration of a BERT of a few thousand weights."""
    given = {
        "vocab_size": len(SPECIAL) + len(WORDS),
        "hidden_size": 16,
        "num_hidden_layers": 1,
        "num_attention_heads": 2,
        "intermediate_size": 32,
        "max_position_embeddings": 40,
    }
    return BertConfig(**(given | options))


@pytest.fixture
def encoder(tmp_path):
    """The folder of an untrained encoder."""
    folder = tmp_path / "encoder"
    torch.manual_seed(1)
    BertModel(tiny_config()).save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    return folder
