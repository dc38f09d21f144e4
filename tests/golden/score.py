"""A fixed input of the stage `score`, and what it makes of it."""

from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import Row, arguments, counts, pairs, table, write_table
from tests.golden.models import fixed_model
from workflow_scripts.core.files.rows import CandidatesRow, ScoredRow
from workflow_scripts.stages.score import shard as score


def generated(count: int) -> list[Row]:
    """Return rows of the `candidates` schema: sentences of other pairs, some of them twice."""
    rows = pairs("held_out", count + 3)
    texts = [row["reference"] for row in rows]
    return [
        {
            **row,
            "sets": [{"set": 0, "variant": "v0", "avoid": ["the"], "want": []}],
            "dropped": 1,
            "blocked": 0,
            "unmet": 0,
            "candidates": [
                {
                    "set": 0,
                    "sample": sample,
                    "variant": f"v{sample % 2}",
                    "text": texts[(number + sample % 4) % len(texts)],
                    "forward_nll": 1.5 + 0.25 * (sample + number % 3),
                    "source": rows[count]["source"] if sample > 4 else None,
                }
                for sample in range(7)
            ],
        }
        for number, row in enumerate(rows[:count])
    ]


def outputs(folder: Path) -> Outputs:
    given = write_table(folder / "candidates.parquet", CandidatesRow, generated(6))
    model = fixed_model(folder / "backward", "reference", "source", 2)
    outputs: Outputs = {}
    for name, bound in (("all", None), ("pruned", 2.2)):
        config = {"prune_above": bound, "precision": "fp32"}
        output = folder / f"{name}.parquet"
        score.main(arguments(config, candidates=given, model=model, output=output, device="cpu"))
        outputs[name] = table(output, ScoredRow)
        outputs[f"{name}_record"] = counts(output.with_suffix(".json"))
    return outputs
