"""Take over a finished model: get its files together, check and measure it, publish its folder.

No text is needed to train anything. The pairs that the model is measured on come as they are, and
are cut by the model's own vocabularies.
"""

import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, islice
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.file_lock import locked
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import shard_paths, verify, write_record
from workflow_scripts.core.files.model_folder import SETTINGS, ModelFiles, model_files
from workflow_scripts.core.files.model_notes import read_notes
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow, Side
from workflow_scripts.core.progress import progress
from workflow_scripts.core.text.subword_model import copy_model
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.plan.catalogues.model_blocks import TEXT_MODELS, chosen
from workflow_scripts.plan.catalogues.rewriters import named_by
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.train import (
    data,
    direction,
    folder,
    gather,
    model_quality,
    work_folder,
)
from workflow_scripts.stages.train.direction import Languages, TextPair
from workflow_scripts.stages.train.doubts import ADVICE, doubts
from workflow_scripts.stages.train.publishing import RECORD, write_figures
from workflow_scripts.stages.train.weight_count import count_parameters

_NO_SENSE = 0.1


@dataclass
class Task:
    """What the command line asks for.

    `model`: the settings of the model; `languages`: codes by side of the bitext; `corpora`: the
    bitext; `test`: the corpus to measure on, if there is one; `seed`: of the run.
    """

    role: str
    direction: str
    model: dict[str, Any]
    languages: dict[str, str]
    corpora: list[str]
    test: str | None
    seed: int
    shards: list[Path]
    device: str

    @property
    def sides(self) -> tuple[Side, Side]:
        """Which side of the bitext the model reads, and which it writes."""
        return data.sides(self.direction)

    @property
    def wanted(self) -> Languages:
        """The languages that the model should read and write."""
        source, target = (self.languages[side] for side in self.sides)
        return Languages(source, target)


def settle(task: Task, files: ModelFiles, target: Path) -> ModelFiles:
    """Add what the configuration says to the model's own files; return what there is then.

    The shortlist is dropped where nobody asked for it: it would be copied for nothing.

    Raises:
        InputError: a shortlist or languages are asked for, and the model has none.
    """
    if "source" in task.model and not files.many_languages:
        raise InputError(
            f"the model of {task.role}: {files.kind} has no languages to choose; take source and "
            "target out"
        )
    wants_shortlist = task.model.get("shortlist", False)
    if wants_shortlist and files.shortlist is None:
        raise InputError(
            f"the model of {task.role}: shortlist is true, but it comes with none (lex*.bin)"
        )
    if files.shortlist is not None and not wants_shortlist:
        (target / files.shortlist).unlink()
    if languages := chosen(task.model):
        write_json(target / SETTINGS, languages)
    return model_files(target)


def text_models(task: Task, files: ModelFiles, target: Path) -> dict[Side, Path]:
    """Return the SentencePiece models of the two sides of the bitext.

    Raises:
        InputError: a model without text models of its own needs keys that are not given.
    """
    keys = [key for key in TEXT_MODELS if key in task.model]
    if files.source_spm is None or files.target_spm is None:
        if len(keys) < len(TEXT_MODELS):
            raise InputError(
                f"the model of {task.role}: {files.kind} needs {' and '.join(TEXT_MODELS)}"
            )
        return {"source": Path(task.model[keys[0]]), "reference": Path(task.model[keys[1]])}
    own = (target / files.source_spm, target / files.target_spm)
    return dict(zip(task.sides, own, strict=True))


def load(task: Task, path: Path) -> Model:
    """Load the model; say which keys wrote the file that it may not like.

    Raises:
        InputError: as `load_model`.
    """
    try:
        return load_model(path, task.device)
    except InputError as error:
        if SETTINGS not in str(error):
            raise
        raise InputError(
            f"the model of {task.role}: {str(error).replace(f'{path}/', '')}. In a run the keys "
            f"source and target (or tag) of its entry in `models` become {SETTINGS}; "
            f"{named_by(task.role)} names the entry"
        ) from error


def measured_pairs(task: Task) -> tuple[list[TextPair], list[TextPair]]:
    """Return the test pairs, and those that tell the model's direction.

    The latter are the first test pairs, or the first pairs of the bitext if no test corpus is
    named.
    """
    read, written = task.sides

    def pairs(names: list[str]) -> Iterator[TextPair]:
        rows: Iterator[PairRow] = chain.from_iterable(
            read_rows(shard, PairRow) for shard in task.shards
        )
        return ((row[read], row[written]) for row in rows if row["corpus"] in names)

    test = [] if task.test is None else list(pairs([task.test]))
    if task.test is not None and not test:
        raise InputError(
            f"train.test: clean leaves no pair of {task.test}; name another corpus, or null"
        )
    return test, test[: direction.PAIRS] or list(islice(pairs(task.corpora), direction.PAIRS))


def measure(
    task: Task, path: Path, files: ModelFiles, segmenters: dict[Side, Segmenter]
) -> dict[str, Any]:
    """Check the model's direction and return its metrics.

    Raises:
        InputError: it is a model of other languages, or of the other direction.
    """
    name = f"the model of {task.role}"
    notes = read_notes(path, files)
    model = load(task, path)
    source, target = (segmenters[side] for side in task.sides)
    if files.source_spm is None:
        vocabularies = (model.source_vocab, model.target_vocab)
        for side, own, other in zip(task.sides, vocabularies, vocabularies[::-1], strict=True):
            folder.check_pieces(side, segmenters[side], own, other)
    test, telling = measured_pairs(task)
    gains = direction.gains(model, source, target, telling)
    declared = Languages(notes.source, notes.target)
    by_user = files.many_languages and SETTINGS in files.configs
    direction.check(name, declared, gains, task.wanted, by_user)
    if gains is not None and gains[0] < _NO_SENSE:
        print(
            f"{name}: the source tells it nothing of the target ({gains[0]:.2f} nats a pair): is "
            f"it a model of {'-'.join(map(str, task.wanted))}?",
            file=sys.stderr,
        )
    bleu = None
    ids = [
        (model.source_ids(source.pieces(read)), model.target_vocab.ids(target.pieces(written)))
        for read, written in test
    ]
    if test:
        sources = [source.pieces(pair[0]) for pair in test]
        translated = progress(model_quality.translations(model, sources, target), len(test), "BLEU")
        bleu = model_quality.corpus_bleu(list(translated), [pair[1] for pair in test])
    return {
        "role": task.role,
        "direction": task.direction,
        "kind": files.kind,
        "declared": {
            "source": notes.source,
            "target": notes.target,
            "licence": task.model.get("licence", notes.licence),
        },
        "parameters": count_parameters(path),
        "segments": {"test": len(test)} if test else {},
        "source_gain": None if gains is None else [round(gain, 3) for gain in gains],
        "validation_perplexity": None,
        "test_perplexity": model_quality.perplexity(model, ids, "test") if test else None,
        "bleu": bleu,
    }


def publish(
    task: Task, path: Path, texts: dict[Side, Path], metrics: dict[str, Any], output: Path
) -> None:
    """Move the model and its figures to the output folder; the record comes last."""
    names = write_figures(task.role, [], metrics, output)  # of its training nothing is known
    for side, text in texts.items():
        copy_model(text, output / f"{side}.model")
        names.append(f"{side}.model")
    for file in sorted(path.iterdir()):
        file.replace(output / file.name)
        names.append(file.name)
    write_record(output / RECORD, 0, 0, {}, extra=metrics, files=[output / name for name in names])


def assemble(task: Task, path: Path) -> tuple[ModelFiles, dict[Side, Path]]:
    """Bring a model's files into an empty folder, with what the configuration says of it.

    Returns:
        What the model consists of, and the SentencePiece models of both sides of the bitext.

    Raises:
        InputError: the model is not where it should be, or not as it should be.
    """
    gather.gather(f"the model of {task.role}", task.model, path)
    files = settle(task, model_files(path), path)
    return files, text_models(task, files, path)


def make_model(task: Task, output: Path) -> None:
    """Bring a finished model into the folder of its role.

    Raises:
        InputError: the model, or what the configuration says of it, is wrong.
    """
    for shard in task.shards:
        verify(shard)
    work = output / "work"
    with locked(work):
        path = work / work_folder.MODEL
        shutil.rmtree(path, ignore_errors=True)  # what a killed process left
        path.mkdir()
        files, texts = assemble(task, path)
        segmenters = {side: Segmenter(text) for side, text in texts.items()}
        metrics = measure(task, path, files, segmenters)
        publish(task, path, texts, metrics, output)
        for doubt in doubts(task.role, metrics):
            print(f"warning: {doubt}; {ADVICE}", file=sys.stderr)
        path.rmdir()


def take_over(
    config: dict[str, Any],
    output: Path,
    pairs: Path | None = None,
    shards: int = 0,
    inputs: dict[str, str] | None = None,
    threads: int = 1,
    device: Device = "auto",
) -> None:
    """Take over one finished translation model, and measure it.

    Args:
        config: of the unit; see `Task`.
        pairs: the folder of the shards of pairs; without one the model is not measured, and of its
            direction its own files alone tell.

    Raises:
        InputError: see `unchanged` and `make_model`.
    """
    torch.set_num_threads(threads)
    paths = [] if pairs is None else shard_paths(pairs, shards)
    task = Task(**config, shards=paths, device=choose_device(device).type)
    with unchanged(inputs or {}):
        make_model(task, output)


main = command(take_over, __name__)
