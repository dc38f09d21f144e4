"""What stands behind the pages: a trained rewriter, or models that translate there and back."""

from collections.abc import Sequence
from typing import Any, Protocol

from workflow_scripts.stages.rewrite.requests import Answer, Request
from workflow_scripts.stages.rewrite.rewriter import Settings


class Engine(Protocol):
    """Answers requests, many of them together.

    `language`: its code; `inflects`: whether it knows the forms of words; `settings`: of its
    search; `templates`: of syntax, that can be asked for; `has_meaning`: whether its paraphrases
    have meaning scores.
    """

    language: str | None
    inflects: bool
    settings: Settings
    templates: list[str]
    has_meaning: bool

    def plan(self, request: Request) -> Any:
        """Return what answers a request: an object with the `request` and its `cost`.

        Raises:
            RequestError: it can't be answered.
        """

    def answers(self, plans: Sequence[Any]) -> list[Answer]:
        """Return the answers to planned requests."""
