"""What the user sees on the terminal when the configuration or the input is wrong."""

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline

pytestmark = pytest.mark.e2e


@pytest.fixture
def data(tmp_path):
    return micro.write_bitext(tmp_path / "data")


@pytest.fixture
def pipeline(data, tmp_path):
    return Pipeline(tmp_path / "work", micro.config(data))


def changed(pipeline, changes):
    return pipeline.with_config(micro.merged(pipeline.config, changes))


def unharmed(output: str) -> str:
    """Return the output, in which no Python of ours shows."""
    assert "Traceback" not in output
    assert "workflow_scripts/" not in output
    return output


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"systems": {"micro": {"select": {"kepe": {"quantile": 0.5}}}}},
            "systems.micro.select: unknown key 'kepe'; did you mean 'keep'?",
        ),
        ({"shard": {"early": 2}}, "the top level: unknown key 'shard'; did you mean 'shards'?"),
    ],
)
def test_wrong_configuration_is_named_by_its_key(pipeline, changes, expected):
    output = unharmed(changed(pipeline, changes).fail())
    assert expected in output
    assert not (pipeline.folder / "results").exists()


@pytest.mark.rest
def test_unequal_line_counts_stop_the_run_with_both_counts(pipeline, data):
    lines = (data / "train.en").read_text(encoding="utf-8").splitlines()
    micro.write_lines(data / "train.en", lines[:-3])
    output = pipeline.fail("corpus")
    assert "Traceback" not in output
    lines = output.splitlines()
    message = next(line for line in lines if line.startswith("error: "))
    # Once more right before Snakemake's last lines, which name no cause.
    end = lines.index("1 job failed:")
    assert lines[end + 1] == f"error: corpus_import train: {message.removeprefix('error: ')}"
    assert lines[end + 2].startswith("  log: results/logs/corpus/train/")
    assert len(lines) - end < 9
    assert f"{data}/train.cs" in message and f"{data}/train.en" in message
    assert "420" in message and "417" in message
    assert not list((pipeline.folder / "results" / "corpus" / "train").rglob("*.parquet"))
