import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]
# The message comes while the main thread holds the scheduler's lock, and with it, this time, the
# signal.
SNAKEFILE = """
import logging, os, signal
from workflow_scripts.core.termination import hear_every_sigterm
hear_every_sigterm()

class Terminating(logging.Handler):
    def emit(self, record):
        if str(getattr(record, "event", None)) == "job_finished":
            assert workflow.scheduler._lock.locked()
            os.kill(os.getpid(), signal.SIGTERM)

logging.getLogger("snakemake.logging").addHandler(Terminating())

rule all:
    input: "second"

rule first:
    output: "first"
    shell: "touch {output}"

rule second:
    input: "first"
    output: "second"
    shell: "touch {output}"
"""
PATIENCE_SECONDS = 120


def test_sigterm_that_comes_while_a_job_is_dealt_with_ends_snakemake(tmp_path):
    (tmp_path / "Snakefile").write_text(SNAKEFILE, encoding="utf-8")
    process = subprocess.Popen(
        [sys.executable, "-m", "snakemake", "--cores", "1"],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(ROOT)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        output, _ = process.communicate(timeout=PATIENCE_SECONDS)
    finally:
        process.kill()
    assert process.returncode == 1, output
    assert (tmp_path / "first").exists()
    assert not (tmp_path / "second").exists()
    assert not list((tmp_path / ".snakemake").glob("locks/*"))
