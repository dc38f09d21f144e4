"""What is asked of a paraphraser, a rewriter or a translator."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from workflow_scripts.core.errors import InputError

# Words to keep, or to avoid, of one text.
MOST_WORDS = 20


class ArgumentError(InputError, ValueError):
    """An argument that can't be; the message names it and says what to do."""


@dataclass(frozen=True)
class Request:
    """A sentence to paraphrase, with what is wished of its paraphrases.

    Attributes:
        text: the sentence.
        source: its translation, from which it is paraphrased; None: the model there writes some.
        n: how many paraphrases; None: as many as the call says.
        keep: words and phrases that every paraphrase must have.
        avoid: words and phrases that no paraphrase may have, in whatever case.
    """

    text: str
    source: str | None = None
    n: int | None = None
    keep: Sequence[str] = ()
    avoid: Sequence[str] = ()

    def __post_init__(self) -> None:
        """Refuse what can't be.

        Raises:
            ArgumentError: a field is of another type, or `n` is below 1.
        """
        for name, value in (("text", self.text), ("source", self.source)):
            if not isinstance(value, str) and (name == "text" or value is not None):
                raise ArgumentError(f"{name} must be a text (str), not {type(value).__name__}")
        if self.n is not None:
            require_count("n", self.n)
        for name in ("keep", "avoid"):
            words = getattr(self, name)
            if isinstance(words, str | bytes) or not isinstance(words, Sequence):
                raise ArgumentError(f"{name} must be a list of words, such as ['favor']")
            for word in words:
                if not isinstance(word, str) or not any(map(str.isalnum, word)):
                    raise ArgumentError(
                        f"{name}: {word!r} is no word: it has no letter or digit; take it out"
                    )
            if len(words) > MOST_WORDS:
                raise ArgumentError(f"{name} has {len(words)} words, at most {MOST_WORDS}")
            object.__setattr__(self, name, tuple(dict.fromkeys(words)))


def require_count(name: str, value: Any) -> None:
    """Refuse what is no number above zero.

    Raises:
        ArgumentError: it is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ArgumentError(f"{name} is {value!r}, and must be a whole number above zero")


def asked(item: Any, defaults: Request) -> Request:
    """Return a text or a request as a request, with what a call says for all of them.

    Args:
        item: a text, or a request, whose own wishes come before those of the call.
        defaults: `n`, `keep` and `avoid` of the call.

    Raises:
        ArgumentError: it is neither.
    """
    if isinstance(item, Request):
        return replace(
            item,
            n=item.n or defaults.n,
            keep=[*item.keep, *defaults.keep],
            avoid=[*item.avoid, *defaults.avoid],
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


def require_samples(samples: int | None, keep: Sequence[str]) -> None:
    """Refuse samples that can't be.

    Raises:
        ArgumentError: they are below 1, or there are words to keep.
    """
    if samples is None:
        return
    require_count("samples", samples)
    if keep:
        raise ArgumentError(
            "samples can't have words to keep: they are drawn token by token; leave samples out, "
            "a beam search then answers"
        )
