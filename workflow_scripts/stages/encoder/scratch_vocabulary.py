"""The vocabulary of an encoder that is trained from scratch: a tokenizer in Hugging Face's form.

Its pieces are those of a SentencePiece model, since the trainer of WordPiece in the package
`tokenizers` makes another vocabulary each time that it runs.
"""

import sys
from collections.abc import Iterable
from typing import Any

import sentencepiece

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.subword.train import TooLargeError, train_model

# The special tokens of BERT, whose ids are 0, 1, ... in this order.
_SPECIAL = {
    "pad_token": "[PAD]",
    "unk_token": "[UNK]",
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "mask_token": "[MASK]",
}
_UNKNOWN = list(_SPECIAL).index("unk_token")
# What SentencePiece has in place of them: <unk>, <s>, </s>.
_CONTROLS = 3
_COVERAGE = 0.9998


def tokenizer_of(sentences: list[str], size: int, lowercase: bool) -> Any:
    """Return a tokenizer whose pieces are learnt from sentences; the same ones each time.

    Args:
        sentences: the training text.
        size: tokens of the vocabulary. Where the text allows fewer, it has those, and stderr
            says so.
        lowercase: whether upper case and accents are taken away.

    Raises:
        InputError: the text has more characters than the vocabulary has room for, or is empty.
    """
    from tokenizers import Tokenizer
    from tokenizers.decoders import Metaspace as Blanks
    from tokenizers.models import Unigram
    from tokenizers.normalizers import BertNormalizer
    from tokenizers.pre_tokenizers import Metaspace
    from tokenizers.processors import TemplateProcessing
    from transformers import PreTrainedTokenizerFast

    # Chinese characters as BERT has them, each with blanks around, would be two pieces each.
    normalizer = BertNormalizer(lowercase=lowercase, handle_chinese_chars=False)
    model = sentencepiece.SentencePieceProcessor(
        model_proto=_learnt(map(normalizer.normalize_str, sentences), sentences, size, normalizer)
    )
    pieces = [(token, 0.0) for token in _SPECIAL.values()]
    pieces += [
        (model.id_to_piece(number), model.get_score(number))
        for number in range(_CONTROLS, model.get_piece_size())
    ]
    inner = Tokenizer(Unigram(pieces, unk_id=_UNKNOWN))
    inner.normalizer, inner.pre_tokenizer, inner.decoder = normalizer, Metaspace(), Blanks()
    ends = [(name, list(_SPECIAL.values()).index(name)) for name in ("[CLS]", "[SEP]")]
    inner.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=ends
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=inner,
        model_input_names=["input_ids", "token_type_ids", "attention_mask"],
        **_SPECIAL,
    )


def _learnt(text: Iterable[str], sentences: list[str], size: int, normalizer: Any) -> bytes:
    config: dict[str, Any] = {
        "model_type": "unigram",
        "vocab_size": size - len(_SPECIAL) + _CONTROLS,
        "coverage": _COVERAGE,
        "split_digits": False,
    }
    try:
        return train_model(text, config)
    except TooLargeError as error:
        print(
            f"encoder: the text allows a vocabulary of "
            f"{error.largest + len(_SPECIAL) - _CONTROLS} tokens, and not {size}",
            file=sys.stderr,
        )
        fewer = config | {"vocab_size": error.largest}
        return train_model(map(normalizer.normalize_str, sentences), fewer)
    except InputError as error:
        raise InputError(
            f"scratch.vocab_size {size}: no vocabulary can be learnt from the references ({error})"
        ) from error
