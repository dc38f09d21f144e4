import pytest
import torch
from sockeye import arguments as sockeye_arguments
from sockeye import lr_scheduler

from tests.unit.train.conftest import MICRO
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.train import work_folder
from workflow_scripts.stages.train.arguments import (
    complete_block,
    device_arguments,
    prepare_arguments,
    train_arguments,
)


def parse(add_arguments, words: list[str]):
    parser = sockeye_arguments.ConfigArgumentParser()
    add_arguments(parser)
    return parser.parse_args(words)


def test_sockeye_understands_the_training_arguments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in (work_folder.DEV_SOURCE, work_folder.DEV_TARGET):
        (tmp_path / name).touch()
    (tmp_path / work_folder.PREPARED).mkdir()
    block = complete_block("forward", MICRO | {"encoder_layers": 3, "patience": 8})
    words = train_arguments(block, 7) + device_arguments(block, "cpu")
    args = parse(sockeye_arguments.add_train_cli_args, words)
    assert args.num_layers == (3, 1)
    assert args.transformer_model_size == (16, 16)
    assert args.transformer_feed_forward_num_hidden == (32, 32)
    assert args.transformer_dropout_prepost == (0.1, 0.1)
    assert args.transformer_dropout_act == (0.0, 0.0)
    assert (args.batch_size, args.batch_type) == (120, "word")
    assert (args.max_updates, args.checkpoint_interval) == (60, 12)
    assert args.max_num_checkpoint_not_improved == 8
    assert args.weight_tying_type == "trg_softmax"
    assert args.learning_rate_scheduler_type == "inv-sqrt-decay"
    assert args.seed == 7
    assert args.decode_and_evaluate == 0


@pytest.mark.parametrize(
    ("device", "amp", "expected"),
    [
        ("cpu", False, ["--use-cpu"]),
        ("cpu", True, ["--use-cpu"]),
        ("cuda", False, []),
        ("cuda", True, ["--amp"]),
    ],
)
def test_mixed_precision_is_for_gpus(device, amp, expected):
    assert device_arguments(complete_block("forward", MICRO | {"amp": amp}), device) == expected


@pytest.mark.parametrize("schedule", ["inv-sqrt-decay", "plateau-reduce", "linear-decay"])
def test_the_learning_rate_is_the_peak_after_the_warm_up(schedule):
    changes = {"schedule": schedule, "warmup": 400, "max_updates": 400_000}
    block = complete_block("forward", MICRO | changes | {"learning_rate": 0.0005})
    words = train_arguments(block, 1)
    initial = float(words[words.index("--initial-learning-rate") + 1])
    scheduler_class, options = lr_scheduler.get_lr_scheduler(
        schedule, initial, 0.5, 8, 400, 400_000
    )
    optimizer = torch.optim.SGD([torch.zeros(1, requires_grad=True)], lr=1.0)
    scheduler = scheduler_class(optimizer, **options)
    rates = []
    for _ in range(600):
        scheduler.step()
        rates.append(scheduler.get_last_lr()[0])
    assert max(rates) == pytest.approx(0.0005, rel=2e-3)
    assert rates[399] == pytest.approx(max(rates))
    assert rates[199] == pytest.approx(max(rates) / 2, rel=2e-3)


def test_sockeye_understands_the_preparation_arguments(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name in ("TRAIN_SOURCE", "TRAIN_TARGET", "SOURCE_VOCABULARY", "TARGET_VOCABULARY"):
        (tmp_path / getattr(work_folder, name)).touch()
    words = prepare_arguments(complete_block("forward", MICRO))
    args = parse(sockeye_arguments.add_prepare_data_cli_args, words)
    assert args.max_seq_len == (40, 40)
    assert args.output == work_folder.PREPARED_UNFINISHED


def test_all_paths_are_relative_so_that_a_work_folder_can_move():
    block = complete_block("forward", MICRO)
    words = prepare_arguments(block) + train_arguments(block, 1)
    assert not [word for word in words if "/" in word]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"sizes": 3}, "unknown sizes"),
        ({"heads": 3}, r"heads \(3\) does not divide size \(16\)"),
        ({"schedule": "cosine"}, "schedule 'cosine' is none of none, inv-sqrt-decay"),
        ({"schedule": "none"}, "schedule none has no warm-up: set warmup to 0"),
        ({"matmul": "int8"}, "matmul 'int8' is none of fp32, bf16"),
        ({"batch_words": 40}, r"batch_words \(40\) must exceed max_length \(40\)"),
    ],
)
def test_bad_blocks_are_refused_by_name(change, message):
    with pytest.raises(InputError, match=f"^the model of backward: .*{message}"):
        complete_block("backward", MICRO | change)


def test_missing_keys_are_named():
    with pytest.raises(InputError, match="key 'size' is missing; key 'dropout' is missing"):
        complete_block("forward", {k: v for k, v in MICRO.items() if k not in ("size", "dropout")})
