"""Sockeye 2.3.24 on MXNet, in its own interpreter: the only other system with both constraints."""

import json
import os
import subprocess
from collections.abc import Callable
from contextlib import contextmanager
from pathlib import Path
from typing import IO

import numpy as np

from benchmarks.peers.tasks import OUTPUT_TOKENS, Sentence, Shape, Timing, pieces, sockeye_weights

_WORKER = Path(__file__).with_name("sockeye2_worker.py")


def write_weights(folder: Path, target: Path) -> None:
    """Write the weights of a Sockeye 3 model folder by the names of Sockeye 2 (.npz)."""
    names = {
        name: name.replace(".layer_norm.weight", ".layer_norm.gamma")
        .replace(".layer_norm.bias", ".layer_norm.beta")
        .replace(".embedding.weight", ".embed_weight")
        for name in sockeye_weights(folder)
    }
    weights = sockeye_weights(folder)
    np.savez(target, **{new: weights[old].numpy() for old, new in names.items()})


class Sockeye2:
    """A running worker."""

    def __init__(self, process: subprocess.Popen[str], beam_size: int):
        self._process = process
        self._beam_size = beam_size

    def search(self, sentences: list[Sentence], *, constrained: bool) -> tuple[float, list[dict]]:
        """Return the CPU seconds and the outputs, with `translation` and `score`, of a search."""
        lines = [{"text": " ".join(pieces(each.source))} for each in sentences]
        if constrained:
            for line, each in zip(lines, sentences, strict=True):
                line["constraints"] = [" ".join(pieces(each.wanted))]
                line["avoid"] = [" ".join(pieces(phrase)) for phrase in each.avoid[0]]
        self._send({"beam_size": self._beam_size, "lines": lines})
        answer = self._read()
        return answer["seconds"], answer["outputs"]

    def beam(self, *, constrained: bool) -> Callable[[list[Sentence]], Timing]:
        """Return a function that translates, with the constraints or without."""

        def run(sentences: list[Sentence]) -> Timing:
            seconds, outputs = self.search(sentences, constrained=constrained)
            tokens = sum(
                min(len(output["translation"].split()) + 1, OUTPUT_TOKENS) for output in outputs
            )
            return Timing(tokens, seconds)

        return run

    def _send(self, message: dict) -> None:
        pipe: IO[str] = self._process.stdin
        pipe.write(json.dumps(message) + "\n")
        pipe.flush()

    def _read(self) -> dict:
        line = self._process.stdout.readline()
        if not line:
            raise RuntimeError(f"Sockeye 2 has ended with status {self._process.wait()}")
        return json.loads(line)


@contextmanager
def started(python: str, folder: Path, shape: Shape, work: Path, beam_size: int):
    """Run a worker of the interpreter `python` on the weights of a Sockeye 3 model folder."""
    weights = work / "sockeye2.npz"
    write_weights(folder, weights)
    command = [python, str(_WORKER), str(weights), str(folder), json.dumps(shape._asdict())]
    # Our own packages are not for that interpreter.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(
        command, env=environment, **pipes, text=True, encoding="utf-8"
    ) as process:
        yield Sockeye2(process, beam_size)
