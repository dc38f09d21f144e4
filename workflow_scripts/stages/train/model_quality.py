"""How good a model is: validation perplexity, and BLEU on the held-out test set."""

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sacrebleu.metrics.bleu import BLEU

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.progress import progress
from workflow_scripts.core.statistics import numbers
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.scoring import Pair, score
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.train import work_folder
from workflow_scripts.stages.train.weight_count import count_parameters

BEAM = 5
# Hypotheses searched at once.
_BATCH_ROWS = 256

TextPair = tuple[Path, Path]


def read_pieces(path: Path) -> list[list[str]]:
    """Return the lines of a file of pieces."""
    with path.open(encoding="utf-8", newline="\n") as lines:
        return [line.split() for line in lines]


def read_ids(model: Model, texts: TextPair) -> list[Pair]:
    """Return the pairs of two files of pieces, as a model's ids."""
    sources, targets = map(read_pieces, texts)
    return [
        (model.source_ids(source), model.target_vocab.ids(target))
        for source, target in zip(sources, targets, strict=True)
    ]


def perplexity(model: Model, pairs: list[Pair], of: str = "validation") -> float:
    """Return the perplexity per target piece, </s> included, by our own forced decoding.

    Sockeye's own figure, which the learning curve shows, includes label smoothing and weighs all
    batches alike: it can't be compared between models. Pairs longer than the model was trained
    for have no score and are left out.

    Args:
        model: the model.
        pairs: ids of both sides.
        of: which pairs they are, for the message.

    Raises:
        InputError: no pair has a score, or the model is no good.
    """
    total = pieces = 0.0
    for (_, target), nll in zip(pairs, score(model, pairs), strict=True):
        if math.isfinite(nll):
            total += nll * (len(target) + 1)
            pieces += len(target) + 1
    if not pieces:
        raise InputError(f"the model can't score any {of} pair: all are empty or too long")
    found = numbers.perplexity(total / pieces)
    if not math.isfinite(found):
        raise InputError(
            f"the model finds the {of} pairs impossible, {total / pieces:.0f} nats per piece: it "
            "is damaged, or diverged when it was trained; take another one, or lower learning_rate"
        )
    return found


def corpus_bleu(hypotheses: list[str], references: list[str]) -> dict[str, Any]:
    """Return corpus BLEU (cased, sacrebleu's defaults), its signature, and the sentences."""
    metric = BLEU()
    return {
        "score": round(metric.corpus_score(hypotheses, [references]).score, 2),
        "signature": metric.get_signature().format(),
        "sentences": len(references),
    }


def translations(model: Model, sources: list[list[str]], target: Segmenter) -> Iterator[str]:
    """Yield the best translation, as text, of every source of pieces.

    A source that the model can't read (empty, or longer than it was trained for) gives an empty
    one: the test set is never thinned out.
    """
    requests = (BeamRequest(model.source_ids(pieces)) for pieces in sources)
    for result in translate(model, requests, beam_size=BEAM, batch_rows=_BATCH_ROWS):
        best = result.outputs[0] if result.outputs else []
        yield target.text(model.target_vocab.pieces(best))


def of_work_folder(
    work: Path, device: str, target: Segmenter, counts: dict[str, int]
) -> dict[str, Any]:
    """Return the metrics of the finished model in a work folder, but for those of its training.

    Args:
        work: the folder, with the texts that the model is measured on.
        device: for torch.
        target: the sub-word model of the target side.
        counts: of the segments of each text.
    """
    folder = work / work_folder.MODEL
    model = load_model(folder, device)
    dev = read_ids(model, (work / work_folder.DEV_SOURCE, work / work_folder.DEV_TARGET))
    test = (work / work_folder.TEST_SOURCE, work / work_folder.TEST_TARGET)
    return {
        "parameters": count_parameters(folder),
        "segments": counts,
        "validation_perplexity": perplexity(model, dev),
        "bleu": bleu(model, test, target) if counts.get("test") else None,
    }


def bleu(model: Model, test: TextPair, target: Segmenter) -> dict[str, Any]:
    """Translate the test set with beam 5 and return its BLEU.

    Args:
        model: the model.
        test: files of pieces: the source side, the target side.
        target: the sub-word model of the target side; joins pieces to text.
    """
    sources, references = map(read_pieces, test)
    translated = progress(translations(model, sources, target), len(sources), "BLEU")
    return corpus_bleu(list(translated), [target.text(pieces) for pieces in references])
