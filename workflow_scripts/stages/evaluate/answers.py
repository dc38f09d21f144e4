"""How many paraphrases are right, where the right answers of a prompt are listed with weights.

As the Duolingo shared task STAPLE 2020 counts (Mayhew et al., WNGT 2020): sentences are compared
lower-cased, without ASCII punctuation, blanks collapsed. What each figure is: docs/evaluate.md.
"""

import json
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.files.tsv import fields
from workflow_scripts.core.statistics.numbers import finite
from workflow_scripts.core.text.normalisation import words

# The weights of a prompt's right answers, by their keys.
Answers = dict[str, float]
# Sums of such weights are no infinite numbers.
_GREATEST = 1e100
_MOST_DIGITS = 18
# A paraphrase with its rank.
Ranked = tuple[int, str]


def key(sentence: str) -> str:
    """Return a sentence as it is compared with others."""
    return " ".join(words(sentence))


def read_answers(path: Path) -> dict[str, Answers]:
    """Return the right answers of each prompt, from lines of prompt, answer and weight.

    Of answers of a prompt that are written differently and compared as equal, the last one's weight
    counts, as in the scorer of the shared task.

    Raises:
        InputError: there is no line, one is not as it should be, or an answer has two weights; the
            message has its number.
    """
    by_prompt: dict[str, Answers] = {}
    written: dict[tuple[str, str], tuple[float, int]] = {}
    for number, (prompt, answer, weight) in _rows(path, ("prompt", "answer", "weight")):
        if not key(answer):
            raise InputError(f"{path}, line {number}: the answer is empty but for punctuation")
        value = _weight(weight, f"{path}, line {number}")
        earlier, first = written.setdefault((prompt, answer), (value, number))
        if earlier != value:
            raise InputError(
                f"{path}, line {number}: weight {value} of an answer that has {earlier} in line "
                f"{first}; correct one of them"
            )
        by_prompt.setdefault(prompt, {})[key(answer)] = value
    if not by_prompt:
        raise InputError(f"{path} has no line; it needs prompt, answer and weight in each")
    return by_prompt


def read_paraphrases(path: Path, answers: Mapping[str, Answers]) -> dict[str, list[Ranked]]:
    """Return the paraphrases of each prompt, from lines of prompt, rank and paraphrase.

    Raises:
        InputError: a line is not as it should be, or its prompt has no answers; the message has
            its number.
    """
    by_prompt: dict[str, list[Ranked]] = {}
    for number, (prompt, rank, text) in _rows(path, ("prompt", "rank", "paraphrase")):
        if prompt not in answers:
            raise InputError(
                f"{path}, line {number}: no answers are given for the prompt {prompt!r}; correct "
                "it, or take the line out"
            )
        digits = rank.isascii() and rank.isdigit() and len(rank) <= _MOST_DIGITS
        if not (digits and int(rank) > 0):
            raise InputError(f"{path}, line {number}: rank {rank[:100]!r} must be 1, 2 or so on")
        by_prompt.setdefault(prompt, []).append((int(rank), text))
    return by_prompt


def _rows(path: Path, names: tuple[str, ...]) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the columns of each line; none of them is blank."""
    for number, columns in fields(path, read_lines(path)):
        if len(columns) != len(names):
            raise InputError(
                f"{path}, line {number}: {len(columns)} columns; it needs {len(names)}, with tabs "
                f"between: {', '.join(names)}"
            )
        for name, column in zip(names, columns, strict=True):
            if not column.strip():
                raise InputError(f"{path}, line {number}: the {name} is empty")
        yield number, columns


def _weight(text: str, place: str) -> float:
    try:
        weight = finite(text)
    except ValueError as error:
        raise InputError(f"{place}: weight {error}") from error
    if weight < 0:
        raise InputError(f"{place}: weight {text} is negative")
    if weight > _GREATEST:
        raise InputError(f"{place}: weight {text[:100]} is too great; weights are mostly shares")
    return weight


def measure(
    answers: Mapping[str, Answers], paraphrases: Mapping[str, Iterable[Ranked]]
) -> dict[str, Any]:
    """Return the figures of paraphrases whose prompts all have answers.

    All are shares from 0 to 1 but `distinct_right`, which is a mean number; they are None where
    there is no prompt.

    Args:
        answers: by prompt; a prompt without paraphrases counts, with zeros.
        paraphrases: by prompt.
    """
    f1s, hit, listed = [], 0, 0
    found_weight, weight = 0.0, 0.0
    rows: list[tuple[int, bool]] = []
    for prompt, right in answers.items():
        keys = [(rank, key(text)) for rank, text in paraphrases.get(prompt, ())]
        rows += [(rank, text in right) for rank, text in keys]
        texts = {text for _, text in keys}
        hits = texts & right.keys()
        won, total = sum(right[text] for text in sorted(hits)), sum(right.values())
        precision, recall = _share(len(hits), len(texts)), _share(won, total)
        f1s.append(_share(2 * precision * recall, precision + recall))
        hit, listed = hit + len(hits), listed + len(texts)
        found_weight, weight = found_weight + won, weight + total
    prompts = len(answers)
    table = pd.DataFrame(rows, columns=["rank", "right"]).astype({"right": int})
    by_rank = table.groupby("rank")["right"].agg(share="mean", right="sum", paraphrases="size")
    return {
        "precision": _share(hit, listed) if prompts else None,
        "weighted_recall": _share(found_weight, weight) if prompts else None,
        "weighted_macro_f1": sum(f1s) / prompts if prompts else None,
        "distinct_right": hit / prompts if prompts else None,
        "by_rank": {str(rank): row for rank, row in by_rank.to_dict("index").items()},
    }


def _share(some: float, all_: float) -> float:
    return some / all_ if all_ else 0.0


def main(argv: list[str] | None = None) -> None:
    """Print how many paraphrases are among the right answers, as one JSON object."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument(
        "--answers",
        type=Path,
        required=True,
        metavar="A.tsv",
        help="prompt, answer and weight in each line, with tabs between",
    )
    parser.add_argument(
        "--paraphrases",
        type=Path,
        required=True,
        metavar="P.tsv",
        help="prompt, rank and paraphrase in each line, with tabs between",
    )
    arguments = parser.parse_args(argv)
    answers = read_answers(arguments.answers)
    print(json.dumps(measure(answers, read_paraphrases(arguments.paraphrases, answers))))


if __name__ == "__main__":
    run(main)
