"""Sources of references, written by a backward model: the only ones, or further ones.

Those of references that have no others are scored by a forward model.
"""

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.core.files.rows import (
    CandidatesRow,
    PairRow,
    WrittenRow,
    WrittenSource,
)
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.core.text.entities import unescaped
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.options import SCORED_TOKENS, SEARCHED_ROWS
from workflow_scripts.stages.clean.normalise import normalise
from workflow_scripts.stages.dual_filter.pair_scores import Direction
from workflow_scripts.stages.generate.candidates import generate
from workflow_scripts.stages.generate.pool import Reading
from workflow_scripts.stages.generate.variants import set_maker
from workflow_scripts.stages.subword.segmenter import Segmenter

# Why a reference gets no source: a line before it has the same letters and digits, it has none, or
# the model found no source for it (it is too long, or no output ended).
DUPLICATE, NO_LETTERS, NO_SOURCE = "duplicate", "no_letters", "no_source"
# References whose sources are scored together.
_WINDOW = 256


def distinct_references(
    rows: Iterable[PairRow], rejected: Counter[str], unescapes: bool = False
) -> Iterator[PairRow]:
    """Yield each reference once, as `clean` will normalise it.

    Texts count as the same as they do in `clean`. Only digests of them are held. All lines that
    are the same are in one shard, as the shard of a text depends on nothing else.

    Args:
        rows: the text; sources are empty.
        rejected: counts the others by their reason.
        unescapes: whether `clean` will unescape HTML entities.
    """
    seen: set[bytes] = set()
    for row in rows:
        text = unescaped(row["reference"]) if unescapes else row["reference"]
        key = letters_and_digits(text)
        digest = hashlib.blake2b(key.encode("utf-8"), digest_size=16).digest()
        if not key:
            rejected[NO_LETTERS] += 1
        elif digest in seen:
            rejected[DUPLICATE] += 1
        else:
            seen.add(digest)
            yield {**row, "reference": normalise(text)}


def distinct_sources(row: CandidatesRow) -> list[WrittenSource]:
    """Return the different texts of a search in their order, not yet scored.

    The NLL of a text is the lowest among the segmentations that were found.
    """
    nlls: dict[str, float] = {}
    for candidate in row["candidates"]:
        text = normalise(candidate["text"])
        if text:
            nlls[text] = min(candidate["forward_nll"], nlls.get(text, candidate["forward_nll"]))
    return [{"text": text, "backward_nll": nll, "forward_nll": None} for text, nll in nlls.items()]


def scored(
    rows: Iterable[WrittenRow], forward: Direction, batch_tokens: int
) -> Iterator[WrittenRow]:
    """Yield references whose sources have the NLL of the reference, given the source."""
    rows = iter(rows)
    while window := list(islice(rows, _WINDOW)):
        pairs: list[PairRow] = [
            {
                "id": row["id"],
                "source": source["text"],
                "reference": row["reference"],
                "corpus": row["corpus"],
            }
            for row in window
            for source in row["sources"]
        ]
        nlls = forward.nlls(pairs, batch_tokens)
        for row in window:
            yield {
                **row,
                "sources": [{**source, "forward_nll": next(nlls)} for source in row["sources"]],
            }


def write_sources(
    config: dict[str, Any],
    text: Path,
    backward: Path,
    output: Path,
    forward: Path | None = None,
    device: Device = "auto",
    batch_rows: int = SEARCHED_ROWS,
    batch_tokens: int = SCORED_TOKENS,
    threads: int = 1,
) -> None:
    """Write sources of the references of a shard.

    A `pairs` shard without sources becomes a `written` shard; the references are scored given the
    sources. Without `forward` it becomes one of further sources: each reference gives a row, in
    order, and nothing is scored. `backward` and `forward` are the folders of the models. Memory is
    bounded by the batches and the longest sentence, and holds a digest of each reference. The
    record counts the references that got no source as rejected, and tells how many sources were
    `written`, and how many samples were `unfinished` or `empty`.
    """
    torch.set_num_threads(threads)
    references = Input(text, PairRow).rows()
    verify(backward / "model")
    has_shortlist = model_files(backward).shortlist is not None
    writer = load_model(backward, device, config["precision"], shortlist=has_shortlist)
    reads, writes = (Segmenter(backward / f"{side}.model") for side in ("reference", "source"))
    scorer = None
    if forward:
        scorer = Direction(forward, "source", "reference", device, config["precision"])
    no_constraints = set_maker(None, config["seed"], writes.phrase, None)
    total = Counter({"written": 0, "unfinished": 0, "empty": 0})
    tally = Tally(extra=total)

    def written(rows: Iterator[PairRow]) -> Iterator[WrittenRow]:
        if scorer:
            rows = distinct_references(rows, tally.rejected, config.get("unescapes", False))
        read = (Reading(row, row["reference"], "", row["id"]) for row in rows)
        searched = generate(read, writer, reads, writes, no_constraints, config, batch_rows)
        for row, counts in searched:
            total.update({key: counts[key] for key in ("unfinished", "empty")})
            sources = distinct_sources(row)
            total["written"] += len(sources)
            if sources or not scorer:
                yield {
                    "id": row["id"],
                    "reference": row["reference"],
                    "corpus": row["corpus"],
                    "sources": sources,
                }
            else:
                tally.rejected[NO_SOURCE] += 1

    write_shard(
        references,
        lambda rows: scored(written(rows), scorer, batch_tokens) if scorer else written(rows),
        output,
        WrittenRow,
        "sources",
        tally,
        shown="written",
    )


main = command(write_sources, __name__)
