import json
from collections import Counter

import numpy as np
import pytest
import torch
from transformers import AutoModelForMaskedLM, AutoModelForSequenceClassification, BertConfig

from tests.unit.encoder.conftest import tiny_tokenizer
from tests.unit.encoder.tasks.samples import qqp
from tests.unit.filter.conftest import arguments, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record, verify
from workflow_scripts.core.files.rows import PairRow, StsPairRow
from workflow_scripts.encoding.encoder_tokens import tokenised
from workflow_scripts.encoding.pretrained import open_model, open_tokenizer
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.encoder import masked
from workflow_scripts.stages.encoder.masked import (
    Masks,
    masked_loss,
    masked_losses,
    perplexity,
    split,
    untrained,
)
from workflow_scripts.stages.encoder.scratch_vocabulary import tokenizer_of

pytestmark = pytest.mark.slow  # it loads transformers

THINGS = ["cat", "dog", "bird", "tree", "house", "cow", "pig", "hen", "man", "woman"]
TEXTS = [
    f"The {big} {thing} {sees} me{mark}"
    for thing in THINGS
    for big in ("old", "new", "big", "small")
    for sees in ("sees", "likes", "knows")
    for mark in (".", "!")
]
SCRATCH = defaults("encoder_scratch") | {
    **{"vocab_size": 32, "layers": 1, "hidden": 16, "heads": 2, "feed_forward": 32},
    **{"max_tokens": 24, "held_out": 0.1},
    "training": defaults("scratch_training")
    | {"epochs": 2, "batch": 16, "learning_rate": 0.01, "precision": "float32"},
}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    folder = tmp_path_factory.mktemp("data")
    rows = [
        {"id": f"c:{number}", "source": "-", "reference": text, "corpus": "c"}
        for number, text in enumerate(TEXTS)
    ]
    write_table(folder / "0000.parquet", PairRow, rows[::2])
    write_table(folder / "0001.parquet", PairRow, rows[1::2])
    tested = [
        {"data_set": "a", "group": "g", "score": 1.0, "first": TEXTS[0].upper(), "second": "-"}
    ]
    write_table(folder / "evaluation.parquet", StsPairRow, tested)
    return folder


def trained(data, output, work=None, tasks=None, inputs=None, **changes):
    config = {"scratch": SCRATCH | changes, "seed": 1} | ({"tasks": tasks} if tasks else {})
    given = {"folder": data, "shards": 2, "evaluation": data / "evaluation.parquet"}
    given["inputs"] = json.dumps(inputs or {})
    work = work or output.with_name(f"{output.name}-work")
    masked.main(arguments(config, **given, work=work, device="cpu", output=output))
    return output


@pytest.fixture(scope="module")
def model(data, tmp_path_factory):
    return trained(data, tmp_path_factory.mktemp("model") / "lm")


def test_what_is_trained_on():
    rejected = Counter()
    texts = ["A cat.", "a cat", "a dog", "A pig!", *(f"number {n}" for n in range(1000))]
    found = split(texts, {key("a PIG")}, 0.1, 1, rejected)
    assert rejected["duplicate"] == rejected["in_evaluation"] == 1
    assert rejected["held_out"] == len(found.held_out)
    assert 60 < len(found.held_out) < 140
    assert len(found.train) + len(found.held_out) == 1002
    assert not {"a cat", "A pig!"} & {*found.train, *found.held_out}


class TestMasks:
    texts = ("the cat sees a dog .", "a tree", "the big old house and the small bird . " * 4)

    def masks(self, share=0.15, seed=1, texts=texts):
        tokenizer = tiny_tokenizer()
        tokens = tokenised(tokenizer, texts, None, 40)
        return Masks(tokens, tokenizer, share, seed, "masks"), tokens, tokenizer

    def test_a_share_of_the_tokens_is_asked_for_and_one_at_least(self):
        masks, tokens, _ = self.masks()
        given = masks(np.arange(3), 0)
        asked = (given["labels"] != -100).sum(1).tolist()
        assert asked == [1, 1, round(0.15 * (tokens.lengths[2] - 2))]
        plain = tokens.batch(np.arange(3))["input_ids"]
        where = given["labels"] != -100
        assert torch.equal(given["labels"][where], plain[where])
        assert torch.equal(given["input_ids"][~where], plain[~where])

    def test_most_are_hidden_some_exchanged_some_left(self):
        """80, 10 and 10 in a hundred (Devlin et al. 2018, 3.1); special tokens never."""
        masks, _, tokenizer = self.masks(0.9, texts=self.texts[2:] * 40)
        given = masks(np.arange(40), 0)
        where = given["labels"] != -100
        shown, plain = given["input_ids"][where], given["labels"][where]
        hidden = (shown == tokenizer.mask_token_id).float().mean()
        same = (shown == plain).float().mean()
        assert hidden == pytest.approx(0.8, abs=0.04)
        assert same == pytest.approx(0.1, abs=0.04)
        assert not np.isin(plain, tokenizer.all_special_ids).any()
        others = shown[(shown != tokenizer.mask_token_id) & (shown != plain)]
        assert not np.isin(others, tokenizer.all_special_ids).any()

    def test_another_choice_in_each_epoch_whatever_the_batch(self):
        masks, _, _ = self.masks()
        both, alone = masks(np.array([2, 0]), 3), masks(np.array([2]), 3)
        assert torch.equal(both["labels"][0], alone["labels"][0])
        assert not torch.equal(alone["labels"], masks(np.array([2]), 4)["labels"])


def test_the_loss_is_that_of_the_whole_model():
    """The output layer sees what is asked for alone; transformers computes all, and the mean."""
    tokenizer = tiny_tokenizer()
    model = untrained(SCRATCH, tokenizer, 1).eval()
    tokens = tokenised(tokenizer, TestMasks.texts, None, 24)
    given = Masks(tokens, tokenizer, 0.3, 1, "masks")(np.arange(3), 0)
    with torch.no_grad():
        assert masked_losses(model, given).mean().item() == pytest.approx(
            model(**given).loss.item(), abs=1e-5
        )


def test_of_sentences_of_unknown_signs_nothing_is_learnt():
    tokenizer = tiny_tokenizer()
    model = untrained(SCRATCH, tokenizer, 1)
    tokens = tokenised(tokenizer, ["♥ ♥", "♥"], None, 24)
    masks = Masks(tokens, tokenizer, 0.3, 1, "masks")
    loss = masked_loss(model, masks(np.arange(2), 0))
    loss.backward()
    assert loss.item() == 0
    assert not any(weights.grad.any() for weights in model.cls.parameters())
    with pytest.raises(InputError, match="all tokens of the held-out sentences are unknown"):
        perplexity(model.eval(), masks, tokens, SCRATCH["training"], "cpu")


def test_the_vocabulary_is_the_same_each_time_and_saved_whole(tmp_path):
    one, other = (tokenizer_of(TEXTS, 34, True) for _ in range(2))
    assert one.get_vocab() == other.get_vocab()
    assert len(one) == 34
    one.save_pretrained(tmp_path)
    BertConfig(vocab_size=34).save_pretrained(tmp_path)
    again = open_tokenizer(tmp_path)
    assert again("The CAT sees me.")["input_ids"] == one("the cat sees me.")["input_ids"]
    pair = again("a cat", "a dog", return_token_type_ids=True)
    ids = pair["input_ids"]
    assert [ids[0], ids[-1], ids.count(again.sep_token_id)] == [
        *(again.cls_token_id, again.sep_token_id, 2)
    ]
    middle = ids.index(again.sep_token_id) + 1
    assert pair["token_type_ids"] == [0] * middle + [1] * (len(ids) - middle)
    assert "[UNK]" not in again.convert_ids_to_tokens(again("the new house")["input_ids"])
    assert again.decode(ids, skip_special_tokens=True) == "a cat a dog"


def test_chinese_has_no_token_of_a_blank_for_each_character():
    found = tokenizer_of(["我愛大狗。", "他看小貓。", "大狗看小貓。"] * 5, 40, True)
    tokens = found.convert_ids_to_tokens(found("大狗看小貓。")["input_ids"])
    assert tokens.count("▁") <= 1 and "[UNK]" not in tokens


def test_a_vocabulary_too_large_for_the_text_is_lowered(capsys):
    found = tokenizer_of(TEXTS, 5000, True)
    assert 34 < len(found) < 1000
    assert f"allows a vocabulary of {len(found)} tokens, and not 5000" in capsys.readouterr().err


def test_a_vocabulary_too_small_for_the_text_is_an_error():
    with pytest.raises(InputError, match=r"scratch.vocab_size 12: no vocabulary can be learnt"):
        tokenizer_of(TEXTS, 12, True)


def test_a_model_is_trained_and_published(model, data):
    """What every user of transformers can open, with its figures and its record."""
    verify(model / "model.json")
    metrics = json.loads((model / "metrics.json").read_text())
    assert metrics["perplexity"] < 0.8 * metrics["vocabulary"]
    points = [each["perplexity"] for each in metrics["history"] if "perplexity" in each]
    assert len(points) == 2 and points[-1] == metrics["perplexity"]
    record = read_record(model / "model")
    assert record["rows_in"] == len(TEXTS)
    # Of two texts that differ in their mark alone the second is left out; one is tested on.
    assert record["rejected"]["duplicate"] == len(TEXTS) // 2 - 1
    assert record["rejected"]["in_evaluation"] == 2
    tokenizer = open_tokenizer(model)
    assert open_model(AutoModelForMaskedLM, model).config.vocab_size == len(tokenizer)
    tuned = open_model(AutoModelForSequenceClassification, model, 3, num_labels=2)
    again = open_model(AutoModelForSequenceClassification, model, 3, num_labels=2)
    assert torch.equal(tuned.classifier.weight, again.classifier.weight)
    other = open_model(AutoModelForSequenceClassification, model, 4, num_labels=2)
    assert not torch.equal(tuned.classifier.weight, other.classifier.weight)


def test_what_the_tasks_report_on_is_left_out(data, tmp_path):
    qqp(tmp_path / "qqp", [(TEXTS[10], "learnt from", 1)])
    qqp(tmp_path / "qqp", [("x", TEXTS[20].upper(), 1), (TEXTS[30], "y", 0)], "dev")
    found = trained(data, tmp_path / "lm", tasks={"QQP": str(tmp_path / "qqp")})
    # Three sentences, each with both of its marks.
    assert read_record(found / "model")["rejected"]["in_evaluation"] == 6


def test_files_that_changed_since_the_planning_are_refused(data, tmp_path):
    with pytest.raises(InputError, match=r"train\.tsv changed since the run was planned"):
        trained(data, tmp_path / "lm", inputs={str(qqp(tmp_path)): "0" * 64})
    assert not (tmp_path / "lm").exists()


def test_a_training_that_was_killed_ends_with_the_same_files(model, data, tmp_path, monkeypatch):
    def kill(self, epoch):
        if epoch == 1:
            raise KeyboardInterrupt
        return real(self, epoch)

    real = masked.Fitting._in_order
    monkeypatch.setattr(masked.Fitting, "_in_order", kill)
    config, output = {"scratch": SCRATCH, "seed": 1}, tmp_path / "lm"
    given = {"folder": data, "shards": 2, "evaluation": data / "evaluation.parquet"}
    words = arguments(
        config, **given, work=tmp_path / "work", device="cpu", output=output, checkpoint_seconds=0
    )
    with pytest.raises(KeyboardInterrupt):
        masked.main(words)
    assert (tmp_path / "work" / "checkpoint.pt").exists()
    monkeypatch.setattr(masked.Fitting, "_in_order", real)
    masked.main(words)
    assert not (tmp_path / "work" / "checkpoint.pt").exists()
    one, other = (json.loads((each / "model.json").read_text()) for each in (model, output))
    assert one["files"] == other["files"]


def test_where_nothing_is_held_out_it_says_so(data, tmp_path):
    with pytest.raises(InputError, match=r"scratch.held_out is 1e-09: of the references \d+ are"):
        trained(data, tmp_path / "lm", held_out=1e-9)
