import pytest

from workflow_scripts.core.atomic import write_json
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import write_record
from workflow_scripts.release.inputs import paraphrase_count, read_measures, stages, tools


def write_manifest(path, **changes):
    rows = {"rows_in": 0, "rows_out": 0, "rejected": {}}
    extra = {"candidates": {"kept": 2, "lost": 1}, "share": 0.5, "done": True}
    record = rows | {"extra": extra}
    manifest = {
        "stage": "select",
        "instance": "parabank2",
        "name": "select/parabank2/v1-a",
        "config": {"best": 5},
        "rows_in": 10,
        "rows_out": 4,
        "rejected": {"b": 1, "a": 1, "c": 4},
        "parts": {"0000": record, "0001": record, "0002": rows},
        "tools": {"numpy": ["1.26"]},
    }
    write_json(path, manifest | changes)
    return path


def test_stages(tmp_path):
    paths = [
        write_manifest(tmp_path / "b.json"),
        write_manifest(tmp_path / "a.json", stage="clean", instance=None),
    ]
    first, second = stages(paths)
    assert (first["label"], first["rows"]) == ("select / parabank2", "references")
    assert (second["label"], second["rows"]) == ("clean", "pairs")
    assert list(first["rejected"].items()) == [("c", 4), ("a", 1), ("b", 1)]
    # Counts of all parts are added up; other figures are none.
    assert first["counts"] == {"candidates / kept": 4, "candidates / lost": 2}


def test_tools(tmp_path):
    paths = [
        write_manifest(tmp_path / "a.json"),
        write_manifest(tmp_path / "b.json", tools={"numpy": ["2.0"], "arrow": ["21"]}),
    ]
    assert list(tools(stages(paths)).items()) == [("arrow", ["21"]), ("numpy", ["1.26", "2.0"])]


def test_paraphrase_count():
    assert paraphrase_count({"references_by_paraphrases": [7, 3, 0, 2]}) == 9


def test_damaged_measures(tmp_path):
    path = tmp_path / "measures.json"
    with pytest.raises(InputError, match=r"measures\.json has no record"):
        read_measures(path)
    write_json(path, {"groups": {}})
    write_record(tmp_path / "evaluation", 0, 0, {}, files=[path])
    assert read_measures(path) == {"groups": {}}
    write_json(path, {"groups": {"all": {}}})
    with pytest.raises(InputError, match=r"measures\.json differs"):
        read_measures(path)
