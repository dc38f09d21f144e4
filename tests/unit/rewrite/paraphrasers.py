"""Folders of finished paraphrasers, of random weights: BART, PEGASUS, and mBART of one language."""

import json
from pathlib import Path

import torch
import transformers

from tests.unit.nmt.test_tokenizers import CODE, WORDS, byte_level, metaspace, pegasus
from workflow_scripts.core.text.normalisation import spellings
from workflow_scripts.core.text.piece_spelling import WORD_MARK

SIZES = {
    **{"d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "max_position_embeddings": 128},
    **{"encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "forced_eos_token_id": None},
    **{"encoder_attention_heads": 2, "decoder_attention_heads": 2},
}
FAIRSEQ = {"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2}
OF_PEGASUS = {"pad_token_id": 0, "bos_token_id": None, "eos_token_id": 1}
KINDS = {
    "Bart": (byte_level, FAIRSEQ, "tokenizer.json"),
    "Pegasus": (pegasus, OF_PEGASUS | {"decoder_start_token_id": 0}, "spiece.model"),
    "MBart": (metaspace, FAIRSEQ, "tokenizer.json"),
}


def write_paraphraser(folder: Path, name: str) -> None:
    """Write a model, by the name of its class in transformers, into a new folder.

    The words of the tokenizers' text are likely, and so is the end, after some words.
    """
    maker, ids, tokenizer = KINDS[name]
    folder.mkdir()
    work = folder / "tokenizer"
    work.mkdir()
    kind = maker(work)
    torch.manual_seed(1)
    size = max(kind.own.values()) + 1
    config = getattr(transformers, f"{name}Config")(**SIZES, **ids, vocab_size=size)
    model = getattr(transformers, f"{name}ForConditionalGeneration")(config)
    spelled = [WORD_MARK + word for every in WORDS for word in spellings(every, case=True)]
    likely = [kind.own[word] for word in spelled if word in kind.own]
    with torch.no_grad():
        for parameter, weights in model.named_parameters():
            if "embed_positions" not in parameter:
                about = float("norm" in parameter and parameter.endswith("weight"))
                weights.normal_(about, 0.25 if weights.dim() > 1 else 0.1)
        model.final_logits_bias[0, likely] += 4
        model.final_logits_bias[0, config.eos_token_id] += 5
    model.save_pretrained(folder)
    kind.path.replace(folder / tokenizer)
    if name == "MBart":
        languages = {"source": CODE, "target": CODE}
        (folder / "paraloom.json").write_text(json.dumps(languages), encoding="utf-8")
