"""Model folders as CTranslate2's converters write them, made of a Marian model's parameters.

The binary format and the names of its converter for Marian are written down here a second time.
"""

import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from tests.unit.nmt.marian_files import OPTIONS, parameters
from workflow_scripts.nmt.positions import sinusoids

TYPES = {"float32": 0, "int8": 1, "int16": 2, "float16": 4, "bfloat16": 5}
CONFIG = {
    "add_source_bos": False,
    "add_source_eos": True,
    "bos_token": "<s>",
    "decoder_start_token": "<s>",
    "eos_token": "</s>",
    # Marian's, so that its numbers come out.
    "layer_norm_epsilon": 1e-6,
    "unk_token": "<unk>",
}
ACTIVATIONS = {"relu": 0, "swish": 2}
# Type and numbers of each variable.
Variables = dict[str, tuple[str, Any]]


def variables(options: dict[str, Any], items: dict[str, Tensor], kind: str) -> Variables:
    """Return the variables of a Marian model; matrices are of the type `kind`."""
    made: Variables = {}
    pre = "_pre" if options["transformer-preprocess"] else ""
    size = options["dim-emb"]

    def plain(name: str, tensor: Tensor) -> None:
        made[name] = ("float32", tensor.flatten() if len(tensor) == 1 else tensor)

    def matrix(name: str, tensor: Tensor) -> None:
        if kind == "int8":
            scales = 127 / tensor.abs().amax(1)
            made[f"{name}_scale"] = ("float32", scales)
            tensor = (tensor * scales[:, None]).round()
        made[name] = (kind, tensor)

    def norm(name: str, marian: str, suffix: str) -> None:
        plain(f"{name}/gamma", items[f"{marian}_ln_scale{suffix}"])
        plain(f"{name}/beta", items[f"{marian}_ln_bias{suffix}"])

    def linear(name: str, marian: str, letters: str) -> None:
        matrix(f"{name}/weight", torch.cat([items[f"{marian}_W{each}"].T for each in letters]))
        plain(f"{name}/bias", torch.cat([items[f"{marian}_b{each}"][0] for each in letters]))

    for side, short, embeddings in (
        ("encoder", "enc", "embeddings_0"),
        ("decoder", "dec", "embeddings"),
    ):
        table = items.get("Wemb", items.get(f"{side}_Wemb"))
        assert table is not None
        matrix(f"{side}/{embeddings}/weight", table)
        made[f"{side}/position_encodings/encodings"] = (
            "float32",
            sinusoids(200, size, step=size // 2 - 1),
        )
        made[f"{side}/num_heads"] = ("int16", options["transformer-heads"])
        made[f"{side}/pre_norm"] = ("int8", int(bool(pre)))
        made[f"{side}/activation"] = ("int8", ACTIVATIONS[options["transformer-ffn-activation"]])
        made[f"{side}/scale_embeddings"] = ("int8", 1)
        if pre:
            norm(f"{side}/layer_norm", f"{side}_top", "")
        for number in range(options[f"{short}-depth"]):
            layer, marian = f"{side}/layer_{number}", f"{side}_l{number + 1}"
            linear(f"{layer}/self_attention/linear_0", f"{marian}_self", "qkv")
            linear(f"{layer}/self_attention/linear_1", f"{marian}_self", "o")
            norm(f"{layer}/self_attention/layer_norm", f"{marian}_self_Wo", pre)
            if side == "decoder":
                for index, letters in enumerate(("q", "kv", "o")):
                    linear(f"{layer}/attention/linear_{index}", f"{marian}_context", letters)
                norm(f"{layer}/attention/layer_norm", f"{marian}_context_Wo", pre)
            for index in (0, 1):
                linear(f"{layer}/ffn/linear_{index}", f"{marian}_ffn", str(index + 1))
            norm(f"{layer}/ffn/layer_norm", f"{marian}_ffn_ffn", pre)
    output = items.get("decoder_ff_logit_out_W")
    matrix("decoder/projection/weight", table if output is None else output.T)
    plain("decoder/projection/bias", items["decoder_ff_logit_out_b"])
    made["decoder/start_from_zero_embedding"] = ("int8", 1)
    return made


def data(kind: str, numbers: Any) -> tuple[tuple[int, ...], bytes]:
    """Return the shape and the bytes of a variable."""
    if kind == "bfloat16":
        return tuple(numbers.shape), numbers.bfloat16().view(torch.int16).numpy().tobytes()
    array = np.asarray(numbers).astype(kind)
    return array.shape, array.tobytes()


def binary(
    made: Variables,
    aliases: dict[str, str] | None = None,
    *,
    version: int = 6,
    spec: str = "TransformerSpec",
    revision: int = 7,
) -> bytes:
    """Return a file of CTranslate2's format."""

    def string(text: str) -> bytes:
        return struct.pack("<H", len(text) + 1) + text.encode() + b"\0"

    content = struct.pack("<I", version) + string(spec) + struct.pack("<2I", revision, len(made))
    for name, (kind, numbers) in sorted(made.items()):
        shape, raw = data(kind, numbers)
        content += string(name) + struct.pack(f"<B{len(shape)}I", len(shape), *shape)
        content += struct.pack("<BI", TYPES[kind], len(raw)) + raw
    content += struct.pack("<I", len(aliases or {}))
    return content + b"".join(string(a) + string(b) for a, b in (aliases or {}).items())


def aliased(made: Variables) -> dict[str, str]:
    """Take out weights that are equal to an earlier one; return what stands for them."""
    aliases: dict[str, str] = {}
    weights = sorted(name for name in made if name.endswith("weight"))
    for position, name in enumerate(weights):
        for other in weights[:position]:
            if other in made and torch.equal(made[name][1], made[other][1]):
                del made[name]
                made.pop(f"{name}_scale", None)
                aliases[name] = other
                break
    return aliases


def write(
    folder: Path,
    changes: dict[str, Any] | None = None,
    *,
    kind: str = "float32",
    seed: int = 1,
    end_bias: float = 0.0,
) -> Variables:
    """Write a folder; `changes` are of Marian's OPTIONS. Return the variables before aliases."""
    options = OPTIONS | {"transformer-decoder-autoreg": "self-attention"} | (changes or {})
    made = variables(options, parameters(options, seed, end_bias), kind)
    folder.mkdir(parents=True)
    kept = dict(made)
    (folder / "model.bin").write_bytes(binary(kept, aliased(kept)))
    (folder / "config.json").write_text(json.dumps(CONFIG))
    # Their ids in the core are their numbers.
    pieces = [
        ["</s>", "<unk>", *(f"▁{number + 2}" for number in range(2, size))]
        for size in options["dim-vocabs"]
    ]
    names = ["shared"] if pieces[0] == pieces[1] else ["source", "target"]
    for name, of_side in zip(names, pieces, strict=False):
        (folder / f"{name}_vocabulary.json").write_text(json.dumps(of_side))
    return made
