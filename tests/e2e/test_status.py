"""The status of a run that Snakemake makes, fails in, and is killed in."""

import os
import signal
import time

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from workflow_scripts.commands.status.__main__ import look

pytestmark = [pytest.mark.e2e, pytest.mark.rest]


def states(pipeline):
    found = look(pipeline.folder / "runs" / "micro")
    return found, {state.name: state for state in found["states"]}


def test_failure_is_shown_although_snakemake_was_told_to_be_quiet(tmp_path):
    bitext = micro.write_bitext(tmp_path / "bitext")
    (bitext / "dev.cs").write_text("one line\n", encoding="utf-8")
    pipeline = Pipeline(tmp_path / "work", micro.config(bitext))
    pipeline.fail("corpus", "--quiet", "all", "--keep-going")
    found, units = states(pipeline)
    assert not found["alive"]
    assert (units["corpus.dev"].failed, units["corpus.dev"].done) == (3, 0)
    (error,) = units["corpus.dev"].errors
    assert "has 1 lines" in error["message"]
    assert (pipeline.folder / error["log"]).is_file()
    assert units["corpus.train"].finished
    assert units["corpus.train"].rows_out == micro.SIZES["train"]
    # Mended, the same command goes on, and the failure is gone.
    micro.write_pairs(bitext, "dev", micro.bitext()["dev"])
    pipeline.run("corpus", "--quiet", "all")
    _, units = states(pipeline)
    assert all(units[f"corpus.{name}"].finished for name in ("train", "held_out", "dev", "test"))
    assert not any(state.errors for state in units.values())


def test_training_is_seen_at_work_and_as_interrupted_when_snakemake_was_killed(tmp_path):
    bitext = micro.write_bitext(tmp_path / "bitext")
    endless = {"models": {"micro": {"max_updates": 100000}}}
    pipeline = Pipeline(tmp_path / "work", micro.merged(micro.config(bitext), endless))
    with pipeline.started("train", "--quiet", "all") as process:
        deadline = time.monotonic() + 120
        while True:
            assert time.monotonic() < deadline and process.poll() is None
            if (pipeline.folder / "runs" / "micro" / "config.yaml").exists():
                found, units = states(pipeline)
                if units["train.forward"].rate:
                    break
            time.sleep(0.5)
        assert found["alive"]
        assert units["train.forward"].running == 1
        assert units["train.forward"].unit == "updates"
        assert units["train.forward"].seconds_left > 0
        assert units["clean"].finished
        os.killpg(process.pid, signal.SIGKILL)
    for log in (pipeline.folder / "results" / "logs" / "train").rglob("*.log"):
        os.utime(log, (0, 0))  # as if a minute had passed
    found, units = states(pipeline)
    assert not found["alive"]
    assert found["interrupted"] >= 1
    assert (units["train.forward"].running, units["train.forward"].waiting) == (0, 1)
