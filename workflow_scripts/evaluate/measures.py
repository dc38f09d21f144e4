"""All measures of one system's paraphrases (ParaBank 2, 3.6; DESIGN 10).

Every rank is a system of its own. A reference with fewer paraphrases repeats its last one in the
ranks above, one without any is left out; both are counted. Sums are kept per shard and added up,
so memory does not grow with the corpus and the result does not depend on the number of processes.
"""

import argparse
import json
import math
from collections.abc import Iterable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import accumulate, combinations
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.atomic import write_json
from workflow_scripts.core.cli import run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import shard_paths, verify, write_record
from workflow_scripts.core.progress import progress
from workflow_scripts.core.tables import read_rows
from workflow_scripts.core.text import words
from workflow_scripts.evaluate.bootstrap import BLOCKS, rank_intervals
from workflow_scripts.evaluate.diversity import DECIMALS, ORDERS, Comparison, mean, sentence
from workflow_scripts.evaluate.quality import Quality
from workflow_scripts.evaluate.scores import ScoreHistogram, scored_histograms
from workflow_scripts.subword.segmenter import Segmenter
from workflow_scripts.testbed.checker import Checker

COLUMNS = ["corpus", "reference", "paraphrases"]
OTHER = "other"
# The record of measures.json, which has the suffix of a record itself: evaluation.json.
RECORD = "evaluation"


class Group:
    """Running sums of one group of references."""

    def __init__(self, best: int):
        self.best = best
        self.references_by_paraphrases = [0] * (best + 1)
        self.ranks = [Comparison() for _ in range(best)]
        self.between = {pair: Comparison() for pair in combinations(range(best), 2)}
        self.copies = [0] * best
        self.scored = [0] * best
        self.nll_sums = [0.0] * best
        self.blocks: dict[int, np.ndarray] = {}
        self.quality = Quality(best)

    def add(
        self, row: dict[str, Any], block: int, segmenter: Segmenter, checker: Checker | None
    ) -> None:
        """Count one row of the `paraphrases` schema.

        Args:
            row: reference and paraphrases; more than `best` are cut off.
            block: the bootstrap block that the reference belongs to.
            segmenter: the paraphrase language's pieces.
            checker: of a testbed reference, else None.
        """
        reference, listed = row["reference"], row["paraphrases"][: self.best]
        texts = [paraphrase["text"] for paraphrase in listed]
        self.references_by_paraphrases[len(listed)] += 1
        if checker is not None:
            self.quality.add(checker, reference, texts)
        if not listed:
            return
        for rank, paraphrase in enumerate(listed):
            self.copies[rank] += words(paraphrase["text"]) == words(reference)
            # No sum: not scored backward. Infinite: the backward model can't read the text.
            if paraphrase["sum"] is not None and math.isfinite(paraphrase["sum"]):
                self.scored[rank] += 1
                self.nll_sums[rank] += paraphrase["sum"]
        first = sentence(reference, segmenter)
        sentences = [sentence(text, segmenter) for text in texts]
        sentences += [sentences[-1]] * (self.best - len(sentences))
        counts = [
            comparison.add(first, second)
            for comparison, second in zip(self.ranks, sentences, strict=True)
        ]
        for (better, worse), comparison in self.between.items():
            comparison.add(sentences[better], sentences[worse])
        sums = self.blocks.setdefault(block, np.zeros((self.best, 2, ORDERS), dtype=np.int64))
        sums += counts

    def merge(self, other: "Group") -> None:
        """Add the sums of another part of the corpus."""
        self.references_by_paraphrases = _added(
            self.references_by_paraphrases, other.references_by_paraphrases
        )
        for comparison, others in zip(self.ranks, other.ranks, strict=True):
            comparison.merge(others)
        for pair, comparison in self.between.items():
            comparison.merge(other.between[pair])
        self.copies = _added(self.copies, other.copies)
        self.scored = _added(self.scored, other.scored)
        self.nll_sums = _added(self.nll_sums, other.nll_sums)
        for block, sums in other.blocks.items():
            self.blocks[block] = self.blocks.get(block, 0) + sums
        self.quality.merge(other.quality)

    def result(self, samples: int, seed: int) -> dict[str, Any]:
        """Return the group's part of measures.json, with `samples` bootstrap samples."""
        by_rank: list[dict[str, float] | None] = [None] * self.best
        difference = None
        if self.blocks:
            blocks = np.stack([self.blocks[block] for block in sorted(self.blocks)])
            by_rank, interval = rank_intervals(blocks, samples, seed)
            last, first = (self.ranks[rank].result()["one_minus_bleu"] for rank in (-1, 0))
            difference = {"one_minus_bleu": round(last - first, DECIMALS), **interval}
        # Listed at rank r: references with at least r paraphrases.
        listed = list(accumulate(reversed(self.references_by_paraphrases[1:])))[::-1]
        ranks = [
            {
                "rank": rank + 1,
                "listed": listed[rank],
                "repeated": listed[0] - listed[rank],
                "copies": self.copies[rank],
                "mean_sum": mean(self.nll_sums[rank], self.scored[rank]),
                "interval": by_rank[rank],
                **comparison.result(),
            }
            for rank, comparison in enumerate(self.ranks)
        ]
        between = [
            {"first": better + 1, "second": worse + 1, **comparison.result()}
            for (better, worse), comparison in self.between.items()
        ]
        return {
            "references": sum(self.references_by_paraphrases),
            "references_by_paraphrases": self.references_by_paraphrases,
            "ranks": ranks,
            "difference": difference,
            "between": between,
            "testbed": self.quality.result(),
        }


def _added(some: list, others: list) -> list:
    return [one + other for one, other in zip(some, others, strict=True)]


def group_of(groups: dict[str, list[str]]) -> dict[str, str]:
    """Return the group of each corpus.

    Raises:
        InputError: a corpus is in two groups.
    """
    result: dict[str, str] = {}
    for group, corpora in groups.items():
        for corpus in corpora:
            if result.setdefault(corpus, group) != group:
                raise InputError(
                    f"evaluate.groups: '{corpus}' is both in {result[corpus]} and in {group}; "
                    "name it in one of them"
                )
    return result


def measure(
    rows: Iterable[dict[str, Any]],
    config: dict[str, Any],
    segmenter: Segmenter,
    checker: Checker | None,
    start: int = 0,
) -> dict[str, Group]:
    """Return the sums of each group over rows of the `paraphrases` schema.

    Args:
        rows: `COLUMNS` of them.
        config: the stage's config part.
        segmenter: the paraphrase language's pieces.
        checker: needed where `config["testbed"]` names a corpus.
        start: number of the first row within the whole corpus.

    Returns:
        The groups of the config, which are disjoint, and `OTHER`: what is in none of them.
    """
    membership = group_of(config["groups"])
    testbed = set(config["testbed"])
    groups = {name: Group(config["best"]) for name in [*config["groups"], OTHER]}
    for number, row in enumerate(rows, start):
        group = groups[membership.get(row["corpus"], OTHER)]
        group.add(row, number % BLOCKS, segmenter, checker if row["corpus"] in testbed else None)
    return groups


def summary(groups: dict[str, Group], config: dict[str, Any]) -> dict[str, Any]:
    """Return the groups' parts of measures.json: `all`, and each group of the config."""
    everything = Group(config["best"])
    for group in groups.values():
        everything.merge(group)
    shown = {"all": everything, **{name: groups[name] for name in config["groups"]}}
    return {
        name: group.result(config["bootstrap"], config["seed"]) for name, group in shown.items()
    }


def measure_shard(
    part: tuple[Path, int], config: dict[str, Any], segmenter_path: Path
) -> dict[str, Group]:
    """Return `measure` of one shard: its path, and the number of its first row."""
    path, start = part
    rows = progress(read_rows(path, "paraphrases", COLUMNS), desc=f"measures {path.stem}")
    checker = Checker() if config["testbed"] else None
    return measure(rows, config, Segmenter(segmenter_path), checker, start)


def score_shard(path: Path, config: dict[str, Any]) -> dict[str, ScoreHistogram]:
    """Return the score histograms of one scored shard: of all its rows, and by group."""
    groups = {name: set(corpora) for name, corpora in config["groups"].items()}
    return scored_histograms(path, {"all": None, **groups})


def read_threshold(path: Path) -> dict[str, Any]:
    """Return the threshold of the select stage with its counts.

    Raises:
        InputError: it is missing.
    """
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}; run select again") from error


def main(argv: list[str] | None = None) -> None:
    """Measure the selected paraphrases of one system."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json.loads, required=True, help="JSON")
    parser.add_argument(
        "--folder", type=Path, required=True, help="of the select stage, with threshold.json"
    )
    parser.add_argument("--scored", type=Path, required=True, help="of the score stage")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--segmenter", type=Path, required=True, help="reference.model")
    parser.add_argument("--threads", type=int, default=1, help="processes, one shard each")
    parser.add_argument("--output", type=Path, required=True, help="measures.json")
    arguments = parser.parse_args(argv)
    config = arguments.config
    selected = shard_paths(arguments.folder, arguments.shards)
    scored = shard_paths(arguments.scored, arguments.shards)
    threshold = read_threshold(arguments.folder / "threshold.json")
    rows = [verify(path)["rows_out"] for path in selected]
    for path in scored:
        verify(path)
    starts = accumulate(rows, initial=0)
    parts = list(zip(selected, starts, strict=False))
    groups = {name: Group(config["best"]) for name in [*config["groups"], OTHER]}
    histograms = {name: ScoreHistogram() for name in ["all", *config["groups"]]}
    with ProcessPoolExecutor(arguments.threads) as pool:
        work = partial(measure_shard, config=config, segmenter_path=arguments.segmenter)
        for shard in pool.map(work, parts):
            for name, group in shard.items():
                groups[name].merge(group)
        for shard in pool.map(partial(score_shard, config=config), scored):
            for name, histogram in shard.items():
                histograms[name].merge(histogram)
    measures = summary(groups, config)
    for name, histogram in histograms.items():
        measures[name]["scores"] = histogram.result()
    write_json(arguments.output, {"config": config, "threshold": threshold, "groups": measures})
    record = arguments.output.with_name(RECORD)
    write_record(record, sum(rows), sum(rows), {}, files=[arguments.output])


if __name__ == "__main__":
    run(main)
