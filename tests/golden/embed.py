"""A fixed input of the stage `embed`, and what it makes of it."""

import json
from pathlib import Path

from tests.e2e import micro
from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, pairs, table, write_table
from workflow_scripts.core.files.rows import StsPairRow, TrainingPairRow
from workflow_scripts.encoding.embedding import load
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.embed import evaluation, sts_comparison
from workflow_scripts.stages.embed import train as embed

MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")


def dev_references() -> list[str]:
    return [row["reference"] for row in pairs("dev", 12)]


def outputs(folder: Path) -> Outputs:
    """Data sets with a blank score and a pair that is trained on; a model of several encoders."""
    references = [row["reference"] for row in pairs("train", 60)]
    rows = [
        {"id": f"train:{number}", "reference": one, "paraphrase": other}
        for number, (one, other) in enumerate(zip(references[::2], references[1::2], strict=True))
    ]
    training_pairs = write_table(folder / "pairs.parquet", TrainingPairRow, rows)
    micro.write_graded(folder / "graded.tsv", [references[0], *dev_references()])
    with (folder / "graded.tsv").open("a", encoding="utf-8") as file:
        file.write("\tNo score.\tFor this.\n")
    tested = folder / "evaluation.parquet"
    common = {"language": "en", "seed": 1}
    data = {"data": [str(folder / "graded.tsv")], "testbed": {"first": 9, "count": 6}}
    evaluation.main(arguments(common | data, output=tested))
    outputs: Outputs = {
        "evaluation": table(tested, StsPairRow),
        "evaluation_record": counts(tested.with_suffix(".json")),
    }
    sizes = {"dimension": 4, "hidden": 4, "vocabulary": 300}
    models = {
        "word": {"training": {"anneal": 3, "development": None}},
        "mixed": {
            "model": {"encoders": ["word", "trigram", "lstm"], "combine": "add", "min_count": 2},
            "training": {"dropout": 0.1, "l2_network": 1e-4, "l2_vectors": 1e-4},
        },
        "gated": {"model": {"encoders": ["gran", "blstm"], "tokens": "pieces", "vocabulary": 80}},
    }
    for name, block in models.items():
        config = {
            **{"name": name, "repetition": 1, **common},
            "model": MODEL | sizes | block.get("model", {}),
            "training": TRAINING
            | {"epochs": 2, "batch": 10, "mega_batch": 2}
            | block.get("training", {}),
        }
        embed.main(
            arguments(
                config,
                **{"pairs": training_pairs, "evaluation": tested, "device": "cpu"},
                work=folder / "work" / name,
                output=folder / name,
            )
        )
        outputs[f"{name}_record"] = counts(folder / name / "model.json")
        outputs[f"{name}_vectors"] = load(folder / name).encode(references[:5]).tolist()
    sts_comparison.main(
        arguments(
            {"bootstrap": 50, "language": "en", "seed": 1},
            evaluation=tested,
            models=[f"{name}/1={folder / name}" for name in models],
            output=folder / "sts.json",
        )
    )
    outputs["sts"] = json.loads((folder / "sts.json").read_text(encoding="utf-8"))
    return outputs
