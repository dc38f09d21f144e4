"""Lexical shortlists: the file, and searches that keep to it."""

import itertools
import re
import struct
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.nmt import test_divergence, test_stride
from tests.unit.nmt.marian_files import INTGEMM8, OPTIONS, shortlist, write_binary
from tests.unit.nmt.no_data import Recorder, without_data
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt import int8
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.best_tokens import OutputLayer
from workflow_scripts.nmt.divergence import Group, compared
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.shortlist import read_shortlist
from workflow_scripts.nmt.vocabulary import EOS, UNK

FIRST = 4
# Marian's ids: each source piece allows three target pieces of its own, </s> allows one.
SETS = [[21], [], *([piece, (piece * 5) % 22, (piece * 7 + 1) % 22] for piece in range(2, 22))]


def write(folder: Path) -> Path:
    write_binary(folder, {"dec-depth": 2}, end_bias=1.0)
    (folder / "lex.50.50.xxyy.s2t.bin").write_bytes(shortlist(FIRST, SETS))
    return folder


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write(tmp_path_factory.mktemp("models") / "short")


@pytest.fixture(scope="module")
def full(folder: Path) -> Model:
    return load_model(folder, "cpu")


def expected_set(source: Sequence[int]) -> set[int]:
    """Return the core's ids of the set of a source: as Marian makes it, word by word."""
    allowed = set(range(FIRST))
    for piece in [0, *(index - 2 for index in source)]:
        allowed.update(SETS[piece])
    free = (piece for piece in range(FIRST, 22) if piece not in allowed)
    allowed.update(itertools.islice(free, -len(allowed) % 8))
    return {{0: EOS, 1: UNK}.get(piece, piece + 2) for piece in allowed}


@given(source=st.lists(st.integers(4, 23), max_size=6))
def test_sets_are_those_of_the_file(short: Model, source: list[int]):
    found = short.shortlist.allowed(source).tolist()
    assert len(found) == len(set(found))
    assert set(found) == expected_set(source)
    assert set(short.allowed(source, [(2, 9, 22), (7,)]).tolist()) == {
        *expected_set(source),
        9,
        22,
        7,
    }


def test_without_one_everything_is_allowed(full: Model):
    assert full.shortlist is None
    assert full.allowed([5]) is None


def restricted(model: Model, source: list[int], target: list[int], allowed: set[int]):
    """Return the log-probabilities [tokens, V] where the softmax is over a set of pieces."""
    hidden = model.decode([target], model.remember(*model.encode([source])))
    logits = model.network.output(hidden).double()
    logits[:, [piece for piece in range(logits.shape[1]) if piece not in allowed]] = -torch.inf
    return logits.log_softmax(1)


def restricted_nll(model: Model, source: list[int], output: list[int], allowed: set[int]) -> float:
    """Return the NLL of an output per token, the softmax being over a set of pieces."""
    labels = model.labels([output])
    return -float(restricted(model, source, output, allowed).gather(1, labels[:, None]).mean())


@pytest.mark.parametrize("at_once", [1, 4])
@pytest.mark.parametrize("cut", [{"k": 20}, {"top_p": 0.95}, {"min_p": 0.01}, {"epsilon": 0.001}])
@torch.inference_mode()
def test_samples_are_in_their_set_with_its_nll(short: Model, cut, at_once, monkeypatch):
    monkeypatch.setattr("workflow_scripts.nmt.best_tokens.SETS_AT_ONCE", at_once)
    requests = [SampleRequest(str(n), 0, source, [(7,)]) for n, source in enumerate([[5, 6], [9]])]
    for result in sample(short, requests, **cut, samples=30, seed=1):
        allowed = expected_set(result.request.source)
        assert result.outputs
        assert set().union(*result.outputs) <= allowed - {7}
        for output, nll in zip(result.outputs, result.nlls, strict=True):
            expected = restricted_nll(short, result.request.source, output, allowed)
            assert nll == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("at_once", [1, 4])
@torch.inference_mode()
def test_beams_are_in_their_set_with_wanted_pieces(short: Model, at_once, monkeypatch):
    monkeypatch.setattr("workflow_scripts.nmt.best_tokens.SETS_AT_ONCE", at_once)
    source = [5, 6]
    (outside, *_) = set(range(4, 24)) - expected_set(source)
    requests = [BeamRequest(source), BeamRequest(source, [(outside, 8)], [(4,)])]
    plain, constrained = translate(short, requests, beam_size=6, nbest=6)
    for result, allowed in (
        (plain, expected_set(source)),
        (constrained, expected_set(source) | {outside, 8}),
    ):
        assert result.outputs
        for output, nll in zip(result.outputs, result.nlls, strict=True):
            assert set(output) <= allowed
            expected = restricted_nll(short, source, output, allowed)
            assert nll == pytest.approx(expected, abs=1e-5)
    assert all((outside, 8) in itertools.pairwise(output) for output in constrained.outputs)
    assert not any(4 in output for output in constrained.outputs)


@pytest.mark.parametrize(
    "start", [test_stride.sampler, test_stride.top_p_sampler, test_stride.beams]
)
@torch.inference_mode()
def test_steps_read_nothing_from_the_device(short: Model, start):
    search = start(short)
    search.refill()
    search.step()
    search = without_data(search)
    with Recorder() as recorder:
        search.step()
    assert recorder.devices == {"meta"}


@pytest.mark.skipif(not int8.can_compute(), reason="this torch has no products of 8-bit numbers")
@torch.inference_mode()
def test_weights_in_8_bits_are_the_same_in_every_set(tmp_path: Path):
    pieces = 202
    folder = write_binary(tmp_path / "model", {"dim-vocabs": [pieces, pieces]}, kind=INTGEMM8)
    sets = [[piece, (piece * 5) % pieces] for piece in range(pieces)]
    (folder / "lex.50.50.xxyy.s2t.bin").write_bytes(shortlist(FIRST, sets))
    model = load_model(folder, "cpu", "int8", shortlist=True)
    layer, hidden = OutputLayer(model), torch.randn(1, model.network.sizes.size)
    logits = model.network.output(hidden)
    for source in range(4, pieces, 20):
        allowed = model.allowed([source])
        # Some of the sets lack the largest weight, which gave the whole matrix its scale.
        for others in ([], [model.allowed([source + 1])]):
            layer.restrict([allowed, *others])
            found = layer.best(hidden, 3, number=torch.tensor([0]))
            at = np.searchsorted(allowed, found.ids[0])
            expected = logits[0, allowed].log_softmax(dim=0)[at]
            assert torch.allclose(found.log_probabilities[0], expected, atol=1e-6)


def test_scoring_takes_no_notice(short: Model, full: Model):
    from workflow_scripts.nmt.scoring import score

    pairs = [([5, 6], [7, 8, 9])]
    assert list(score(short, pairs)) == list(score(full, pairs))


def test_what_is_compared_is_over_the_sets_of_both_sources_and_the_target(short, full):
    first, other, unread = [5, 6], [9], [4] * 40
    (outside, *_) = set(range(4, 24)) - expected_set(first) - expected_set(other)
    target = [7, outside]
    own = expected_set(first) | set(target)
    both = own | expected_set(other)
    assert own < both < set(range(1, 24)) - {2}
    p, q = restricted(short, first, target, own), restricted(short, other, target, both)
    token = [*target, EOS]
    lost = (p - q)[range(3), token].sum()
    divergence = (p.exp() * (p - q)).nansum(dim=1).max()
    expected = torch.stack([-q[range(3), token].mean(), lost, divergence]).tolist()
    groups = [Group(target, first, [other]), Group(target, unread, [other])]
    [[found], [alone]] = compared(short, groups, shortlist=True)
    assert found == pytest.approx(tuple(expected), abs=1e-5)
    allowed = expected_set(other) | set(target)
    assert alone.nll == pytest.approx(restricted_nll(short, other, target, allowed), abs=1e-5)
    every = compared(full, groups)
    assert every[0][0].nll > found.nll + 1e-3
    assert every == compared(short, groups) == compared(full, groups, shortlist=True)


@settings(deadline=None, max_examples=25)
@given(groups=test_divergence.GROUPS, batch_tokens=st.integers(1, 80))
def test_what_is_compared_depends_on_no_other_text(short: Model, groups, batch_tokens: int):
    found = compared(short, groups, batch_tokens=batch_tokens, shortlist=True)
    for group, answers in zip(groups, found, strict=True):
        for other, answer in zip(group.others, answers, strict=True):
            [[alone]] = compared(short, [group._replace(others=[other])], shortlist=True)
            assert answer == test_divergence.near(alone)


def test_a_folder_without_one_is_refused(tmp_path: Path):
    folder = write_binary(tmp_path / "model")
    with pytest.raises(InputError, match=r"model has no shortlist \(lex\*\.bin\)"):
        load_model(folder, "cpu", shortlist=True)


WHOLE = shortlist(FIRST, SETS)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "byte 0: 0 bytes, its head alone takes 48"),
        (b"\0" * 60, "byte 0: it begins with 0x0, a shortlist with 0xf11a48d5013417f5"),
        (WHOLE[:-1], f"asks for {len(WHOLE)} bytes, it has {len(WHOLE) - 1}"),
        (WHOLE[:32] + struct.pack("<Q", 2**62) + WHOLE[40:], "its head asks for"),
        (shortlist(FIRST, SETS[:-1]), "a shortlist for 21 source pieces; the model has 22"),
        (shortlist(1, SETS), "or without the first two"),
        (shortlist(23, SETS), "a shortlist for more than 22 target pieces"),
        (shortlist(FIRST, [*SETS[:-1], [22]]), "a shortlist for more than 22 target pieces"),
        (WHOLE[:56] + struct.pack("<Q", 2**63 + 5) + WHOLE[64:], "offsets that do not rise"),
        (WHOLE[:224] + struct.pack("<Q", 2**63 + 5) + WHOLE[232:], "offsets that do not rise"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, message: str):
    path = tmp_path / "lex.bin"
    path.write_bytes(content)
    pieces = OPTIONS["dim-vocabs"][0]
    with pytest.raises(InputError, match=re.escape(message)) as raised:
        read_shortlist(path, pieces, pieces)
    assert str(path) in str(raised.value)


def test_on_the_command_line(folder: Path, translated):
    lines = [{"text": "▁5 ▁6"}, {"text": "▁9"}, {"text": "▁17 ▁20", "constraints": ["▁7"]}]
    short = translated(folder, lines, "--nbest", "4", "--shortlist")
    assert translated(folder, lines, "--nbest", "4") != short
    for line, found in zip(lines, short, strict=True):
        allowed = expected_set([int(piece[1:]) for piece in line["text"].split()]) | {7}
        pieces = {piece for text in found["translations"] for piece in text.split()}
        assert {int(piece[1:]) for piece in pieces} <= allowed
