"""Gradients of loaded models, by differences; models that are saved are what they were."""

from pathlib import Path

import pytest
import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from tests.unit.nmt import marian_files
from tests.unit.nmt.folders import write_model
from workflow_scripts.core.files.model_folder import MARIAN_NPZ, model_files
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.saving import save_model
from workflow_scripts.nmt.scoring import forced
from workflow_scripts.nmt.trainable import Trainable, forced_loss
from workflow_scripts.nmt.vocabulary import EOS

PAIRS = [([5, 9, 7], [4, 8, 15, 6]), ([6], [9]), ([18, 4, 4, 5, 8, 11], [7, 7, 7, 10])]
CPU = torch.device("cpu")
MARIAN = {
    "Marian, SSRU": {"dec-depth": 2},
    "Marian, swish": {"transformer-ffn-activation": "swish"},
    "Marian, pre-norm": marian_files.PRE_NORM | marian_files.SELF_ATTENTION,
    "Marian, pre-norm SSRU": marian_files.PRE_NORM,
    "Marian, separate": marian_files.SEPARATE,
}
SOCKEYE = {"Sockeye": "trg_softmax", "Sockeye, one table": "src_trg_softmax"}
KINDS = [*MARIAN, "Marian, int8", *SOCKEYE, "Hugging Face", "Hugging Face, untied"]


def write(folder: Path, kind: str) -> Path:
    """Write a small model of a kind with random weights."""
    if kind in MARIAN:
        return marian_files.write_npz(folder, MARIAN[kind])
    if kind in SOCKEYE:
        return write_model(folder, weight_tying=SOCKEYE[kind])
    if kind == "Marian, int8":
        return marian_files.write_binary(folder, kind=marian_files.INTGEMM8, alphas=True)
    from tests.unit.nmt.test_hugging_face import made

    made(folder, {"tie_word_embeddings": False} if "untied" in kind else {})
    return folder


@pytest.fixture(params=KINDS)
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return write(tmp_path / "model", request.param)


def loss(trainable: Trainable) -> float:
    with torch.no_grad():
        return float(forced_loss(trainable.model(), PAIRS, 0.1).smoothed)


def direction(tensor: Tensor) -> Tensor:
    return tensor / tensor.norm().clamp(min=1e-9)


@pytest.mark.rest
def test_gradients_are_the_differences_of_the_loss(folder: Path):
    trainable = Trainable(folder, CPU)
    forced_loss(trainable.model(), PAIRS, 0.1).smoothed.backward()
    random = torch.Generator().manual_seed(3)
    for leaf in trainable.trained:
        assert leaf.grad is not None
        aside = torch.randn(leaf.shape, generator=random)
        way = 0.005 * (direction(leaf.grad) + 0.2 * direction(aside))
        expected = float((leaf.grad * way).sum())
        values = []
        for sign in (1, -1):
            with torch.no_grad():
                leaf.add_(sign * way)
                values.append(loss(trainable))
                leaf.sub_(sign * way)
        assert (values[0] - values[1]) / 2 == pytest.approx(expected, rel=0.03, abs=2e-4)


def test_the_loss_without_smoothing_is_what_scoring_says(folder: Path):
    model = load_model(folder, "cpu")
    total = sum(each.total for each in forced(model, PAIRS))
    found = forced_loss(Trainable(folder, CPU).model(), PAIRS)
    assert found.nll == pytest.approx(total, rel=1e-5)
    assert float(found.smoothed.detach()) == pytest.approx(total, rel=1e-5)
    assert found.tokens == sum(len(target) + 1 for _, target in PAIRS)


def test_smoothing_is_torchs_over_the_pieces_that_can_be_written(folder: Path):
    model = Trainable(folder, CPU).model()
    targets = [target for _, target in PAIRS]
    with torch.no_grad():
        memory = model.remember(*model.encode([source for source, _ in PAIRS]))
        logits = model.network.output(model.decode(targets, memory))
        columns = model.network.output.bias.isfinite().nonzero()[:, 0]
        labels = [columns.tolist().index(piece) for each in targets for piece in (*each, EOS)]
        expected = F.cross_entropy(
            logits[:, columns], torch.tensor(labels), label_smoothing=0.2, reduction="sum"
        )
    found = float(forced_loss(model, PAIRS, 0.2).smoothed.detach())
    assert found == pytest.approx(float(expected), rel=1e-5)


@pytest.mark.slow
def test_a_saved_model_is_of_its_kind_and_scores_the_same(folder: Path, tmp_path: Path):
    output = tmp_path / "saved"
    output.mkdir()
    files, trainable = model_files(folder), Trainable(folder, CPU)
    names = save_model(folder, files, trainable.tensors, output)
    assert sorted(names) == sorted(path.name for path in output.iterdir())
    kind = model_files(output).kind
    assert kind == (MARIAN_NPZ if files.kind.startswith("Marian") else files.kind)
    first, second = (list(forced(load_model(each, "cpu"), PAIRS)) for each in (folder, output))
    assert first == second


def test_what_was_one_tensor_stays_one(folder: Path, tmp_path: Path):
    output = tmp_path / "saved"
    output.mkdir()
    trainable = Trainable(folder, CPU)
    before = [leaf.shape for leaf in trainable.trained]
    with torch.no_grad():
        for leaf in trainable.trained:
            leaf.add_(0.01)
    save_model(folder, model_files(folder), trainable.tensors, output)
    again = Trainable(output, CPU)
    assert sorted(map(tuple, before)) == sorted(tuple(leaf.shape) for leaf in again.trained)
    changed = forced_loss(trainable.model(), PAIRS)
    assert forced_loss(again.model(), PAIRS).nll == pytest.approx(changed.nll, rel=1e-6)
    assert changed.nll != pytest.approx(forced_loss(Trainable(folder, CPU).model(), PAIRS).nll)


def test_sockeye_reads_what_was_saved(tmp_path: Path):
    from sockeye.model import load_model as load_with_sockeye

    folder, output = write_model(tmp_path / "model"), tmp_path / "saved"
    output.mkdir()
    trainable = Trainable(folder, CPU)
    with torch.no_grad():
        for leaf in trainable.trained:
            leaf.mul_(1.5)
    save_model(folder, model_files(folder), trainable.tensors, output)
    theirs, _, _ = load_with_sockeye(str(output), device=CPU)
    weight = trainable.tensors["embedding_target.embedding.weight"]
    assert torch.equal(theirs.embedding_target.embedding.weight, weight)
    assert torch.equal(theirs.output_layer.weight, weight)


@pytest.mark.slow
def test_dropout_is_drawn_from_the_seed_alone(folder: Path):
    trainable = Trainable(folder, CPU)

    def drawn(seed: int, share: float) -> float:
        torch.manual_seed(seed)
        return forced_loss(trainable.model(share), PAIRS).nll

    assert drawn(1, 0.3) == drawn(1, 0.3) != drawn(2, 0.3)
    assert drawn(1, 0.0) == drawn(2, 0.0) == forced_loss(trainable.model(), PAIRS).nll
