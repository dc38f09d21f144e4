"""Folders of M2M100 of any shape with random weights, and what memory it takes to load one."""

import json
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import NamedTuple

import safetensors.torch
import torch
from transformers import M2M100Config, M2M100ForConditionalGeneration

NLLB_600M = {"layers": 12, "size": 1024, "heads": 16, "hidden": 4096, "vocabulary": 256_206}
LANGUAGES = ("eng_Latn", "por_Latn")
FAIRSEQ = ("<s>", "<pad>", "</s>", "<unk>")
_END = 2
_LOADING = """
import sys
from pathlib import Path
from workflow_scripts.nmt.loaders import load_model

def memory(name):
    lines = dict(line.split(":") for line in Path("/proc/self/status").read_text().splitlines())
    print(lines[name].split()[0])

memory("RssAnon")
model = load_model(sys.argv[1], "cpu", sys.argv[2])
memory("VmHWM")
"""


def names(vocabulary: int) -> list[str]:
    """Return the tokens of such a model by their ids."""
    words = range(len(FAIRSEQ), vocabulary - len(LANGUAGES) - 1)
    return [*FAIRSEQ, *(f"▁{row}" for row in words), *LANGUAGES, "<mask>"]


def write_m2m100(
    folder: Path, *, layers: int, size: int, heads: int, hidden: int, vocabulary: int
) -> Path:
    """Write a model folder for Portuguese to English, by the names of NLLB.

    Outputs run to their longest: the logit of </s> depends on nothing, and is small.
    """
    folder.mkdir(parents=True)
    sides = {
        f"{side}_{what}": value
        for side in ("encoder", "decoder")
        for what, value in (("layers", layers), ("attention_heads", heads), ("ffn_dim", hidden))
    }
    config = M2M100Config(d_model=size, vocab_size=vocabulary, **sides)
    with torch.device("meta"):
        shapes = M2M100ForConditionalGeneration(config).state_dict()
    chance = torch.Generator().manual_seed(1)
    tensors = {}
    for name, like in shapes.items():
        if name.startswith("model.shared.") or ".layers." in name or "layer_norm" in name:
            centre = float("layer_norm.weight" in name)
            scale = 0.02 if like.dim() > 1 else 0.1
            tensors[name] = torch.empty(like.shape).normal_(centre, scale, generator=chance)
    tensors["model.shared.weight"][:, 0] = 0
    tensors["model.shared.weight"][_END, 0] = 1
    tensors["model.decoder.layer_norm.weight"][0] = 0
    tensors["model.decoder.layer_norm.bias"][0] = -30
    safetensors.torch.save_file(tensors, folder / "model.safetensors", {"format": "pt"})
    config.architectures = [M2M100ForConditionalGeneration.__name__]
    config.save_pretrained(folder)
    tokens = names(vocabulary)
    special = [*FAIRSEQ, *LANGUAGES, "<mask>"]
    added = [{"id": tokens.index(name), "content": name, "special": True} for name in special]
    pieces = {"type": "Unigram", "unk_id": 3, "vocab": [[name, -1.0] for name in tokens]}
    blanks = {"type": "Metaspace", "replacement": "▁", "prepend_scheme": "always", "split": True}
    chosen = dict(zip(("target", "source"), LANGUAGES, strict=True))
    for name, content in (
        ("tokenizer.json", {"model": pieces, "added_tokens": added, "decoder": blanks}),
        ("paraloom.json", chosen),
    ):
        (folder / name).write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")
    return folder


class Loading(NamedTuple):
    """What it took to load a model, in bytes.

    `before` and `anonymous`: memory of the process that stands in no file, once the program is
    imported and at its peak; `resident`: the peak with the pages of files that are in memory, which
    the system may forget.
    """

    before: int
    anonymous: int
    resident: int


def loading(folder: Path, precision: str = "fp32") -> Loading:
    """Load a model in a process of its own, whose memory is looked at all the time."""
    process = subprocess.Popen(
        [sys.executable, "-c", _LOADING, str(folder), precision],
        stdout=subprocess.PIPE,
        cwd=Path(__file__).resolve().parents[3],
        text=True,
    )
    peak = 0
    while process.poll() is None:
        status = Path(f"/proc/{process.pid}/status").read_text(encoding="ascii")
        found = re.search(r"^RssAnon:\s+(\d+) kB", status, re.MULTILINE)
        peak = max(peak, int(found[1]) if found else 0)
        time.sleep(0.001)
    assert not process.returncode
    before, resident = map(int, process.communicate()[0].split())
    return Loading(before * 1024, peak * 1024, resident * 1024)
