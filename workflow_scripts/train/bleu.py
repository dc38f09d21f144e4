"""BLEU of a model on the held-out test set."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from sacrebleu.metrics import BLEU

from workflow_scripts.core.errors import InputError
from workflow_scripts.subword.segmenter import Segmenter

BEAM = 5
# Sentences; the beams of a batch are computed together.
_BATCH = 32


def score(hypotheses: list[str], references: list[str]) -> dict[str, Any]:
    """Return corpus BLEU (cased, sacrebleu's defaults), its signature and the sentences."""
    metric = BLEU()
    value = metric.corpus_score(hypotheses, [references]).score
    return {
        "bleu": round(value, 2),
        "signature": metric.get_signature().format(),
        "sentences": len(references),
    }


def translate(model: Path, source: Path, output: Path, threads: int, device: str) -> list[str]:
    """Translate a file of pieces with beam 5 and return the lines of pieces."""
    command = [sys.executable, "-m", "sockeye.translate", "--models", str(model)]
    command += ["--input", str(source), "--output", str(output), "--no-logfile"]
    command += ["--beam-size", str(BEAM), "--batch-size", str(_BATCH)]
    command += ["--use-cpu"] if device == "cpu" else []
    result = subprocess.run(
        command,
        env=os.environ | {"OMP_NUM_THREADS": str(threads)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if result.returncode:
        end = "\n".join(result.stderr.splitlines()[-20:])
        raise InputError(f"Sockeye can't translate with {model}; the end of its log:\n{end}")
    return output.read_text(encoding="utf-8").splitlines()


def measure(
    model: Path, test: tuple[Path, Path], target: Segmenter, threads: int, device: str
) -> dict[str, Any]:
    """Translate the test set and return its BLEU.

    Args:
        model: the model folder.
        test: files of pieces: the source side, the target side.
        target: the sub-word model of the target side; joins pieces to text.
        threads: of the CPU.
        device: "cpu" or "cuda".
    """
    lines = translate(model, test[0], test[0].with_suffix(".translated"), threads, device)
    references = test[1].read_text(encoding="utf-8").splitlines()
    return score(*([target.text(line.split()) for line in side] for side in (lines, references)))
