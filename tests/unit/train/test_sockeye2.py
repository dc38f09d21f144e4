"""Training with Sockeye 2: with its interpreter where there is one, and without."""

import json
import subprocess
import sys

import pytest

from tests.unit.train.conftest import MICRO
from tests.unit.train.test_sockeye import SABOTAGED_LAUNCHER
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.stages.train import interpreter, process, work_folder
from workflow_scripts.stages.train.sockeye import main
from workflow_scripts.stages.train.sockeye2 import find_interpreter

# MXNet does not keep the state of its random numbers: with dropout a resumed training differs.
PLAIN = MICRO | {"dropout": 0.0}


def fake(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def says(version):
    return f'echo \'{{"python": "/bin/sh", "versions": {{"sockeye": "{version}"}}}}\''


@pytest.mark.parametrize(
    ("script", "complaint"),
    [
        (says("2.3.24"), None),
        (
            says("3.1.34"),
            r"/bin/sh has Sockeye 3\.1\.34, not 2\.3; give --use-conda, or set .*python",
        ),
        ("echo first >&2; echo 'error: no mxnet' >&2; exit 1", "^no mxnet$"),
        ("exit 1", "python says nothing"),
        ("echo 2.3.24", r"python says '2\.3\.24\\n'; give --use-conda"),
    ],
)
def test_an_interpreter_is_asked_what_it_has(tmp_path, script, complaint):
    python = fake(tmp_path / "python", script)
    if complaint is None:
        assert find_interpreter(python) == "/bin/sh"
    else:
        with pytest.raises(InputError, match=complaint):
            find_interpreter(python)


def test_a_library_that_mxnet_lacks_is_told_with_what_to_do(tmp_path):
    (tmp_path / "sockeye.py").write_text("__version__ = '2.3.24'")
    (tmp_path / "mxnet.py").write_text("raise OSError('libcudart.so.11.0: no such file')")
    command = [sys.executable, interpreter.__file__]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=False
    )
    assert done.returncode == 1
    assert "(libcudart.so.11.0: no such file): give --use-conda" in done.stderr
    assert "Traceback" not in done.stderr


def test_an_environment_that_is_gone_since_its_record_was_written_is_named(tmp_path):
    record = tmp_path / "interpreter.json"
    record.write_text('{"python": "/gone/python", "versions": {"sockeye": "2.3.24"}}')
    with pytest.raises(InputError, match=rf"^{record} names /gone/python, .*; delete {record}"):
        find_interpreter(str(record))


def test_a_training_without_the_interpreter_says_so(bitext, tmp_path):
    command = bitext.command(tmp_path / "model", MICRO, backend="mxnet")
    with pytest.raises(
        InputError, match=r"there is no .*nowhere to train on MXNet; give --use-conda"
    ):
        main([*command, "--mxnet-python", str(tmp_path / "nowhere")])
    assert not (tmp_path / "model" / "model.json").exists()


@pytest.fixture(scope="module")
def on_mxnet(bitext, mxnet_python, tmp_path_factory):
    output = tmp_path_factory.mktemp("mxnet") / "model"
    main([*bitext.command(output, PLAIN, backend="mxnet"), "--mxnet-python", mxnet_python])
    return output


def test_a_model_trained_on_mxnet_is_published_as_one_of_sockeye_3(on_mxnet):
    record = verify(on_mxnet / "model")
    assert {"config", "params.best", "args.yaml", "source.model"} <= set(record["files"])
    metrics = json.loads((on_mxnet / "metrics.json").read_text())
    assert metrics["updates"] == PLAIN["max_updates"]
    # Untrained, it would be near the size of the vocabulary.
    assert 1 < metrics["validation_perplexity"] < 20
    assert (on_mxnet / "version").read_text().startswith("3.")
    assert load_model(on_mxnet, "cpu").network.sizes.size == PLAIN["size"]
    checkpoints = PLAIN["max_updates"] // PLAIN["checkpoint_updates"]
    assert len((on_mxnet / "learning_curve.tsv").read_text().splitlines()) == checkpoints + 1


def test_nothing_published_knows_where_it_was_trained(on_mxnet):
    for name in verify(on_mxnet / "model")["files"]:
        data = (on_mxnet / name).read_bytes()
        assert str(on_mxnet.parent).encode() not in data
        assert b"site-packages" not in data


def test_it_goes_on_from_a_kill_inside_a_checkpoint(
    bitext, on_mxnet, mxnet_python, tmp_path, monkeypatch
):
    output = tmp_path / "model"
    command = bitext.command(output, PLAIN, backend="mxnet")
    script = SABOTAGED_LAUNCHER.replace(
        "training.EarlyStoppingTrainer", "training.GluonEarlyStoppingTrainer"
    ).format(owner="trainer", function="_save_lr_scheduler", call=4, before="pass")
    with monkeypatch.context() as patch:
        patch.setattr(process, "LAUNCHER", ["-c", script])
        with pytest.raises(InputError, match="was killed"):
            main([*command, "--mxnet-python", mxnet_python])
    assert any(path.name.startswith("snapshot") for path in (output / "work").iterdir())
    main([*command, "--mxnet-python", mxnet_python])
    assert verify(output / "model")["files"] == verify(on_mxnet / "model")["files"]
    assert not (output / "work" / work_folder.SOCKEYE2_MODEL).exists()
