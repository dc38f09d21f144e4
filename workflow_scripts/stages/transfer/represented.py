"""Test one representation of a run on its transfer tasks: an embedding, an encoder, word vectors.

An embedding is tested as it is and as it was before training. It is counted how many of the tested
rows have a sentence of its training pairs; classes and grades are in no training pair.
"""

import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import TrainingPairRow
from workflow_scripts.encoding.interface import RECORD
from workflow_scripts.encoding.sentence_vectors import encoder_folder
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.transfer.collect import read_collected
from workflow_scripts.stages.transfer.measure_model import limit_threads, over_seeds, tested
from workflow_scripts.stages.transfer.protocol import Answers, Settings
from workflow_scripts.stages.transfer.representations import (
    Representation,
    bag_of_words,
    model,
    word_vectors,
)
from workflow_scripts.stages.transfer.senteval_readers import TaskData
from workflow_scripts.stages.transfer.task_figures import figures, gain


def states(
    config: dict[str, Any], folder: Path | None, tasks: Sequence[TaskData]
) -> dict[str, Representation]:
    """Return what is tested: an embedding `trained` and `untrained`, anything else as `given`."""
    if config["kind"] == "embedding":
        assert folder is not None
        verify(folder / RECORD)
        return {"trained": model(folder), "untrained": model(folder, untrained=True)}
    if config["kind"] == "encoder":
        return {"given": model(encoder_folder(config["encoder"]))}
    if config["kind"] == "vectors":
        return {"given": word_vectors(Path(config["vectors"]), tasks)}
    return {"given": bag_of_words()}


def seen(tasks: Sequence[TaskData], pairs: Path) -> dict[str, int]:
    """Return how many tested rows of each task have a sentence that a training pair has.

    Sentences are the same if their letters and digits are. Memory grows with the tasks alone.
    """
    keys = {
        data.task: [{key(text) for text in (row.first, row.second) if text} for row in data.tested]
        for data in tasks
    }
    wanted = {sentence for rows in keys.values() for row in rows for sentence in row}
    verify(pairs)
    known = {
        sentence
        for row in read_rows(pairs, TrainingPairRow)
        for sentence in (key(row["reference"]), key(row["paraphrase"]))
        if sentence in wanted
    }
    return {task: sum(not row.isdisjoint(known) for row in rows) for task, rows in keys.items()}


def test(
    config: dict[str, Any],
    tasks: Sequence[TaskData],
    representations: Mapping[str, Representation],
    work: Path,
) -> dict[str, Any]:
    """Return the figures of each state in each task, and the gain of training.

    Args:
        config: `classifier`, `folds`, `seeds`, `scaled`, `bootstrap` and `seed`.
        tasks: what is tested.
        representations: by state.
        work: folder in which vectors and answers are kept until the unit is finished.
    """
    drawn = config["bootstrap"], config["seed"]
    reached: dict[str, dict[str, Any]] = {state: {} for state in representations}
    gains = {}
    for data in tasks:
        by_state: dict[str, list[Answers]] = {}
        for state, representation in representations.items():
            by_state[state] = [
                tested(
                    data,
                    representation,
                    Settings(config["classifier"], config["folds"], seed, config["scaled"]),
                    work,
                )
                for seed in config["seeds"]
            ]
            of_seeds = [figures(data, answers, *drawn) for answers in by_state[state]]
            reached[state][data.task] = over_seeds(of_seeds)
        if "untrained" in by_state:
            gains[data.task] = gain(data, by_state["trained"], by_state["untrained"], *drawn)
    return {"states": reached, "gain": gains}


def test_representation(
    config: dict[str, Any],
    tasks: Path,
    work: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    model: Path | None = None,
    pairs: Path | None = None,
) -> None:
    """Test one representation of a run on its transfer tasks.

    Args:
        config: see `test`; `kind` says what it is, and `encoder` or `vectors` where it is.
        tasks: rows of the tasks (Parquet).
        work: folder for what is kept meanwhile.
        output: JSON file; its record is `testing.json` beside it.
        model: folder of the embedding, if it is one.
        pairs: its training set (Parquet).
    """
    limit_threads()
    collected = read_collected(tasks)
    with unchanged(inputs or {}):
        representations = states(config, model, collected)
        content = {
            "config": config,
            **test(config, collected, representations, work),
            "seen": seen(collected, pairs) if pairs else None,
        }
    write_json(output, content)
    rows = sum(len(data.tested) for data in collected)
    write_record(output.with_name("testing.json"), rows, rows, {}, files=[output])
    shutil.rmtree(work, ignore_errors=True)


main = command(test_representation, __name__)
