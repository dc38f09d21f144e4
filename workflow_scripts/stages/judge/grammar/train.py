"""Train a grammar model on references, or on text files of sound sentences."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.core.files.manifest import sha256, shard_paths
from workflow_scripts.core.files.rows import ReferenceRow
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.stages.judge.grammar.damage import Damager
from workflow_scripts.stages.judge.grammar.training import DEFAULTS, split, train, validate


def train_model(
    sentences: Iterable[str], output: Path, config: Mapping[str, Any], about: Mapping[str, Any]
) -> None:
    """Write a model of sound sentences, with its record; `Grammar.load(output)` reads it.

    Args:
        sentences: any number; a seeded sample of them is used.
        output: folder of the model.
        config: settings that differ from `DEFAULTS`.
        about: where the sentences come from; it is kept with the model.

    Raises:
        InputError: an unknown setting, one that can't be, or too few sentences.
    """
    if unknown := sorted(set(config) - set(DEFAULTS)):
        raise InputError(f"grammar: unknown settings {unknown}; there are {sorted(DEFAULTS)}")
    settings = {**DEFAULTS, **config}
    counts = [name for name, value in DEFAULTS.items() if isinstance(value, int) and name != "seed"]
    if low := [name for name in counts if settings[name] < 1]:
        raise InputError(f"grammar: {', '.join(low)}: must be above zero")
    if not 0 <= settings["counted"] < 1:
        raise InputError("grammar: counted: must be from 0 to below 1; the rest is trained on")
    # One thread: more would add up in another order.
    torch.set_num_threads(1)
    parts = split(sentences, settings)
    damager = Damager(parts.counted + parts.training, settings["seed"])
    model = train(parts, damager, settings)
    model.description |= {
        **about,
        "settings": settings,
        "sentences": {name: len(part) for name, part in parts._asdict().items()},
        "validation": validate(model, parts.validation, damager),
    }
    model.save(output)


def references(folder: Path, shards: int) -> Iterator[str]:
    """Yield the references of shards that a stage wrote, after they are verified."""
    for row in Input(shard_paths(folder, shards), ReferenceRow).rows(["reference"]).items:
        yield row["reference"]


def lines(paths: Sequence[Path]) -> Iterator[str]:
    """Yield the sentences of text files: one a line, of a line with tabs what is behind the last.

    Raises:
        InputError: a file can't be read or is not UTF-8.
    """
    for path in paths:
        for line in read_lines(path):
            if sentence := line.rpartition("\t")[2].strip():
                yield sentence


def train_grammar(
    output: Path,
    input: Sequence[Path] = (),
    folder: Path | None = None,
    shards: int | None = None,
    language: str = "",
    licence: str = "",
    config: dict[str, Any] | None = None,
) -> None:
    """Train a grammar model: sound sentences against the same sentences damaged.

    Args:
        input: UTF-8 text files, a sentence a line (the last column).
        folder: with shards of references, of a run; instead of `input`.
        shards: of the folder.
        language: of the sentences; kept with the model.
        licence: of the sentences; kept with the model.
        config: settings that differ from `DEFAULTS`.

    Raises:
        InputError: an unknown setting, too few sentences, or not one source of them.
    """
    about: dict[str, Any] = {"language": language, "licence": licence}
    if bool(input) == (folder is not None):
        raise InputError("grammar: name the sentences by one of --input and --folder")
    if folder is None:
        about["sources"] = [{"file": path.name, "sha256": sha256(path)} for path in input]
        sentences = lines(input)
    elif shards is None:
        raise InputError("grammar: --folder needs --shards")
    else:
        sentences = references(folder, shards)
    train_model(sentences, output, config or {}, about)


main = command(train_grammar, __name__)
