"""Steps at a stretch, as on an accelerator, give what single steps give."""

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.nmt import test_beam
from tests.unit.nmt.by_hand import assert_same
from tests.unit.nmt.folders import write_model
from tests.unit.nmt.no_data import Recorder, without_data
from tests.unit.nmt.test_sampling import REQUESTS, TRUNCATIONS
from workflow_scripts.nmt import beam, sampling, streaming
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.decoder import Decoder
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.precision import PRECISIONS
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.truncation import Truncation

pytestmark = pytest.mark.slow


@pytest.mark.rest
@settings(deadline=None, max_examples=25)
@given(requests=REQUESTS, cut=TRUNCATIONS, rows=st.integers(1, 40), stride=st.integers(2, 20))
def test_random_models(every: Model, requests, cut, rows: int, stride: int):
    arguments = {**cut, "samples": 4, "seed": 7}
    at_a_stretch = sample(every, requests, **arguments, batch_rows=rows, stride=stride)
    assert_same(list(at_a_stretch), list(sample(every, requests, **arguments)))


@pytest.mark.rest
@pytest.mark.parametrize(("rows", "stride"), [(64, 8), (33, 3)])
def test_trained_model(oracle: Model, oracle_dir: Path, rows: int, stride: int):
    cases = test_beam.read_cases(oracle, oracle_dir / "cases" / "negative_phrase.jsonl")
    requests = [SampleRequest(str(n), 0, case.source, case.avoid) for n, case in enumerate(cases)]
    arguments = {"k": 10, "samples": 4, "seed": 3}
    at_a_stretch = sample(oracle, requests, **arguments, batch_rows=rows, stride=stride)
    assert_same(list(at_a_stretch), list(sample(oracle, requests, **arguments)))


@pytest.mark.parametrize("rows", [5, 64])
def test_lengths_differ_widely_and_samples_are_dropped(tmp_path: Path, rows: int):
    model = load_model(write_model(tmp_path / "model", end_bias=0.5), "cpu")
    requests = [
        SampleRequest(str(number), 0, [4 + number] * length, [(5,), (6, 7)])
        for number, length in enumerate([1, 30, 0, 2, 39, 40, 1, 17])
    ]
    arguments = {"k": 20, "samples": 6, "seed": 2}
    expected = list(sample(model, requests, **arguments))
    assert sum(result.dropped for result in expected) > 12  # those of 0 and 40 pieces
    lengths = [len(output) for result in expected for output in result.outputs]
    assert max(lengths) > 20 > 3 > min(lengths)
    assert_same(list(sample(model, requests, **arguments, batch_rows=rows, stride=8)), expected)


@pytest.mark.rest
@settings(deadline=None, max_examples=40)
@given(
    requests=test_beam.REQUESTS,
    beam_size=st.integers(1, 6),
    rows=st.integers(1, 40),
    stride=st.integers(2, 20),
)
def test_beams_of_random_models(either: Model, requests, beam_size: int, rows: int, stride: int):
    arguments = {"beam_size": beam_size, "nbest": beam_size}
    at_a_stretch = translate(either, requests, **arguments, batch_rows=rows, stride=stride)
    assert_same(list(at_a_stretch), list(translate(either, requests, **arguments)))


@pytest.mark.rest
@pytest.mark.parametrize("name", ["plain", "negative_phrase", "positive", "both"])
def test_beams_of_a_trained_model(oracle: Model, oracle_dir: Path, name: str):
    requests = test_beam.read_cases(oracle, oracle_dir / "cases" / f"{name}.jsonl")
    arguments = {"beam_size": 10, "nbest": 10}
    at_a_stretch = translate(oracle, requests, **arguments, batch_rows=100, stride=8)
    assert_same(list(at_a_stretch), list(translate(oracle, requests, **arguments)))


def sampler(model: Model, **cut: float) -> sampling._Sampler:
    cut = cut or {"k": 5}
    requests = [SampleRequest(str(n), 0, [4, 5, 6][:n], [(7,), (8, 9)]) for n in (1, 2, 3)]
    settings = sampling._Settings(Truncation(**cut), samples=4, seed=1, temperature=1.0, stride=4)
    return sampling._Sampler(model, settings, iter(requests), 16)


def top_p_sampler(model: Model) -> sampling._Sampler:
    return sampler(model, top_p=0.9)


def beams(model: Model) -> beam._Search:
    requests = [BeamRequest([4, 5, 6][:n], [(9, 8)][n % 2 :], [(7,), (8, 9)]) for n in (1, 2, 3)]
    return beam._Search(model, 4, 2, 4, iter(requests), 16)


@pytest.mark.rest
@pytest.mark.parametrize("precision", PRECISIONS)
@pytest.mark.parametrize("start", [sampler, top_p_sampler, beams])
@pytest.mark.parametrize("name", ["tiny_folder", "student_folder"])
@torch.inference_mode()
def test_steps_of_a_stride_have_equal_shapes_and_read_nothing(request, start, name, precision):
    search = start(load_model(request.getfixturevalue(name), "cpu", precision))
    search.refill()
    search.step()
    search = without_data(search)
    runs = []
    for _ in range(2):
        with Recorder() as recorder:
            search.step()
        runs.append(recorder.operations)
        # Nothing is sent there either.
        assert recorder.devices == {"meta"}
    assert runs[0] == runs[1]
    # The last step looks at the rows: what is to be shown above would be found.
    with pytest.raises(RuntimeError, match="meta"):
        search.step()


@pytest.mark.parametrize(("device", "stride"), [("cpu", 1), ("meta", streaming.STRIDE)])
def test_stride_is_for_accelerators(tiny: Model, monkeypatch, device: str, stride: int):
    for search in (sampling, beam):
        monkeypatch.setattr(search, "run_search", lambda start, *_: [start.args])
    model = tiny if device == "cpu" else without_data(tiny)
    [(_, settings)] = sample(model, [], k=1, samples=1, seed=1)
    assert settings.stride == stride
    [(_, beam_size, nbest, steps)] = translate(model, [], beam_size=3, nbest=2)
    assert (beam_size, nbest, steps) == (3, 2, stride)


@settings(deadline=None, max_examples=20)
@given(tokens=st.lists(st.integers(4, 23), min_size=1, max_size=30), stride=st.integers(2, 20))
def test_the_decoder_follows_prefixes_without_a_change_of_slots(either: Model, tokens, stride: int):
    decoder = Decoder(either, capacity=2, stride=stride)
    decoder.start(either.integers(decoder.places([[4], [5, 6]])))
    expected = either.decode([tokens, tokens[::-1]], either.remember(*either.encode([[4], [5, 6]])))
    hidden = [decoder.step(either.integers([2, 2]))]
    hidden += [
        decoder.step(either.integers(pair)) for pair in zip(tokens, tokens[::-1], strict=True)
    ]
    assert torch.allclose(torch.stack(hidden, dim=1).flatten(0, 1), expected, atol=1e-4)
