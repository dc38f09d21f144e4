"""Score the distinct candidates of every reference of a shard with the backward model."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.core.files.rows import (
    CandidatesRow,
    GeneratedCandidate,
    PairRow,
    ScoredCandidate,
    ScoredRow,
)
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.nmt.divergence import Compared, compared_texts
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.options import SCORED_TOKENS
from workflow_scripts.stages.score.merge import joined
from workflow_scripts.stages.score.near_doubles import likeliest, same_content
from workflow_scripts.stages.subword.segmenter import Segmenter

# References whose candidates are scored together: enough for full batches of equal length.
WINDOW = 256


def distinct(candidates: Iterable[GeneratedCandidate]) -> list[ScoredCandidate]:
    """Merge the samples of one reference that have the same text and the same source.

    A text is scored once against each source that gave it: its forward NLL is the lowest among the
    segmentations that were sampled. Its variant names all variants that gave it, with blanks
    between, in the order of the samples.

    Returns:
        The distinct texts of each source. They have no backward NLL yet.
    """
    same: dict[tuple[str, str | None], list[GeneratedCandidate]] = {}
    for candidate in candidates:
        same.setdefault((candidate["text"], candidate["source"]), []).append(candidate)
    return [
        {
            "text": text,
            "forward_nll": min(sample["forward_nll"] for sample in samples),
            "backward_nll": None,
            "sum": None,
            "count": len(samples),
            "variant": joined(sample["variant"] for sample in samples),
            "source": source,
            "lost": None,
            "divergence": None,
        }
        for (text, source), samples in same.items()
    ]


def thinned(
    row: CandidatesRow, most: int, language: str, prune_above: float | None = None
) -> CandidatesRow:
    """Return a reference with its likeliest candidates of each content words, less the others.

    A text is scored against one source, that which gives it the lowest forward NLL; of equal ones
    that of the bitext. All samples that gave it of that source stay.

    Args:
        row: the reference with its candidates.
        most: how many texts of the same content words, see `likeliest`.
        language: of the candidates (ISO 639).
        prune_above: candidates with a forward NLL above it come after the others.
    """
    texts: dict[str, GeneratedCandidate] = {}
    by_nll = sorted(row["candidates"], key=lambda each: (each["forward_nll"], each["source"] or ""))
    for candidate in by_nll:
        texts.setdefault(candidate["text"], candidate)
    likely = likeliest(
        {text: candidate["forward_nll"] for text, candidate in texts.items()},
        row["reference"],
        partial(same_content, language=language),
        most,
        math.inf if prune_above is None else prune_above,
    )
    kept = {(text, texts[text]["source"]) for text in likely}
    candidates = [each for each in row["candidates"] if (each["text"], each["source"]) in kept]
    return {**row, "candidates": candidates}


def best_of_sources(candidates: Iterable[ScoredCandidate]) -> list[ScoredCandidate]:
    """Return each text of a reference once, with the source of which its sum is lowest.

    Without any sum the lowest forward NLL counts; of equal ones the first. Counts and variants are
    those of all sources.
    """
    same: dict[str, list[ScoredCandidate]] = {}
    for candidate in candidates:
        same.setdefault(candidate["text"], []).append(candidate)
    return [
        {
            **min(found, key=_order),
            "count": sum(candidate["count"] for candidate in found),
            "variant": joined(candidate["variant"] for candidate in found),
        }
        for found in same.values()
    ]


def _order(candidate: ScoredCandidate) -> tuple[bool, float]:
    if candidate["sum"] is None:
        return True, candidate["forward_nll"]
    return False, candidate["sum"]


def source_of(row: PairRow, candidate: ScoredCandidate) -> str:
    """Return the source that a candidate is scored against."""
    written = candidate["source"]
    return row["source"] if written is None else written


def with_backward(candidate: ScoredCandidate, found: Compared) -> ScoredCandidate:
    """Return the candidate with what the backward model finds, as fp32 holds it."""
    backward = np.float32(found.nll)
    total = np.float32(candidate["forward_nll"]) + backward
    lost, divergence = (
        float(np.float32(number)) if math.isfinite(number) else None
        for number in (found.lost, found.divergence)
    )
    return {
        **candidate,
        "backward_nll": float(backward),
        "sum": float(total),
        "lost": lost,
        "divergence": divergence,
    }


def ranked(candidates: Iterable[ScoredCandidate]) -> list[ScoredCandidate]:
    """Sort candidates by sum, then text; those without a sum come last."""
    return sorted(
        candidates,
        key=lambda candidate: (
            candidate["sum"] is None,
            candidate["sum"] or 0.0,
            candidate["text"],
        ),
    )


def score_rows(
    rows: list[CandidatesRow],
    model: Model,
    reference_segmenter: Segmenter,
    source_segmenter: Segmenter,
    prune_above: float | None,
    batch_tokens: int,
) -> list[ScoredRow]:
    """Score the candidates of some references.

    Pruning is exact: no NLL is negative, so a candidate whose forward NLL exceeds `prune_above`
    has a sum above it too, and above any threshold up to it.

    Args:
        rows: the references with their candidates.
        model: the backward model, from references to sources; with a shortlist, scores are over
            what that allows.
        reference_segmenter: of its source side, the references' language.
        source_segmenter: of its target side, the sources' language.
        prune_above: in nats per token; None for no pruning.
        batch_tokens: size of a batch.

    Returns:
        The same references with their distinct candidates, scored.
    """
    candidates = [distinct(row["candidates"]) for row in rows]
    to_score = [
        (number, index)
        for number, listed in enumerate(candidates)
        for index, candidate in enumerate(listed)
        if prune_above is None or candidate["forward_nll"] <= prune_above
    ]
    texts = [
        (
            rows[number]["reference"],
            source_of(rows[number], candidates[number][index]),
            candidates[number][index]["text"],
        )
        for number, index in to_score
    ]
    found = compared_texts(
        model,
        texts,
        lambda text: model.source_ids(reference_segmenter.pieces(text)),
        lambda source: model.target_vocab.ids(source_segmenter.pieces(source)),
        batch_tokens,
        shortlist=True,
    )
    for (number, index), answer in zip(to_score, found, strict=True):
        candidates[number][index] = with_backward(candidates[number][index], answer)
    return [
        {
            "id": row["id"],
            "source": row["source"],
            "reference": row["reference"],
            "corpus": row["corpus"],
            "candidates": ranked(best_of_sources(listed)),
        }
        for row, listed in zip(rows, candidates, strict=True)
    ]


def score_stream(
    rows: Iterable[CandidatesRow],
    model: Model,
    reference_segmenter: Segmenter,
    source_segmenter: Segmenter,
    prune_above: float | None,
    batch_tokens: int,
) -> Iterator[ScoredRow]:
    """Yield what `score_rows` gives, for any number of rows in bounded memory."""
    rows = iter(rows)
    while window := list(islice(rows, WINDOW)):
        yield from score_rows(
            window, model, reference_segmenter, source_segmenter, prune_above, batch_tokens
        )


def score_shard(
    config: dict[str, Any],
    candidates: Path,
    model: Path,
    output: Path,
    device: Device = "auto",
    batch_tokens: int = SCORED_TOKENS,
    threads: int = 1,
) -> None:
    """Score the distinct candidates of every reference with the backward model.

    A `candidates` shard becomes a `scored` shard. `model` is the model's folder; `batch_tokens`
    target tokens are scored at once. Memory does not grow with the shard. A text that the model
    can't read (too long for it) has an infinite backward NLL: only a quantile that reaches as
    far lets it pass. The record counts the samples as `candidates`; where only some candidates
    of each content are scored, those of the others as `near_doubles` besides.
    """
    torch.set_num_threads(threads)
    rows_of_candidates = Input(candidates, CandidatesRow).rows(batch_size=64)
    verify(model / "model")
    # As for searches, it is in the folder of a run only where models.<name>.shortlist asks for it.
    shortlist = config.get("shortlist", False) and model_files(model).shortlist is not None
    backward = load_model(model, device, config["precision"], shortlist=shortlist)
    reference_segmenter = Segmenter(model / "reference.model")
    source_segmenter = Segmenter(model / "source.model")
    total: Counter[str] = Counter()

    def likely(rows: Iterator[CandidatesRow]) -> Iterator[CandidatesRow]:
        for row in rows:
            fewer = thinned(
                row, config["of_each_content"], config["language"], config["prune_above"]
            )
            total["near_doubles"] += len(row["candidates"]) - len(fewer["candidates"])
            yield fewer

    def scored(rows: Iterator[CandidatesRow]) -> Iterator[ScoredRow]:
        for row in score_stream(
            likely(rows) if "of_each_content" in config else rows,
            backward,
            reference_segmenter,
            source_segmenter,
            config["prune_above"],
            batch_tokens,
        ):
            yield row
            sums = [candidate["sum"] for candidate in row["candidates"]]
            total["candidates"] += sum(candidate["count"] for candidate in row["candidates"])
            total["distinct"] += len(sums)
            total["pruned"] += sums.count(None)
            total["unreadable"] += sums.count(np.inf)

    tally = Tally(extra=total)
    write_shard(
        rows_of_candidates,
        scored,
        output,
        ScoredRow,
        "score",
        tally,
        shown="written",
        group_rows=64,
    )


main = command(score_shard, __name__)
