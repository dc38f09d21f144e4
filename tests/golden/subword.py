"""A fixed input of the stage `subword`, and what it makes of it."""

from pathlib import Path

import sentencepiece

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, pairs, table, write_table
from tests.golden.models import sentence_model
from workflow_scripts.core.files.rows import PairRow, SegmentRow
from workflow_scripts.stages.subword import segment
from workflow_scripts.stages.subword import train as subword


def outputs(folder: Path) -> Outputs:
    rows = [*pairs("train"), *pairs("dev", 5), *pairs("test", 5), *pairs("web", 3)]
    write_table(folder / "0000.parquet", PairRow, rows)
    outputs: Outputs = {}
    for side, sentences in (("source", 10_000), ("reference", 300)):
        config = {
            **{"side": side, "model_type": "unigram", "vocab_size": 90, "coverage": 0.9999},
            **{"split_digits": True, "sentences": sentences, "corpora": ["train"], "seed": 1},
        }
        output = folder / f"{side}.model"
        subword.main(arguments(config, folder=folder, shards=1, output=output))
        model = sentencepiece.SentencePieceProcessor(model_file=str(output))
        outputs[side] = [
            [model.id_to_piece(index), model.get_score(index)]
            for index in range(model.get_piece_size())
        ]
        outputs[f"{side}_record"] = counts(output.with_suffix(".json"))
    # Its own model, so that the segments hold what the segmentation does and no more.
    models = {side: folder / "letters" / f"{side}.model" for side in ("source", "reference")}
    models["source"].parent.mkdir()
    for side, path in models.items():
        sentence_model(path, side)
    config = {
        **{"samples": 0, "nbest": 8, "alpha": 0.2, "model_type": "bpe", "seed": 1},
        **{"train": ["train"], "dev": "dev", "test": "test"},
    }
    for name, paths, more in (
        ("viterbi", models, {}),
        (
            "sampled",
            {side: folder / f"{side}.model" for side in models},
            {"samples": 2, "model_type": "unigram"},
        ),
    ):
        segment.main(
            arguments(
                config | more,
                input=folder / "0000.parquet",
                source_model=paths["source"],
                reference_model=paths["reference"],
                output=folder / name / "0000.parquet",
            )
        )
        outputs[name] = table(folder / name / "0000.parquet", SegmentRow)
        outputs[f"{name}_record"] = counts(folder / name / "0000.json")
    return outputs
