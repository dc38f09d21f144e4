"""Training on MXNet as a choice: a rule finds the interpreter of its environment."""

import json
import sys

import pytest

from tests.e2e.micro import SIZES, merged

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

# What Snakemake asks of conda. An environment that it makes starts a Python that is there.
CONDA = """#!/bin/sh
case "$*" in
--version) echo conda 24.7.1 ;;
*info*) echo '{{"conda_prefix": "{prefix}", "root_prefix": "{prefix}", "platform": "linux-64"}}' ;;
config*) echo '{{"get": {{"channel_priority": "strict"}}}}' ;;
*create*)
    python={ours}
    while [ $# -gt 0 ]; do
        case "$1" in
        --file) ! grep -q mxnet== "$2" || python={mxnet} ;;
        --prefix) made="$2/bin" ;;
        esac
        shift
    done
    mkdir -p "$made"
    printf '#!/bin/sh\\nexec %s "$@"\\n' "$python" >"$made/python"
    ln -s /bin/true "$made/pip"
    chmod +x "$made/python"
esac
"""


@pytest.fixture
def on_mxnet(finished, copy_of):
    pipeline = copy_of(finished)
    few = {"max_updates": 30, "checkpoint_updates": 15}
    change = {"train": {"backend": "mxnet"}, "models": {"micro": few}}
    return pipeline.with_config(merged(pipeline.config, change))


def test_a_rule_finds_the_interpreter_that_the_training_starts(on_mxnet, mxnet_python, tmp_path):
    folder = tmp_path / "conda" / "bin"
    folder.mkdir(parents=True)
    paths = {"prefix": folder.parent, "ours": sys.executable, "mxnet": mxnet_python}
    (folder / "conda").write_text(CONDA.format(**paths), encoding="utf-8")
    (folder / "conda").chmod(0o755)
    (folder / "activate").write_text('PATH="$1/bin:$PATH"', encoding="utf-8")
    on_mxnet.environment["PATH"] = f"{folder}:{on_mxnet.environment['PATH']}"
    assert on_mxnet.planned("train")["train_mxnet"] == 1
    on_mxnet.run("train", "--use-conda")
    log = on_mxnet.folder / "results" / "logs" / "train" / "mxnet.log"
    assert json.loads(log.read_text(encoding="utf-8"))["python"] == mxnet_python
    for role in ("forward", "backward"):
        metrics = json.loads((on_mxnet.unit(f"train.{role}") / "metrics.json").read_text("utf-8"))
        assert metrics["updates"] == 30
        assert metrics["bleu"]["sentences"] == SIZES["test"]
    assert on_mxnet.planned("train") == {}


def test_without_conda_or_an_interpreter_it_says_what_to_do(on_mxnet):
    said = on_mxnet.fail("train")
    assert "has no Sockeye 2 on MXNet (No module named 'mxnet'): give --use-conda" in said


def test_the_users_own_interpreter_needs_no_rule(on_mxnet):
    own = {"compute": {"mxnet_python": "python3.8"}}
    planned = on_mxnet.with_config(merged(on_mxnet.config, own)).planned("train")
    assert planned["train_model"] == 2
    assert "train_mxnet" not in planned
