"""Candidates of every reference of a shard: constrained outputs of the forward model."""

import argparse
import json
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import run
from workflow_scripts.core.manifest import verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.core.tables import TableWriter, count_rows, read_rows
from workflow_scripts.generate.constraints import ConstraintSet, blocked_words, constraint_sets
from workflow_scripts.generate.decoding import Decoding, Request, decode
from workflow_scripts.generate.words import words_of
from workflow_scripts.nmt.checkpoint import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.options import SEARCH_BATCH, parse_with_compute
from workflow_scripts.nmt.vocabulary import Vocabulary
from workflow_scripts.subword.segmenter import Segmenter


def completes(output: list[int], phrases: Iterable[tuple[int, ...]]) -> bool:
    """Tell whether one of the phrases stands in a sequence of piece ids."""
    written = f" {' '.join(map(str, output))} "
    return any(f" {' '.join(map(str, phrase))} " in written for phrase in phrases)


def assemble(
    row: dict[str, Any],
    sets: list[ConstraintSet],
    requests: list[Request],
    decodings: list[Decoding],
    vocabulary: Vocabulary,
    segmenter: Segmenter,
    variant: str,
) -> tuple[dict[str, Any], Counter[str]]:
    """Return one reference with its candidates, and counts for the record.

    Args:
        row: of the `references` schema.
        sets: the constraint sets.
        requests: the search of each set.
        decodings: what it found.
        vocabulary: of the model's output.
        segmenter: of the references.
        variant: the name under which the candidates are kept.

    Returns:
        A row of the `candidates` schema. The counts: `candidates`; `unfinished` samples (they
        reached the maximum length), or beams without any output, and `empty` outputs, all of
        them dropped; `respelt` candidates, which hold a forbidden word in other pieces than its
        Viterbi ones; `blocked` words.

    Raises:
        RuntimeError: a sample completes a forbidden phrase: a fault of the search.
    """
    candidates = []
    lexicon = {word.text for word in words_of(row["reference"])}
    counts = Counter(candidates=0, unfinished=0, empty=0, respelt=0, blocked=0)
    for number, (constraints, request, found) in enumerate(
        zip(sets, requests, decodings, strict=True)
    ):
        counts["unfinished"] += found.unfinished
        for index, (output, nll) in enumerate(zip(found.outputs, found.nlls, strict=True)):
            if completes(output, request.avoid):
                raise RuntimeError(f"{row['id']}, set {number}: a forbidden phrase in {output}")
            text = segmenter.text(vocabulary.pieces(output))
            if not text:
                counts["empty"] += 1
                continue
            words = {word.text for word in words_of(text)}
            counts["respelt"] += not constraints.spellings.isdisjoint(words)
            lexicon |= words
            candidates.append(
                {
                    "set": number,
                    "sample": index,
                    "variant": variant,
                    "text": text,
                    "forward_nll": nll,
                }
            )
    counts["candidates"] = len(candidates)
    counts["blocked"] = len(blocked_words(sets, lexicon, segmenter.pieces))
    generated = {
        **row,
        "sets": [
            {"set": number, "avoid": constraints.words} for number, constraints in enumerate(sets)
        ],
        "dropped": counts["unfinished"] + counts["empty"],
        "blocked": counts["blocked"],
        "candidates": candidates,
    }
    return generated, counts


def generate(
    rows: Iterable[dict[str, Any]],
    model: Model,
    source_segmenter: Segmenter,
    reference_segmenter: Segmenter,
    config: dict[str, Any],
    batch_rows: int,
) -> Iterator[tuple[dict[str, Any], Counter[str]]]:
    """Stream references through the search.

    Args:
        rows: of the `references` schema; read only as the search has room for them.
        model: the forward model.
        source_segmenter: of its source side.
        reference_segmenter: of its target side.
        config: {"system", "search", "constraints", "seed"}.
        batch_rows: hypotheses at work at once.

    Yields:
        For every reference, in order, what `assemble` returns.
    """
    pending: deque[tuple[dict[str, Any], list[ConstraintSet], list[Request]]] = deque()

    def requests() -> Iterator[Request]:
        for row in rows:
            source = model.source_vocab.ids(source_segmenter.pieces(row["source"]))
            sets = constraint_sets(
                row["reference"],
                row["id"],
                config["constraints"],
                config["seed"],
                reference_segmenter.pieces,
            )
            own = []
            for number, constraints in enumerate(sets):
                # Sorted: a set of strings has another order in every process.
                avoid = [
                    tuple(model.target_vocab.ids(phrase)) for phrase in sorted(constraints.phrases)
                ]
                own.append(Request(row["id"], number, source, avoid))
            pending.append((row, sets, own))
            yield from own

    decodings = decode(model, requests(), config["search"], config["seed"], batch_rows)
    for first in decodings:
        row, sets, own = pending.popleft()
        found = [first, *islice(decodings, len(sets) - 1)]
        yield assemble(
            row, sets, own, found, model.target_vocab, reference_segmenter, config["system"]
        )


def generate_shard(
    input_path: Path,
    model_folder: Path,
    output: Path,
    config: dict[str, Any],
    device: str,
    batch_rows: int,
) -> None:
    """Stream a `references` shard into a `candidates` shard with its record.

    Memory is bounded by `batch_rows` and the longest sentence, not by the shard. Every reference
    gives one row; one whose source the model can't read (empty, or too long for it) has no
    candidates, and all its samples count as unfinished.
    """
    verify(input_path)
    verify(model_folder / "model")
    model = load_model(model_folder, device, config["precision"])
    rows = generate(
        read_rows(input_path, "references"),
        model,
        Segmenter(model_folder / "source.model"),
        Segmenter(model_folder / "reference.model"),
        config,
        batch_rows,
    )
    total: Counter[str] = Counter()
    with TableWriter(output, "candidates", group_rows=64) as writer:
        for row, counts in progress(rows, count_rows(input_path), "generate"):
            writer.write(row)
            total.update(counts)
    write_record(output, writer.rows_written, writer.rows_written, {}, extra=dict(total))


def main(argv: list[str] | None = None) -> None:
    """Generate the candidates of every reference of a shard."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json.loads, required=True, help="JSON")
    parser.add_argument("--input", type=Path, required=True, help="shard of references")
    parser.add_argument("--model", type=Path, required=True, help="folder of the forward model")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parse_with_compute(parser, argv, SEARCH_BATCH)
    generate_shard(
        arguments.input,
        arguments.model,
        arguments.output,
        arguments.config,
        arguments.device,
        arguments.batch_rows,
    )


if __name__ == "__main__":
    run(main)
