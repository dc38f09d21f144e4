from workflow_scripts.plan.run.tools import tools_of
from workflow_scripts.stages.release.inputs import stages

ROWS = {"select": "references", "clean": "pairs"}


def manifest(**changes):
    rows = {"rows_in": 0, "rows_out": 0, "rejected": {}}
    extra = {"candidates": {"kept": 2, "lost": 1}, "share": 0.5, "done": True}
    record = rows | {"extra": extra}
    found = {
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
    return found | changes


def test_stages():
    first, second = stages([manifest(), manifest(stage="clean", instance=None)], ROWS)
    assert (first["label"], first["rows"]) == ("select / parabank2", "references")
    assert (second["label"], second["rows"]) == ("clean", "pairs")
    assert list(first["rejected"].items()) == [("c", 4), ("a", 1), ("b", 1)]
    # Counts of all parts are added up; other figures are none.
    assert first["counts"] == {"candidates / kept": 4, "candidates / lost": 2}


def test_tools():
    given = [manifest(), manifest(tools={"numpy": ["2.0"], "arrow": ["21"]})]
    assert list(tools_of(stages(given, ROWS)).items()) == [
        ("arrow", ["21"]),
        ("numpy", ["1.26", "2.0"]),
    ]
