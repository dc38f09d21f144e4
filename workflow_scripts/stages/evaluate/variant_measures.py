"""The measures of each variant of one system: of ParaBank's systems, as the paper calls them (5).

All distinct outputs of a variant count, whether or not they were selected. One that several
variants share counts for each of them.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain, repeat
from operator import itemgetter
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import shard_paths, verify, verify_file, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import Paraphrase, ParaphrasesRow, ScoredRow, TreesRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.statistics.bootstrap import BLOCKS
from workflow_scripts.plan.reference_groups import OTHER, group_of
from workflow_scripts.stages.evaluate.diversity import Comparison, mean, sentence
from workflow_scripts.stages.evaluate.group import Group
from workflow_scripts.stages.evaluate.measures import in_processes, starts
from workflow_scripts.stages.subword.segmenter import Segmenter, segmenter_path
from workflow_scripts.stages.syntax.tree_distance import distances
from workflow_scripts.testbed.checker import Checker

COLUMNS = ["id", "source", "reference", "corpus", "candidates"]
# The record of variants.json: its own name would be that of a shard's.
RECORD = "comparison"


def outputs(row: ScoredRow) -> Iterator[tuple[list[str], ParaphrasesRow]]:
    """Yield each output of a reference: the variants that gave it, and a row with it alone."""
    for candidate in row["candidates"]:
        output: Paraphrase = {
            "rank": 1,
            "text": candidate["text"],
            "forward_nll": candidate["forward_nll"],
            "backward_nll": candidate["backward_nll"],
            "sum": candidate["sum"],
            "cluster": None,
            "variant": candidate["variant"],
            "probability": None,
        }
        alone: ParaphrasesRow = {
            "id": row["id"],
            "source": row["source"],
            "reference": row["reference"],
            "corpus": row["corpus"],
            "paraphrases": [output],
            "candidates": 1,
            "kept": 1,
            "reason": "",
        }
        yield candidate["variant"].split(), alone


class Against:
    """Running sums of two variants against each other (ParaBank 2, Table 2)."""

    def __init__(self) -> None:
        self.comparison = Comparison()
        self.trees = 0
        self.distance = 0

    def merge(self, other: "Against") -> None:
        """Add the sums of other references."""
        self.comparison.merge(other.comparison)
        self.trees += other.trees
        self.distance += other.distance

    def result(self) -> dict[str, Any]:
        """Return the entry in variants.json; the trees are those of selected outputs."""
        trees = {"trees": self.trees, "tree_edit_distance": mean(self.distance, self.trees)}
        return {**self.comparison.result(), **trees}


class Variant:
    """Running sums of one variant over the references of one group."""

    def __init__(self) -> None:
        self.references = 0
        self.alone = 0
        self.shared: Counter[str] = Counter()
        self.group = Group(1)
        self.against: dict[str, Against] = {}

    def merge(self, other: "Variant") -> None:
        """Add the sums of other references."""
        self.references += other.references
        self.alone += other.alone
        self.shared += other.shared
        self.group.merge(other.group)
        for name, sums in other.against.items():
            self.against.setdefault(name, Against()).merge(sums)

    def result(self, names: list[str], samples: int, seed: int) -> dict[str, Any]:
        """Return the entry in variants.json."""
        measures = self.group.result(samples, seed)
        return {
            "references": self.references,
            "outputs": measures["references"],
            "alone": self.alone,
            "shared": {name: self.shared[name] for name in names if self.shared[name]},
            **{key: value for key, value in measures["ranks"][0].items() if key not in _OF_RANKS},
            "by_length": [_one_rank(part) for part in measures["by_length"]],
            "exact_lengths": [_one_rank(part) for part in measures["exact_lengths"]],
            "testbed": measures["testbed"] and measures["testbed"]["ranks"][0],
            "against": {name: sums.result() for name, sums in self.against.items()},
        }


# What is said of ranks alone.
_OF_RANKS = ("rank", "listed", "repeated", "pairs")


def _one_rank(part: dict[str, Any]) -> dict[str, Any]:
    """Return a part of a group with one rank as figures of all its outputs."""
    left = {
        key: value
        for key, value in part.items()
        if key not in ("references", "references_by_paraphrases", "ranks")
    }
    figures = {key: value for key, value in part["ranks"][0].items() if key not in _OF_RANKS}
    return {**left, "outputs": part["references"], **figures}


Sums = dict[str, dict[str, Variant]]


def measure(
    rows: Iterable[ScoredRow],
    config: dict[str, Any],
    segmenter: Segmenter,
    checker: Checker | None,
    start: int = 0,
    trees: Iterable[dict[str, str]] = repeat({}),
) -> Sums:
    """Return the sums of each variant in each group, over rows of the `scored` schema.

    Args:
        rows: `COLUMNS` of them.
        config: the stage's settings, with `variants`, their names, and `variant_pairs`, those that
            are compared with each other.
        segmenter: of the paraphrase language.
        checker: needed where `config["testbed"]` names a corpus.
        start: number of the first row within the whole corpus.
        trees: of the selected outputs of each row, by their texts.
    """
    membership = group_of(config["groups"])
    testbed = set(config["testbed"])
    sums = empty(config)
    pairs = config.get("variant_pairs", [])
    for number, (row, parsed) in enumerate(zip(rows, trees), start):  # noqa: B905
        group = sums[membership.get(row["corpus"], OTHER)]
        known = checker if row["corpus"] in testbed else None
        with_output: set[str] = set()
        for names, alone in outputs(row):
            with_output.update(names)
            for name in names:
                variant = group[name]
                variant.group.add(alone, number % BLOCKS, segmenter, known)
                variant.alone += len(names) == 1
                variant.shared.update(other for other in names if other != name)
        for name in with_output:
            group[name].references += 1
        for first, second in pairs:
            if {first, second} <= with_output:
                against = group[first].against.setdefault(second, Against())
                texts = [_likeliest(row, name) for name in (first, second)]
                against.comparison.add(*(sentence(text, segmenter) for text in texts))
                if parsed.keys() >= set(texts):
                    distance = distances(config["syntax"]["levels"])
                    against.trees += 1
                    against.distance += distance.of_trees(*(parsed[text] for text in texts))
    return sums


def _likeliest(row: ScoredRow, variant: str) -> str:
    """Return the output of a variant with the lowest forward NLL."""
    own = (each for each in row["candidates"] if variant in each["variant"].split())
    return min(own, key=itemgetter("forward_nll"))["text"]


def trees_of_outputs(selected: Path, parsed: Path) -> Iterator[dict[str, str]]:
    """Yield the trees of the selected outputs of each row of a shard, by their texts."""
    rows = read_rows(selected, ParaphrasesRow, ["paraphrases"])
    for row, trees in zip(rows, read_rows(parsed, TreesRow, ["paraphrases"]), strict=True):
        both = zip(row["paraphrases"], trees["paraphrases"], strict=False)
        yield {paraphrase["text"]: tree for paraphrase, tree in both if tree is not None}


def empty(config: dict[str, Any]) -> Sums:
    """Return the sums of no reference."""
    return {
        group: {name: Variant() for name in config["variants"]}
        for group in [*config["groups"], OTHER]
    }


def merge(sums: Sums, other: Sums) -> None:
    """Add the sums of other references."""
    for group, variants in other.items():
        for name, variant in variants.items():
            sums[group][name].merge(variant)


def summary(sums: Sums, config: dict[str, Any]) -> dict[str, Any]:
    """Return the groups of variants.json: `all`, and each group of the config."""
    everything: dict[str, Variant] = {name: Variant() for name in config["variants"]}
    for group in sums.values():
        for name, variant in group.items():
            everything[name].merge(variant)
    shown = {"all": everything, **{name: sums[name] for name in config["groups"]}}
    return {
        group: {
            name: variant.result(config["variants"], config["bootstrap"], config["seed"])
            for name, variant in variants.items()
        }
        for group, variants in shown.items()
    }


def measure_shard(
    part: tuple[tuple[Path, int], tuple[Path, Path] | None],
    config: dict[str, Any],
    segmenter_file: Path,
) -> Sums:
    """Return `measure` of one shard: its path, the number of its first row, and where trees are.

    The latter are the same shard of the select and of the syntax stage.
    """
    (path, start), parsed = part
    rows = progress(read_rows(path, ScoredRow, COLUMNS, 64), desc=f"variants {path.stem}")
    checker = Checker() if config["testbed"] else None
    trees = trees_of_outputs(*parsed) if parsed else repeat({})
    return measure(rows, config, Segmenter(segmenter_file), checker, start, trees)


def measure_variants(
    config: dict[str, Any],
    scored: Path,
    shards: int,
    model: Path,
    output: Path,
    folder: Path | None = None,
    trees: Path | None = None,
    threads: int = 1,
) -> None:
    """Measure the outputs of each variant of one system.

    Args:
        config: the stage's settings, with `variants`, their names.
        scored: folder of the score stage.
        model: folder of the forward model, for its pieces.
        output: variants.json; its record is `comparison` beside it.
        folder: of the select stage, where variants are compared and sentences are parsed.
        trees: of the syntax stage, likewise.
        threads: processes, one shard each.

    Raises:
        InputError: a file is not what its stage wrote.
    """
    segmenter_file = segmenter_path(model, "reference")
    verify_file(segmenter_file, "model")
    parts, references = starts(shard_paths(scored, shards))
    parsed: list[tuple[Path, Path] | None] = [None] * shards
    if folder and trees:
        parsed = list(zip(shard_paths(folder, shards), shard_paths(trees, shards), strict=True))
        for path in chain.from_iterable(filter(None, parsed)):
            verify(path)
    sums = empty(config)
    count = partial(measure_shard, config=config, segmenter_file=segmenter_file)
    for shard in in_processes(count, list(zip(parts, parsed, strict=True)), threads):
        merge(sums, shard)
    groups = summary(sums, config)
    write_json(output, {"config": config, "references": references, "groups": groups})
    write_record(output.with_name(RECORD), references, references, {}, files=[output])


main = command(measure_variants, __name__)
