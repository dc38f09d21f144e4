"""Speed of the networks: real updates, samples and scores of models with random weights.

The model is Sockeye's own and has the shape that the configuration asks for; our own core searches
it. Tokens are random, and batches are smaller than in a run where a model is large. Figures are
CPU-seconds (so that other users of the machine don't count), or seconds of the device on a GPU.
"""

import argparse
import contextlib
import json
import tempfile
import time
from collections import deque
from collections.abc import Callable
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from sockeye import arguments as sockeye_arguments
from sockeye import data_io, train, utils
from sockeye.model import SockeyeModel, initialize_parameters
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.precision import PRECISIONS
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.scoring import score
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.train.arguments import complete_block, train_arguments
from workflow_scripts.stages.train.kernels import use_fast_kernels
from workflow_scripts.stages.train.weight_count import count_parameters

# The most words in a training step; larger batches take as long per word.
_TRAIN_WORDS = 2048
_SPECIAL = 4
_MAX_POSITIONS = 512
# Those that tell which precision is the fastest; bf16 takes ten times as long on some CPUs.
_FEW_TOKENS = 128


class Shape(NamedTuple):
    """A model as the configuration asks for it, with its vocabularies and mean lengths.

    `block`: of `models`; `source_size`, `target_size`: pieces; `source_length`, `target_length`:
    mean pieces of a sentence.
    """

    block: dict[str, Any]
    source_size: int
    target_size: int
    source_length: float
    target_length: float


class Speed(NamedTuple):
    """Seconds that one model takes.

    `update_word`: per target word of a training update; `sampled`, `searched`: per token of a
    hypothesis by sampling and by beam search; `scored`: per target token of a pair; `parameters`:
    their number; `precisions`: see `precision_seconds`; `stored`: bytes of the files of a finished
    model, 0 where they are not known.
    """

    update_word: float
    sampled: float
    searched: float
    scored: float
    parameters: int
    precisions: dict[str, float]
    stored: int = 0


def clock(device: torch.device) -> float:
    """Return CPU-seconds of this process, or on a GPU the time when its work so far is done."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
        return time.perf_counter()
    return time.process_time()


def seconds_per_call(call: Callable[[], Any], device: torch.device, budget: float) -> float:
    """Return the mean seconds of `call`, repeated for about `budget` seconds on the wall.

    The first call warms up and does not count; one more is made whatever the time.
    """
    end = time.monotonic() + budget
    call()
    start, calls = clock(device), 0
    while not calls or time.monotonic() < end:
        call()
        calls += 1
    return (clock(device) - start) / calls


def _arguments(block: dict[str, Any]) -> argparse.Namespace:
    """Return the arguments of the training as Sockeye parses them; it needs files that exist."""
    words = train_arguments(complete_block("estimate", block), seed=1)
    parser = sockeye_arguments.ConfigArgumentParser()
    sockeye_arguments.add_train_cli_args(parser)
    with tempfile.TemporaryDirectory() as folder, tempfile.NamedTemporaryFile() as file:
        paths = {"--prepared-data": folder, "--output": folder}
        paths |= dict.fromkeys(("--validation-source", "--validation-target"), file.name)
        pairs = zip(["", *words], words, strict=False)
        return parser.parse_args([paths.get(flag, word) for flag, word in pairs])


def sockeye_model(shape: Shape) -> SockeyeModel:
    """Return a model of Sockeye's with random weights."""
    arguments = _arguments(shape.block)
    longest = (_MAX_POSITIONS, _MAX_POSITIONS)
    statistics = data_io.DataStatistics(
        num_sents=1,
        num_discarded=0,
        num_tokens_source=1,
        num_tokens_target=1,
        num_unks_source=0,
        num_unks_target=0,
        max_observed_len_source=_MAX_POSITIONS,
        max_observed_len_target=_MAX_POSITIONS,
        size_vocab_source=shape.source_size,
        size_vocab_target=shape.target_size,
        length_ratio_mean=1.0,
        length_ratio_std=0.0,
        buckets=[longest],
        num_sents_per_bucket=[1],
        average_len_target_per_bucket=[None],
    )
    data = data_io.DataConfig(statistics, *longest, 1, 1)
    sizes = ([shape.source_size], [shape.target_size])
    model = SockeyeModel(train.create_model_config(arguments, *sizes, *longest, data))
    model.apply(initialize_parameters)
    return model


def _batch(shape: Shape, words: int, device: torch.device) -> tuple[Tensor, ...]:
    """Return random source [S, L, 1], lengths [S, 1], target [S, T, 1], lengths of S sentences."""
    lengths = (round(shape.source_length) + 1, round(shape.target_length) + 1)
    sentences = max(1, words // lengths[1])
    tensors: list[Tensor] = []
    for length, size in zip(lengths, (shape.source_size, shape.target_size), strict=True):
        tokens = torch.randint(_SPECIAL, size, (sentences, length, 1), device=device)
        tensors += [tokens, torch.full((sentences, 1), length, device=device, dtype=torch.int32)]
    return tuple(tensors)


def update_seconds(model: SockeyeModel, shape: Shape, device: torch.device, budget: float) -> float:
    """Return the seconds per target word of one update: forward, backward, Adam."""
    block = filled(shape.block, "model")
    words = min(_TRAIN_WORDS, block["batch_words"])
    batch = _batch(shape, words, device)
    labels = batch[2][:, :, 0]
    model.to(device).train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-6)
    half = torch.autocast("cuda", torch.float16, enabled=device.type == "cuda" and block["amp"])

    def update() -> None:
        optimizer.zero_grad()
        with half:
            logits = model(*batch)["logits"]
        torch.nn.functional.cross_entropy(logits.float().flatten(0, 1), labels.flatten()).backward()
        optimizer.step()

    use_fast_kernels(block["matmul"], device.type)
    try:
        return seconds_per_call(update, device, budget) / labels.numel()
    finally:
        torch.set_float32_matmul_precision("highest")
        torch.backends.cuda.enable_flash_sdp(True)


def searchable(model: SockeyeModel, shape: Shape, device: torch.device, precision: str) -> Model:
    """Return the same model as our search core loads it."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        model.cpu().eval()
        model.save_config(name)
        model.save_parameters(str(folder / "params.best"))
        model.save_version(name)
        special = ["<pad>", "<unk>", "<s>", "</s>"]
        for side, size in (("src", shape.source_size), ("trg", shape.target_size)):
            pieces = [*special, *(f"p{number}" for number in range(size - _SPECIAL))]
            text = json.dumps({piece: index for index, piece in enumerate(pieces)})
            (folder / f"vocab.{side}.0.json").write_text(text, encoding="utf-8")
        return load_model(folder, device.type, precision)


def search_seconds(model: Model, shape: Shape, method: str, rows: int, budget: float) -> float:
    """Return the seconds per token of a hypothesis, sampled or in a beam of 10.

    Hypotheses of random models hardly ever end, so each has the maximum length.
    """
    random = np.random.default_rng(1)
    length = round(shape.source_length)
    width = 30 if method == "sample" else 10
    sentences = max(1, rows // width)
    sources = [
        random.integers(_SPECIAL, shape.source_size, length).tolist() for _ in range(sentences)
    ]
    numbers = count()
    # As many words forbidden as in the middle of ParaBank 2's range, of two pieces each.
    avoid = random.integers(_SPECIAL, shape.target_size, (max(1, length // 12), 2)).tolist()
    phrases = [tuple(phrase) for phrase in avoid]

    def search() -> None:
        if method == "sample":
            wanted = [SampleRequest(str(next(numbers)), 0, source, phrases) for source in sources]
            deque(sample(model, wanted, k=10, samples=width, seed=1, batch_rows=rows), maxlen=0)
        else:
            requests = [BeamRequest(source) for source in sources]
            deque(translate(model, requests, beam_size=width, batch_rows=rows), maxlen=0)

    tokens = sentences * width * model.max_output_length(length)
    return seconds_per_call(search, model.device, budget) / tokens


def score_seconds(model: Model, shape: Shape, batch_tokens: int, budget: float) -> float:
    """Return the seconds per target token of a scored pair."""
    random = np.random.default_rng(2)
    pairs = [
        (
            random.integers(_SPECIAL, shape.source_size, round(shape.source_length)).tolist(),
            random.integers(_SPECIAL, shape.target_size, round(shape.target_length)).tolist(),
        )
        for _ in range(max(1, batch_tokens // round(max(shape[3:]) + 1)))
    ]
    tokens = sum(len(target) + 1 for _, target in pairs)
    call = lambda: list(score(model, pairs, batch_tokens=batch_tokens))  # noqa: E731
    return seconds_per_call(call, model.device, budget) / tokens


def precision_seconds(load: Callable[[str], Model], shape: Shape) -> dict[str, float]:
    """Return the seconds per token of scoring in each precision that the device has.

    Args:
        load: gives the model in a precision.
        shape: its vocabularies and mean lengths.
    """
    seconds = {}
    for name in PRECISIONS:
        with contextlib.suppress(InputError):
            seconds[name] = score_seconds(load(name), shape, _FEW_TOKENS, 0.3)
    return seconds


def measure_finished(
    folder: Path, shape: Shape, device: torch.device, compute: dict[str, Any], budget: float
) -> Speed:
    """Return the speed of a finished model, which is not trained.

    Args:
        folder: of the model.
        shape: its vocabularies and mean lengths; it has no block.
        device: that runs it.
        compute: block of the configuration.
        budget: seconds on the wall, about.
    """
    load = partial(load_model, folder, device.type)
    decoding = _decoding_seconds(load(compute["precision"]), shape, compute, budget)
    return Speed(0.0, *decoding, count_parameters(folder), precision_seconds(load, shape))


def _decoding_seconds(
    model: Model, shape: Shape, compute: dict[str, Any], budget: float
) -> tuple[float, float, float]:
    """Return the seconds per token of sampling, of beam search and of scoring."""
    # On a CPU a smaller batch takes as long per token; on a GPU it would not.
    on_gpu = model.device.type == "cuda"
    rows = compute["batch_rows"] if on_gpu else min(compute["batch_rows"], 120)
    tokens = compute["batch_tokens"] if on_gpu else min(compute["batch_tokens"], 4096)
    return (
        search_seconds(model, shape, "sample", rows, budget / 4),
        search_seconds(model, shape, "beam", rows, budget / 4),
        score_seconds(model, shape, tokens, budget / 6),
    )


def measure(shape: Shape, device: torch.device, compute: dict[str, Any], budget: float) -> Speed:
    """Return the speed of one model.

    Args:
        shape: of the model.
        device: that runs it.
        compute: block of the configuration.
        budget: seconds on the wall, about.
    """
    utils.seed_rngs(1)
    network = sockeye_model(shape)
    parameters = sum(weights.numel() for weights in network.parameters() if weights.requires_grad)
    update_word = update_seconds(network, shape, device, budget / 3)
    load = partial(searchable, network, shape, device)
    decoding = _decoding_seconds(load(compute["precision"]), shape, compute, budget)
    return Speed(update_word, *decoding, parameters, precision_seconds(load, shape))
