"""Judge the candidates of every reference of a shard: how probable is it that each is good?

Only candidates that can pass the bound on the sum of both NLLs are judged, each with the source
that it was scored against. Where the judge asks for the NLLs of single tokens, the forward model
decodes these candidates again, by force.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice, tee
from pathlib import Path
from typing import Any

import numpy as np
import torch

from workflow_scripts.core.command import command
from workflow_scripts.core.device import Device, choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import verify_file
from workflow_scripts.core.files.rows import (
    JudgedRow,
    ReferenceScoreRow,
    ScoredCandidate,
    ScoredRow,
)
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.nmt.options import SCORED_TOKENS
from workflow_scripts.plan.catalogues.judges import DEFAULT, OTHER, SHIPPED, UNLABELLED
from workflow_scripts.stages.judge.bench import Bench, Decoder
from workflow_scripts.stages.judge.judge import Judge
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs
from workflow_scripts.stages.judge.load import load_models
from workflow_scripts.stages.score.shard import source_of

# References whose candidates are judged together: some thousands of pairs.
WINDOW = 32


def to_judge(row: ScoredRow, max_sum: float) -> list[int]:
    """Return the places of the candidates of a row that can be chosen.

    These have a finite sum of at most `max_sum`, and differ from the reference in more than case,
    punctuation and blanks.
    """
    reference = letters_and_digits(row["reference"])

    def may(candidate: ScoredCandidate) -> bool:
        total = candidate["sum"]
        return (
            total is not None
            and np.isfinite(total)
            and total <= max_sum
            and letters_and_digits(candidate["text"]) != reference
        )

    return [place for place, candidate in enumerate(row["candidates"]) if may(candidate)]


def judge_rows(
    rows: Sequence[ScoredRow], own: Sequence[ReferenceScoreRow] | None, bench: Bench
) -> list[JudgedRow]:
    """Return the probabilities of the candidates of some references, as fp32 holds them.

    Args:
        rows: the references with their scored candidates.
        own: the NLLs of the same references themselves; None where no feature needs them.
        bench: who judges.
    """
    places = [
        (number, place) for number, row in enumerate(rows) for place in to_judge(row, bench.max_sum)
    ]
    by_row: list[list[float | None]] = [[None] * len(row["candidates"]) for row in rows]
    if places:
        judged = bench.probabilities(_pairs(rows, own, places)).astype(np.float32).tolist()
        for (number, place), probability in zip(places, judged, strict=True):
            by_row[number][place] = None if math.isnan(probability) else probability
    return [
        {"id": row["id"], "probabilities": probabilities}
        for row, probabilities in zip(rows, by_row, strict=True)
    ]


def _pairs(
    rows: Sequence[ScoredRow],
    own: Sequence[ReferenceScoreRow] | None,
    places: Sequence[tuple[int, int]],
) -> Pairs:
    candidates = [rows[number]["candidates"][place] for number, place in places]
    of_references: dict[str, Numbers] = {}
    if own is not None:
        of_references = {
            f"reference_{nll}": np.array([own[number][nll] for number, _ in places])
            for nll in ("forward_nll", "backward_nll")
        }
    return Pairs(
        references=[rows[number]["reference"] for number, _ in places],
        paraphrases=[candidate["text"] for candidate in candidates],
        sources=[
            source_of(rows[number], candidate)
            for (number, _), candidate in zip(places, candidates, strict=True)
        ],
        forward_nll=np.array([candidate["forward_nll"] for candidate in candidates]),
        backward_nll=np.array([candidate["backward_nll"] for candidate in candidates]),
        lost=np.array([candidate["lost"] for candidate in candidates], np.float64),
        divergence=np.array([candidate["divergence"] for candidate in candidates], np.float64),
        **of_references,
    )


def judge_stream(
    rows: Iterable[ScoredRow], own: Iterable[ReferenceScoreRow] | None, bench: Bench
) -> Iterator[JudgedRow]:
    """Yield what `judge_rows` gives, for any number of rows in bounded memory.

    Raises:
        InputError: the references' own scores are of other references.
    """
    rows, scores = iter(rows), None if own is None else iter(own)
    while window := list(islice(rows, WINDOW)):
        of_window = None if scores is None else own_scores(window, scores)
        if of_window is not None and len(of_window) < len(window):
            raise InputError(
                "judge: the scores of the references are of other references; score again "
                "(snakemake --forcerun score)"
            )
        yield from judge_rows(window, of_window, bench)


def own_scores(
    window: Sequence[ScoredRow], scores: Iterator[ReferenceScoreRow]
) -> list[ReferenceScoreRow]:
    """Return the next scores, those of the window's references; fewer where one has none.

    A system may leave references out, so scores of others are passed over. Both keep one order.
    """
    own = []
    for row in window:
        score = next((entry for entry in scores if entry["id"] == row["id"]), None)
        if score is None:
            break
        own.append(score)
    return own


def judge_shard(input_path: Path, references_path: Path | None, output: Path, bench: Bench) -> None:
    """Stream a `scored` shard into a `judged` shard with its record.

    Memory does not grow with the shard. Every reference gives a row with a number for each of its
    candidates. The record counts the candidates, those that can be chosen, and those of them that
    were judged: the judge knows too little of a paraphrase that the forward model can't read.

    Raises:
        InputError: an input is damaged, or the two are of other references; or the judge knows too
            little of all candidates.
    """
    scored = Input(input_path, ScoredRow).rows(batch_size=64)
    own = Input(references_path, ReferenceScoreRow).rows().items if references_path else None
    total: Counter[str] = Counter()

    def judged(rows: Iterator[ScoredRow]) -> Iterator[JudgedRow]:
        originals, rows = tee(rows)
        for row, judgment in zip(originals, judge_stream(rows, own, bench), strict=True):
            yield judgment
            total["candidates"] += len(row["candidates"])
            total["to_judge"] += len(to_judge(row, bench.max_sum))
            total["judged"] += sum(value is not None for value in judgment["probabilities"])
        if total["to_judge"] and not total["judged"]:
            raise InputError(
                f"{input_path}: the judge knows too little of all {total['to_judge']:,} candidates "
                f"that could be chosen; its features are {', '.join(bench.judge.features)}"
            )

    tally = Tally(extra=total)
    write_shard(scored, judged, output, JudgedRow, "judge", tally, shown="written")


def judge_candidates(
    config: dict[str, Any],
    scored: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
    references: Path | None = None,
    judge: str = DEFAULT,
    words: Path | None = None,
    grammar: Path | None = None,
    forward: Path | None = None,
    device: Device = "auto",
    batch_tokens: int = SCORED_TOKENS,
    threads: int = 1,
) -> None:
    """Judge the candidates of every reference of a shard.

    Args:
        config: `features`, `encoder`, `language`, `precision`, `max_sum`; `rewritten`, if a
            rewriter wrote the candidates; `encoder_precision`, if it is not fp32.
        scored: the `scored` shard.
        output: the `judged` shard; its record stands beside it.
        references: the shard of the references' own scores, if a feature needs them.
        judge: `judge.json`, or the name of one that ships.
        words: what `generate.known_words` wrote, if a feature needs it.
        grammar: `model.json` of a grammar model; None for the one that ships.
        forward: folder of that model, for forced decoding.
    """
    torch.set_num_threads(threads)
    with unchanged(inputs or {}):
        if judge not in SHIPPED:
            verify_file(judge, "fitting")
        if judge == OTHER:
            print(UNLABELLED.format(config["language"]))
        fitted = Judge.load(judge)
        place, precision = choose_device(device).type, config["precision"]
        models = load_models(fitted.features, config, words, grammar, place)
        decoder = None
        if forward is not None:
            decoder = Decoder(forward, place, precision, batch_tokens, "rewritten" in config)
        bound = config["max_sum"]
        bench = Bench(fitted, models, decoder, np.inf if bound is None else bound)
        judge_shard(scored, references, output, bench)


main = command(judge_candidates, __name__)
