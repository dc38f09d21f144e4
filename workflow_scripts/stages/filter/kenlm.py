"""KenLM (Heafield, 2011): n-gram models with modified Kneser-Ney smoothing.

Its programs estimate a model, its Python module asks one.
"""

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
        raise _missing(f"program {name}")
    return path


def _missing(part: str) -> InputError:
    return InputError(
        f"columns with a language_model need KenLM's {part}, which is not there: "
        "`make deps` installs what it is compiled with, `paraloom setup kenlm` then compiles it "
        "(with --use-conda both happen by themselves)"
    )


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


class LanguageModel:
    """A KenLM model, asked how probable sentences are."""

    def __init__(self, path: Path, split: Callable[[str], list[str]] = words):
        """Load the model in `path`; `split` gives the words of a sentence.

        Raises:
            InputError: KenLM's module is not there, or can't read the model.
        """
        try:
            import kenlm
        except ModuleNotFoundError:
            raise _missing("module kenlm") from None
        try:
            self._model = kenlm.Model(str(path))
        except OSError as error:
            raise InputError(f"KenLM can't read {path}: {str(error)[:1000]}") from None
        self._split = split

    def log_probability(self, sentences: Sequence[str]) -> NDArray[np.float64]:
        """Return the mean log-probability (nats) of each sentence's words and its end."""
        return math.log(10) * self._per_word(sentences)

    def perplexity(self, sentences: Sequence[str]) -> NDArray[np.float64]:
        """Return that of each sentence: of its words, unknown ones and its end included."""
        return 10.0 ** -self._per_word(sentences)

    def _per_word(self, sentences: Sequence[str]) -> NDArray[np.float64]:
        """Return the mean logarithm to base 10, shape (sentences,)."""
        score, split = self._model.score, map(self._split, sentences)
        return np.array([score(" ".join(tokens)) / (len(tokens) + 1) for tokens in split])
