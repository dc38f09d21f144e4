"""KenLM's programs (Heafield, 2011): n-gram models with modified Kneser-Ney smoothing."""

import math
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files import space
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.text.normalisation import words

# Of lmplz's sorting; what does not fit goes to temporary files.
MEMORY = "1G"


def program(name: str) -> str:
    """Return the path of one of KenLM's programs: beside this Python, or else on the PATH.

    Raises:
        InputError: it isn't there.
    """
    beside = Path(sys.executable).with_name(name)
    path = str(beside) if beside.is_file() else shutil.which(name)
    if not path:
        raise InputError(
            f"columns with a language_model need KenLM's program {name}, which is not there: "
            "`make deps` installs what it is compiled with, `make setup` then compiles it "
            "(with --use-conda both happen by themselves)"
        )
    return path


def estimate(sentences: Iterable[list[str]], order: int, output: Path) -> int:
    """Write the binary model of some sentences, atomically; return how many there were.

    Raises:
        InputError: KenLM is not there, or it can't estimate a model from so little text.
    """
    lmplz, build_binary = program("lmplz"), program("build_binary")
    count = 0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (folder / "text").open("w", encoding="utf-8", newline="\n") as text:
            for sentence in sentences:
                text.write(" ".join(sentence) + "\n")
                count += 1
        # Small data may give no valid discounts, for which it then takes fixed ones.
        options = ["-o", str(order), "-S", MEMORY, "-T", name, "--discount_fallback"]
        files = ["--text", str(folder / "text"), "--arpa", str(folder / "arpa")]
        _run([lmplz, *options, *files], folder)
        with atomic_path(output) as temporary:
            _run([build_binary, str(folder / "arpa"), str(temporary)], output)
    return count


def _run(command: list[str], written: Path) -> None:
    done = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if done.returncode and space.says_full(done.stderr):
        raise InputError(space.message(written))
    if done.returncode:
        raise InputError(f"{Path(command[0]).name} failed: {done.stderr.strip()[-1000:]}")


def log_probabilities(model: Path, sentences: Iterable[list[str]]) -> NDArray[np.float64]:
    """Return the logarithm to base 10 of each sentence's probability, its end included."""
    command = [program("query"), "-v", "sentence", str(model)]
    text = "".join(" ".join(sentence) + "\n" for sentence in sentences)
    done = subprocess.run(command, input=text, capture_output=True, text=True, encoding="utf-8")
    if done.returncode:
        raise InputError(f"query failed on {model}: {done.stderr.strip()[-1000:]}")
    # One line each, e.g. `Total: -5.94732 OOV: 0`; what follows is about the whole text.
    totals = [line.split()[1] for line in done.stdout.splitlines() if line.startswith("Total: ")]
    return np.array(totals, np.float64)


def perplexities(model: Path, sentences: list[list[str]]) -> NDArray[np.float64]:
    """Return the perplexity of each sentence: of its words, unknown ones and its end included."""
    return 10.0 ** -_per_word(model, sentences)


def _per_word(model: Path, sentences: list[list[str]]) -> NDArray[np.float64]:
    """Return the mean log-probability (base 10) of each sentence's words and its end."""
    lengths = np.array([len(sentence) + 1 for sentence in sentences], np.float64)
    return log_probabilities(model, sentences) / lengths


class LanguageModel:
    """A KenLM model as the feature `language_model` asks it."""

    def __init__(self, path: Path, split: Callable[[str], list[str]] = words):
        """Ask the model in `path` for the words that `split` gives of a sentence."""
        self._path, self._split = path, split

    def log_probability(self, sentences: Sequence[str]) -> NDArray[np.float64]:
        """Return the mean log-probability (nats) of each sentence's words and its end."""
        words = [self._split(sentence) for sentence in sentences]
        return math.log(10) * _per_word(self._path, words)
