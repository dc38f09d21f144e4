import json
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch

from tests.configs import ROOT, run_on_testbed
from tests.unit.estimate.test_predict import BACKWARD, FORWARD, STARTS, TEXT
from tests.unit.nmt.marian_files import write_binary
from tests.unit.nmt.nllb_files import write_nllb
from workflow_scripts.commands.estimate import __main__ as estimate
from workflow_scripts.commands.estimate.predict import Speeds
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.catalogue import run_layout

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
    assert lines[2].startswith("Not measured: filter, embed. Each")
    *table, blank, line = lines[7:]
    assert (blank, line) == (
        "",
        "On this machine int8 is the fastest, bf16 1.5 and fp32 2.0 times as slow: "
        "compute: {precision: int8}",
    )
    rows = [line.split() for line in table]
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
    assert found["unmeasured"] == ["filter", "embed"]
    assert found["precisions"] == FORWARD.precisions
    units = {unit["unit"]: unit for unit in found["units"]}
    assert units["generate.parabank2"]["cpu"] == pytest.approx(10 * 150 * 12 * 5e-5 + 9)


def test_the_demo_is_found_in_whatever_folder(capsys, monkeypatch):
    """As `paraloom run` finds it, whose recipe is config.yaml, too."""
    monkeypatch.setattr(estimate, "Predictor", Mock())
    monkeypatch.setattr(estimate, "describe", lambda *_: "")
    found = Mock(return_value={})
    monkeypatch.setattr("workflow_scripts.commands.estimate.text_speed.count_lines", found)
    estimate.main([])
    assert found.call_args.args[0].config["data"] == str(ROOT)
    estimate.main(["--config", f"data={ROOT / 'docs' / '..'}"])
    assert found.call_args.args[0].config["data"] == f"{ROOT}/docs/.."


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
    for given in ("testbed", "testbed=²"):
        with pytest.raises(InputError, match=f"--lines {given}: give CORPUS=N"):
            estimate.main(["--configfile", TESTBED, "--lines", given])
    with pytest.raises(InputError, match="--lines: testbed stands there twice"):
        estimate.main(["--configfile", TESTBED, "--lines", "testbed=1", "testbed=2"])


def test_shapes_follow_the_direction_of_each_model():
    layout = run_layout(run_on_testbed())
    found = estimate.shapes(layout, TEXT)
    assert found["forward"][1:] == (2000, 1500, 9.0, 11.0)
    assert found["backward"][1:] == (1500, 2000, 11.0, 9.0)


def test_the_model_of_a_rewriter_reads_and_writes_references():
    config = run_on_testbed()
    config["run"]["rewriters"] = ["plain"]
    config["rewriters"] = {
        "plain": {"training_sets": ["all"], "model": "testbed_scoring", "vocab_size": 700}
    }
    layout = run_layout(config)
    found = estimate.shapes(layout, TEXT)
    assert found["rewriter_plain"] == (config["models"]["testbed_scoring"], 700, 700, 11.0, 11.0)
    assert estimate.block_name(layout, "rewriter_plain") == "testbed_scoring"
    config["rewriters"]["plain"] = {"model": "student_pt_en"}
    found = estimate.shapes(run_layout(config), TEXT)["rewriter_plain"]
    assert found == (estimate._FINISHED_MODEL, 1500, 1500, 11.0, 11.0)
    assert estimate.block_name(layout, "backward") == "testbed_scoring"
    assert estimate.block_name(layout, "forward") == "testbed"


def finished(config, forward, backward):
    config["models"] |= {"one": forward, "other": backward}
    config["train"] |= {"dev": None, "test": None}
    config["train"]["models"] |= {"forward": "one", "backward": "other"}
    return run_layout(config)


@pytest.mark.slow
def test_one_folder_there_and_back_counts_twice_with_its_own_bytes(monkeypatch, tmp_path):
    monkeypatch.undo()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("workflow_scripts.commands.estimate.text_speed.measure", lambda *_: TEXT)
    monkeypatch.setattr(estimate, "_BUDGET", 0.2)
    folder = write_nllb(tmp_path / "nllb", ["The cat sees a dog."])
    there = {"folder": str(folder), "source": "ces_Latn", "target": "eng_Latn"}
    back = {"folder": str(folder), "source": "eng_Latn", "target": "ces_Latn"}
    speeds = estimate.calibrate(finished(run_on_testbed(), there, back), torch.device("cpu"))
    own = sum(path.stat().st_size for path in folder.iterdir())
    tokenizer = (folder / "tokenizer.json").stat().st_size
    for role in ("forward", "backward"):
        stored = speeds.networks[role].stored
        assert own + 2 * tokenizer < stored < own + 2 * tokenizer + 100  # with paraloom.json


@pytest.mark.slow
def test_finished_models_that_are_here_are_measured_and_others_are_told(capsys, tmp_path):
    write_binary(tmp_path / "own")
    package = {"package": "no_such_package", "version": "1", "path": "x"}
    layout = finished(run_on_testbed(), {"folder": str(tmp_path / "own")}, package)
    (tmp_path / "work").mkdir()
    found = estimate.finished_models(layout, tmp_path / "work")
    assert list(found) == ["forward"]
    assert found["forward"].folder.joinpath("model.xxyy.bin").is_file()
    assert estimate.finished_shape("forward", found["forward"], TEXT)[1:] == (20, 20, 9.0, 11.0)
    told = capsys.readouterr().err
    assert "backward: " in told
    assert "no_such_package is not installed" in told
    assert "It counts as a base Transformer" in told


def test_a_model_that_is_not_downloaded_yet_is_told_as_such(capsys, tmp_path):
    download = {"url": ["https://example.org/model.pten.bin"], "sha256": ["0" * 64]}
    layout = finished(run_on_testbed(), download, download)
    (tmp_path / "work").mkdir()
    assert not estimate.finished_models(layout, tmp_path / "work")
    told = capsys.readouterr().err
    assert told.startswith("forward: ")
    assert "model.pten.bin is not here yet; the run fetches it. It counts" in told


@pytest.mark.rest
def test_a_job_of_a_network_takes_longer_to_start():
    seconds = estimate.start_seconds()
    assert 0.05 < seconds["text"] < seconds["network"] < 60


# What an installation of Snakemake alone is without.
_STAGES_NEED = ["torch", "sockeye", "sacremoses", "sentencepiece", "rapidfuzz", "sacrebleu"]


@pytest.mark.slow
def test_a_python_with_snakemake_alone_names_the_environment_that_has_the_rest(tmp_path):
    root = Path(__file__).resolve().parents[3]
    text = (
        f"import sys; sys.modules.update(dict.fromkeys({_STAGES_NEED}));"
        "from workflow_scripts.core.cli import run;"
        "from workflow_scripts.commands.estimate.__main__ import main; run(main)"
    )
    found = subprocess.run(
        [sys.executable, "-c", text, "--configfile", TESTBED],
        cwd=tmp_path,
        env={"PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )
    assert found.returncode == 2
    assert found.stderr.startswith(f"error: this Python ({sys.executable}) has no ")
    assert "Traceback" not in found.stderr
    (line,) = (line for line in found.stderr.splitlines() if "conda env create" in line)
    assert Path(line.split()[-1]).is_file()
    (line,) = (line for line in found.stderr.splitlines() if " bash " in line)
    assert Path(line.split()[-1]).is_file()


def test_what_is_measured_is_told_while_it_is_measured(capsys, monkeypatch):
    monkeypatch.undo()
    monkeypatch.setattr("workflow_scripts.commands.estimate.text_speed.measure", lambda *_: TEXT)
    monkeypatch.setattr("workflow_scripts.commands.estimate.networks.measure", lambda *_: FORWARD)
    monkeypatch.setattr(estimate, "start_seconds", lambda: STARTS)
    estimate.main(["--json", "--configfile", TESTBED])
    told = capsys.readouterr()
    lines = told.err.splitlines()
    assert all(line.startswith("estimate: ") for line in lines)
    assert [line.split()[1] for line in lines] == ["lines", "stages", "a", "a", "how"]
    assert "forward, models.testbed" in told.err and "backward, models.testbed_sc" in told.err
    json.loads(told.out)


def test_a_run_of_merges_is_refused():
    recipe = str(ROOT / "recipes" / "languages" / "merged.yaml")
    with pytest.raises(InputError, match="a run of merges has nothing to estimate"):
        estimate.main(["--configfile", recipe])
