"""What the readers of tasks give: examples with their answers, in the parts of a data set."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, NamedTuple, TypeVar

from workflow_scripts.core.errors import InputError


class Pair(NamedTuple):
    """Two sentences with their gold label, a number of a class, or their gold score."""

    first: str
    second: str
    gold: float

    def key(self) -> tuple[str, ...]:
        """Return all texts; two examples that have the same ones are duplicates."""
        return self.first, self.second

    def texts(self) -> tuple[str, ...]:
        """Return the texts that keep examples together: those that share one are in one fold."""
        return self.first, self.second


class Question(NamedTuple):
    """A question on a passage (SQuAD 2.0).

    Attributes:
        number: its id in the data set.
        question, context: the texts.
        answers: gold answers and their first characters in the context; none: it has no answer.
    """

    number: str
    question: str
    context: str
    answers: tuple[tuple[str, int], ...]

    def key(self) -> tuple[str, ...]:
        """Return all texts; two examples that have the same ones are duplicates."""
        return self.question, self.context

    def texts(self) -> tuple[str, ...]:
        """Return the texts that keep examples together: those that share one are in one fold."""
        return (self.context,)


E = TypeVar("E", Pair, Question)


@dataclass(frozen=True)
class TaskData(Generic[E]):
    """The data of a task.

    Attributes:
        train: what is learnt from.
        development: what a learning rate is chosen on, beside what is reported; often empty.
        tested: what is reported, by the name of the part. Where it is the part that is learnt from,
            each of several folds is tested with what is learnt from the others.
        counts: by part, how many examples were read, and what is noticed of them.
    """

    train: list[E]
    development: list[E]
    tested: dict[str, list[E]]
    counts: dict[str, dict[str, int]]

    @property
    def in_folds(self) -> bool:
        """Tell whether there is no part to learn from beside the one that is reported."""
        return any(part is self.train for part in self.tested.values())


def task_data(
    train: tuple[str, list[E]],
    tested: dict[str, list[E]],
    development: dict[str, list[E]],
    left_out: dict[str, dict[str, int]],
) -> TaskData[E]:
    """Return the data of a task with their counts.

    Args:
        train: the name of the part that is learnt from, and its examples.
        tested: the parts that are reported, by name.
        development: the part that a learning rate is chosen on, by name; one at most.
        left_out: by part, how many rows of its file gave no example, by reason.

    Returns:
        The data; each part's counts have `examples`, `duplicates` (examples whose texts stand in
        the part before), `in_train` (whose texts are learnt from) and what was left out.
    """
    name, learnt = train
    parts = {name: learnt, **tested, **development}
    known = {example.key() for example in learnt}
    counts = {
        part: {
            "examples": len(examples),
            "duplicates": len(examples) - len({example.key() for example in examples}),
            "in_train": 0 if examples is learnt else sum(one.key() in known for one in examples),
            **left_out.get(part, {}),
        }
        for part, examples in parts.items()
    }
    return TaskData(learnt, next(iter(development.values()), []), tested, counts)


def require_examples(path: Path, examples: Sequence[object]) -> None:
    """Refuse a file of which nothing was read.

    Raises:
        InputError: there is no example.
    """
    if not examples:
        raise InputError(f"{path}: no example in it; get the file again")
