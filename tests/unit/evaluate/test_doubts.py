import json

import pytest

from tests.unit import made_up_run as made
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.parquet import TableWriter
from workflow_scripts.core.files.rows import ReferenceScoreRow
from workflow_scripts.stages.evaluate import bounds
from workflow_scripts.stages.evaluate.doubts import doubts


def own(median):
    quantiles = [{"quantile": 0.25, "max_sum": 9.0}, {"quantile": 0.5, "max_sum": median}]
    return {"references": 1000, "unreadable": 600, "quantiles": quantiles}


@pytest.mark.parametrize(
    ("median", "text"),
    [(6.25, "half of the references have a sum of NLLs above 6.25"), (None, "600 of the 1,000")],
)
def test_poor_scores_of_the_references_are_told(median, text):
    (found,) = doubts(own(median))
    assert text in found


def test_usual_scores_are_not():
    assert doubts(own(2.0)) == doubts(own(6.0)) == []


@pytest.mark.parametrize(("total", "warned"), [(2.0, False), (7.5, True)])
def test_the_log_of_the_bounds_tells(made_up_run, tmp_path, capsys, total, warned):
    nlls = {"forward_nll": 1.0, "backward_nll": total - 1.0, "sum": total}
    for path in (tmp_path / "0000.parquet", tmp_path / "0001.parquet"):
        with TableWriter(path, ReferenceScoreRow) as writer:
            writer.write({"id": "c:1", "corpus": "c"} | nlls)
        write_record(path, 1, 1, {})
    folders = [made_up_run.folder(stage, "beam") for stage in ("score", "select")]
    bounds.main(
        [
            *("--config", json.dumps({"groups": made.GROUPS, "seed": 1}), "--shards", "2"),
            *("--scored", str(folders[0]), "--threshold", str(folders[1] / "threshold.json")),
            *("--references", str(tmp_path), "--output", str(tmp_path / "bounds.json")),
        ]
    )
    assert ("warning: half of the references" in capsys.readouterr().err) == warned
