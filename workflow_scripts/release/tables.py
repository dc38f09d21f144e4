"""The report's tables of measures for programs: TSV files with the figures in full.

Each has a header line and one row for each figure or set of figures (docs/release.md).
"""

import argparse
from pathlib import Path
from typing import Any

from workflow_scripts.core.atomic import write_text
from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.manifest import write_record
from workflow_scripts.release.embedding_tables import (
    sts_data_sets,
    sts_differences,
    sts_gains,
    sts_models,
)
from workflow_scripts.release.inputs import (
    add_embeddings,
    named_path,
    read_embeddings,
    read_measures,
    read_statistics,
)
from workflow_scripts.release.measure_tables import (
    between_ranks,
    bins,
    diversity,
    lengths,
    statistics,
)
from workflow_scripts.release.sts_tables import embedding_names, models, quotations
from workflow_scripts.release.table import Table, tsv

# The record of the files.
RECORD = "tables"


def tables(
    config: dict[str, Any],
    measures: dict[str, Any],
    found: dict[str, Any],
    sts: dict[str, Any] | None,
    training_sets: dict[str, dict[str, Any]],
) -> dict[str, Table]:
    """Return all tables by their names.

    Args:
        config: the release's part of the configuration.
        measures: measures.json by system.
        found: statistics.json by system.
        sts: sts.json, or None where the run has no embeddings.
        training_sets: the manifests of those that embeddings were trained on, by name.
    """
    result = {
        "diversity": diversity(measures),
        "between_ranks": between_ranks(measures),
        "lengths": lengths(measures),
        "statistics": statistics(found),
        "bins": bins(found),
    }
    if sts is not None:
        tested = models(sts, training_sets, embedding_names(config))
        result["sts"] = sts_models(sts, tested, training_sets)
        result["sts_data_sets"] = sts_data_sets(sts, tested, quotations(config))
        result["sts_gains"] = sts_gains(tested)
        result["sts_differences"] = sts_differences(sts, tested)
    return result


def main(argv: list[str] | None = None) -> None:
    """Write the tables of a run as TSV files."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    for option in ("measures", "statistics"):
        parser.add_argument(
            f"--{option}", type=named_path, nargs="+", required=True, help=f"system={option}.json"
        )
    add_embeddings(parser)
    parser.add_argument("--output", type=Path, required=True, help="folder")
    arguments = parser.parse_args(argv)
    sts, training_sets = read_embeddings(arguments)
    result = tables(
        arguments.config,
        {system: read_measures(path) for system, path in arguments.measures},
        {system: read_statistics(path) for system, path in arguments.statistics},
        sts,
        training_sets,
    )
    files = [arguments.output / f"{name}.tsv" for name in result]
    for path, table in zip(files, result.values(), strict=True):
        write_text(path, tsv(table))
    write_record(arguments.output / RECORD, 0, 0, {}, files=files)


if __name__ == "__main__":
    run(main)
