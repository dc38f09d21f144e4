import pytest

from tests.golden.inputs import arguments
from tests.tables import write_table
from tests.unit import made_up_run as made
from workflow_scripts.core.files.rows import ReferenceScoreRow
from workflow_scripts.stages.evaluate import bounds
from workflow_scripts.stages.evaluate.doubts import doubts


def own(median):
    quantiles = [{"quantile": 0.25, "max_sum": 9.0}, {"quantile": 0.5, "max_sum": median}]
    return {"references": 1000, "unreadable": 600, "quantiles": quantiles}


@pytest.mark.parametrize(
    ("median", "texts"),
    [
        (6.25, ["half of the references have a sum of NLLs above 6.25"]),
        (None, ["600 of the 1,000"]),
        (2.0, []),
        (6.0, []),
    ],
)
def test_poor_scores_of_the_references_are_told_and_usual_ones_are_not(median, texts):
    for found, text in zip(doubts(own(median)), texts, strict=True):
        assert text in found


@pytest.mark.parametrize(("total", "warned"), [(2.0, False), (7.5, True)])
def test_the_log_of_the_bounds_tells(made_up_run, tmp_path, capsys, total, warned):
    row = {"id": "c:1", "corpus": "c", "forward_nll": 1.0, "backward_nll": total - 1.0}
    for name in ("0000", "0001"):
        write_table(tmp_path / f"{name}.parquet", ReferenceScoreRow, [row | {"sum": total}])
    scored, selected = (made_up_run.folder(stage, "beam") for stage in ("score", "select"))
    files = {"scored": scored, "threshold": selected / "threshold.json", "references": tmp_path}
    config = {"groups": made.GROUPS, "seed": 1}
    bounds.main(arguments(config, shards=2, **files, output=tmp_path / "bounds.json"))
    assert ("warning: half of the references" in capsys.readouterr().err) == warned
