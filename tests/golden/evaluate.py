"""A fixed input of the stage `evaluate`, and what it makes of it."""

import json
from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import Row, arguments, scored, selected, write_table
from tests.golden.models import lone_segmenter
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import ParaphrasesRow, ScoredRow, TreesRow
from workflow_scripts.stages.evaluate import measures, statistics, variant_measures
from workflow_scripts.stages.filter import classify, columns, train_classifier
from workflow_scripts.stages.select import threshold


def flat_trees() -> list[Row]:
    """Return rows of the `trees` schema for `selected`: each word a part of speech of its own."""

    def tree(text: str) -> str:
        return f"(S {' '.join(f'({word} w)' for word in text.split())})"

    return [
        {
            **{key: row[key] for key in ("id", "corpus")},
            "parsed": bool(row["paraphrases"]),
            "reference": tree(row["reference"]),
            "paraphrases": [tree(each["text"]) for each in row["paraphrases"]],
        }
        for row in selected()
    ]


def outputs(folder: Path) -> Outputs:
    write_table(folder / "select" / "0000.parquet", ParaphrasesRow, selected())
    rows = scored()
    for number, each in enumerate(each for row in rows for each in row["candidates"]):
        each["variant"] = ("a", "b", "a b")[number % 3]
    write_table(folder / "score" / "0000.parquet", ScoredRow, rows)
    write_table(folder / "syntax" / "0000.parquet", TreesRow, flat_trees())
    found = {"keep": {"max_sum": 1.5}, "max_sum": 1.5, "candidates": 96, "pruned": 0, "kept": 70}
    path = folder / "select" / "threshold.json"
    path.write_text(json.dumps(found), encoding="utf-8")
    write_record(path.with_name(threshold.RECORD), 0, 0, {}, files=[path])
    config = {
        **{"system": "micro", "best": 2, "bootstrap": 100, "seed": 1, "testbed": ["testbed"]},
        **{"language": "en"},
        **{"groups": {"seen": ["testbed"], "held_out": ["held_out"]}, "syntax": {"levels": 2}},
    }
    measures.main(
        arguments(
            config,
            **{"folder": folder / "select", "scored": folder / "score"},
            **{"trees": folder / "syntax", "shards": 1},
            model=lone_segmenter(folder),
            output=folder / "measures.json",
        )
    )
    variant_measures.main(
        arguments(
            {**config, "variants": ["a", "b"]},
            **{"scored": folder / "score", "shards": 1},
            model=lone_segmenter(folder),
            output=folder / "variants.json",
        )
    )
    pairs = folder / "filter" / "0000.parquet"
    chosen = folder / "select" / "0000.parquet"
    columns.main(["--config", "{}", "--paraphrases", str(chosen), "--output", str(pairs)])
    model = folder / "values"
    config = {
        **{"network": "average", "size": 4, "vocabulary": 20, "pairs": 20, "validation": 0.3},
        **{"epochs": 2, "batch": 6, "learning_rate": 0.01, "seed": 1},
    }
    train_classifier.main(arguments(config, folder=pairs.parent, shards=1, output=model))
    shard = str(model / "0000.parquet")
    classify.main(["--pairs", str(pairs), "--model", str(model), "--output", shard])
    config = {"pairs": 12, "columns": {"value": "classifier"}, "seed": 1}
    statistics.main(
        arguments(
            config,
            **{"folder": pairs.parent, "scored": folder / "score", "shards": 1},
            **{"values": f"value={model}"},
            trees=folder / "syntax",
            output=folder / "statistics.json",
        )
    )
    return {
        name: json.loads((folder / f"{name}.json").read_text(encoding="utf-8"))
        for name in ("measures", "variants", "statistics")
    }
