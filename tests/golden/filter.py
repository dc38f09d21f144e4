"""A fixed input of the stage `filter`, and what it makes of it."""

import json
from pathlib import Path

from tests.e2e import micro
from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, selected, table, write_table
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import (
    PairColumnsRow,
    PairValueRow,
    ParaphrasesRow,
    TrainingPairRow,
)
from workflow_scripts.core.text.text_tokens import known_words
from workflow_scripts.stages.filter import (
    classify,
    columns,
    feature_values,
    paraphrase_score,
    train_classifier,
    training_set,
)

# Those that need no model but words.
FEATURES = ("unknown_words", "numbers", "names", "negation", "length_ratio", "edit_distance")


def feature(folder: Path, shard: Path, name: str) -> list[float | None]:
    """Return the values of a column that is a feature."""
    words = folder / "words.txt"
    if not words.exists():
        micro.write_lines(words, sorted(known_words(["The doctor sold the car.", "a dog here"])))
        write_record(words, 0, 0, {})
    output = folder / name / "0000.parquet"
    config = {"name": name, "language": "en"}
    feature_values.main(arguments(config, pairs=shard, words=words, output=output))
    return [row["value"] for row in read_rows(output, PairValueRow)]


def outputs(folder: Path) -> Outputs:
    given = write_table(folder / "paraphrases.parquet", ParaphrasesRow, selected())
    shard = folder / "columns" / "0000.parquet"
    columns.main(arguments({}, paraphrases=given, output=shard))
    model, told = folder / "classifier", folder / "told" / "0000.parquet"
    config = {
        **{"network": "lstm", "size": 4, "vocabulary": 20, "pairs": 20, "validation": 0.3},
        **{"epochs": 2, "batch": 6, "learning_rate": 0.01, "seed": 1},
    }
    train_classifier.main(arguments(config, folder=shard.parent, shards=1, output=model))
    classify.main(["--pairs", str(shard), "--model", str(model), "--output", str(told)])
    config = {
        **{"system": "micro", "bounds": {"rank": [1, 2]}, "max_tokens": 100, "sample": 6},
        **{"folds": {"column": "overlap_1", "of": 3, "keep": [2, 3]}, "seed": 1},
    }
    output = folder / "pairs.parquet"
    training_set.main(arguments(config, folder=shard.parent, shards=1, output=output))
    vectors = [f"{word} {place} 1" for place, word in enumerate(["the", "dog", "car", "doctor"])]
    micro.write_lines(folder / "vectors.txt", vectors)
    scores = folder / "scores" / "0000.parquet"
    given = {"pairs": shard, "vectors": folder / "vectors.txt", "output": scores}
    paraphrase_score.main(arguments({"punctuation": "dropped"}, **given))
    features = {name: feature(folder, shard, name) for name in FEATURES}
    return {
        "features": features,
        "scores": table(scores, PairValueRow),
        "columns": table(shard, PairColumnsRow),
        "columns_record": counts(shard.with_suffix(".json")),
        "classifier": json.loads((model / "metrics.json").read_text(encoding="utf-8")),
        "vocabulary": json.loads((model / "vocabulary.json").read_text(encoding="utf-8")),
        "told": table(told, PairValueRow),
        "told_record": counts(told.with_suffix(".json")),
        "pairs": table(output, TrainingPairRow),
        "pairs_record": counts(output.with_suffix(".json")),
    }
