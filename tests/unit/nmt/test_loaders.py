import json
import re
import shutil
from pathlib import Path

import pytest
import torch

from tests.unit.nmt.conftest import refused
from tests.unit.nmt.random_m2m100 import NLLB_600M, loading, write_m2m100
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders import LOADERS, load_model

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture
def folder(tiny_folder: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(tiny_folder, tmp_path / "model"))


def test_the_page_has_a_row_for_each_kind():
    page = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    table = page.partition("\n| kind | files |")[2].partition("\n\n")[0]
    kinds = re.findall(r"(?m)^\| ([^-|][^|]*) \|", table)
    assert {kind.replace("`", "") for kind in kinds} == LOADERS.keys()


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("act_type", "gelu", "act_type"),
        ("use_glu", True, "use_glu"),
        ("positional_embedding_type", "learned", "positional_embedding_type"),
        ("decoder_type", "ssru_transformer", "decoder_type"),
        ("preprocess_sequence", "", "preprocess_sequence"),
        ("postprocess_sequence", "rn", "postprocess_sequence"),
        ("use_lhuc", True, "use_lhuc"),
        ("block_prepended_cross_attention", True, "block_prepended_cross_attention"),
        ("num_source_factors", 2, "num_source_factors is 2"),
        ("length_ratio_mean", None, "length ratio"),
        ("length_ratio_mean", 0.0, "length ratio"),
        ("length_ratio_mean", float("nan"), "length ratio"),
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
def test_a_config_that_can_not_be_used_is_refused_by_key(folder: Path, key, value, message):
    config = folder / "config"
    # Of the same width must be what reads and writes it.
    keys = f"{key}|num_embed|depth_key_value" if key == "model_size" else key
    shown = ".nan" if value != value else json.dumps(value)
    text, times = re.subn(rf"\b({keys}):.*", rf"\1: {shown}", config.read_text())
    assert times
    config.write_text(text)
    told = refused(folder, message)
    assert f"{config}: " in told
    assert "length ratio" in message or key in told


FILES = ("config", "params.best", "vocab.src.0.json", "vocab.trg.0.json")
JSON = ["[" * 100_000, '{"a":' * 100_000, "[]", '{"<pad>": false}', "3"]
JSON += ['{"<pad>": 0, "<unk>": null}', '{"<pad>": 0, "<pad>": 0}']


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "text"),
    [
        *(("config", each) for each in ("[" * 5000, f"a: {'[' * 200}{']' * 200}", "a: 2020-13-45")),
        *((f"vocab.{side}.0.json", each) for side in ("src", "trg") for each in JSON),
        ("vocab.trg.0.json", '{"<pad>": 0, "a": 7}'),
        ("params.best", "no checkpoint"),
        *((each, None) for each in FILES),
    ],
)
def test_a_broken_or_missing_file_is_refused(folder: Path, name: str, text: str | None):
    (folder / name).unlink()
    if text is not None:
        (folder / name).write_text(text)
    refused(folder, f"folder: {name} missing" if text is None else f"model/{name}: ")


def test_config_builds_no_python_objects(folder: Path, tmp_path: Path):
    target = tmp_path / "proof"
    (folder / "config").write_text(f'!!python/object/apply:os.mkdir ["{target}"]\n')
    refused(folder, "config")
    assert not target.exists()


BIAS = "output_layer.bias"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda tensors: tensors.pop(BIAS), r"no parameter 'output_layer\.bias'"),
        (lambda tensors: tensors.update(extra=torch.zeros(1)), "not supported: extra"),
        (lambda tensors: tensors.update({BIAS: torch.ones(3)}), r"layer\.bias.*\[3\].*\[24\]"),
        *(
            (
                lambda tensors, value=value: tensors[BIAS].__setitem__(0, value),
                r"params\.best: parameter 'output_layer\.bias' holds NaN",
            )
            for value in (float("nan"), float("inf"))
        ),
    ],
    ids=["missing", "unused", "another shape", "nan", "infinite"],
)
def test_parameters_that_do_not_fit_are_named(folder: Path, change, message: str):
    tensors = torch.load(folder / "params.best", weights_only=True)
    change(tensors)
    torch.save(tensors, folder / "params.best")
    with pytest.raises(InputError, match=message):
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


def test_a_folder_without_a_model_is_refused(tmp_path: Path):
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match=r"empty is no model folder .* Sockeye 3 has config"):
        load_model(tmp_path / "empty", "cpu")
    refused(tmp_path / "absent", "absent is no folder")


@pytest.fixture(scope="module")
def quarter(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A quarter as wide as NLLB-200-distilled-600M, with a quarter of its pieces."""
    shape = NLLB_600M | {key: NLLB_600M[key] // 4 for key in ("size", "hidden", "vocabulary")}
    return write_m2m100(tmp_path_factory.mktemp("quarter") / "model", **shape)


@pytest.mark.slow
@pytest.mark.rest
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is looked up in /proc")
@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
def test_loading_takes_little_more_memory_than_the_weights(quarter: Path, precision: str):
    found = loading(quarter, precision)
    weights = (quarter / "model.safetensors").stat().st_size
    assert found.anonymous - found.before < 1.3 * weights
