"""Keep the pairs of a shard that both models find likely, by the scores of `scores`."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import PairRow, PairScoreRow
from workflow_scripts.core.files.shard_frame import Input, Tally, write_shard


def adequacy(forward_nll: float, backward_nll: float) -> float:
    """Return the dual conditional cross-entropy score of a pair, between 0 and 1 (best).

    Junczys-Dowmunt (2018), which ParaBank 2 (3.1) follows: both models should agree, and find the
    pair likely.
    """
    disagreement = abs(forward_nll - backward_nll)
    return math.exp(-(disagreement + (forward_nll + backward_nll) / 2))


def failure(forward_nll: float, backward_nll: float, config: dict[str, Any]) -> str | None:
    """Return why a pair's NLLs (nats per target token) don't pass, or None.

    `too_long`: a model could not read the pair. `sum`: the two add up to more than `max_sum`
    (ParaBank 2, 3.1). `cross_entropy`: `adequacy` is below `min_score`.
    """
    if not math.isfinite(forward_nll + backward_nll):
        return "too_long"
    if config["method"] == "sum":
        passes = forward_nll + backward_nll <= config["max_sum"]
    else:
        passes = adequacy(forward_nll, backward_nll) >= config["min_score"]
    return None if passes else config["method"]


def filter_pairs(
    pairs: Iterable[PairRow], scores: Iterable[PairScoreRow], config: dict[str, Any]
) -> Iterator[tuple[PairRow, str | None]]:
    """Yield each pair with the reason to leave it out, or None; trusted pairs always stay.

    Args:
        pairs: the pairs.
        scores: of the untrusted pairs, in the same order.
        config: the method, its bound, and the trusted corpora.

    Raises:
        InputError: the scores belong to other pairs, or one is NaN.
    """
    trusted = set(config["trusted"])
    scores = iter(scores)
    for pair in pairs:
        if pair["corpus"] in trusted:
            yield pair, None
            continue
        scored = next(scores, None)
        if scored is None or scored["id"] != pair["id"]:
            place = "the end" if scored is None else f"'{scored['id']}'"
            raise InputError(
                f"the scores have {place} where pair '{pair['id']}' belongs: they were made for "
                "other pairs or other trusted corpora; score these pairs"
            )
        nlls = scored["forward_nll"], scored["backward_nll"]
        if any(map(math.isnan, nlls)):
            raise InputError(
                f"dual_filter: an NLL of pair '{pair['id']}' is NaN; look at the filter's models, "
                "and score again (snakemake --forcerun dual_filter_scores)"
            )
        yield pair, failure(*nlls, config)
    if (scored := next(scores, None)) is not None:
        raise InputError(f"the scores hold '{scored['id']}', which is not among the pairs")


def keep_shard(config: dict[str, Any], pairs: Path, scores: Path, output: Path) -> None:
    """Keep the pairs of a shard that both models find likely.

    The record counts per corpus as well. `scores` is the shard of the pairs' scores.

    Raises:
        InputError: a file is damaged, the scores belong to other pairs, or the method's bound is
            missing.
    """
    if config["method"] == "cross_entropy" and config.get("min_score") is None:
        raise InputError("dual_filter.min_score: needed with method cross_entropy")
    clean, scored = Input(pairs, PairRow), Input(scores, PairScoreRow)
    corpora: dict[str, Counter[str]] = {}
    tally = Tally(extra={"corpora": corpora})

    def kept(rows: Iterator[PairRow]) -> Iterator[PairRow]:
        for pair, reason in filter_pairs(rows, scored.rows().items, config):
            corpora.setdefault(pair["corpus"], Counter()).update(("in", reason or "out"))
            if reason:
                tally.rejected[reason] += 1
            else:
                yield pair

    write_shard(clean.rows(), kept, output, PairRow, "dual_filter", tally)


main = command(keep_shard, __name__)
