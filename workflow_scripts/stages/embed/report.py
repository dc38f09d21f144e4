"""The stage's section of the report, and its tables."""

from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.embed.results import tested
from workflow_scripts.stages.embed.sts_readers import BT17_TASKS
from workflow_scripts.stages.embed.sts_tables import (
    data_columns,
    data_set_rows,
    difference_rows,
    encoder_differences,
    gain_rows,
    mean_columns,
    quotations,
    source_rows,
    times_100,
    training_set_blocks,
    tuned_rows,
)


def embeddings(run: FinishedRun) -> dict[str, Any]:
    """Return the results of the embeddings in their test."""
    sts, training_sets, models = tested(run)
    return {
        "pairs": sts["pairs"],
        "missing": sts["missing"],
        "settings": run.config.get("embeddings", []),
        "overlap": times_100(sts["overlap"]["mean"]["pearson"]),
        "blocks": training_set_blocks(models, training_sets),
        "columns": {column: column for column in data_columns(sts)} | mean_columns(sts),
        "data_sets": data_set_rows(sts, models, quotations(run.config)),
        "gains": gain_rows(models),
        "differences": difference_rows(sts, models),
        "tuned": tuned_rows(sts, models, training_sets),
        "sources": source_rows(sts, models, training_sets),
        "development": sts["development"],
        "tasks": sts["overlap"]["bt2017"]["data_sets"],
        "encoder_differences": encoder_differences(sts, models),
        "missing_tasks": [name for name in sts["missing"] if name in BT17_TASKS],
    }
