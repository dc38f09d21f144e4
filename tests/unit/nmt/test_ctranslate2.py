"""CTranslate2's folders: every layout and type gives the network as it is written plainly."""

import json
from pathlib import Path
from typing import Any

import ctranslate2
import pytest
import torch

from tests.unit.nmt.conftest import refused
from tests.unit.nmt.ctranslate2_files import CONFIG, binary, write
from tests.unit.nmt.marian_files import OPTIONS, PRE_NORM, SEPARATE, parameters, spm_model
from tests.unit.nmt.test_marian import PAIRS, expected_nll
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.nmt.inspect import inspect
from workflow_scripts.nmt.loaders import load_model, opened_model
from workflow_scripts.nmt.loaders.ctranslate2 import saved, stored
from workflow_scripts.nmt.positions import sinusoids
from workflow_scripts.nmt.scoring import score
from workflow_scripts.nmt.trainable import Trainable
from workflow_scripts.nmt.vocabulary import EOS

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
SCALE = f"{TABLE}_scale"
BIAS = "encoder/layer_0/ffn/linear_1/bias"
POSITIONS = "encoder/position_encodings/encodings"
RELATIVE = "decoder/layer_0/self_attention/relative_position_keys"
CROSS = "decoder/layer_0/attention/linear_1/weight"
ONES = torch.ones(16)
VOCABULARY = "shared_vocabulary.json"


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
    models = [load_model(tmp_path / "model", "cpu", precision) for precision in ("fp32", "bf16")]
    scores = [list(score(model, PAIRS)) for model in models]
    assert scores[0] == pytest.approx(expected(changes), abs=error)
    assert models[0].network.source.pieces.dtype == getattr(torch, kind)
    # The same numbers, written plainly.
    plain = dict(made)
    for name, (of, weight) in made.items():
        if f"{name}_scale" in made:
            plain[name] = ("float32", weight / made[f"{name}_scale"][1][:, None])
        elif of in ("float16", "bfloat16"):
            plain[name] = ("float32", weight.to(getattr(torch, of)).float())
    (tmp_path / "model" / "model.bin").write_bytes(binary(plain))
    models = [load_model(tmp_path / "model", "cpu", precision) for precision in ("fp32", "bf16")]
    assert [list(score(model, PAIRS)) for model in models] == scores


def test_weights_with_several_names_are_one(tmp_path: Path):
    write(tmp_path / "model", kind="int8")
    files = model_files(tmp_path / "model")
    tensors = opened_model(tmp_path / "model", files).raw.tensors
    assert tensors["decoder/projection/weight"] is tensors["encoder/embeddings_0/weight"]
    in_file = stored(tmp_path / "model", files)
    assert in_file[TABLE].dtype == torch.int8
    assert not {"decoder/projection/weight", f"{TABLE}_scale"} & in_file.keys()
    with pytest.raises(InputError, match="can be used, not trained on"):
        saved(tmp_path / "model", files, tensors)
    with pytest.raises(InputError, match="weights of 8 bits can't be trained on"):
        Trainable(tmp_path / "model", torch.device("cpu"))


@pytest.mark.parametrize("first", [TABLE, "encoder/embeddings/weight"])
def test_aliases_may_have_the_names_of_older_models(tmp_path: Path, first: str):
    made = write(tmp_path / "model")
    tables = {TABLE, "decoder/projection/weight", "encoder/embeddings/weight"}
    old = {
        name.replace("encoder/embeddings_0/", "encoder/embeddings/"): made[name] for name in made
    }
    kept = {name: variable for name, variable in old.items() if name not in tables - {first}}
    content = binary(kept, dict.fromkeys(tables - {first}, first), revision=4)
    (tmp_path / "model" / "model.bin").write_bytes(content)
    model = load_model(tmp_path / "model", "cpu")
    assert list(score(model, PAIRS)) == pytest.approx(expected({}), abs=1e-5)


def rewritten(folder: Path, edit, kind: str = "float32", **head) -> None:
    """Write a folder whose variables are edited, each under its own name."""
    made = write(folder, kind=kind)
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


def with_pieces(folder: Path, names: list[str], **config: object) -> None:
    """Write a folder whose last pieces have these names, and which does not begin with zeros."""
    rewritten(folder, lambda made: made.pop("decoder/start_from_zero_embedding"))
    path = folder / "shared_vocabulary.json"
    pieces = json.loads(path.read_text())
    path.write_text(json.dumps([*pieces[: -len(names)], *names]))
    (folder / "config.json").write_text(json.dumps(CONFIG | {"add_source_eos": False} | config))


NORMS = [
    f"{side}/layernorm_embedding/{part}"
    for side in ("encoder", "decoder")
    for part in ("gamma", "beta")
]


@pytest.mark.parametrize(
    ("names", "start", "settings", "ends"),
    [
        (["<blank>", "<s>"], "<s>", None, (None, [], [])),
        (["<pad>"], "<pad>", None, (None, ["</s>"], [])),
        (["<pad>", "<s>"], "</s>", None, (None, ["</s>"], [])),
        (
            ["__en__", "__pt__", "madeupword0"],
            "</s>",
            ("__pt__", "__en__"),
            ("__pt__", ["</s>"], ["</s>"]),
        ),
        (["<s>", "en_XX", "pt_XX"], None, ("pt_XX", "en_XX"), (None, ["</s>", "pt_XX"], [])),
        (["<pad>", "<s>", "<mask>"], "</s>", "norms", ("<s>", ["</s>"], ["</s>"])),
    ],
    ids=["OpenNMT", "PEGASUS", "fairseq", "M2M100", "mBART-25", "BART"],
)
def test_what_stands_around_sentences(tmp_path: Path, names, start, settings, ends):
    folder = tmp_path / "model"
    with_pieces(folder, names, decoder_start_token=start)
    if settings == "norms":
        made = write(tmp_path / "other")
        del made["decoder/start_from_zero_embedding"]
        made |= {name: ("float32", torch.ones(16)) for name in NORMS}
        (folder / "model.bin").write_bytes(binary(made))
    elif settings is not None:
        languages = dict(zip(("source", "target"), settings, strict=True))
        (folder / "paraloom.json").write_text(json.dumps(languages))
    model = load_model(folder, "cpu")
    marks = model.network.marks
    first, end, lead = ends
    assert marks.first == (None if first is None else model.source_vocab.ids([first])[0])
    assert marks.end == tuple(model.source_vocab.ids(end))
    assert marks.lead == tuple(model.target_vocab.ids(lead))
    # No symbol is a candidate, and all words have the same ids on both sides.
    assert model.source_vocab.words == model.target_vocab.words == 4 + 20 - len(names)
    row = settings[1] if isinstance(settings, tuple) else "<s>" if settings else start
    table = parameters(OPTIONS | SELF_ATTENTION)["Wemb"]
    pieces = json.loads((folder / "shared_vocabulary.json").read_text())
    target = model.network.target
    assert torch.equal(target.pieces[target.rows[2]], table[pieces.index(row)])
    # What stands for two pieces counts once.
    bias = model.network.output.bias
    assert (bias[2] == -torch.inf) == (row in ("</s>", "<pad>"))
    assert bias.isfinite().sum() == 22


def test_a_tokenizer_may_have_no_first_token(tmp_path: Path):
    # As that of mBART-50.
    folder = tmp_path / "model"
    with_pieces(folder, ["__en__", "__pt__"], decoder_start_token="</s>", bos_token=None)
    (folder / "paraloom.json").write_text('{"source": "en", "target": "pt"}')
    assert load_model(folder, "cpu").marks.lead == (EOS,)


def test_languages_must_be_chosen(tmp_path: Path):
    with_pieces(tmp_path / "model", ["__en__", "__pt__"], decoder_start_token="</s>")
    refused(tmp_path / "model", "has several languages (__en__, __pt__): write the file paraloom")


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        (RELATIVE, torch.ones(3, 8), f"relative positions ({RELATIVE}"),
        ("decoder/layer_0/self_attention/rotary_dim", 4, "rotary positions"),
        ("decoder/layer_0/self_attention/num_heads_kv", 1, "other heads for keys"),
        ("encoder/layer_0/ffn/linear_0_noact/weight", ONES, "gated feed-forward blocks"),
        ("decoder/alibi", 1, "ALiBi (decoder/alibi)"),
        ("encoder/layer_0/self_attention/q_norm/gamma", ONES, "norms of queries and keys"),
        ("encoder/layer_norm/gamma", ONES, "RMS norms, which have no beta (encoder/layer_norm"),
        ("encoder/embeddings_1/weight", torch.ones(9, 16), "several features of a source"),
        ("decoder/project_in/weight", torch.ones(16, 16), "projections around the layers"),
        ("encoder/activation", 1, "encoder/activation is GELUTanh, supported is ReLU, Swish, GELU"),
        ("encoder/activation", 77, "encoder/activation is unknown (77)"),
        ("encoder/num_heads", 3, "encoder/num_heads is 3; it must divide the size, 16"),
        ("decoder/extra/bias", ONES, "parameters that are not supported: decoder/extra/bias"),
        (TABLE, None, f"{TABLE} is missing, or no matrix"),
        (CROSS, None, f"no parameter '{CROSS}'"),
        (
            "encoder/layer_0/ffn/linear_1/weight",
            torch.ones(16, 31),
            "[16, 31], the config asks for floating-point [16, 32]",
        ),
        ("encoder/layer_0/ffn/linear_1/weight", torch.full((16, 32), torch.nan), "holds NaN"),
        # As if they were not there, they would be zeros, or computed.
        (BIAS, torch.ones(16, dtype=torch.int8), f"{BIAS} is of type int8; supported are float32"),
        (POSITIONS, torch.ones(99, 16, dtype=torch.int8), f"{POSITIONS} is of type int8"),
        ("encoder/scale_embeddings", torch.ones(2), "scale_embeddings must be one finite number"),
        ("encoder/scale_embeddings", torch.tensor(torch.nan), "must be one finite number"),
        ("encoder/pre_norm", torch.zeros(2), "encoder/pre_norm must be one finite number"),
        ("encoder/num_heads", torch.tensor(torch.nan), "num_heads must be one finite number"),
        (SCALE, None, f"no variable {SCALE}"),
        (SCALE, torch.ones(21), f"{SCALE} is float32 [21]; {TABLE} of shape [22, 16] needs one"),
        (SCALE, torch.ones(22, 1), "_scale is float32 [22, 1]"),
        (SCALE, torch.zeros(22), "holds numbers that are no scales"),
        # 127 of these are infinite.
        (SCALE, torch.full((22,), 1e-38), "holds numbers that are no scales"),
    ],
)
def test_variables_that_do_not_fit_are_named(tmp_path: Path, name, value, message):
    def edit(made):
        if value is None:
            del made[name]
        else:
            floating = isinstance(value, torch.Tensor) and value.is_floating_point()
            made[name] = ("float32" if floating else "int8", value)

    rewritten(tmp_path / "model", edit, "int8" if name == SCALE else "float32")
    assert "model.bin" in refused(tmp_path / "model", message)


@pytest.mark.parametrize(
    ("head", "change", "message"),
    [
        ({"version": 4}, None, "binary version 4, supported are 5 and 6"),
        ({"version": 7}, None, "binary version 7"),
        ({"revision": 8}, None, "TransformerSpec of revision 8, supported are 3 to 7"),
        ({"spec": "TransformerDecoderSpec"}, None, "a TransformerDecoderSpec, supported is"),
        ({}, lambda content: content[:-3], "needs"),
        ({}, lambda content: content[:9], "the specification needs 16 bytes, 3 are left"),
        ({}, lambda content: content + b"more", "4 bytes follow the last item"),
        ({}, lambda content: content.replace(b"alibi", b"alib\xff"), "the name of variable"),
        ({}, lambda content: b"", "cannot read the parameters"),
    ],
)
def test_other_versions_and_damaged_files(tmp_path: Path, head: dict, change, message: str):
    path = tmp_path / "model" / "model.bin"
    rewritten(path.parent, lambda made: made.update({"decoder/alibi": ("int8", 0)}), **head)
    if change is not None:
        path.write_bytes(change(path.read_bytes()))
    assert str(path) in refused(path.parent, message)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        (VOCABULARY, ["</s>", "<unk>", "a"], "3 pieces, the embedding has 22 rows"),
        (VOCABULARY, [f"a{n}" for n in range(22)], "no piece '<unk>', which is the model's"),
        (VOCABULARY, ["</s>", "<unk>", *"a" * 20], "must not hold a piece twice"),
        (VOCABULARY, {}, "must be a JSON list"),
        ("config.json", "[", "cannot be read as JSON"),
        ("config.json", [], "must be a JSON object"),
        ("config.json", {"eos_token": 3}, "eos_token is 3, it must be a value such as '</s>'"),
        ("config.json", {"layer_norm_epsilon": True}, "layer_norm_epsilon is True, it must be"),
    ],
)
def test_texts_that_do_not_fit(tmp_path: Path, name: str, text: Any, message: str):
    write(tmp_path / "model")
    (tmp_path / "model" / name).write_text(text if text == "[" else json.dumps(text))
    assert name in refused(tmp_path / "model", message)


def test_an_argos_package(tmp_path: Path):
    write(tmp_path / "xx_yy" / "model")
    pieces = [f"▁{number}" for number in range(4, 24)]
    (tmp_path / "xx_yy" / "sentencepiece.model").write_bytes(spm_model(pieces, ("<unk>",)))
    notes = {"from_code": "pt", "to_code": "en"}
    (tmp_path / "xx_yy" / "metadata.json").write_text(json.dumps(notes))
    found = inspect(tmp_path / "xx_yy")
    assert found["refused"] == []
    shown = ("kind", "source", "target", "layers", "size", "vocabulary")
    assert [found[key] for key in shown] == ["CTranslate2", "pt", "en", (1, 1), 16, (22, 22)]
    assert load_model(tmp_path / "xx_yy", "cpu").source_spm.name == "sentencepiece.model"
    packed = tmp_path / "xx_yy.argosmodel"
    packed.touch()
    refused(packed, "is a packed Argos package")


@pytest.mark.parametrize("kind", ["float32", "float16", "bfloat16", "int8"])
@pytest.mark.parametrize("changes", [{}, PRE_NORM, TWO], ids=["post-norm", "pre-norm", "separate"])
def test_its_engine_scores_alike(tmp_path: Path, changes: dict, kind: str):
    folder = tmp_path / "model"
    write(folder, changes, kind=kind)
    model = load_model(folder, "cpu")
    engine = ctranslate2.Translator(str(folder), compute_type="float32", intra_threads=1)
    sources = [model.source_vocab.pieces(source) for source, _ in PAIRS]
    targets = [model.target_vocab.pieces(target) for _, target in PAIRS]
    found = engine.score_batch(sources, targets)
    theirs = [-sum(each.log_probs) / len(each.log_probs) for each in found]
    ours = list(score(model, PAIRS))
    assert ours == pytest.approx(theirs, abs=1e-5)
