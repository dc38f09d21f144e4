import json

import pytest

from tests.unit.estimate.test_predict import BACKWARD, FORWARD, STARTS, TEXT
from tests.unit.nmt.marian_files import write_binary
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.resolve import resolve
from workflow_scripts.estimate import __main__ as estimate
from workflow_scripts.estimate.predict import Speeds
from workflow_scripts.stages import run_layout


@pytest.fixture(autouse=True)
def calibrated(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    networks = {"forward": FORWARD, "backward": BACKWARD}
    monkeypatch.setattr(estimate, "calibrate", lambda *_: Speeds(TEXT, networks, STARTS))


def test_table_ends_with_the_sums(capsys):
    estimate.main(["--config", "compute={device: cpu}"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith("1,000 references; networks measured on cpu")
    rows = [line.split() for line in lines[5:]]
    assert rows[0][0] == "corpus.testbed_test"
    name, jobs, hours, *_ = rows[-1]
    assert name == "all"
    assert int(jobs) == sum(int(row[1]) for row in rows[:-1])
    assert float(hours) == pytest.approx(sum(float(row[2]) for row in rows[:-1]), abs=0.02)


def test_json_has_lines_and_units(capsys, tmp_path):
    recipe = tmp_path / "recipe.yaml"
    recipe.write_text("generate: {limit: 10}", encoding="utf-8")
    estimate.main(["--json", "--configfile", str(recipe), "--lines", "testbed=1000"])
    found = json.loads(capsys.readouterr().out)
    assert found["lines"]["testbed"] == 1000
    units = {unit["unit"]: unit for unit in found["units"]}
    assert units["generate.parabank2"]["cpu"] == pytest.approx(10 * 150 * 12 * 5e-5 + 9)


def test_corpora_with_given_lines_need_not_be_here(capsys, tmp_path):
    recipe = tmp_path / "recipe.yaml"
    block = "{source: absent.cs, reference: absent.en}"
    recipe.write_text(
        f"run: {{corpora: [testbed, web]}}\ncorpora: {{web: {block}}}", encoding="utf-8"
    )
    with pytest.raises(InputError, match=r"corpora\.web\.source: absent\.cs: No such file"):
        estimate.main(["--configfile", str(recipe)])
    estimate.main(["--json", "--configfile", str(recipe), "--lines", "web=1000"])
    assert json.loads(capsys.readouterr().out)["lines"]["web"] == 1000


def test_lines_are_given_by_corpus():
    with pytest.raises(InputError, match="--lines testbed: give CORPUS=N"):
        estimate.main(["--lines", "testbed"])


def test_shapes_follow_the_direction_of_each_model():
    layout = run_layout(resolve([], []))
    found = estimate.shapes(layout, TEXT)
    assert found["forward"][1:] == (2000, 1500, 9.0, 11.0)
    assert found["backward"][1:] == (1500, 2000, 11.0, 9.0)


def finished(config, forward, backward):
    config["models"] |= {"one": forward, "other": backward}
    config["train"] |= {"dev": None, "test": None}
    config["train"]["models"] |= {"forward": "one", "backward": "other"}
    return run_layout(config)


def test_finished_models_that_are_here_are_measured_and_others_are_told(capsys, tmp_path):
    write_binary(tmp_path / "own")
    package = {"package": "no_such_package", "version": "1", "path": "x"}
    layout = finished(resolve([], []), {"folder": str(tmp_path / "own")}, package)
    (tmp_path / "work").mkdir()
    found = estimate.finished_models(layout, tmp_path / "work")
    assert list(found) == ["forward"]
    assert found["forward"].folder.joinpath("model.xxyy.bin").is_file()
    assert estimate.finished_shape("forward", found["forward"], TEXT)[1:] == (20, 20, 9.0, 11.0)
    told = capsys.readouterr().err
    assert "backward: " in told
    assert "no_such_package is not installed" in told
    assert told.endswith("It counts as a base Transformer.\n")


def test_a_job_of_a_network_takes_longer_to_start():
    seconds = estimate.start_seconds()
    assert 0.05 < seconds["text"] < seconds["network"] < 60
