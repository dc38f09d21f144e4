import json
import re
import shutil
from pathlib import Path

import pytest
import torch

from tests.unit.nmt.folders import write_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders import load_model


@pytest.fixture
def folder(tiny_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_folder, tmp_path / "model"))


@pytest.mark.parametrize("name", ["config", "params.best", "vocab.src.0.json", "vocab.trg.0.json"])
def test_missing_file_is_named(folder: Path, name: str):
    (folder / name).unlink()
    with pytest.raises(InputError, match=name.replace(".", r"\.")):
        load_model(folder, "cpu")


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("act_type", "gelu"),
        ("use_glu", True),
        ("positional_embedding_type", "learned"),
        ("decoder_type", "ssru_transformer"),
        ("preprocess_sequence", ""),
        ("postprocess_sequence", "rn"),
        ("use_lhuc", True),
        ("block_prepended_cross_attention", True),
    ],
)
def test_unsupported_parts_are_refused(tmp_path: Path, key: str, value: object):
    text = (write_model(tmp_path / "model") / "config").read_text()
    lines = [
        line.split(":")[0] + f": {json.dumps(value)}"
        if line.strip().startswith(f"{key}:")
        else line
        for line in text.splitlines()
    ]
    (tmp_path / "model" / "config").write_text("\n".join(lines))
    with pytest.raises(InputError, match=key):
        load_model(tmp_path / "model", "cpu")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("attention_heads", 0, "is 0; it must be a whole number of at least 1"),
        ("attention_heads", 3, "is 3, which must divide config_encoder.model_size"),
        ("attention_heads", "two", "is 'two'; it must be a whole number"),
        ("attention_heads", 2.0, "is 2.0; it must be a whole number"),
        ("num_layers", "one", "is 'one'; it must be a whole number"),
        ("num_layers", -1, "is -1; it must be a whole number"),
        ("num_layers", True, "is True; it must be a whole number"),
        ("feed_forward_num_hidden", None, "is None; it must be a whole number"),
        ("feed_forward_num_hidden", [32], "is [32]; it must be a whole number"),
        ("model_size", "wide", "is 'wide'; it must be a whole number"),
        ("max_seq_len_source", {}, "is {}; it must be a whole number"),
    ],
)
def test_shapes_that_are_none_are_refused_by_key(tmp_path: Path, key, value, message):
    config = write_model(tmp_path / "model") / "config"
    # Of the same width must be what reads and writes it.
    keys = f"{key}|num_embed|depth_key_value" if key == "model_size" else key
    text = re.sub(rf"\b({keys}):.*", rf"\1: {json.dumps(value)}", config.read_text())
    config.write_text(text)
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        load_model(tmp_path / "model", "cpu")
    assert f"{config}: " in str(raised.value)
    assert key in str(raised.value)


@pytest.mark.slow
@pytest.mark.parametrize("text", ["[" * 5000, "a: " + "[" * 200 + "]" * 200, "a: 2020-13-45"])
def test_config_that_is_too_deep_or_no_date_is_refused(folder: Path, text: str):
    (folder / "config").write_text(text)
    with pytest.raises(InputError, match="model/config: "):
        load_model(folder, "cpu")


@pytest.mark.parametrize("text", ["[" * 100_000, '{"a":' * 100_000, "[]", '{"<pad>": false}', "3"])
@pytest.mark.parametrize("side", ["src", "trg"])
def test_vocabulary_of_other_json_is_refused(folder: Path, side: str, text: str):
    path = folder / f"vocab.{side}.0.json"
    path.write_text(text)
    with pytest.raises(InputError, match=re.escape(str(path))):
        load_model(folder, "cpu")


def test_source_factors_are_refused(folder: Path):
    text = (folder / "config").read_text()
    (folder / "config").write_text(text.replace("num_source_factors: 1", "num_source_factors: 2"))
    with pytest.raises(InputError, match="num_source_factors is 2"):
        load_model(folder, "cpu")


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_weights_without_a_value_are_refused(folder: Path, value: float):
    tensors = torch.load(folder / "params.best", weights_only=True)
    tensors["output_layer.bias"][0] = value
    torch.save(tensors, folder / "params.best")
    with pytest.raises(InputError, match=r"params\.best: parameter 'output_layer\.bias' holds NaN"):
        load_model(folder, "cpu")


def test_config_builds_no_python_objects(folder: Path, tmp_path: Path):
    target = tmp_path / "proof"
    (folder / "config").write_text(f'!!python/object/apply:os.mkdir ["{target}"]\n')
    with pytest.raises(InputError, match="config"):
        load_model(folder, "cpu")
    assert not target.exists()


def _edit_parameters(folder: Path, edit) -> None:
    parameters = torch.load(folder / "params.best", weights_only=True)
    edit(parameters)
    torch.save(parameters, folder / "params.best")


def test_missing_parameter_is_named(folder: Path):
    _edit_parameters(folder, lambda parameters: parameters.pop("output_layer.bias"))
    with pytest.raises(InputError, match=r"no parameter 'output_layer\.bias'"):
        load_model(folder, "cpu")


def test_unused_parameter_is_named(folder: Path):
    _edit_parameters(folder, lambda parameters: parameters.update(extra=torch.zeros(1)))
    with pytest.raises(InputError, match="not supported: extra"):
        load_model(folder, "cpu")


def test_wrong_shape_is_named(folder: Path):
    _edit_parameters(
        folder, lambda parameters: parameters.update({"output_layer.bias": torch.zeros(3)})
    )
    with pytest.raises(InputError, match=r"output_layer\.bias.*\[3\].*\[24\]"):
        load_model(folder, "cpu")


def test_broken_parameters_are_refused(folder: Path):
    (folder / "params.best").write_bytes(b"no checkpoint")
    with pytest.raises(InputError, match=r"params\.best"):
        load_model(folder, "cpu")


def test_broken_vocabulary_is_refused(folder: Path):
    (folder / "vocab.trg.0.json").write_text('{"<pad>": 0, "a": 7}')
    with pytest.raises(InputError, match=r"vocab\.trg\.0\.json"):
        load_model(folder, "cpu")


def test_unknown_precision_is_refused(folder: Path):
    with pytest.raises(InputError, match="fp32, bf16"):
        load_model(folder, "cpu", "fp8")


def test_bf16_keeps_the_weights(folder: Path):
    model = load_model(folder, "cpu", "bf16")
    assert model.dtype == torch.bfloat16
    assert torch.allclose(
        model.network.output.plain().float(),
        load_model(folder, "cpu").network.output.plain(),
        rtol=0.01,
    )


@pytest.mark.parametrize("ratio", ["null", "0.0", ".nan"])
def test_a_model_without_length_ratio_is_refused(folder: Path, ratio: str):
    text = (folder / "config").read_text()
    (folder / "config").write_text(
        text.replace("length_ratio_mean: 1.5", f"length_ratio_mean: {ratio}")
    )
    with pytest.raises(InputError, match="length ratio"):
        load_model(folder, "cpu")


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty is no model folder .* Sockeye 3 has config"):
        load_model(tmp_path / "empty", "cpu")
    with pytest.raises(InputError, match="absent is no folder"):
        load_model(tmp_path / "absent", "cpu")
