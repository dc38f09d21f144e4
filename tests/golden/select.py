"""A fixed input of the stage `select`, and what it makes of it."""

import json
from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, scored, table, write_table
from tests.golden.models import lone_segmenter
from workflow_scripts.core.files.rows import JudgedRow, ParaphrasesRow, ScoredRow
from workflow_scripts.stages.select import shard as select
from workflow_scripts.stages.select import threshold


def outputs(folder: Path) -> Outputs:
    scores = write_table(folder / "0000.parquet", ScoredRow, scored())
    model = lone_segmenter(folder)
    outputs: Outputs = {}
    for method, kept in (
        ("cluster", {"quantile": 0.8}),
        ("nbest", {"max_sum": 1.5}),
        ("best", {"max_sum": 1.25}),
    ):
        config = {"method": method, "clusters": 4, "best": 3, "keep": kept}
        found, output = folder / method / "threshold.json", folder / method / "0000.parquet"
        threshold.main(arguments(config, folder=folder, shards=1, output=found))
        select.main(arguments(config, scored=scores, threshold=found, model=model, output=output))
        outputs[method] = table(output, ParaphrasesRow)
        outputs[f"{method}_record"] = counts(output.with_suffix(".json"))
        outputs[f"{method}_threshold"] = json.loads(found.read_text(encoding="utf-8"))
    outputs |= judged(folder, scores, model)
    return outputs


def judged(folder: Path, scores: Path, model: Path) -> Outputs:
    """Return the same of a system with a judge, whose probabilities fp32 holds exactly."""
    rows = [
        {
            "id": row["id"],
            "probabilities": [
                None if index % 5 == 4 else 1 - index / 32
                for index in range(len(row["candidates"]))
            ],
        }
        for row in scored()
    ]
    probabilities = write_table(folder / "judged" / "0000.parquet", JudgedRow, rows)
    keep = {"max_sum": 1.5, "probability_quantile": 0.8}
    config = {"method": "judged", "judge": "mine", "clusters": 4, "best": 3, "keep": keep}
    config["language"] = "en"
    found, output = folder / "by_judge" / "threshold.json", folder / "by_judge" / "0000.parquet"
    where = {"folder": folder, "judged": probabilities.parent}
    threshold.main(arguments(config, **where, shards=1, output=found))
    given = {"scored": scores, "judged": probabilities, "threshold": found}
    select.main(arguments(config, **given, model=model, output=output))
    return {
        "judged": table(output, ParaphrasesRow),
        "judged_record": counts(output.with_suffix(".json")),
        "judged_threshold": json.loads(found.read_text(encoding="utf-8")),
    }
