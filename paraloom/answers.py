"""What comes back: a list of paraphrases or translations of each text, never None."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeVar

Item = TypeVar("Item")


@dataclass(frozen=True)
class Paraphrase:
    """A paraphrase of a text.

    Attributes:
        text: the paraphrase.
        probability: that it is good, as the judge says, 0 to 1; None without a judge.
        score: how unlikely the models find it, in nats per token; lower is better. With a source it
            is the sum of the NLLs of both directions, as the pipeline has it; of a rewriter it is
            the NLL of the paraphrase.
        source: the source that gave it, given or written; None of a rewriter.
    """

    text: str
    probability: float | None
    score: float
    source: str | None


@dataclass(frozen=True)
class Translation:
    """A translation of a text.

    Attributes:
        text: the translation.
        nll: of it, in nats per token, the end of the sentence included; lower is better.
    """

    text: str
    nll: float


class _Answers(list[Item]):
    """A list, best first, of what was found for one text.

    Attributes:
        text: what was asked for, as it was given.
        why: why there are fewer than asked for; None if there are as many.
        unknown: words that the model can't read, so that no answer says what they say.
    """

    def __init__(
        self,
        text: str,
        items: Iterable[Item] = (),
        why: str | None = None,
        unknown: Iterable[str] = (),
    ):
        super().__init__(items)
        self.text = text
        self.why = why
        self.unknown = list(unknown)


class Paraphrases(_Answers[Paraphrase]):
    """The paraphrases of one text, best first: a list with three more attributes.

    Attributes:
        text: what was asked for, as it was given.
        why: why there are fewer paraphrases than asked for; None if there are as many.
        unknown: words of the text, or of the source that was given, that the model can't read: no
            paraphrase says what they say.
    """


class Translations(_Answers[Translation]):
    """The translations of one text, best first: a list with three more attributes.

    Attributes:
        text: what was asked for, as it was given.
        why: why there are fewer translations than asked for, or that the best one is the text as
            it stands; else None.
        unknown: words of the text that the model can't read: no translation says what they say.
    """
