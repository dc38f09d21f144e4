"""BLEU of a model on the held-out test set, translated by our own beam search."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from sacrebleu.metrics import BLEU

from workflow_scripts.core.progress import progress
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.model import Model
from workflow_scripts.subword.segmenter import Segmenter

BEAM = 5
# Hypotheses searched at once.
_BATCH_ROWS = 256


def score(hypotheses: list[str], references: list[str]) -> dict[str, Any]:
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
    requests = (BeamRequest(model.source_vocab.ids(pieces)) for pieces in sources)
    for result in translate(model, requests, beam_size=BEAM, batch_rows=_BATCH_ROWS):
        best = result.outputs[0] if result.outputs else []
        yield target.text(model.target_vocab.pieces(best))


def measure(model: Model, test: tuple[Path, Path], target: Segmenter) -> dict[str, Any]:
    """Translate the test set with beam 5 and return its BLEU.

    Args:
        model: the model.
        test: files of pieces: the source side, the target side.
        target: the sub-word model of the target side; joins pieces to text.
    """
    sources, references = (
        [line.split() for line in path.read_text(encoding="utf-8").splitlines()] for path in test
    )
    translated = progress(translations(model, sources, target), len(sources), "BLEU")
    return score(list(translated), [target.text(pieces) for pieces in references])
