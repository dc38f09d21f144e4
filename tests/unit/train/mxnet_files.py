"""Files as Sockeye 2 on MXNet writes them."""

import struct
from pathlib import Path

import numpy as np
import torch

TYPES = {"float32": 0, "float64": 1, "float16": 2, "uint8": 3, "int32": 4, "int8": 5, "int64": 6}


def array_bytes(array: np.ndarray, magic: int = 0xF993FAC9, storage: int = 0) -> bytes:
    shape = struct.pack(f"<I{array.ndim}q", array.ndim, *array.shape)
    device_and_type = struct.pack("<iii", 1, 0, TYPES[array.dtype.name])
    return struct.pack("<Ii", magic, storage) + shape + device_and_type + array.tobytes()


def list_bytes(arrays: dict[str, np.ndarray], **settings: int) -> bytes:
    """Return what `mx.nd.save` writes."""
    names = b"".join(struct.pack("<Q", len(n.encode())) + n.encode() for n in arrays)
    body = b"".join(array_bytes(array, **settings) for array in arrays.values())
    count = len(arrays)
    return struct.pack("<QQQ", 0x112, 0, count) + body + struct.pack("<Q", count) + names


def downgrade(folder: Path, target: Path) -> Path:
    """Write a Sockeye 3 model folder as Sockeye 2 would have; tied matrices appear once."""
    weights = torch.load(folder / "params.best", weights_only=True)
    names = {tensor.data_ptr(): name for name, tensor in weights.items()}
    arrays = {}
    for name in names.values():
        old = name.replace(".layer_norm.weight", ".layer_norm.gamma")
        old = old.replace(".layer_norm.bias", ".layer_norm.beta")
        arrays[old.replace(".embedding.weight", ".embed_weight")] = weights[name].numpy()
    target.mkdir()
    (target / "params.best").write_bytes(list_bytes(arrays))
    lines = (folder / "config").read_text(encoding="utf-8").splitlines()
    newer = ("block_prepended", "eop_id", "neural_vocab_selection")
    kept = [line for line in lines if not line.strip().startswith(newer)]
    kept.append("intgemm_custom_lib: /somewhere/libintgemm.so")
    (target / "config").write_text("\n".join(kept) + "\n", encoding="utf-8")
    (target / "version").write_text("2.3.24")
    (target / "args.yaml").write_text("seed: 1\n")
    (target / "metrics").write_text("1\tepoch=1\n")
    for name in ("vocab.src.0.json", "vocab.trg.0.json"):
        (target / name).write_bytes((folder / name).read_bytes())
    return target
