import subprocess

import pytest
import torch

from tests.unit.nmt.folders import write_model
from tests.unit.train.mxnet_files import downgrade
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.loaders.sockeye3 import read_tree
from workflow_scripts.nmt.scoring import score
from workflow_scripts.stages.train.sockeye2_model import convert, main


def weights(folder):
    return torch.load(folder / "params.best", weights_only=True)


@pytest.fixture
def old(tmp_path):
    return downgrade(write_model(tmp_path / "three"), tmp_path / "two")


@pytest.mark.parametrize("tying", ["none", "trg_softmax", "src_trg", "src_trg_softmax"])
def test_a_model_that_was_downgraded_comes_back_the_same(tmp_path, tying):
    original = write_model(tmp_path / "three", weight_tying=tying)
    main(["--model", str(downgrade(original, tmp_path / "two")), "--output", str(tmp_path / "new")])
    before, after = weights(original), weights(tmp_path / "new")
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    # Shared matrices are one in the file too.
    assert len({t.data_ptr() for t in after.values()}) == len(
        {t.data_ptr() for t in before.values()}
    )
    assert read_tree(tmp_path / "new" / "config") == read_tree(original / "config")
    assert (tmp_path / "new" / "version").read_text().startswith("3.")


def test_the_scores_are_those_of_sockeye_2(tmp_path, old, mxnet_python):
    pairs = [([4, 5, 6], [7, 8]), ([9, 10], [11, 12, 13, 14])]
    for side, name in enumerate(("source", "target")):
        lines = [" ".join(f"▁{index}" for index in pair[side]) + "\n" for pair in pairs]
        (tmp_path / name).write_text("".join(lines), encoding="utf-8")
    command = [mxnet_python, "-m", "sockeye.score", "--model", str(old), "--use-cpu"]
    command += ["--source", str(tmp_path / "source"), "--target", str(tmp_path / "target")]
    output = subprocess.run(
        [*command, "--batch-size", "2", "--batch-type", "sentence"],
        env={"LANG": "C.UTF-8", "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert output.returncode == 0, output.stderr
    convert(old, tmp_path / "new")
    own = list(score(load_model(tmp_path / "new", "cpu"), pairs))
    assert own == pytest.approx([float(line) for line in output.stdout.split()], abs=1e-4)


@pytest.mark.parametrize("line", ["config_embed_target", "vocab_target_size", "dtype"])
def test_a_config_without_a_part_is_refused_or_has_its_default(tmp_path, old, line):
    text = (old / "config").read_text().splitlines()
    start = next(index for index, each in enumerate(text) if each.startswith(line))
    end = start + 1
    while text[end].startswith(" "):
        end += 1
    (old / "config").write_text("\n".join(text[:start] + text[end:]))
    if line == "dtype":
        convert(old, tmp_path / "new")
        load_model(tmp_path / "new", "cpu")
    else:
        with pytest.raises(InputError, match="no model that can be converted"):
            convert(old, tmp_path / "new")
        assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("name", "before", "after", "message"),
    [
        ("vocab.trg.0.json", None, None, r"no model folder of Sockeye 2: vocab\.trg\.0\.json"),
        ("version", b"2.3.24", b"1.18.115", r"Sockeye 1\.18\.115; 2\.3 can be converted"),
        ("version", b"2", b"\xff", "{old}"),
        ("config", b"config_embed_source: ", b"config_embed_source: null\nother: ", "{old}"),
        ("params.best", b"encoder", b"encode\xff", "{old}"),
    ],
)
def test_a_missing_other_or_damaged_file_is_refused(tmp_path, old, name, before, after, message):
    content = (old / name).read_bytes()
    if before is None:
        (old / name).unlink()
    else:
        assert before in content
        (old / name).write_bytes(content.replace(before, after, 1))
    with pytest.raises(InputError, match=message.format(old=old)):
        convert(old, tmp_path / "new")


def test_an_output_folder_is_not_overwritten(tmp_path, old):
    with pytest.raises(InputError, match="is there already"):
        main(["--model", str(old), "--output", str(tmp_path)])
