"""A fixed input of the stage `dual_filter`, and what it makes of it."""

from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, pairs, table, write_table
from tests.golden.models import fixed_model
from workflow_scripts.core.files.rows import PairRow, PairScoreRow
from workflow_scripts.stages.dual_filter import keep
from workflow_scripts.stages.dual_filter import pair_scores as dual_filter_scores


def outputs(folder: Path) -> Outputs:
    shard = write_table(folder / "0000.parquet", PairRow, [*pairs("train", 5), *pairs("web", 20)])
    dual_filter_scores.main(
        arguments(
            {"skip": ["train"], "precision": "fp32"},
            pairs=shard,
            forward=fixed_model(folder / "forward", "source", "reference", 1),
            backward=fixed_model(folder / "backward", "reference", "source", 2),
            output=folder / "scores.parquet",
            device="cpu",
        )
    )
    scored = table(folder / "scores.parquet", PairScoreRow)
    fixed = [
        {"id": row["id"], "forward_nll": index / 8, "backward_nll": 2 - index / 10}
        for index, row in enumerate(scored)
    ]
    given = write_table(folder / "fixed.parquet", PairScoreRow, fixed)
    outputs: Outputs = {"scores": scored, "scores_record": counts(folder / "scores.json")}
    for method, bound in (("sum", {"max_sum": 2.2}), ("cross_entropy", {"min_score": 0.2})):
        config = {"method": method, "max_sum": 3.5, **bound, "trusted": ["train"]}
        output = folder / f"{method}.parquet"
        keep.main(arguments(config, pairs=shard, scores=given, output=output))
        outputs[method] = table(output, PairRow)
        outputs[f"{method}_record"] = counts(output.with_suffix(".json"))
    return outputs
