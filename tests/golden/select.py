"""A fixed input of the stage `select`, and what it makes of it."""

import json
from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, scored, table, write_table
from tests.golden.models import lone_segmenter
from workflow_scripts.select import shard as select
from workflow_scripts.select import threshold


def outputs(folder: Path) -> Outputs:
    scores = write_table(folder / "0000.parquet", "scored", scored())
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
        select.main(
            arguments(
                config,
                input=scores,
                threshold=found,
                model=model,
                output=output,
            )
        )
        outputs[method] = table(output, "paraphrases")
        outputs[f"{method}_record"] = counts(output.with_suffix(".json"))
        outputs[f"{method}_threshold"] = json.loads(found.read_text(encoding="utf-8"))
    return outputs
