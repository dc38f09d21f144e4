"""Fine-tuning of an encoder for a task: protocols, seeds, what is resumed."""

import json

import numpy as np
import pytest
import torch
from transformers import (
    AutoModelForQuestionAnswering,
    AutoModelForSequenceClassification,
    BertForSequenceClassification,
)

from tests.golden.inputs import arguments
from tests.unit.encoder.conftest import tiny_config, tiny_tokenizer
from tests.unit.encoder.tasks.samples import SETTINGS, sick, squad, stsb_dev
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import sha256, verify, write_record
from workflow_scripts.stages.encoder.tasks.problems import with_new_layer
from workflow_scripts.stages.encoder.tasks.tuning import Tuning, main, tune
from workflow_scripts.stages.encoder.training import Fitting

FILES = {"SICK-E": sick, "STS-B": stsb_dev, "SQuAD": squad}


@pytest.fixture
def data(tmp_path):
    """A folder of each task."""
    for task, write in FILES.items():
        write(tmp_path / task)
    return tmp_path


def tuned(encoder, data, task, output, seed=1, **settings):
    tune(encoder, task, data / task, SETTINGS | settings, seed, output)
    record = verify(output.with_suffix(".json"))
    lines = [json.loads(line) for line in output.read_text(encoding="utf-8").splitlines()]
    return lines, record["extra"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("task", "part", "count"), [("SICK-E", "test", 12), ("STS-B", "dev", 12), ("SQuAD", "dev", 2)]
)
def test_a_task_is_learnt_and_each_example_is_answered_once(encoder, data, task, part, count):
    lines, extra = tuned(encoder, data, task, data / "out" / "x.jsonl")
    assert [line["part"] for line in lines] == [part] * count
    assert list(extra["parts"]) == [part]
    assert extra["parts"][part]["in_folds"] == (task == "STS-B")
    assert len(extra["choices"]) == (3 if task == "STS-B" else 1)
    assert not (data / "out" / "work" / "x").exists()
    if task == "STS-B":  # in the order of the file, although folds are answered
        assert [line["gold"] for line in lines] == [float(n % 6) for n in range(12)]


@pytest.mark.slow
def test_the_same_seed_gives_the_same_bytes_and_another_seed_others(encoder, data):
    paths = [data / f"{name}.jsonl" for name in ("one", "same", "other")]
    for path, seed in zip(paths, (1, 1, 2), strict=True):
        tuned(encoder, data, "STS-B", path, seed)
    one, same, other = (path.read_bytes() for path in paths)
    assert one == same != other


@pytest.mark.slow
def test_a_killed_job_goes_on_with_what_is_finished(encoder, data, monkeypatch):
    whole, _ = tuned(encoder, data, "STS-B", data / "whole.jsonl")
    started = []
    run = Fitting.run

    def killed(self, *arguments):
        started.append(self)
        if len(started) == 2:
            raise KeyboardInterrupt
        return run(self, *arguments)

    monkeypatch.setattr(Fitting, "run", killed)
    with pytest.raises(KeyboardInterrupt):
        tuned(encoder, data, "STS-B", data / "x.jsonl")
    assert not (data / "x.jsonl").exists()
    lines, _ = tuned(encoder, data, "STS-B", data / "x.jsonl")
    assert len(started) == 4  # the first fold once, the second twice, the third once
    assert lines == whole


@pytest.mark.slow
def test_what_was_kept_of_other_data_is_not_taken(encoder, data, monkeypatch):
    def killed(self, *_):
        raise KeyboardInterrupt

    output = data / "x.jsonl"
    run = Fitting.run
    monkeypatch.setattr(
        Fitting, "run", lambda self, *given: run(self, *given) if "0" in self.desc else killed(self)
    )
    with pytest.raises(KeyboardInterrupt):
        tuned(encoder, data, "STS-B", output)
    monkeypatch.setattr(Fitting, "run", run)
    stsb_dev(data / "STS-B", 15)
    again, _ = tuned(encoder, data, "STS-B", output)
    fresh, _ = tuned(encoder, data, "STS-B", data / "fresh.jsonl")
    assert again == fresh


@pytest.mark.parametrize("name", ["config.json", "model.safetensors", "tokenizer.json"])
def test_what_was_kept_of_another_encoder_is_not_taken(encoder, data, name):
    """The tokenizer is part of it."""
    one, other = (_plan(encoder, data) for _ in range(2))
    assert one == other
    (encoder / name).write_bytes((encoder / name).read_bytes() + b" ")
    assert _plan(encoder, data) != one
    assert Tuning(encoder, "STS-B", SETTINGS, 1, data, "cuda")._plan != _plan(encoder, data)


def _plan(encoder, data):
    return Tuning(encoder, "STS-B", SETTINGS, 1, data)._plan


def test_a_learning_rate_is_chosen_without_a_look_at_what_is_reported(encoder, data, monkeypatch):
    asked = []

    def looked(self, name, rate, train, tested):
        asked.append((name, rate, [each.first for each in tested[0]]))
        right = [{"gold": [each.gold for each in part], "predicted": []} for part in tested]
        for rows, part in zip(right, tested, strict=True):
            found = 0.0 if rate != 0.002 else 1.0
            rows["predicted"] = [each.gold if found else -1.0 for each in part]
        return right

    monkeypatch.setattr("workflow_scripts.stages.encoder.tasks.tuning.Tuning._step", looked)
    _, extra = tuned(
        encoder, data, "SICK-E", data / "x.jsonl", learning_rates=[0.001, 0.002, 0.003]
    )
    assert extra["choices"] == [0.002]
    assert [rate for _, rate, _ in asked] == [0.001, 0.002, 0.003, 0.002]
    assert all(first.startswith("the cat 1 ") for *_, texts in asked[:3] for first in texts)
    assert all(first.startswith("the cat 2 ") for first in asked[3][2])


def test_where_there_are_no_development_data_a_tenth_is_held_out(encoder, data, monkeypatch):
    asked = []

    def looked(self, name, rate, train, tested):
        asked.append((name, {each.first for each in train}, {each.first for each in tested[0]}))
        return [
            {"gold": [each.gold for each in part], "predicted": [0.0] * len(part)}
            for part in tested
        ]

    stsb_dev(data / "STS-B", 60)
    monkeypatch.setattr("workflow_scripts.stages.encoder.tasks.tuning.Tuning._step", looked)
    tuned(encoder, data, "STS-B", data / "x.jsonl", learning_rates=[0.001, 0.002])
    steps = [asked[place : place + 3] for place in range(0, 9, 3)]
    for (_, learnt, held), (_, *again), (_, rest, fold) in steps:
        assert [learnt, held] == again
        assert len(held) == 4 and not held & learnt and held | learnt == rest
        assert not fold & rest and len(fold) == 20


def test_an_output_layer_is_new_and_the_body_is_the_encoders(tmp_path):
    folder = tmp_path / "tuned"
    torch.manual_seed(3)
    old = BertForSequenceClassification(tiny_config(num_labels=2))
    old.save_pretrained(folder)
    tiny_tokenizer().save_pretrained(folder)
    new = with_new_layer(AutoModelForSequenceClassification, folder, 1, num_labels=2)
    assert not torch.equal(new.classifier.weight, old.classifier.weight)
    for name, weights in old.bert.state_dict().items():
        assert torch.equal(new.bert.state_dict()[name], weights), name
    again = with_new_layer(AutoModelForSequenceClassification, folder, 1, num_labels=2)
    assert torch.equal(new.classifier.weight, again.classifier.weight)
    spans = with_new_layer(AutoModelForQuestionAnswering, folder, 1, num_labels=2)
    weights = spans.bert.encoder.state_dict()
    assert all(
        torch.equal(weights[name], each) for name, each in old.bert.encoder.state_dict().items()
    )


def command(encoder, data, output):
    config = {"epochs": 1, "folds": 2, "length": 20}
    options = {"task": "STS-B", "data": data / "STS-B", "seed": 3, "device": "cpu"}
    return arguments(config, encoder=encoder, **options, output=output)


def test_the_command_fills_in_defaults(encoder, data):
    main(command(encoder, data, data / "x.jsonl"))
    extra = verify(data / "x.json")["extra"]
    assert (extra["seed"], extra["choices"]) == (3, [5e-5, 5e-5])
    assert extra["settings"]["length"] == 20 and extra["settings"]["batch"] == 16
    assert extra["encoder"]["tokenizer.json"] == sha256(encoder / "tokenizer.json")


def test_the_record_tells_data_of_another_training_part(encoder, data):
    """The answers to the same test part would not show it."""
    whole = tuned(encoder, data, "SICK-E", data / "whole.jsonl")[1]["data"]
    path = data / "SICK-E" / "SICK_train.txt"
    lines = path.read_text(encoding="utf-8").splitlines()
    path.write_text("\n".join(lines[:-3]), encoding="utf-8")
    fewer = tuned(encoder, data, "SICK-E", data / "fewer.jsonl")[1]["data"]
    assert whole.keys() == {"train", "development", "test"}
    assert {part for part in whole if whole[part] != fewer[part]} == {"train"}


@pytest.mark.parametrize(
    ("name", "part"), [("train", "train"), ("trial", "development"), ("test_annotated", "test")]
)
def test_a_part_with_one_class_is_refused(encoder, data, name, part):
    path = data / "SICK-E" / f"SICK_{name}.txt"
    text = path.read_text(encoding="utf-8")
    for label in ("ENTAILMENT", "CONTRADICTION"):
        text = text.replace(label, "NEUTRAL")
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=f"SICK-E, {part}: .* all 12 pairs have the label"):
        tuned(encoder, data, "SICK-E", data / "x.jsonl")


@pytest.mark.parametrize(
    ("option", "value", "message"),
    [
        ("--config", '{"learning_rate": [0.1]}', "unknown key 'learning_rate'; did you mean"),
        ("--task", "STS", "--task: 'STS' is none of QQP, MNLI, STS-B"),
    ],
)
def test_the_command_refuses_what_is_no_setting_or_task(encoder, data, option, value, message):
    arguments = command(encoder, data, data / "x.jsonl")
    arguments[arguments.index(option) + 1] = value
    with pytest.raises(InputError, match=message):
        main(arguments)


def test_a_damaged_encoder_of_a_run_and_a_folder_without_weights_are_refused(encoder, data):
    write_record(encoder / "model.safetensors", 1, 1, {})
    weights = (encoder / "model.safetensors").read_bytes()
    (encoder / "model.safetensors").write_bytes(weights[:-1] + bytes([weights[-1] ^ 1]))
    with pytest.raises(InputError, match=r"model.safetensors"):
        main(command(encoder, data, data / "x.jsonl"))
    (encoder / "model.json").unlink()
    (encoder / "model.safetensors").unlink()
    with pytest.raises(InputError, match=r"is no model of transformers: it has no weights"):
        main(command(encoder, data, data / "x.jsonl"))


@pytest.mark.slow
def test_an_encoder_learns_what_can_be_learnt(encoder, tmp_path):
    """Words tell the classes apart, so that a few epochs find them all."""
    words = {"NEUTRAL": "cat", "ENTAILMENT": "dog", "CONTRADICTION": "bird"}
    header = "pair_ID\tsentence_A\tsentence_B\trelatedness_score\tentailment_judgment\n"
    for name in ("SICK_train", "SICK_trial", "SICK_test_annotated"):
        rows = [
            f"{n}\tthe {word} sees\ta {word} likes\t3\t{label}\n"
            for n in range(10)
            for label, word in words.items()
        ]
        (tmp_path / "SICK-E").mkdir(exist_ok=True)
        (tmp_path / "SICK-E" / f"{name}.txt").write_text(header + "".join(rows), "utf-8")
    _, extra = tuned(
        encoder, tmp_path, "SICK-E", tmp_path / "x.jsonl", epochs=30, learning_rates=[0.003]
    )
    assert extra["parts"]["test"]["figures"] == {"accuracy": 1.0}


@pytest.mark.slow
def test_spans_can_be_learnt(encoder, tmp_path):
    """The tested questions are those that were learnt: they are answered, or left, as they were."""
    squad(tmp_path / "SQuAD")
    train = tmp_path / "SQuAD" / "train-v2.0.json"
    (tmp_path / "SQuAD" / "dev-v2.0.json").write_bytes(train.read_bytes())
    lines, extra = tuned(
        encoder, tmp_path, "SQuAD", tmp_path / "x.jsonl", epochs=150, learning_rates=[0.01]
    )
    assert extra["parts"]["dev"]["figures"]["exact_Total"] == 1.0
    assert lines[0]["answer"] == "a small dog"
    assert np.isclose(extra["parts"]["dev"]["figures"]["f1_NoAns"], 1.0)
