"""Outputs and what stands in them; forced decoding without batches and without shared prefixes."""

from dataclasses import replace

import pytest
import torch
from torch import Tensor

from workflow_scripts.nmt.automaton import Phrase
from workflow_scripts.nmt.beam import BeamResult
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleResult
from workflow_scripts.nmt.vocabulary import BOS, EOS

Results = list[SampleResult] | list[BeamResult]


def assert_same(results: Results, expected: Results) -> None:
    for result, other in zip(results, expected, strict=True):
        assert replace(result, nlls=other.nlls) == other
        assert result.nlls == pytest.approx(other.nlls, abs=1e-5)


def contains(output: list[int], phrase: Phrase) -> bool:
    """Tell whether a phrase, which may have <s> and </s>, stands in an output."""
    written = (BOS, *output, EOS)
    return any(written[start:][: len(phrase)] == phrase for start in range(len(written)))


@torch.inference_mode()
def log_probabilities(model: Model, source: list[int], target: list[int]) -> Tensor:
    """Return log p of all tokens at every place of a target and behind it [len + 1, V]."""
    prefixes = [target[:length] for length in range(len(target) + 1)]
    memory = model.remember(*model.encode([source] * len(prefixes)))
    last = torch.tensor([len(prefix) + 1 for prefix in prefixes]).cumsum(0) - 1
    return model.network.output(model.decode(prefixes, memory)[last]).log_softmax(dim=1)
