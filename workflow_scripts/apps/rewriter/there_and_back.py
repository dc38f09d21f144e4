"""Models that translate there and back, asked as a trained rewriter is."""

from collections.abc import Sequence
from dataclasses import dataclass

import paraloom
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.rewrite.requests import (
    MOST_RESULTS,
    Answer,
    Paraphrase,
    Request,
    RequestError,
)
from workflow_scripts.stages.rewrite.rewriter import Settings, difference

# Keys of a request that a trained rewriter alone knows.
_OF_REWRITERS = (
    "avoid_forms",
    "avoid_pieces",
    "use_forms",
    "template",
    "samples",
    "system",
    "seed",
)


@dataclass(frozen=True)
class Judged(Paraphrase):
    """A paraphrase by way of a source.

    `score`: the sum of the NLLs of both directions; `probability`: that it is good, as the judge
    says, 0 to 1, None without a judge; `source`: the written source that gave it.
    """

    probability: float | None = None
    source: str | None = None


@dataclass(frozen=True)
class Asked:
    """A request in the library's words."""

    request: Request
    words: paraloom.Request
    # As beams count: one there, three back, and the judge. Few stand before whoever comes next.
    cost: int = 16


class ThereAndBack:
    """Answers requests by a paraphraser of the library.

    Args:
        paraphraser: of one language.
    """

    inflects = False
    has_meaning = False

    def __init__(self, paraphraser: paraloom.Paraphraser):
        self.language: str | None = paraphraser.language
        self.templates: list[str] = []
        self.settings = Settings(beam_size=MOST_RESULTS)
        self.at_least = paraphraser.at_least
        self._paraphraser = paraphraser

    def plan(self, request: Request) -> Asked:
        """Return a request in the library's words.

        Raises:
            RequestError: it asks for what a trained rewriter alone can do, or for what can't be.
        """
        for name in _OF_REWRITERS:
            if getattr(request, name) != getattr(Request, name):
                raise RequestError(f"'{name}' is for trained rewriters; leave it out")
        try:
            words = paraloom.Request(
                request.text,
                n=request.number,
                keep=request.use,
                avoid=request.avoid,
                at_least=request.at_least,
            )
        except InputError as error:
            raise RequestError(str(error)) from error
        return Asked(request, words)

    def answers(self, plans: Sequence[Asked]) -> list[Answer]:
        """Return the answers to planned requests."""
        found = self._paraphraser(iter([plan.words for plan in plans]))
        return [_answer(plan.request, each) for plan, each in zip(plans, found, strict=True)]


def _answer(request: Request, found: paraloom.Paraphrases) -> Answer:
    paraphrases: list[Paraphrase] = [
        Judged(
            each.text,
            each.score,
            None,
            difference(request.text, each.text),
            probability=each.probability,
            source=each.source,
        )
        for each in found
    ]
    avoided, used = list(request.avoid), list(request.use)
    return Answer(request, paraphrases, avoided, used, found.unknown, found.why)
