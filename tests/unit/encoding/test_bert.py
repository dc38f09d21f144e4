"""all-MiniLM-L6-v2 by the blocks of the search core, against sentence-transformers itself."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from tests.packages import ENCODER, require_packages
from workflow_scripts.encoding import sentence_vectors
from workflow_scripts.encoding.bert import Bert
from workflow_scripts.encoding.sentence_vectors import load_encoder

require_packages(ENCODER)
_DEMO = Path(__file__).resolve().parents[3] / "demo" / "tatoeba.por-eng.tsv"
ODD = ["", "unk 你好 ñandú", "x " * 600, "\u200bA\tb\n", "[MASK] the [SEP]", "don't — “quoted”"]


@pytest.fixture(scope="module")
def folder():
    return sentence_vectors.encoder_folder()


@pytest.fixture(scope="module")
def bert(folder):
    return Bert.opened(folder, "cpu")


def english(count):
    lines = _DEMO.read_text(encoding="utf-8").splitlines()[:count]
    return [line.split("\t")[1] for line in lines]


def assert_equal(bert, folder, sentences):
    library = sentence_vectors._SentenceTransformer(folder, "cpu")
    np.testing.assert_allclose(bert.encode(sentences), library.encode(sentences), atol=1e-5)
    for one, other in zip(bert.read(sentences), library.read(sentences), strict=True):
        assert one.tokens.shape == other.tokens.shape
        np.testing.assert_allclose(one.tokens, other.tokens, atol=2e-5)
        np.testing.assert_allclose(one.sentence, other.sentence, atol=1e-5)


@pytest.mark.slow
def test_the_vectors_are_those_of_the_library(bert, folder):
    assert_equal(bert, folder, [*english(30), *ODD])


@pytest.mark.rest
@pytest.mark.slow
def test_a_thousand_sentences(bert, folder):
    assert_equal(bert, folder, english(1000))


@pytest.mark.slow
def test_a_sentence_has_its_vector_alone_and_among_others(bert):
    sentences = [*english(20), *ODD]
    alone = np.concatenate([bert.encode([sentence]) for sentence in sentences])
    np.testing.assert_allclose(bert.encode(sentences), alone, atol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["int8", "bf16"])
def test_in_fewer_bits_vectors_are_nearly_the_same(bert, folder, precision):
    sentences, other = english(30), load_encoder(folder, "cpu", precision)
    exact, rounded = bert.encode(sentences), other.encode(sentences)
    of_tokens = other.read(sentences[:3])
    assert rounded.dtype == of_tokens[0].tokens.dtype == np.float32
    np.testing.assert_allclose([each.sentence for each in of_tokens], rounded[:3], atol=0.05)
    cosines = (exact * rounded).sum(axis=1)
    assert cosines.min() > 0.97 and cosines.max() < 0.99999


def test_no_sentence_gives_no_vector(bert):
    assert bert.encode([]).shape == (0, 384) and bert.read([]) == []


def test_the_library_is_not_loaded(folder):
    code = (
        "import sys; from pathlib import Path\n"
        "from workflow_scripts.encoding.sentence_vectors import load_encoder\n"
        f"load_encoder(Path({str(folder)!r})).encode(['a'])\n"
        "assert not {'sentence_transformers', 'transformers'} & set(sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.fixture
def copy(folder, tmp_path):
    """A copy without its weights, which are not read before all else is known."""
    ignored = shutil.ignore_patterns("*.safetensors")
    return Path(shutil.copytree(folder, tmp_path / "model", ignore=ignored))


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("config.json", {"model_type": "roberta"}),
        ("config.json", {"hidden_act": "relu"}),
        ("config.json", {"num_hidden_layers": 1}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
        ("tokenizer_config.json", {"do_lower_case": False}),
        ("tokenizer_config.json", {"tokenizer_class": "PreTrainedTokenizerFast"}),
        ("sentence_bert_config.json", {"do_lower_case": True}),
        ("modules.json", None),
        ("tokenizer.json", None),
        ("config.json", {}),
    ],
)
def test_another_kind_and_what_is_damaged_are_left_to_the_library(copy, name, change):
    """The last case changes nothing: only the weights are missing."""
    path = copy / name
    if change is None:
        path.write_text("{", encoding="utf-8")
    else:
        content = json.loads(path.read_text(encoding="utf-8"))
        path.write_text(json.dumps({**content, **change}), encoding="utf-8")
    assert Bert.opened(copy, "cpu") is None
