"""Model folders as Marian writes them, with random weights, and what their numbers mean.

The formats and the network are written down here a second time, plainly: one sentence, one position
after another, nothing kept.
"""

import struct
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F  # noqa: N812
import yaml
from torch import Tensor

OPTIONS = {
    **{"type": "transformer", "version": "v1.12.0 65bf82ff 2023-02-21 09:56:29 -0800"},
    **{"dim-emb": 16, "enc-depth": 1, "dec-depth": 1, "dim-vocabs": [22, 22], "max-length": 39},
    **{"transformer-heads": 2, "transformer-dim-ffn": 32, "transformer-ffn-depth": 2},
    **{"transformer-ffn-activation": "relu", "transformer-decoder-autoreg": "rnn"},
    **{"transformer-preprocess": "", "transformer-postprocess": "dan"},
    **{"transformer-postprocess-emb": "d", "transformer-postprocess-top": ""},
    **{"tied-embeddings": False, "tied-embeddings-src": False, "tied-embeddings-all": True},
    "dec-cell": "ssru",
}
PRE_NORM = {
    "transformer-preprocess": "n",
    "transformer-postprocess": "da",
    "transformer-postprocess-top": "n",
}
SELF_ATTENTION = {"transformer-decoder-autoreg": "self-attention"}
SEPARATE = {"tied-embeddings-all": False}
INT8, FLOAT16, FLOAT32, INTGEMM8 = 0x0101, 0x0402, 0x0404, 0x4101
MAGIC = 0xF11A48D5013417F5


def spm_model(pieces: list[str], symbols: tuple[str, ...] = ("</s>", "<unk>")) -> bytes:
    """Return a SentencePiece model (a protocol buffer) of these pieces behind the symbols."""

    def field(number: int, content: bytes) -> bytes:
        return bytes([number << 3 | 2]) + _varint(len(content)) + content

    def piece(text: str, kind: int) -> bytes:
        score = b"\x15" + struct.pack("<f", -1.0)
        return field(1, field(1, text.encode()) + score + b"\x18" + bytes([kind]))

    kinds = {"<unk>": 2}
    return b"".join(
        [piece(text, kinds.get(text, 3)) for text in symbols]
        + [piece(text, 1) for text in pieces]
        + [field(2, b"\x18\x01")]
    )


def _varint(number: int) -> bytes:
    return bytes([number]) if number < 128 else bytes([number & 127 | 128]) + _varint(number >> 7)


def parameters(options: dict[str, Any], seed: int = 1, end_bias: float = 0.0) -> dict[str, Tensor]:
    """Return random parameters with Marian's names and shapes."""
    size, hidden = options["dim-emb"], options["transformer-dim-ffn"]
    source, target = options["dim-vocabs"]
    pre = "_pre" if options["transformer-preprocess"] else ""
    shapes: dict[str, tuple[int, int]] = {"decoder_ff_logit_out_b": (1, target)}

    def norm(name: str) -> None:
        shapes.update({f"{name}_ln_{part}{pre}": (1, size) for part in ("scale", "bias")})

    def dense(name: str, letter: str, inward: int, outward: int) -> None:
        shapes[f"{name}_W{letter}"] = (inward, outward)
        shapes[f"{name}_b{letter}"] = (1, outward)

    def attention(name: str) -> None:
        for letter in "qkvo":
            dense(name, letter, size, size)
        norm(f"{name}_Wo")

    def feed_forward(name: str) -> None:
        dense(name, "1", size, hidden)
        dense(name, "2", hidden, size)
        norm(f"{name}_ffn")

    if options["tied-embeddings-all"] or options["tied-embeddings-src"]:
        shapes["Wemb"] = (source, size)
    else:
        shapes |= {"encoder_Wemb": (source, size), "decoder_Wemb": (target, size)}
    if not (options["tied-embeddings-all"] or options["tied-embeddings"]):
        shapes["decoder_ff_logit_out_W"] = (size, target)
    for layer in range(1, options["enc-depth"] + 1):
        attention(f"encoder_l{layer}_self")
        feed_forward(f"encoder_l{layer}_ffn")
    for layer in range(1, options["dec-depth"] + 1):
        if options["transformer-decoder-autoreg"] == "rnn":
            name = f"decoder_l{layer}_rnn"
            dense(name, "f", size, size)
            shapes[f"{name}_W"] = (size, size)
            norm(name if pre else f"{name}_ffn")
        else:
            attention(f"decoder_l{layer}_self")
        attention(f"decoder_l{layer}_context")
        feed_forward(f"decoder_l{layer}_ffn")
    if pre:
        for side in ("encoder", "decoder"):
            shapes |= {f"{side}_top_ln_{part}": (1, size) for part in ("scale", "bias")}
    generator = torch.Generator().manual_seed(seed)
    made = {}
    for name, shape in shapes.items():
        numbers = torch.randn(shape, generator=generator)
        scale = size**-0.5 if shape[0] > 1 else 0.1
        made[name] = numbers * scale + ("_ln_scale" in name)
    made["decoder_ff_logit_out_b"][0, 0] += end_bias
    return made


def binary(items: dict[str, Tensor], options: dict[str, Any], kind: int, alphas: bool) -> bytes:
    """Return a file of Marian's binary format; matrices are of the type `kind`."""
    entries: list[tuple[str, int, tuple[int, ...], bytes]] = []
    for name, tensor in items.items():
        used = kind if tensor.shape[0] > 1 or kind == FLOAT16 else FLOAT32
        entries.append((name, used, tuple(tensor.shape), _data(name, tensor, used)))
        if alphas and used == INTGEMM8:
            entries.append((f"{name}_QuantMultA", FLOAT32, (1, 1), _padded(struct.pack("<f", 9.0))))
    text = yaml.safe_dump(options).encode() + b"\0"
    entries.append(("special:model.yml", INT8, (len(text),), text))
    head = struct.pack("<2Q", 1, len(entries))
    for name, used, shape, data in entries:
        head += struct.pack("<4Q", len(name) + 1, used, len(shape), len(data))
    head += b"".join(name.encode() + b"\0" for name, *_ in entries)
    for _, _, shape, _ in entries:
        head += struct.pack(f"<{len(shape)}i", *shape)
    padding = -(len(head) + 8) % 256
    head += struct.pack("<Q", padding) + bytes(padding)
    return head + b"".join(data for *_, data in entries)


def _data(name: str, tensor: Tensor, kind: int) -> bytes:
    array = tensor.numpy()
    if kind == INTGEMM8:
        multiplier = 127 / float(np.abs(array).max())
        numbers = np.round(array * multiplier).astype(np.int8)
        numbers = numbers if "Wemb" in name else numbers.T
        return _padded(numbers.tobytes() + struct.pack("<f", multiplier))
    return _padded(array.astype({FLOAT16: "<f2", FLOAT32: "<f4"}[kind]).tobytes())


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 256)


def write_binary(
    folder: Path,
    changes: dict[str, Any] | None = None,
    *,
    kind: int = FLOAT32,
    alphas: bool = False,
    seed: int = 1,
    end_bias: float = 0.0,
) -> Path:
    """Write a folder of Marian's binary format; `changes` are of OPTIONS."""
    options = OPTIONS | (changes or {})
    write_text_models(folder, options)
    content = binary(parameters(options, seed, end_bias), options, kind, alphas)
    (folder / "model.xxyy.bin").write_bytes(content)
    return folder


def write_npz(folder: Path, changes: dict[str, Any] | None = None, seed: int = 1) -> Path:
    """Write a folder as Marian's training does."""
    options = OPTIONS | (changes or {})
    write_text_models(folder, options)
    text = np.frombuffer(yaml.safe_dump(options).encode() + b"\0", dtype=np.int8)
    arrays = {name: tensor.numpy() for name, tensor in parameters(options, seed).items()}
    np.savez(folder / "model.npz", **arrays, **{"special:model.yml": text})
    return folder


def write_text_models(folder: Path, options: dict[str, Any]) -> None:
    folder.mkdir(parents=True)
    # Their ids in the core are their numbers.
    pieces = [[f"▁{number + 2}" for number in range(2, size)] for size in options["dim-vocabs"]]
    if pieces[0] == pieces[1]:
        (folder / "vocab.xxyy.spm").write_bytes(spm_model(pieces[0]))
    else:
        for side, of_side in zip(("src", "trg"), pieces, strict=True):
            (folder / f"{side}vocab.xxyy.spm").write_bytes(spm_model(of_side))


def shortlist(first: int, sets: list[list[int]]) -> bytes:
    """Return the file of a shortlist; `sets` has Marian's target ids for each source id."""
    offsets = np.cumsum([0, *map(len, sets)])
    ids = [piece for of_source in sets for piece in of_source]
    head = struct.pack("<6Q", MAGIC, 0, first, 50, len(offsets), len(ids))
    return head + offsets.astype("<u8").tobytes() + np.array(ids, dtype="<u4").tobytes()


def log_probabilities(  # noqa: C901 - a whole network, written out
    items: dict[str, Tensor], options: dict[str, Any], source: list[int], target: list[int]
) -> Tensor:
    """Return log p [positions, V] before each target piece and </s>, all ids being Marian's."""
    size, heads = options["dim-emb"], options["transformer-heads"]
    pre = bool(options["transformer-preprocess"])
    activation = {"relu": F.relu, "swish": F.silu}[options["transformer-ffn-activation"]]

    def norm(name: str, x: Tensor, suffix: str = "") -> Tensor:
        scale, bias = (items[f"{name}_ln_{part}{suffix}"][0] for part in ("scale", "bias"))
        return F.layer_norm(x, (size,), scale, bias, 1e-6)

    def around(name: str, x: Tensor, block: Any, *, before: str | None = None) -> Tensor:
        if pre:
            return x + block(norm(before or name, x, "_pre"))
        return norm(name, x + block(x))

    def dense(name: str, letter: str, x: Tensor) -> Tensor:
        return x @ items[f"{name}_W{letter}"] + items[f"{name}_b{letter}"]

    def attention(name: str, x: Tensor, memory: Tensor | None, causal: bool) -> Tensor:
        def block(read: Tensor) -> Tensor:
            seen = read if memory is None else memory
            query, key, value = (
                dense(name, letter, of).view(len(of), heads, -1).transpose(0, 1)
                for letter, of in (("q", read), ("k", seen), ("v", seen))
            )
            weights = query @ key.transpose(1, 2) / (size / heads) ** 0.5
            if causal:
                later = torch.ones(weights.shape[1:]).triu(1).bool()
                weights = weights.masked_fill(later, -torch.inf)
            context = weights.softmax(2) @ value
            return dense(name, "o", context.transpose(0, 1).reshape(len(read), size))

        return around(f"{name}_Wo", x, block)

    def feed_forward(name: str, x: Tensor) -> Tensor:
        def block(read: Tensor) -> Tensor:
            return dense(name, "2", activation(dense(name, "1", read)))

        return around(f"{name}_ffn", x, block)

    def ssru(name: str, x: Tensor) -> Tensor:
        def block(read: Tensor) -> Tensor:
            cell, outputs = torch.zeros(size), []
            for row in read:
                keep = torch.sigmoid(dense(name, "f", row)[0])
                cell = keep * cell + (1 - keep) * (row @ items[f"{name}_W"])
                outputs.append(cell.relu())
            return torch.stack(outputs)

        return around(f"{name}_ffn", x, block, before=name)

    def positions(count: int) -> Tensor:
        half = size // 2
        rows = [
            [
                function(t * 10000 ** (-j / (half - 1)))
                for function in (np.sin, np.cos)
                for j in range(half)
            ]
            for t in range(count)
        ]
        return torch.tensor(rows, dtype=torch.float32)

    shared = items.get("Wemb")
    source_table = items.get("encoder_Wemb", shared)
    target_table = items.get("decoder_Wemb", shared)
    read = [*source, 0]
    x = source_table[read] * size**0.5 + positions(len(read))
    for layer in range(1, options["enc-depth"] + 1):
        x = attention(f"encoder_l{layer}_self", x, None, causal=False)
        x = feed_forward(f"encoder_l{layer}_ffn", x)
    memory = norm("encoder_top", x) if pre else x
    start = torch.zeros(1, size)
    x = torch.cat([start, target_table[target]]) * size**0.5 + positions(len(target) + 1)
    for layer in range(1, options["dec-depth"] + 1):
        if options["transformer-decoder-autoreg"] == "rnn":
            x = ssru(f"decoder_l{layer}_rnn", x)
        else:
            x = attention(f"decoder_l{layer}_self", x, None, causal=True)
        x = attention(f"decoder_l{layer}_context", x, memory, causal=False)
        x = feed_forward(f"decoder_l{layer}_ffn", x)
    if pre:
        x = norm("decoder_top", x)
    weight = items.get("decoder_ff_logit_out_W", target_table.T)
    return (x @ weight + items["decoder_ff_logit_out_b"]).log_softmax(1)
