"""A fixed input of the stage `rewrite`, and what it makes of it."""

import json
import shutil
from pathlib import Path

from tests.e2e import micro
from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, pairs, table, write_table
from tests.golden.models import fixed_model, lone_segmenter
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import PairRow, SegmentRow, TrainingPairRow
from workflow_scripts.stages.embed import evaluation
from workflow_scripts.stages.rewrite import measure, segment_pairs, side_vocabulary
from workflow_scripts.stages.rewrite import training_pairs as rewriter_pairs


def rewriter_model(folder: Path) -> Path:
    """Write the folder of a rewriter with fixed weights; return it."""
    fixed_model(folder, "reference", "reference", 3)
    shutil.copyfile(folder / "reference.model", folder / "source.model")
    files = [
        path for path in sorted(folder.iterdir()) if path.suffix != ".json" or "vocab" in path.name
    ]
    write_record(folder / "model", 0, 0, {}, files=files)
    return folder


def training_sets(folder: Path) -> list[Path]:
    """Write two training sets that share a pair; a copy and a tested sentence are among them."""
    texts = [row["reference"] for row in pairs("train", 90)]
    rows = [
        {"id": f"train:{number}", "reference": one, "paraphrase": other}
        for number, one in enumerate(texts[:30])
        for other in (texts[30 + number], texts[60 + number])
    ]
    rows.append({"id": "train:90", "reference": texts[0], "paraphrase": texts[0].upper()})
    tested = {"id": "train:91", "reference": pairs("dev")[0]["reference"], "paraphrase": "A dog."}
    return [
        write_table(folder / "one.parquet", TrainingPairRow, [*rows, tested]),
        write_table(folder / "two.parquet", TrainingPairRow, rows[:1]),
    ]


def outputs(folder: Path) -> Outputs:
    micro.write_graded(folder / "graded.tsv", [row["reference"] for row in pairs("dev", 4)])
    tested = folder / "evaluation.parquet"
    data = {"data": [str(folder / "graded.tsv")], "testbed": None, "language": "en", "seed": 1}
    evaluation.main(arguments(data, output=tested))
    sets = training_sets(folder)
    found: Outputs = {}
    for name, write in (("one_way", ["paraphrase"]), ("both_ways", ["paraphrase", "reference"])):
        settings = {"write": write, "held_out": {"dev": 3, "test": 5}, "seed": 1}
        made = folder / name
        rewriter_pairs.main(
            arguments(settings, training_sets=sets, evaluation=tested, shards=2, output=made)
        )
        for shard in ("0000", "0001"):
            found[f"{name}_{shard}"] = table(made / f"{shard}.parquet", PairRow)
            found[f"{name}_{shard}_record"] = counts(made / f"{shard}.json")
    settings = {
        **{"model_type": "unigram", "coverage": 0.9999, "split_digits": True, "sentences": 1000},
        **{"samples": 0, "train": ["train"], "dev": "dev", "test": "test", "seed": 1},
    }
    subword = {**settings, "side": "source", "vocab_size": 50, "corpora": ["train"]}
    made = folder / "subword"
    options = {"folder": folder / "one_way", "shards": 2}
    side_vocabulary.main(arguments(subword, **options, output=made / "source.model"))
    (folder / "taken").mkdir()
    taken = lone_segmenter(folder / "taken")
    side_vocabulary.main(
        arguments(subword, **options, taken=taken, output=made / "reference.model")
    )
    segment_pairs.main(
        arguments(
            settings | {"vocab_size": {"source": 50, "reference": 50}},
            input=folder / "one_way" / "0000.parquet",
            source_model=made / "source.model",
            reference_model=made / "reference.model",
            output=made / "0000.parquet",
        )
    )
    found["segments"] = table(made / "0000.parquet", SegmentRow)
    # Another language than English: the encoder is not asked.
    settings = {"beam": 3, "bootstrap": 20, "language": "sv", "testbed": True, "seed": 1}
    measure.main(
        arguments(
            settings,
            **options,
            model=rewriter_model(folder / "model"),
            device="cpu",
            output=folder / "measures" / "paraphrases.jsonl",
        )
    )
    text = (folder / "measures" / "paraphrases.jsonl").read_text(encoding="utf-8")
    found["paraphrases"] = [json.loads(line) for line in text.splitlines()]
    measures = (folder / "measures" / "measures.json").read_text(encoding="utf-8")
    found["measures"] = json.loads(measures)
    return found
