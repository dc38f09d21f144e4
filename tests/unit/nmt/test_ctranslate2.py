"""CTranslate2's folders: every layout and type gives the network as it is written plainly."""

import json
from pathlib import Path

import pytest
import torch

from tests.unit.nmt.ctranslate2_files import binary, write
from tests.unit.nmt.marian_files import OPTIONS, PRE_NORM, SEPARATE, parameters
from tests.unit.nmt.test_marian import PAIRS, expected_nll
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.nmt.loaders import load_model, opened_model
from workflow_scripts.nmt.loaders.ctranslate2 import saved, stored
from workflow_scripts.nmt.positions import sinusoids
from workflow_scripts.nmt.scoring import score

TWO = SEPARATE | {"dim-vocabs": [30, 22]}
CHANGES = {
    "post-norm": {},
    "pre-norm": PRE_NORM,
    "swish": {"transformer-ffn-activation": "swish"},
    "nothing tied": TWO,
    "output tied": TWO | {"tied-embeddings": True},
    "deep": {"enc-depth": 3, "dec-depth": 2, "transformer-heads": 4},
}
SELF_ATTENTION = {"transformer-decoder-autoreg": "self-attention"}
TABLE = "decoder/embeddings/weight"


def expected(changes: dict, seed: int = 1) -> list[float]:
    options = OPTIONS | SELF_ATTENTION | changes
    items = parameters(options, seed)
    return [expected_nll(items, options, *pair) for pair in PAIRS]


@pytest.mark.parametrize("changes", CHANGES.values(), ids=CHANGES)
def test_the_network_is_that_of_its_variables(tmp_path: Path, changes: dict):
    write(tmp_path / "model", changes, seed=3)
    model = load_model(tmp_path / "model", "cpu")
    assert list(score(model, PAIRS)) == pytest.approx(expected(changes, seed=3), abs=1e-5)


@pytest.mark.parametrize("changes", [{}, TWO], ids=["shared", "separate"])
@pytest.mark.parametrize(("kind", "error"), [("float16", 2e-3), ("bfloat16", 2e-2), ("int8", 2e-2)])
def test_smaller_types(tmp_path: Path, changes: dict, kind: str, error: float):
    made = write(tmp_path / "model", changes, kind=kind)
    raw = opened_model(tmp_path / "model", model_files(tmp_path / "model")).raw
    found = raw.tensors["decoder/projection/weight"]
    weight = made["decoder/projection/weight"][1]
    if kind == "int8":
        weight = weight / made["decoder/projection/weight_scale"][1][:, None]
    else:
        weight = weight.to(getattr(torch, kind)).float()
    assert torch.equal(found, weight)
    model = load_model(tmp_path / "model", "cpu")
    assert list(score(model, PAIRS)) == pytest.approx(expected(changes), abs=error)


def test_weights_with_several_names_are_one(tmp_path: Path):
    write(tmp_path / "model", kind="int8")
    files = model_files(tmp_path / "model")
    tensors = opened_model(tmp_path / "model", files).raw.tensors
    assert tensors["decoder/projection/weight"] is tensors["encoder/embeddings_0/weight"]
    assert tensors[TABLE].dtype == torch.float32
    in_file = stored(tmp_path / "model", files)
    assert in_file[TABLE].dtype == torch.int8
    assert not {"decoder/projection/weight", f"{TABLE}_scale"} & in_file.keys()
    with pytest.raises(InputError, match="can be used, not trained on"):
        saved(tmp_path / "model", files, tensors)


def rewritten(folder: Path, edit, **head) -> None:
    """Write a folder whose variables are edited, each under its own name."""
    made = write(folder)
    edit(made)
    (folder / "model.bin").write_bytes(binary(made, **head))


def test_positions_that_are_not_stored_are_computed_from_1_on(tmp_path: Path):
    names = [f"{side}/position_encodings/encodings" for side in ("encoder", "decoder")]
    rewritten(tmp_path / "computed", lambda made: [made.pop(name) for name in names])
    table = ("float32", sinusoids(100, 16, step=7)[1:])
    rewritten(tmp_path / "stored", lambda made: made.update(dict.fromkeys(names, table)))
    computed, in_file = (load_model(tmp_path / name, "cpu") for name in ("computed", "stored"))
    assert list(score(computed, PAIRS)) == pytest.approx(list(score(in_file, PAIRS)), abs=1e-6)
    assert (computed.max_source_pieces, in_file.max_source_pieces) == (1023, 98)


@pytest.mark.parametrize(
    ("kind", "scale", "factor"), [("int8", 0, 1.0), ("int8", 1, 4.0), ("float32", 3.0, 3.0)]
)
def test_scales_of_embeddings(tmp_path: Path, kind: str, scale: float, factor: float):
    rewritten(
        tmp_path / "model", lambda made: made.update({"encoder/scale_embeddings": (kind, scale)})
    )
    model = load_model(tmp_path / "model", "cpu")
    table = parameters(OPTIONS | SELF_ATTENTION)["Wemb"]
    expected_x = table[[2, 3]] * factor + model.network.source.positions[:2]
    assert torch.allclose(model.network.source.whole(torch.tensor([[4, 5]]))[0], expected_x)


def test_biases_and_norms_that_are_not_there(tmp_path: Path):
    left_out = ["decoder/projection/bias", "encoder/layer_0/ffn/linear_0/bias"]

    def zeros(made):
        made.update({name: ("float32", torch.zeros(len(made[name][1]))) for name in left_out})

    rewritten(tmp_path / "zeros", zeros)
    rewritten(tmp_path / "model", lambda made: [made.pop(name) for name in left_out])
    one, other = (load_model(tmp_path / name, "cpu") for name in ("model", "zeros"))
    assert list(score(one, PAIRS)) == list(score(other, PAIRS))


def test_version_5_has_its_config_among_the_variables(tmp_path: Path):
    def edit(made):
        for name, default in (("num_heads", 2), ("pre_norm", 0), ("activation", 0)):
            for side in ("encoder", "decoder"):
                made.pop(f"{side}/{name}")
            made[name] = ("int8", default)
        made["encoder/embeddings/weight"] = made.pop("encoder/embeddings_0/weight")
        made["with_source_eos"] = ("int8", 1)
        made["unk_token"] = ("int8", [*b"<unk>"])

    rewritten(tmp_path / "model", edit, version=5, revision=4)
    pieces = json.loads((tmp_path / "model" / "shared_vocabulary.json").read_text())
    for name in ("config.json", "shared_vocabulary.json"):
        (tmp_path / "model" / name).unlink()
    (tmp_path / "model" / "shared_vocabulary.txt").write_text("\n".join([*pieces, ""]))
    model = load_model(tmp_path / "model", "cpu")
    # Without a config the norms add what its engine adds.
    assert list(score(model, PAIRS)) == pytest.approx(expected({}), abs=1e-3)
    assert model.network.encoder[0].feed_forward.frame.after.epsilon == 1e-5
