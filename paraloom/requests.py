"""What is asked of a paraphraser, a rewriter or a translator."""

import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.rewrite.requests import LONGEST, MOST_WORDS
from workflow_scripts.stages.rewrite.spellings import at_start, plain

# Answers to a text, and hypotheses of a search for them: more do not fit into memory.
MOST_COUNTED = 1000


class ArgumentError(InputError, ValueError):
    """An argument that can't be; the message names it and says what to do."""


@dataclass(frozen=True)
class Request:
    """A sentence to paraphrase, with what is wished of its paraphrases.

    Attributes:
        text: the sentence.
        source: its translation, from which it is paraphrased; None or empty: the model there
            writes some.
        n: how many paraphrases; None: as many as the call says.
        keep: words and phrases that every paraphrase must have.
        avoid: words and phrases that no paraphrase may have, in whatever case.
        at_least: the probability of a paraphrase, 0 to 1, and 0 for all; None: as the call says.
    """

    text: str
    source: str | None = None
    n: int | None = None
    keep: Sequence[str] = ()
    avoid: Sequence[str] = ()
    at_least: float | None = None

    def __post_init__(self) -> None:
        """Refuse what can't be.

        Raises:
            ArgumentError: a field is of another type, `n` is below 1 or above 1,000, `at_least` no
                probability, or a word is none.
        """
        for name, value in (("text", self.text), ("source", self.source)):
            if not isinstance(value, str) and (name == "text" or value is not None):
                raise ArgumentError(f"{name} must be a text (str), not {type(value).__name__}")
        if self.source is not None and not self.source.strip():
            object.__setattr__(self, "source", None)
        if self.n is not None:
            object.__setattr__(self, "n", require_count("n", self.n))
        if self.at_least is not None:
            object.__setattr__(self, "at_least", _require_probability(self.at_least))
        for name in ("keep", "avoid"):
            words = getattr(self, name)
            if isinstance(words, str | bytes) or not isinstance(words, Sequence):
                raise ArgumentError(f"{name} must be a list of words, such as ['favor']")
            for word in words:
                _require_word(name, word)
            if len(words) > MOST_WORDS:
                raise ArgumentError(f"{name} has {len(words)} words, at most {MOST_WORDS}")
            object.__setattr__(self, name, tuple(dict.fromkeys(words)))


def _require_word(name: str, word: Any) -> None:
    if not isinstance(word, str) or not any(map(str.isalnum, at_start(word)[1])):
        raise ArgumentError(
            f"{name}: {word!r:.40} is no word: it has no letter or digit; take it out"
        )
    if max(len(word), len(plain(word))) > LONGEST:
        raise ArgumentError(f"{name} has a word of more than {LONGEST} letters; shorten it")
    if any("\ud800" <= sign <= "\udfff" for sign in word):
        raise ArgumentError(f"{name}: {word!r} has half of a surrogate pair; take it out")


def _require_probability(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, Real) or not 0 <= float(value) <= 1:
        raise ArgumentError(f"at_least is {value!r:.40}, and must be a number from 0 to 1")
    return float(value)


def _whole(value: Any) -> int | None:
    """Return a whole number, of NumPy too, as Python's; None if the value is none."""
    try:
        return None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        return None


def require_count(name: str, value: Any, most: int | None = MOST_COUNTED) -> int:
    """Return a number above zero, and refuse all else.

    Args:
        name: of the argument.
        value: of it.
        most: the highest that can be; None: there is no bound.

    Raises:
        ArgumentError: it is none, or too high.
    """
    number = _whole(value)
    if number is None or number < 1:
        raise ArgumentError(f"{name} is {value!r:.40}, and must be a whole number above zero")
    if most is not None and number > most:
        raise ArgumentError(f"{name} is {value!r:.40}, and can be {most:,} at most")
    return number


def require_seed(seed: Any) -> int:
    """Return a seed, and refuse what is no whole number.

    Raises:
        ArgumentError: it is none.
    """
    number = _whole(seed)
    if number is None:
        raise ArgumentError(f"seed is {seed!r:.40}, and must be a whole number")
    return number


def require_path(name: str, value: Any) -> Path:
    """Return the path of a name, a file or a folder, and refuse what is none.

    Raises:
        ArgumentError: it is none, or empty.
    """
    if not isinstance(value, str | Path) or not str(value):
        raise ArgumentError(f"{name} is {value!r:.40}, and must be a name or a path")
    return Path(value)


def refuse_table(name: str, value: Any) -> None:
    """Refuse a frame or a mapping: reading it gives the names of its columns, and no texts.

    Raises:
        ArgumentError: it is one.
    """
    if isinstance(value, Mapping) or hasattr(value, "columns"):
        raise ArgumentError(f"{name} is a table; give one column of it, such as df['text']")


def wishes_of_call(
    n: Any, keep: Sequence[str], avoid: Sequence[str], at_least: float | None = None
) -> Request:
    """Return what a call says for all of its texts, of which `n` must be there.

    Raises:
        ArgumentError: an argument can't be.
    """
    return Request("", None, require_count("n", n), keep, avoid, at_least)


def asked(item: Any, defaults: Request) -> Request:
    """Return a text or a request as a request, with what a call says for all of them.

    Args:
        item: a text, or a request, whose own wishes come before those of the call.
        defaults: what the call says of all.

    Raises:
        ArgumentError: it is neither.
    """
    if isinstance(item, Request):
        return replace(
            item,
            n=item.n or defaults.n,
            keep=[*item.keep, *defaults.keep],
            avoid=[*item.avoid, *defaults.avoid],
            at_least=defaults.at_least if item.at_least is None else item.at_least,
        )
    if not isinstance(item, str):
        raise ArgumentError(
            f"a text (str) or a paraloom.Request is asked for, not {type(item).__name__}"
        )
    return replace(defaults, text=item)


def is_single(texts: str | Request | Iterable[str | Request]) -> bool:
    """Tell whether a call is about one text, and not about a stream of them."""
    return isinstance(texts, str | bytes | Request)


def device_for(device: str | None, precision: str) -> str:
    """Return the name of the device that computes: without one, the CPU for int8, else `auto`.

    Raises:
        ArgumentError: there is no device of this name.
    """
    if device is None:
        return "cpu" if precision == "int8" else "auto"
    if device not in ("auto", "cpu", "cuda"):
        raise ArgumentError(f"device {device!r}: use one of auto, cpu, cuda")
    return device


def require_samples(samples: int | None, keep: Sequence[str]) -> int:
    """Return how many samples are drawn, 0 for None, and refuse what can't be.

    Raises:
        ArgumentError: they are below 1 or above 1,000, or there are words to keep.
    """
    if samples is None:
        return 0
    number = require_count("samples", samples)
    if keep:
        raise ArgumentError(
            "samples can't have words to keep: they are drawn token by token; leave samples out, "
            "a beam search then answers"
        )
    return number
