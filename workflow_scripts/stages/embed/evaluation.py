"""Collect the STS data sets of a run in one table: tests that no embedding is trained on."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.parquet import TableWriter, read_rows
from workflow_scripts.core.files.rows import StsPairRow
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.embed.sts_readers import (
    DataSet,
    missing,
    read_data_sets,
    reported_and_development,
)

TESTBED = "testbed"


def simulated(block: dict[str, int], seed: int) -> DataSet:
    """Return the testbed's graded pairs as a data set: `count` meanings from `first` on."""
    from workflow_scripts.testbed.graded import graded_pairs  # slow: only where there is a testbed

    return data_set(TESTBED, TESTBED, graded_pairs(seed, block["first"], block["count"]))


def collect(config: dict[str, Any], output: Path, inputs: dict[str, str] | None = None) -> None:
    """Collect the STS data sets of a run in one table.

    Args:
        config: `data` (files and folders), `testbed` (a range of meanings, or null), `language`,
            `seed`, and `development`, names of those that points of grids are chosen on, if any.
        output: Parquet file, beside which its record is written.

    Raises:
        InputError: see `unchanged`, `read_data_sets` and `reported_and_development`; or all data
            sets are for development.
    """
    with unchanged(inputs or {}, config["data"]):
        _collect(config, output)


def _collect(config: dict[str, Any], output: Path) -> None:
    data_sets = read_data_sets(config["data"], config["language"])
    absent = missing(data_sets)
    if config["testbed"]:
        data_sets.append(simulated(config["testbed"], config["seed"]))
    if not reported_and_development(data_sets, config.get("development", []))[0] and data_sets:
        raise InputError(
            "sts.development: all data sets are for development, and none is left to report; add "
            "others to sts.data"
        )
    with TableWriter(output, StsPairRow) as table:
        for sts_set in data_sets:
            for score, (first, second) in zip(sts_set.scores, sts_set.pairs, strict=True):
                table.write(
                    {
                        "data_set": sts_set.name,
                        "group": sts_set.group,
                        "score": score,
                        "first": first,
                        "second": second,
                    }
                )
    unscored = sum(sts_set.unscored for sts_set in data_sets)
    write_record(
        output,
        rows_in=table.rows_written + unscored,
        rows_out=table.rows_written,
        rejected={"without_score": unscored},
        extra={
            "pairs": {sts_set.name: len(sts_set.scores) for sts_set in data_sets},
            "missing": absent,
        },
    )


def read_collected(path: Path) -> list[DataSet]:
    """Return the data sets of a table that `collect` wrote, after checking it."""
    verify(path)
    rows: dict[tuple[str, str], list[tuple[float, str, str]]] = {}
    for row in read_rows(path, StsPairRow):
        pair = (row["score"], row["first"], row["second"])
        rows.setdefault((row["group"], row["data_set"]), []).append(pair)
    return [data_set(group, name, pairs) for (group, name), pairs in rows.items()]


def data_set(group: str, name: str, rows: Iterable[tuple[float, str, str]]) -> DataSet:
    """Return a data set of pairs that all have a score."""
    scores, first, second = zip(*rows, strict=True)
    return DataSet(group, name, scores, tuple(zip(first, second, strict=True)), 0)


def text_keys(data_sets: Iterable[DataSet]) -> set[int]:
    """Return the keys of all texts of data sets."""
    return {key(text) for data_set in data_sets for pair in data_set.pairs for text in pair}


def without_tested(
    development: Iterable[DataSet], tested: Iterable[DataSet], where: str, remedy: str
) -> tuple[list[DataSet], int]:
    """Return development data without the pairs that are tested on, and how many these are.

    Data sets overlap: STS Benchmark is made of pairs of STS 2012 to 2017.

    Args:
        development: the data sets.
        tested: those that are reported.
        where: the configuration key of the former.
        remedy: what to do where most of the pairs are tested on.

    Raises:
        InputError: most of the pairs are tested on.
    """
    barred = {frozenset(map(key, pair)) for sts_set in tested for pair in sts_set.pairs}
    untested, removed, total = [], 0, 0
    for sts_set in development:
        rows = [
            (score, *pair)
            for score, pair in zip(sts_set.scores, sts_set.pairs, strict=True)
            if frozenset(map(key, pair)) not in barred
        ]
        total += len(sts_set.scores)
        removed += len(sts_set.scores) - len(rows)
        if rows:
            untested.append(data_set(sts_set.group, sts_set.name, rows))
    if 2 * removed > total:
        raise InputError(
            f"{where}: {removed} of its {total} pairs are in the data sets that are reported; "
            f"{remedy}"
        )
    return untested, removed


main = command(collect, __name__)
