import pytest

from tests.golden.inputs import arguments
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.stages.embed import evaluation
from workflow_scripts.testbed.graded import graded_pairs


def collect(folder, **changes):
    config = {"data": [], "testbed": None, "language": "en", "seed": 1} | changes
    output = folder / "evaluation.parquet"
    evaluation.main(arguments(config, output=output))
    return output


def test_data_sets_come_back_as_they_were_read(tmp_path):
    (tmp_path / "a.tsv").write_text("1\tx\ty\n\tz\tz\n2.5\tv\tw\n", encoding="utf-8")
    output = collect(tmp_path, data=[str(tmp_path / "a.tsv")], testbed={"first": 5, "count": 4})
    own, simulated = evaluation.read_collected(output)
    assert (own.name, own.scores, own.pairs) == ("a", (1.0, 2.5), (("x", "y"), ("v", "w")))
    rows = list(graded_pairs(1, 5, 4))
    assert simulated.name == "testbed"
    assert [(s, *pair) for s, pair in zip(simulated.scores, simulated.pairs, strict=True)] == rows
    record = read_record(output)
    assert (record["rows_in"], record["rows_out"]) == (7, 6)
    assert record["rejected"] == {"without_score": 1}
    assert record["extra"]["pairs"] == {"a": 2, "testbed": 4}
    assert "sick.test" in record["extra"]["missing"]


def test_data_sets_for_development_must_be_there_and_leave_others(tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.tsv").write_text("1\tx\ty\n2.5\tv\tw\n", encoding="utf-8")
    data = [str(tmp_path / "a.tsv"), str(tmp_path / "b.tsv")]
    output = collect(tmp_path, data=data, development=["a"])
    assert [each.name for each in evaluation.read_collected(output)] == ["a", "b"]
    with pytest.raises(InputError, match=r"development: .* called 2016; there are: a, b"):
        collect(tmp_path, data=data, development=["a", "2016"])
    with pytest.raises(InputError, match=r"development: .*none is left to report"):
        collect(tmp_path, data=data, development=["a", "b"])


def test_nothing_to_test_on_is_an_empty_table(tmp_path):
    assert evaluation.read_collected(collect(tmp_path)) == []
