"""M2M100, NLLB, BART, mBART, PEGASUS and Marian: what their sentences look like, and folders.

Words are `▁4`, `▁5` ..., by the library's ids. All weights are random or trained here: none of the
published ones are within reach.
"""

import json
from pathlib import Path
from typing import Any, NamedTuple

import torch
import transformers

from tests.unit.nmt.marian_files import spm_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.vocabulary import SYMBOLS

WORDS = [f"▁{row}" for row in range(4, 18)]
FAIRSEQ = ["<s>", "<pad>", "</s>", "<unk>", *WORDS]
SHAPE = {
    **{"d_model": 16, "encoder_layers": 2, "decoder_layers": 2, "encoder_attention_heads": 2},
    **{"decoder_attention_heads": 4, "encoder_ffn_dim": 24, "decoder_ffn_dim": 40},
    **{"max_position_embeddings": 40, "vocab_size": 24},
}
SIZES = SHAPE | {
    **{"pad_token_id": 1, "bos_token_id": 0, "eos_token_id": 2, "decoder_start_token_id": 2},
    "forced_eos_token_id": 2,
}


class Kind(NamedTuple):
    """A family: its class, what its configuration has, and what its sentences look like.

    `names`: the tokens by their ids; `added`: those of them that are special; `source`: ids around
    those of a source; `prompt`: what the decoder reads before an output; `chosen`: languages.
    """

    name: str
    changes: dict[str, Any]
    names: list[str]
    added: list[str]
    source: tuple[list[int], list[int]]
    prompt: list[int]
    chosen: dict[str, str] | None = None
    tokenizer: dict[str, Any] = {}  # noqa: RUF012 - nobody writes into it


def codes(*names: str) -> dict[str, Any]:
    return {"names": [*FAIRSEQ, *names, "<mask>"], "added": [*FAIRSEQ[:4], *names, "<mask>"]}


NLLB, MBART = codes("eng_Latn", "por_Latn", "spa_Latn"), codes("en_XX", "pt_XX", "es_XX")
SCALED = {"scale_embedding": True, "activation_function": "relu"}
TO_NLLB = {"source": "por_Latn", "target": "eng_Latn"}
TO_MBART = {"source": "pt", "target": "en_XX"}
KINDS = {
    "M2M100": Kind(
        "M2M100",
        SCALED,
        **codes("__en__", "__pt__", "__es__"),
        source=([19], [2]),
        prompt=[2, 18],
        chosen={"source": "pt", "target": "__en__"},
    ),
    "NLLB": Kind("M2M100", SCALED, **NLLB, source=([19], [2]), prompt=[2, 18], chosen=TO_NLLB),
    "NLLB, legacy": Kind(
        "M2M100",
        SCALED,
        **NLLB,
        source=([], [2, 19]),
        prompt=[2, 18],
        chosen=TO_NLLB,
        tokenizer={"legacy_behaviour": True},
    ),
    "NLLB, one language": Kind(
        "M2M100",
        SCALED,
        **NLLB,
        source=([18], [2]),
        prompt=[2, 18],
        chosen={"source": "eng", "target": "eng"},
    ),
    "BART": Kind(
        "Bart",
        {"activation_function": "gelu"},
        [*FAIRSEQ, "<mask>"],
        [*FAIRSEQ[:4], "<mask>"],
        ([0], [2]),
        [2, 0],
    ),
    "mBART-50": Kind("MBart", SCALED, **MBART, source=([19], [2]), prompt=[2, 18], chosen=TO_MBART),
    "mBART-25": Kind(
        "MBart",
        {"activation_function": "gelu", "decoder_start_token_id": 18},
        **MBART,
        source=([], [2, 19]),
        prompt=[18],
        chosen=TO_MBART,
    ),
    "mBART-25 that begins with </s>": Kind(
        "MBart",
        SCALED,
        **MBART,
        source=([], [2, 19]),
        prompt=[2, 18],
        chosen=TO_MBART,
        tokenizer={"tokenizer_class": "MBartTokenizerFast"},
    ),
    "mBART-50 that begins with a code": Kind(
        "MBart",
        SCALED | {"decoder_start_token_id": 18},
        **MBART,
        source=([19], [2]),
        prompt=[18],
        chosen=TO_MBART,
        tokenizer={"tokenizer_class": "MBart50Tokenizer"},
    ),
    "PEGASUS": Kind(
        "Pegasus",
        SCALED
        | {"pad_token_id": 0, "bos_token_id": None, "eos_token_id": 1, "decoder_start_token_id": 0}
        | {"forced_eos_token_id": 1},
        ["<pad>", "</s>", "<mask_1>", "<unk>", *WORDS],
        ["<pad>", "</s>", "<mask_1>", "<unk>"],
        ([], [1]),
        [0],
    ),
}
# As the big models of OPUS-MT; its </s> stands between words.
MARIAN = Kind(
    "Marian",
    SCALED
    | {"vocab_size": 19, "pad_token_id": 18, "decoder_start_token_id": 18, "bos_token_id": None}
    | {"eos_token_id": 12, "forced_eos_token_id": 12},
    [{1: "<unk>", 12: "</s>", 18: "<pad>"}.get(row, f"▁{row}") for row in range(19)],
    [],
    ([], [12]),
    [18],
)


SEPARATE = {"share_encoder_decoder_embeddings": False, "vocab_size": 24, "decoder_vocab_size": 19}
UNTIED = {"tie_word_embeddings": False}


def changed_marian(changes: dict[str, Any]) -> Kind:
    """Return the kind of OPUS-MT with other options; more source pieces stand behind the others."""
    kind = MARIAN._replace(changes=MARIAN.changes | changes)
    more = range(len(kind.names), kind.changes["vocab_size"])
    return kind._replace(names=[*kind.names, *(f"▁{row}" for row in more)])


MARIANS = {
    "Marian": MARIAN,
    "Marian, swish": changed_marian({"activation_function": "swish"}),
    "Marian, not scaled": changed_marian({"scale_embedding": False}),
    "Marian, separate": changed_marian(SEPARATE),
    "Marian, untied": changed_marian(UNTIED),
    "Marian, separate, untied": changed_marian(SEPARATE | UNTIED),
}


def widened(kind: Kind, size: int) -> Kind:
    """Return a kind with tables of `size` rows: words follow the first 18, then the rest."""
    more = size - (SIZES | kind.changes)["vocab_size"]

    def moved(rows: list[int]) -> list[int]:
        return [row + more if row >= 18 else row for row in rows]

    ids = {key: row for key, row in kind.changes.items() if key.endswith("_token_id")}
    return kind._replace(
        changes=kind.changes
        | {key: None if row is None else moved([row])[0] for key, row in ids.items()}
        | {"vocab_size": size},
        names=[*kind.names[:18], *(f"▁{row}" for row in range(18, 18 + more)), *kind.names[18:]],
        source=(moved(kind.source[0]), moved(kind.source[1])),
        prompt=moved(kind.prompt),
    )


def class_of(kind: Kind) -> type:
    """Return the library's class."""
    end = "MTModel" if kind.name == "Marian" else "ForConditionalGeneration"
    return getattr(transformers, kind.name + end)


def write_folder(folder: Path, kind: Kind, model: Any, **options: Any) -> None:
    """Write a model of the library, and what its text becomes; `options` of `save_pretrained`."""
    model.save_pretrained(folder, **options)
    if kind.name == "Marian":
        ids = {name: row for row, name in enumerate(kind.names)}
        write(folder / "vocab.json", ids)
        target = kind.names[: model.config.decoder_vocab_size]
        if target != kind.names:
            write(folder / "target_vocab.json", {name: row for row, name in enumerate(target)})
        for side in ("source", "target"):
            (folder / f"{side}.spm").write_bytes(spm_model([n for n in ids if n[0] == "▁"]))
    else:
        write_tokenizer(folder, kind.names, kind.added)
    if kind.chosen is not None:
        write(folder / "paraloom.json", kind.chosen)
    if kind.tokenizer:
        write(folder / "tokenizer_config.json", kind.tokenizer)


def write(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content), encoding="utf-8")


def edited(path: Path, changes: dict[str, Any]) -> None:
    """Change keys of a JSON file."""
    write(path, json.loads(path.read_text(encoding="utf-8")) | changes)


def write_tokenizer(folder: Path, names: list[str], added: list[str]) -> None:
    tokens = [{"id": names.index(name), "content": name, "special": True} for name in added]
    vocabulary = [[name, -1.0] for name in names]
    model = {"type": "Unigram", "unk_id": names.index("<unk>"), "vocab": vocabulary}
    blanks = {
        "type": "Metaspace",
        "replacement": "\u2581",
        "prepend_scheme": "always",
        "split": True,
    }
    parts = {"model": model, "added_tokens": tokens, "decoder": blanks}
    write(folder / "tokenizer.json", parts)


def core(model: Model, ids: list[int]) -> list[int]:
    """Return the core's ids of words, given the library's."""
    return model.target_vocab.ids(f"▁{row}" for row in ids)


def read(model: Model, kind: Kind, ids: list[int]) -> tuple[list[int], torch.Tensor]:
    """Return a source of words for the core, and for the library."""
    before, behind = kind.source
    return model.source_ids(f"▁{row}" for row in ids), torch.tensor([[*before, *ids, *behind]])


def rows(model: Model, kind: Kind, config: Any) -> list[int]:
    """Return the library's id of each of the core's."""
    symbols = [config.pad_token_id, kind.names.index("<unk>"), kind.prompt[-1], config.eos_token_id]
    names = [name.removesuffix(" of the model") for name in model.target_vocab][len(SYMBOLS) :]
    ids = {name: row for row, name in enumerate(kind.names)}
    return [
        *symbols,
        *(ids[name] if name in ids else int(name[len("<pad") : -1]) for name in names),
    ]


def forced(model: Any, kind: Kind, sources: list, targets: list, *, loss: bool = False) -> Any:
    """Return the library's answer for pairs of one length a side, with its loss if wanted."""
    before, behind = kind.source
    end = model.config.eos_token_id
    labels = [[-100] * len(kind.prompt[1:]) + [*target, end] for target in targets]
    return model(
        input_ids=torch.tensor([[*before, *source, *behind] for source in sources]),
        decoder_input_ids=torch.tensor([[*kind.prompt, *target] for target in targets]),
        labels=torch.tensor(labels) if loss else None,
    )
