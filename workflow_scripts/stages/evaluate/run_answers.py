"""The measure of right answers (`answers.py`) over the paraphrases of one system of a run."""

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.core.progress import progress
from workflow_scripts.stages.clean.normalise import normalise
from workflow_scripts.stages.evaluate.answers import Answers, Ranked, key, measure, read_answers

# The record of answers.json.
RECORD = "answering"
COLUMNS = ["source", "reference", "paraphrases"]


def normalised(answers: dict[str, Answers]) -> dict[str, Answers]:
    """Return answers whose texts have the form that the texts of a run have."""
    of_run: dict[str, Answers] = {}
    for prompt, weights in answers.items():
        right = of_run.setdefault(normalise(prompt), {})
        right.update({key(normalise(answer)): weight for answer, weight in weights.items()})
    return of_run


def figures(answers: dict[str, Answers], rows: Iterable[ParaphrasesRow]) -> dict[str, Any]:
    """Return answers.json: the figures over the prompts that the rows have.

    A row has a prompt if its reference or its source is that. Rows with the same prompt count as
    one list of paraphrases.
    """
    paraphrases: dict[str, list[Ranked]] = {}
    for row in rows:
        for prompt in {row["reference"], row["source"]} & answers.keys():
            ranked = [(one["rank"], one["text"]) for one in row["paraphrases"]]
            paraphrases.setdefault(prompt, []).extend(ranked)
    asked = {prompt: right for prompt, right in answers.items() if prompt in paraphrases}
    return {"prompts": len(answers), "found": len(asked), **measure(asked, paraphrases)}


def write_answers(
    answers: Path, folder: Path, shards: int, output: Path, inputs: dict[str, str] | None = None
) -> None:
    """Write how many paraphrases of a system are among the right answers of their prompts.

    Args:
        answers: prompt, answer and weight in each line.
        folder: of the select stage, with `paraphrases` shards.
        output: answers.json; its record is `answering` beside it.

    Raises:
        InputError: a file is damaged or changed.
    """
    with unchanged(inputs or {}):
        right = normalised(read_answers(answers))
    paths = shard_paths(folder, shards)
    for path in paths:
        verify(path)
    rows = (row for path in paths for row in read_rows(path, ParaphrasesRow, COLUMNS))
    measured = figures(right, progress(rows, desc="answers"))
    if not measured["found"]:
        print(
            f"warning: none of the {len(right):,} prompts of {answers} is a reference or a "
            "source of the run; correct evaluate.answers, or take it out",
            file=sys.stderr,
        )
    write_json(output, measured)
    write_record(output.with_name(RECORD), 0, 0, {}, files=[output])


main = command(write_answers, __name__)
