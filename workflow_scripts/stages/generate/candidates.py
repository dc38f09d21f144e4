"""Candidates of every reference of a shard: constrained outputs of the forward model.

Of a system that a rewriter writes: outputs of the rewriter, which reads the reference itself.
"""

from collections import Counter, deque
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import shard_paths, verify
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.core.files.rows import (
    CandidatesRow,
    GeneratedCandidate,
    PairRow,
    ReferenceRow,
    Side,
    WrittenRow,
)
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.options import SEARCHED_ROWS
from workflow_scripts.nmt.positive import resolve
from workflow_scripts.nmt.vocabulary import BOS, EOS, Vocabulary
from workflow_scripts.plan.catalogues.rewriters import TEST, reference_id
from workflow_scripts.stages.generate.constraint_words import Split, between_blanks, words_of
from workflow_scripts.stages.generate.constraints import ConstraintSet, SetMaker, blocked_words
from workflow_scripts.stages.generate.decoding import Decoding, Request, decode
from workflow_scripts.stages.generate.pool import (
    Found,
    Reading,
    Sourced,
    readings,
    side_by_side,
    sourced,
)
from workflow_scripts.stages.generate.tokenizer import splitter
from workflow_scripts.stages.generate.variants import set_maker
from workflow_scripts.stages.subword.segmenter import Segmenter

# Why a reference of a system that a rewriter writes is left out: the rewriter does not hold it out.
NOT_HELD_OUT = "not_held_out"
# What a model writes, and what it reads, as its folder calls them.
SIDES: tuple[Side, Side] = ("reference", "source")


@dataclass(frozen=True)
class Job:
    """A reference at work: what is read, its constraint sets and the searches they need.

    `places[set]` is the number of the set's search among `requests`.
    """

    reading: Reading
    sets: list[ConstraintSet]
    requests: list[Request]
    places: list[int]
    overruled: int


def open_job(
    reading: Reading,
    sets: list[ConstraintSet],
    source: list[int],
    vocabulary: Vocabulary,
    share: bool,
) -> Job:
    """Turn the constraint sets of a reference into searches.

    A forbidden phrase that is inside a wanted one is dropped, and counted as overruled.

    Args:
        reading: the reference, and what is read.
        sets: its constraint sets.
        source: piece ids of what is read.
        vocabulary: of the model's output.
        share: whether sets with the same constraints share one search. They may if the search
            draws nothing at random.
    """
    requests: list[Request] = []
    numbers: dict[object, int] = {}
    places, overruled = [], 0
    for number, constraints in enumerate(sets):
        # Sorted: a set of strings has another order in every process.
        phrases = [tuple(vocabulary.ids(phrase)) for phrase in sorted(constraints.phrases)]
        wanted = [tuple(vocabulary.ids(phrase)) for phrase in constraints.wanted]
        avoid, dropped = resolve(wanted, phrases)
        overruled += len(dropped)
        key = (tuple(avoid), tuple(wanted)) if share else number
        if key not in numbers:
            numbers[key] = len(requests)
            requests.append(Request(reading.seed, number, source, avoid, wanted))
        places.append(numbers[key])
    return Job(reading, sets, requests, places, overruled)


def completes(written: list[int], phrases: Iterable[tuple[int, ...]]) -> bool:
    """Tell whether one of the phrases stands in a sequence of piece ids."""
    text = f" {' '.join(map(str, written))} "
    return any(f" {' '.join(map(str, phrase))} " in text for phrase in phrases)


def has_word(written: list[int], phrase: tuple[int, ...], ends_word: list[bool]) -> bool:
    """Tell whether a phrase stands in a sequence of piece ids, before one that ends its word."""
    return any(
        tuple(written[end - len(phrase) : end]) == phrase and ends_word[written[end]]
        for end in range(len(phrase), len(written))
    )


def check(output: list[int], request: Request, vocabulary: Vocabulary) -> None:
    """Check an output once more against the constraints of its search.

    Raises:
        RuntimeError: it completes a forbidden phrase or lacks a wanted one: a fault of the search.
    """
    written = [BOS, *output, EOS]
    place = f"{request.id}, set {request.set}"
    if completes(written, request.avoid):
        raise RuntimeError(f"{place}: a forbidden phrase in {output}")
    if not all(has_word(written, phrase, vocabulary.ends_word) for phrase in request.wanted):
        raise RuntimeError(f"{place}: a wanted phrase is not in {output}")


def assemble(
    job: Job,
    decodings: list[Decoding],
    vocabulary: Vocabulary,
    segmenter: Segmenter,
    split: Split = between_blanks,
) -> Found:
    """Return one reference with its candidates, and counts for the record.

    Returns:
        The row, and these counts: `candidates`; `unfinished` samples (they reached the maximum
        length), or beams without any output, and `empty` outputs, all of them dropped; `unmet`
        wanted words; `overruled` forbidden phrases, which are inside wanted ones; `respelt`
        candidates, which hold a forbidden word in other pieces than its Viterbi ones; `blocked`
        words; `searches`.

    Raises:
        RuntimeError: an output does not meet its constraints: a fault of the search.
    """
    candidates: list[GeneratedCandidate] = []
    reading = job.reading
    lexicon = {word.text for word in words_of(reading.row["reference"], split)}
    counts = Counter(
        {
            **dict.fromkeys(("unfinished", "empty", "unmet", "respelt"), 0),
            "searches": len(job.requests),
            "overruled": job.overruled,
        }
    )
    for number, (constraints, place) in enumerate(zip(job.sets, job.places, strict=True)):
        decoding = decodings[place]
        counts["unfinished"] += decoding.unfinished
        counts["unmet"] += decoding.unmet
        for index, (output, nll) in enumerate(zip(decoding.outputs, decoding.nlls, strict=True)):
            check(output, job.requests[place], vocabulary)
            text = segmenter.text(vocabulary.pieces(output))
            if not text:
                counts["empty"] += 1
                continue
            words = {word.text for word in words_of(text, split)}
            counts["respelt"] += not constraints.spellings.isdisjoint(words)
            lexicon |= words
            candidates.append(
                {
                    "set": number,
                    "sample": index,
                    "variant": constraints.variant or reading.variant,
                    "text": text,
                    "forward_nll": nll,
                    "source": reading.source,
                }
            )
    counts["candidates"] = len(candidates)
    counts["blocked"] = len(blocked_words(job.sets, lexicon, segmenter.phrase))
    generated: CandidatesRow = {
        **reading.row,
        "sets": [
            {
                "set": number,
                "variant": constraints.variant or reading.variant,
                "avoid": constraints.avoid,
                "want": constraints.want,
            }
            for number, constraints in enumerate(job.sets)
        ],
        "dropped": counts["unfinished"] + counts["empty"],
        "blocked": counts["blocked"],
        "unmet": counts["unmet"],
        "candidates": candidates,
    }
    return generated, counts


def generate(
    read: Iterable[Reading],
    model: Model,
    source_segmenter: Segmenter,
    reference_segmenter: Segmenter,
    make_sets: SetMaker,
    config: dict[str, Any],
    batch_rows: int,
) -> Iterator[Found]:
    """Stream references through one search.

    Args:
        read: the references, and what is read of them; drawn only as the search has room for them.
        model: the forward model, which reads the source; or a rewriter, or a backward model that
            writes sources, which read the reference.
        source_segmenter: of its source side.
        reference_segmenter: of its target side.
        make_sets: makes the constraint sets of a reference.
        config: {"search", "seed"}, and "constraints" where there are some.
        batch_rows: hypotheses at work at once.

    Yields:
        For every reading, in order, what `assemble` returns.
    """
    search, vocabulary = config["search"], model.target_vocab
    split = splitter((config.get("constraints") or {}).get("language"))
    pending: deque[Job] = deque()

    def requests() -> Iterator[Request]:
        for reading in read:
            row = reading.row
            job = open_job(
                reading,
                make_sets(row["reference"], row["id"], row["source"]),
                model.source_ids(source_segmenter.pieces(model.prefix + reading.text)),
                vocabulary,
                share=search["method"] == "beam",
            )
            pending.append(job)
            yield from job.requests

    decodings = decode(model, requests(), search, config["seed"], batch_rows)
    for job, of_job in with_results(pending, decodings):
        yield assemble(job, of_job, vocabulary, reference_segmenter, split)


def with_results(
    pending: deque[Job], decodings: Iterator[Decoding]
) -> Iterator[tuple[Job, list[Decoding]]]:
    """Yield the jobs in order with the results of their searches; a job may have none.

    `pending` fills up while `decodings` are drawn.
    """
    for first in decodings:
        while not pending[0].requests:
            yield pending.popleft(), []
        job = pending.popleft()
        yield job, [first, *islice(decodings, len(job.requests) - 1)]
    while pending:
        yield pending.popleft(), []


def held_out_references(shards: list[Path]) -> set[str]:
    """Return the ids of the references of the split `test`, which a rewriter did not learn from.

    Raises:
        InputError: a shard is missing, or is not what its stage wrote.
    """
    rows = Input(shards, PairRow).rows(["id", "corpus"]).items
    return {reference_id(row["id"]) for row in rows if row["corpus"] == TEST}


def held_out_rows(
    rows: Iterable[ReferenceRow], wanted: set[str], rejected: Counter[str]
) -> Iterator[ReferenceRow]:
    """Yield the references with these ids, and count the others."""
    for row in rows:
        if row["id"] in wanted:
            yield row
        else:
            rejected[NOT_HELD_OUT] += 1


def generate_shard(
    config: dict[str, Any],
    references: Path,
    model: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    idf: Path | None = None,
    held_out: Path | None = None,
    held_out_shards: int = 0,
    sources: Path | None = None,
    device: Device = "auto",
    batch_rows: int = SEARCHED_ROWS,
    threads: int = 1,
) -> None:
    """Generate the candidates of every reference of a shard.

    A `references` shard becomes a `candidates` shard. `model` is the folder of the forward
    model or of a rewriter, `idf` the document frequencies that some constraints need, `sources`
    the shard of their written sources. Memory is bounded by `batch_rows`, the longest sentence and
    the number of searches, which go on side by side, not by the shard. Every reference gives
    one row; one that the model can't read (empty, or too long for it) has no candidates, and
    all its samples count as unfinished. `inputs` are the hashes of the user's files that are
    read at the start.

    With `held_out`, a folder with `held_out_shards` shards of a rewriter's pairs, only the
    references that judge the rewriter give a row, and the ids of these are in memory. The others
    are counted as rejected.
    """
    torch.set_num_threads(threads)
    wanted = held_out_references(shard_paths(held_out, held_out_shards)) if held_out else None
    written = Input(sources, WrittenRow).rows().items if sources else None
    verify(model / "model")
    constraints = config["constraints"]
    segmenter, source_segmenter = (Segmenter(model / f"{of}.model") for of in SIDES)
    with unchanged(inputs or {}):
        own_sets = set_maker(constraints, config["seed"], segmenter.phrase, idf, segmenter.at_start)
    free_sets = set_maker(None, config["seed"], segmenter.phrase, None)
    searches: dict[str | None, dict[str, Any]] = config.get("searches") or {None: config["search"]}
    constrained = (constraints or {}).get("searches", searches)
    variants = len((constraints or {}).get("variants", []))
    # A shortlist is in the folder of a run only if the run is to generate with it.
    has_shortlist = model_files(model).shortlist is not None
    writer = load_model(model, device, config["precision"], shortlist=has_shortlist)
    side: Side = "reference" if "rewriter" in config else "source"
    total: Counter[str] = Counter()
    tally = Tally(extra=total)

    def searched(name: str | None, rows: Iterable[Sourced]) -> Iterator[Found]:
        read = readings(rows, name, config["system"], side)
        sets = own_sets if name in constrained else free_sets
        settings = {**config, "search": searches[name]}
        return generate(read, writer, source_segmenter, segmenter, sets, settings, batch_rows)

    def with_candidates(rows: Iterator[ReferenceRow]) -> Iterator[CandidatesRow]:
        by_name = [partial(searched, name) for name in searches]
        taken = rows if wanted is None else held_out_rows(rows, wanted, tally.rejected)
        for row, counts in side_by_side(sourced(taken, written, config.get("sources")), by_name):
            yield row
            total.update(counts)
            if variants:
                # For them this reference has no word, or no pair.
                total["skipped"] += variants - len({entry["variant"] for entry in row["sets"]})

    write_shard(
        Input(references, ReferenceRow).rows(),
        with_candidates,
        output,
        CandidatesRow,
        "generate",
        tally,
        shown="written",
        group_rows=64,
    )


main = command(generate_shard, __name__)
