import pytest
import torch

from tests.e2e import micro
from tests.unit.nmt.marian_files import SELF_ATTENTION, write_binary
from workflow_scripts.commands.estimate.networks import (
    Shape,
    measure,
    measure_finished,
    seconds_per_call,
    sockeye_model,
)
from workflow_scripts.nmt.precision import PRECISIONS
from workflow_scripts.plan.resolve import resolve

pytestmark = pytest.mark.slow

CPU = torch.device("cpu")


def shape(**changes):
    block = micro.config("unused")["models"]["micro"] | {"heads": 2, "matmul": "fp32"} | changes
    return Shape(block, 50, 60, 8.0, 9.0)


@pytest.fixture(autouse=True)
def one_thread():
    torch.set_num_threads(1)


def test_model_has_the_shape_that_was_asked_for():
    size, hidden = 32, 64
    trained = [each for each in sockeye_model(shape()).parameters() if each.requires_grad]
    parameters = sum(each.numel() for each in trained)
    attention = 4 * size * size
    feed_forward = 2 * size * hidden + size + hidden
    norms = 2 * size
    encoder = attention + feed_forward + 3 * norms
    decoder = 2 * attention + feed_forward + 4 * norms
    # Embeddings of both sides; the output layer is tied to the target's, but for its bias.
    assert parameters == encoder + decoder + (50 + 60) * size + 60


def test_no_weight_is_what_memory_happened_to_hold():
    """Torch fills fresh memory with NaN where it is asked to be deterministic."""
    torch.use_deterministic_algorithms(True)
    try:
        model = sockeye_model(shape())
    finally:
        torch.use_deterministic_algorithms(False)
    assert all(each.isfinite().all() for each in model.parameters())


def test_speeds_are_above_zero_and_settings_are_put_back():
    precision = torch.get_float32_matmul_precision()
    speed = measure(shape(matmul="bf16"), CPU, resolve([], [])["compute"], budget=0.4)
    assert min(*speed[:5], *speed.precisions.values()) > 0
    assert {"fp32", "bf16"} <= speed.precisions.keys() <= PRECISIONS.keys()
    assert torch.get_float32_matmul_precision() == precision
    assert torch.backends.cuda.flash_sdp_enabled()


def test_a_larger_model_takes_longer():
    compute = resolve([], [])["compute"]
    small = measure(shape(), CPU, compute, budget=0.6)
    large = measure(shape(size=256, feed_forward=1024, encoder_layers=3), CPU, compute, budget=0.6)
    assert large.update_word > 2 * small.update_word
    assert large.sampled > small.sampled
    assert large.parameters > 10 * small.parameters


def test_calls_are_repeated_within_the_budget():
    calls = []
    seconds = seconds_per_call(lambda: calls.append(sum(range(20000))), CPU, 0.05)
    assert len(calls) > 3
    assert 0 < seconds < 0.05
    slow = []
    seconds_per_call(lambda: slow.append(1), CPU, -1.0)
    assert len(slow) == 2


@pytest.mark.parametrize("changes", [{}, SELF_ATTENTION])
def test_a_finished_model_is_measured_as_it_is(tmp_path, changes):
    folder = write_binary(tmp_path / "model", changes)
    compute = resolve([], [])["compute"]
    speed = measure_finished(folder, Shape({}, 20, 20, 4.0, 4.0), CPU, compute, budget=0.2)
    assert speed.update_word == 0
    assert min(speed.sampled, speed.searched, speed.scored) > 0
    assert speed.parameters > 22 * 16
