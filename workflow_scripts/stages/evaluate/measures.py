"""All measures of one system's paraphrases (ParaBank 2, 3.6).

How each is defined: docs/architecture.md, "Measures".

Each rank is measured by itself. A reference with fewer paraphrases repeats its last one in the
missing ranks; a reference without any is left out; both are counted. Sums are kept per shard and
added up. So memory does not grow with the corpus, and the result does not depend on the number of
processes.
"""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from itertools import accumulate
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeVar

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import (
    read_json,
    shard_paths,
    verify,
    verify_file,
    write_record,
)
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow, TreesRow
from workflow_scripts.core.progress import progress
from workflow_scripts.core.statistics.bootstrap import BLOCKS
from workflow_scripts.plan.reference_groups import OTHER, group_of
from workflow_scripts.stages.evaluate.coverage import curve, judged_rows
from workflow_scripts.stages.evaluate.group import Group
from workflow_scripts.stages.evaluate.scores import ScoreHistogram, scored_histograms
from workflow_scripts.stages.evaluate.syntax import COLUMNS as TREE_COLUMNS
from workflow_scripts.stages.evaluate.syntax import Syntax, measure_trees, tree_summary
from workflow_scripts.stages.select.shard import read_bounds
from workflow_scripts.stages.select.threshold import RECORD as THRESHOLD_RECORD
from workflow_scripts.stages.subword.segmenter import Segmenter, segmenter_path
from workflow_scripts.testbed.checker import Checker

COLUMNS = ["id", "corpus", "reference", "paraphrases"]
Item = TypeVar("Item")
Result = TypeVar("Result")
# The record of measures.json: evaluation.json, as measures.json itself looks like a record.
RECORD = "evaluation"


def measure(
    rows: Iterable[ParaphrasesRow],
    config: dict[str, Any],
    segmenter: Segmenter,
    checker: Checker | None,
    start: int = 0,
) -> dict[str, Group]:
    """Return the sums of each group over rows of the `paraphrases` schema.

    Args:
        rows: `COLUMNS` of them.
        config: the stage's settings.
        segmenter: of the paraphrase language.
        checker: needed where `config["testbed"]` names a corpus.
        start: number of the first row within the whole corpus.

    Returns:
        The groups of the config, which share no reference, and `OTHER` for all other references.
    """
    membership = group_of(config["groups"])
    testbed = set(config["testbed"])
    groups = {
        name: Group(config["best"], config["language"]) for name in [*config["groups"], OTHER]
    }
    for number, row in enumerate(rows, start):
        group = groups[membership.get(row["corpus"], OTHER)]
        group.add(row, number % BLOCKS, segmenter, checker if row["corpus"] in testbed else None)
    return groups


def summary(groups: dict[str, Group], config: dict[str, Any]) -> dict[str, Any]:
    """Return the groups' entries in measures.json: `all`, and each group of the config."""
    everything = Group(config["best"], config["language"])
    for group in groups.values():
        everything.merge(group)
    shown = {"all": everything, **{name: groups[name] for name in config["groups"]}}
    return {
        name: group.result(config["bootstrap"], config["seed"]) for name, group in shown.items()
    }


def measure_shard(
    part: tuple[Path, int], config: dict[str, Any], segmenter_file: Path
) -> dict[str, Group]:
    """Return `measure` of one shard: its path, and the number of its first row."""
    path, start = part
    rows = progress(read_rows(path, ParaphrasesRow, COLUMNS), desc=f"measures {path.stem}")
    checker = Checker() if config["testbed"] else None
    return measure(rows, config, Segmenter(segmenter_file), checker, start)


def score_shard(path: Path, config: dict[str, Any]) -> dict[str, ScoreHistogram]:
    """Return the score histograms of one scored shard: of all its rows, and by group."""
    groups = {name: set(corpora) for name, corpora in config["groups"].items()}
    return scored_histograms(path, {"all": None, **groups})


def tree_shard(part: tuple[Path, int], config: dict[str, Any]) -> dict[str, Syntax]:
    """Return `measure_trees` of one shard: its path, and the number of its first row."""
    path, start = part
    rows = progress(read_rows(path, TreesRow, TREE_COLUMNS), desc=f"trees {path.stem}")
    return measure_trees(rows, config, config["syntax"]["levels"], start)


def in_processes(
    work: Callable[[Item], Result], items: list[Item], processes: int
) -> Iterator[Result]:
    """Yield `work` of every item, in order; with one process, in this one."""
    if processes == 1:
        yield from map(work, items)
        return
    # Not forked: Arrow's threads would not survive it.
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        yield from pool.map(work, items)


def starts(paths: list[Path]) -> tuple[list[tuple[Path, int]], int]:
    """Return shards, after checking them, each with the number of its first row; and all rows."""
    first = list(accumulate((verify(path)["rows_out"] for path in paths), initial=0))
    return list(zip(paths, first[:-1], strict=True)), first[-1]


def measure_system(
    config: dict[str, Any],
    folder: Path,
    scored: Path,
    shards: int,
    model: Path,
    output: Path,
    trees: Path | None = None,
    judged: Path | None = None,
    threads: int = 1,
) -> None:
    """Measure the selected paraphrases of one system.

    Args:
        folder: of the select stage, with threshold.json.
        scored: folder of the score stage.
        model: folder of the forward model, for its pieces.
        output: measures.json; its record is `evaluation` beside it.
        trees: folder of the syntax stage, if there is one.
        judged: folder of the judge stage, if the system has a judge.
        threads: processes, one shard each.

    Raises:
        InputError: a file is not what its stage wrote, or the configuration is inconsistent.
    """
    if bool(trees) != bool(config.get("syntax")):
        raise InputError("--trees and the config's syntax belong together; give both or neither")
    threshold = read_json(folder / "threshold.json", THRESHOLD_RECORD)
    segmenter_file = segmenter_path(model, "reference")
    verify_file(segmenter_file, "model")
    selected, _ = starts(shard_paths(folder, shards))
    parsed, _ = starts(shard_paths(trees, shards) if trees else [])
    scored_shards = shard_paths(scored, shards)
    for path in scored_shards:
        verify(path)
    groups = {
        name: Group(config["best"], config["language"]) for name in [*config["groups"], OTHER]
    }
    syntax = {name: Syntax(config["best"]) for name in groups}
    histograms = {name: ScoreHistogram() for name in ["all", *config["groups"]]}
    count = partial(measure_shard, config=config, segmenter_file=segmenter_file)
    for shard in in_processes(count, selected, threads):
        for name, group in shard.items():
            groups[name].merge(group)
    for counted in in_processes(partial(score_shard, config=config), scored_shards, threads):
        for name, histogram in counted.items():
            histograms[name].merge(histogram)
    for distances in in_processes(partial(tree_shard, config=config), parsed, threads):
        for name, sums in distances.items():
            syntax[name].merge(sums)
    measures = summary(groups, config)
    tree_measures = tree_summary(syntax, config)
    for name, histogram in histograms.items():
        measures[name]["scores"] = histogram.result()
        measures[name]["syntax"] = tree_measures[name]
    figures = {"config": config, "threshold": threshold, "groups": measures}
    if judged is not None:
        judged_shards = shard_paths(judged, shards)
        for path in judged_shards:
            verify(path)
        rows = judged_rows(scored_shards, judged_shards, config["seed"])
        max_sum, bound = read_bounds(folder / "threshold.json")
        pieces = Segmenter(segmenter_file).pieces
        figures["precision"] = curve(rows, config["select"], max_sum, bound, pieces)
    write_json(output, figures)
    references = measures["all"]["references"]
    write_record(output.with_name(RECORD), references, references, {}, files=[output])


main = command(measure_system, __name__)
