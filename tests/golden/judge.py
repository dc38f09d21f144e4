"""A fixed input of the stage `judge`, and what it makes of it."""

import json
from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, pairs, scored, table, write_table
from tests.golden.models import fixed_model
from workflow_scripts.core.files.rows import JudgedRow, ScoredRow
from workflow_scripts.stages.judge import fit_run, shard

FEATURES = ["overlap_1", "length_ratio", "forward_worst"]


def write_labels(path: Path) -> Path:
    """Label pairs of micro references: good where three words and more are the same."""
    rows = pairs("train", 40)
    lines = ["id\tsource\treference\tparaphrase\tforward_nll\tbackward_nll\tlabel"]
    for number, row in enumerate(rows):
        for step in (1, 7, 13):
            text = rows[(number + step) % len(rows)]["reference"]
            same = len(set(row["reference"].split()) & set(text.split()))
            label = "good" if same >= 3 else "bad" if same < 2 else "acceptable"
            cells = [number, row["source"], row["reference"], text, "", "", label]
            lines.append("\t".join(map(str, cells)))
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def outputs(folder: Path) -> Outputs:
    given = write_table(folder / "scored.parquet", ScoredRow, scored())
    model = fixed_model(folder / "forward", "source", "reference", 1)
    labels = write_labels(folder / "labels.tsv")
    common = {"features": FEATURES, "encoder": None, "language": "en", "precision": "fp32"}
    judge, output = folder / "own" / "judge.json", folder / "0000.parquet"
    config = {**common, "labels": str(labels), "good": 80, "seed": 1}
    fit_run.main(arguments(config, forward=model, output=judge, device="cpu"))
    config = {**common, "max_sum": 1.5}
    options = {"scored": given, "judge": judge, "forward": model, "device": "cpu"}
    shard.main(arguments(config, **options, output=output))
    fitted = json.loads(judge.read_text(encoding="utf-8"))
    return {
        "judge": {key: fitted[key] for key in ("features", "bands", "ranges", "sets")},
        "judged": table(output, JudgedRow),
        "record": counts(output.with_suffix(".json")),
    }
