"""A fixed input of the stage `train`, and what it makes of it."""

import json
from pathlib import Path

import sentencepiece

from tests.e2e import micro
from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, pairs, write_table
from tests.golden.models import sentence_model
from workflow_scripts.core.files.rows import SegmentRow
from workflow_scripts.stages.train import sockeye


def outputs(folder: Path) -> Outputs:
    """Only what is the same everywhere is hashed; the perplexity is a number like others."""
    models = {side: folder / f"{side}.model" for side in ("source", "reference")}
    for side, path in models.items():
        sentence_model(path, side)
    spelt = {
        side: sentencepiece.SentencePieceProcessor(model_file=str(path))
        for side, path in models.items()
    }
    splits = (("train", 300), ("dev", 20), ("test", 5))
    write_table(
        folder / "0000.parquet",
        SegmentRow,
        (
            {
                "id": row["id"],
                "split": split,
                "copy": 0,
                **{side: " ".join(spelt[side].encode_as_pieces(row[side])) for side in models},
            }
            for split, count in splits
            for row in pairs(split, count)
        ),
    )
    block = micro.config(folder)["models"]["micro"] | {"max_updates": 40, "checkpoint_updates": 20}
    sockeye.main(
        arguments(
            {"role": "forward", "direction": "forward", "model": block, "seed": 1},
            **{"segments": folder, "shards": 1, "threads": 1, "device": "cpu"},
            **{f"{side}_model": path for side, path in models.items()},
            work=folder / "work",
            output=folder / "model",
        )
    )
    metrics = json.loads((folder / "model" / "metrics.json").read_text(encoding="utf-8"))
    plan = json.loads((folder / "work" / "plan.json").read_text(encoding="utf-8"))
    return {
        "settings": plan["settings"],
        **{
            side: json.loads((folder / "model" / f"vocab.{side}.0.json").read_text("utf-8"))
            for side in ("src", "trg")
        },
        "counts": {key: metrics[key] for key in ("updates", "parameters", "segments")},
        "files": sorted(path.name for path in (folder / "model").iterdir()),
        "perplexity": metrics["validation_perplexity"],
    }
