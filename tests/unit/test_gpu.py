"""`benchmarks/gpu.sh`, which hardly any machine can run as it is meant."""

import argparse
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from benchmarks import gpu
from tests.e2e.micro import write_bitext
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.catalogue import validate
from workflow_scripts.stages.train.arguments import complete_block, device_arguments


@pytest.mark.rest
def test_parts_run_on_a_cpu():
    parts = ["versions", "speed", "judge"]
    options = ["--device", "cpu", "--tiny", "--seconds", "3600", "--only", *parts]
    done = subprocess.run(
        [gpu.ROOT / "benchmarks" / "gpu.sh", *options],
        env=os.environ | {"PYTHON": sys.executable},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout
    lines = done.stdout.splitlines()
    assert [line.split(":")[0] for line in lines if ": ok, " in line] == parts
    assert [line.split(", ")[1][:7] for line in lines if " tokens/s, " in line] == [
        *("samplin", "beam 12", "scoring")
    ]


def test_what_fails_says_so(tmp_path: Path, capsys: pytest.CaptureFixture):
    options = argparse.Namespace(device="cpu", tiny=True, seconds=3600)
    end = time.monotonic() + 3600
    sleeper = tmp_path / "sleeper"
    sleeper.write_text("#!/bin/sh\nexec sleep 3600\n")
    sleeper.chmod(0o755)
    assert not gpu.run_part(shutil.which("false"), "judge", options, tmp_path, end)
    assert gpu.run_part(shutil.which("true"), "judge", options, tmp_path, end)
    assert not gpu.run_part(str(sleeper), "judge", options, tmp_path, time.monotonic())
    lines = [line for line in capsys.readouterr().out.splitlines() if line.startswith("judge")]
    assert lines == ["judge: FAILED (1)", "judge: ok, 0 s", "judge: FAILED (took more than 0 s)"]


def test_the_trained_model_and_the_run_are_valid_on_cuda(tmp_path: Path):
    block = complete_block("forward", gpu.train_block(tiny=False))
    assert device_arguments(block, "cuda") == ["--amp"]
    config = tmp_path / "config.json"
    run = gpu.run_config(write_bitext(tmp_path / "data"), "cuda")
    config.write_text(json.dumps(run), encoding="utf-8")
    validate(resolve([config], []))


def test_what_is_carried_is_pinned_with_all_that_it_needs():
    found = gpu.needed()
    # Snakemake asks for the first, that for the second, and that for the third.
    assert found.keys() >= {*gpu.CARRIED, "nbformat", "jsonschema", "referencing", "sockeye"}
    assert not found.keys() & {*gpu.LEFT_OUT, "torch", "transformers", "spacy"}
    assert all("--hash=sha256:" in entry for entry in found.values())
