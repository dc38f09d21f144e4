import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.report.finished_run import finished_run


def read(*units, rows=None):
    return finished_run({}, units, rows)


def write_manifest(folder, stage, instance, *parts):
    rows = {"rows_in": 0, "rows_out": 0, "rejected": {}}
    manifest = {"stage": stage, "instance": instance, **rows, "parts": dict.fromkeys(parts, rows)}
    write_json(folder / "manifest.json", manifest)
    return folder


def test_units_keep_their_order(tmp_path):
    run = read(f"select/b={tmp_path}/b", f"clean={tmp_path}/clean", f"select/a={tmp_path}/a=1")
    assert run.instances("select") == ["b", "a"]
    with pytest.raises(InputError, match="names clean without an instance; write clean/INSTANCE="):
        run.instances("clean")
    assert run.instances("embed") == []
    assert run.folder("clean") == tmp_path / "clean"
    assert run.folder("select", "a") == tmp_path / "a=1"


def test_manifests_are_described_of_stages_whose_rows_are_known(tmp_path):
    write_manifest(tmp_path / "a", "select", "a", "0000", "0001", "thresholding")
    write_manifest(tmp_path / "b", "filter", "b")
    units = (f"select/a={tmp_path}/a", f"filter/b={tmp_path}/b")
    run = read(*units, rows={"select": "references"})
    assert [each["stage"] for each in run.described()] == ["select"]
    assert run.manifest("filter", "b")["stage"] == "filter"
    shards = [tmp_path / "a" / f"000{shard}.parquet" for shard in (0, 1)]
    assert run.shards("select", "a") == shards


def test_bad_units(tmp_path):
    with pytest.raises(InputError, match="'select' is not of the form name=value"):
        read("select")
    with pytest.raises(InputError, match="--units names select/a twice"):
        read("select/a=x", "select/a=y")
    with pytest.raises(InputError, match="no folder of select/b is named"):
        read("select/a=x").folder("select", "b")
    write_manifest(tmp_path, "select", "a")
    with pytest.raises(InputError, match="not the manifest of select/b; correct --units"):
        read(f"select/b={tmp_path}").manifest("select", "b")
    with pytest.raises(InputError, match="no readable manifest"):
        read(f"select/b={tmp_path}/nowhere").manifest("select", "b")
