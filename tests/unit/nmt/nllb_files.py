"""A folder as NLLB is published in, of random weights, with a tokenizer of single letters."""

from collections.abc import Iterable
from pathlib import Path

from tokenizers import Tokenizer, decoders, models, pre_tokenizers

from tests.unit.nmt.families import FAIRSEQ, SCALED, Kind
from tests.unit.nmt.test_families import made

CODES = ["ces_Latn", "eng_Latn", "por_Latn"]
_CARD = """---
language: [ces, eng, por]
license: cc-by-nc-4.0
---
"""


def write_nllb(folder: Path, texts: Iterable[str]) -> Path:
    """Write a model that knows the letters of `texts`, and whose outputs end; return its folder."""
    letters = sorted(set("".join(texts)) - {" "})
    added = [*FAIRSEQ[:4], *CODES, "<mask>"]
    names = [*FAIRSEQ[:4], "▁", *letters, *CODES, "<mask>"]
    sizes = {"vocab_size": len(names), "max_position_embeddings": 128}
    made(folder, Kind("M2M100", SCALED | sizes, names, added, ([], []), []), end_bias=3.0)
    tokenizer = Tokenizer(models.Unigram([(name, -1.0) for name in names], unk_id=3))
    tokenizer.pre_tokenizer, tokenizer.decoder = pre_tokenizers.Metaspace(), decoders.Metaspace()
    tokenizer.add_special_tokens(added)
    tokenizer.save(str(folder / "tokenizer.json"))
    (folder / "README.md").write_text(_CARD, encoding="utf-8")
    return folder
