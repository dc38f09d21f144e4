import json

import pytest

from tests.configs import ROOT, run_on_testbed
from tests.unit.estimate.test_predict import BACKWARD, FORWARD, STARTS, TEXT
from workflow_scripts.core.errors import InputError
from workflow_scripts.estimate import __main__ as estimate
from workflow_scripts.estimate.predict import Speeds
from workflow_scripts.stages import run_layout

TESTBED = str(ROOT / "recipes" / "testbed.yaml")


@pytest.fixture(autouse=True)
def calibrated(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    networks = {"forward": FORWARD, "backward": BACKWARD}
    monkeypatch.setattr(estimate, "calibrate", lambda *_: Speeds(TEXT, networks, STARTS))


def test_table_ends_with_the_sums(capsys):
    estimate.main(["--configfile", TESTBED, "--config", "compute={device: cpu}"])
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
    estimate.main(["--json", "--configfile", TESTBED, str(recipe), "--lines", "testbed=1000"])
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
        estimate.main(["--configfile", TESTBED, str(recipe)])
    estimate.main(["--json", "--configfile", TESTBED, str(recipe), "--lines", "web=1000"])
    assert json.loads(capsys.readouterr().out)["lines"]["web"] == 1000


def test_lines_are_given_by_corpus():
    with pytest.raises(InputError, match="--lines testbed: give CORPUS=N"):
        estimate.main(["--configfile", TESTBED, "--lines", "testbed"])


def test_shapes_follow_the_direction_of_each_model():
    layout = run_layout(run_on_testbed())
    found = estimate.shapes(layout, TEXT)
    assert found["forward"][1:] == (2000, 1500, 9.0, 11.0)
    assert found["backward"][1:] == (1500, 2000, 11.0, 9.0)


def test_a_job_of_a_network_takes_longer_to_start():
    seconds = estimate.start_seconds()
    assert 0.05 < seconds["text"] < seconds["network"] < 60
