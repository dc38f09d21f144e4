import json
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    BertForSequenceClassification,
    MPNetConfig,
    MPNetModel,
)

from tests.unit.encoder.conftest import tiny_config
from tests.unit.filter.conftest import arguments, pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import sha256, verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import EncoderPairRow, PairColumnsRow, PairValueRow
from workflow_scripts.encoding.pretrained import file_hashes, longest, open_model, open_tokenizer
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.encoder import identify
from workflow_scripts.stages.encoder.identify import Labelled, by_negatives, measures
from workflow_scripts.stages.encoder.tasks.problems import with_new_layer
from workflow_scripts.stages.filter import encoder_score

pytestmark = pytest.mark.slow  # it loads transformers

NOUNS = ["cat", "dog", "house", "tree", "bird"]
TRAINING = defaults("encoder_training") | {"epochs": 8, "batch": 8, "learning_rate": 0.01}
CONFIG = {"max_tokens": 32, "seed": 1, "training": TRAINING}


def rows(nouns):
    """Return pairs that are paraphrases unless the second sentence has `not`."""
    kinds = [("a", "paraphrase"), ("not", "neighbour"), ("not . not", "random")]
    return [
        {
            **{"first": f"the {one}", "second": f"{word} {other}", "cosine": 0.5},
            **{"label": int(kind == "paraphrase"), "kind": kind},
        }
        for one in nouns
        for other in nouns
        for word, kind in kinds
    ]


@pytest.fixture
def pairs(tmp_path):
    folder = tmp_path / "pairs"
    write_table(folder / "train.parquet", EncoderPairRow, rows(NOUNS[:4]))
    write_table(folder / "dev.parquet", EncoderPairRow, rows(NOUNS[4:]))
    for name in ("train", "dev"):
        (folder / f"{name}.json").unlink()
    files = [folder / "train.parquet", folder / "dev.parquet"]
    write_record(folder / "pairs", 10, 10, {}, files=files)
    return folder


def tuned(encoder, pairs, output, **changes):
    config = CONFIG | {"base": {"folder": str(encoder)}} | changes
    words = arguments(
        config, inputs="{}", pairs=pairs, work=f"{output}-work", device="cpu", output=output
    )
    identify.main(words)
    return output


def test_an_encoder_learns_to_tell_paraphrases(encoder, pairs, tmp_path):
    output = tuned(encoder, pairs, tmp_path / "tuned")
    verify(output / "model.json")
    metrics = json.loads((output / "metrics.json").read_text())
    assert metrics["held_out"]["neighbour"]["auc"] > 0.9
    assert metrics["pairs"] == len(rows(NOUNS[:4]))
    assert [each["auc"] for each in metrics["history"] if "auc" in each][-1] == (
        metrics["held_out"]["neighbour"]["auc"]
    )
    model = open_model(AutoModelForSequenceClassification, output)
    assert model.config.id2label == {0: "other", 1: "paraphrase"}
    assert open_tokenizer(output).model_max_length == 32


def test_the_column_is_the_probability(encoder, pairs, tmp_path):
    """As the model's own, of the reference and the paraphrase in this order."""
    model = tuned(encoder, pairs, tmp_path / "tuned")
    texts = [("the cat", "a dog"), ("the cat", "not dog"), ("a tree", "")]
    table = [pair(f"c:{number}", 1, *both) for number, both in enumerate(texts)]
    shard = write_table(tmp_path / "in" / "0000.parquet", PairColumnsRow, table)
    output = tmp_path / "out" / "0000.parquet"
    encoder_score.main(arguments(pairs=shard, model=model, device="cpu", output=output))
    values = [row["value"] for row in read_rows(output, PairValueRow)]
    tokenizer = open_tokenizer(model)
    opened = open_model(AutoModelForSequenceClassification, model)
    for value, both in zip(values, texts, strict=True):
        logits = opened(**tokenizer(*([each] for each in both), return_tensors="pt")).logits
        assert value == pytest.approx(float(logits.softmax(1)[0, 1].detach()), abs=1e-5)
    assert values[0] > 0.5 > values[1]


def test_a_damaged_encoder_is_not_asked(encoder, pairs, tmp_path):
    model = tuned(encoder, pairs, tmp_path / "tuned", training=TRAINING | {"epochs": 1})
    (model / "config.json").write_text("{}", encoding="utf-8")
    shard = write_table(
        tmp_path / "in" / "0000.parquet", PairColumnsRow, [pair("c:1", 1, "a", "b")]
    )
    with pytest.raises(InputError, match=r"config\.json"):
        encoder_score.main(
            arguments(pairs=shard, model=model, device="cpu", output=tmp_path / "0000.parquet")
        )


def test_measures():
    labels, values = np.array([1, 1, 0, 0]), np.array([0.9, 0.4, 0.6, 0.1])
    found = measures(labels, values, 0.5)
    assert found == {"pairs": 4, "accuracy": 0.5, "f1": 0.5, "auc": 0.75}


def test_each_kind_of_negatives_is_measured_by_itself():
    kinds = np.array(["paraphrase", "neighbour", "random", "paraphrase"])
    cosines = np.array([0.5, 0.9, 0.1, 0.6], np.float32)
    given = Labelled(None, np.array([1, 0, 0, 1]), kinds, cosines)
    found = by_negatives(given, np.array([0.9, 0.2, 0.95, 0.8]))
    assert [found[kind]["auc"] for kind in ("neighbour", "random")] == [1.0, 0.0]
    assert [found[kind]["cosine_auc"] for kind in ("neighbour", "random")] == [0.0, 1.0]
    assert found["neighbour"]["pairs"] == 3
    alone = by_negatives(
        given._replace(kinds=np.where(kinds == "random", "neighbour", kinds)), kinds == "paraphrase"
    )
    assert list(alone) == ["neighbour"]


class TestModels:
    def test_weights_that_are_pickled_are_refused(self, encoder):
        """A pickle may run code."""
        (encoder / "model.safetensors").rename(encoder / "pytorch_model.bin")
        with pytest.raises(InputError, match="transformers can't read this encoder"):
            open_model(AutoModelForSequenceClassification, encoder, num_labels=2)

    def test_code_that_a_model_brings_is_not_run(self, encoder, tmp_path):
        config = json.loads((encoder / "config.json").read_text())
        config |= {"model_type": "own", "auto_map": {"AutoConfig": "own.Own"}}
        (encoder / "config.json").write_text(json.dumps(config), encoding="utf-8")
        mark = tmp_path / "ran"
        (encoder / "own.py").write_text(f"open({str(mark)!r}, 'w')\n", encoding="utf-8")
        with pytest.raises(InputError, match="transformers can't read this encoder"):
            open_model(AutoModelForSequenceClassification, encoder, num_labels=2)
        assert not mark.exists()

    @pytest.mark.parametrize(
        ("opened", "lost"), [(open_model, r"bert\.embeddings"), (with_new_layer, "embeddings")]
    )
    def test_only_new_layers_may_be_missing(self, encoder, opened, lost):
        """The body would be drawn at random, and nobody would see it."""
        weights = load_file(encoder / "model.safetensors")
        for name in [name for name in weights if name.startswith("pooler.")]:
            del weights[name]
        save_file(weights, encoder / "model.safetensors", metadata={"format": "pt"})
        first, same = (
            opened(AutoModelForSequenceClassification, encoder, 5, num_labels=2) for _ in range(2)
        )
        assert torch.equal(first.bert.pooler.dense.weight, same.bert.pooler.dense.weight)
        weights = {f"other.{name}": each for name, each in weights.items()}
        save_file(weights, encoder / "model.safetensors", metadata={"format": "pt"})
        with pytest.raises(InputError, match=f"it lacks the weights {lost}"):
            opened(AutoModelForSequenceClassification, encoder, 5, num_labels=2)

    def test_the_tokenizers_files_are_of_the_encoder(self, encoder):
        """Where one of them changes, a training does not go on from its checkpoint."""
        beside = ("pytorch_model.bin", "README.md", "model.json", "metrics.json", "manifest.json")
        for name in ("vocab.txt", "spiece.model", *beside):
            (encoder / name).write_text("x", encoding="utf-8")
        found = file_hashes(encoder)
        assert found.keys() == {
            *("config.json", "model.safetensors", "spiece.model", "tokenizer.json"),
            *("tokenizer_config.json", "vocab.txt"),
        }
        assert found["vocab.txt"] == found["spiece.model"] == sha256(encoder / "README.md")

    def test_an_empty_folder_is_an_error(self, tmp_path):
        with pytest.raises(InputError, match="transformers can't read this encoder"):
            open_tokenizer(tmp_path)

    def test_a_tokenizer_that_is_not_fast_is_refused(self, encoder, monkeypatch):
        """It would leave no tokenizer.json."""
        slow = SimpleNamespace(is_fast=False)
        monkeypatch.setattr(AutoTokenizer, "from_pretrained", lambda *_, **__: slow)
        with pytest.raises(InputError, match="its tokenizer is no fast one"):
            open_tokenizer(encoder)

    def test_a_folder_without_the_tokenizers_files_is_refused(self, encoder):
        """All words would be unknown ones."""
        (encoder / "tokenizer.json").unlink()
        (encoder / "tokenizer_config.json").unlink()
        with pytest.raises(InputError, match="its tokenizer knows no words"):
            open_tokenizer(encoder)

    @pytest.mark.parametrize(
        ("name", "change", "message"),
        [
            ("tokenizer_config.json", {"pad_token": None}, "its tokenizer has no padding token"),
            ("config.json", {"vocab_size": 7}, r"the token \d+ and config.json only 7 tokens"),
        ],
    )
    def test_a_tokenizer_that_does_not_fit_is_refused(self, encoder, name, change, message):
        settings = json.loads((encoder / name).read_text(encoding="utf-8"))
        (encoder / name).write_text(json.dumps(settings | change), encoding="utf-8")
        with pytest.raises(InputError, match=message):
            open_tokenizer(encoder)

    def test_pairs_are_not_longer_than_the_positions(self, encoder):
        model = open_model(AutoModelForSequenceClassification, encoder, num_labels=2)
        assert longest(model, 30) == 30
        assert longest(model, 128) == 40

    def test_positions_that_begin_behind_the_padding_token_do_not_count(self, tmp_path):
        sizes = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2}
        config = MPNetConfig(**sizes, max_position_embeddings=40, vocab_size=20, pad_token_id=0)
        MPNetModel(config).save_pretrained(tmp_path)
        model = open_model(AutoModelForSequenceClassification, tmp_path, num_labels=2)
        tokens = torch.ones((1, longest(model, 128)), dtype=torch.long)
        assert tokens.shape == (1, 38)
        assert model(tokens).logits.shape == (1, 2)

    def test_an_output_layer_for_other_classes_is_drawn_anew_and_no_other_weight(self, tmp_path):
        config = tiny_config(num_labels=3)
        BertForSequenceClassification(config).save_pretrained(tmp_path)
        one, same = (
            open_model(AutoModelForSequenceClassification, tmp_path, 5, num_labels=2)
            for _ in range(2)
        )
        assert one.classifier.weight.shape == (2, 16)
        assert torch.equal(one.classifier.weight, same.classifier.weight)
        config.intermediate_size = 64
        config.save_pretrained(tmp_path)
        with pytest.raises(InputError, match=r"the weights bert\.encoder.* are of another size"):
            open_model(AutoModelForSequenceClassification, tmp_path, 5, num_labels=2)
