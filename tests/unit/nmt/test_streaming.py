from collections.abc import Callable
from functools import partial

import pytest
import torch

from tests.e2e.faults.small_device import SmallDevice
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.decoder import Decoder
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, sample

SOURCES = [[4 + n, 5, 6, 7, 8] for n in range(12)]


def draw(model: Model, stride: int = 1) -> list[list[list[int]]]:
    requests = (SampleRequest(str(n), 0, source, []) for n, source in enumerate(SOURCES))
    results = sample(model, requests, k=9, samples=3, seed=1, stride=stride)
    return [result.outputs for result in results]


def search(model: Model, stride: int = 1) -> list[list[list[int]]]:
    requests = map(BeamRequest, SOURCES)
    results = translate(model, requests, beam_size=4, nbest=4, stride=stride)
    return [result.outputs for result in results]


RUNS = [draw, partial(draw, stride=4), search, partial(search, stride=4)]


@pytest.fixture
def starve(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Make the decoder run out of memory when it has more slots than a number."""
    step = Decoder.step

    def starve(most: int) -> None:
        def starved(decoder: Decoder, tokens: torch.Tensor) -> torch.Tensor:
            if len(decoder) > most:
                raise torch.OutOfMemoryError
            return step(decoder, tokens)

        monkeypatch.setattr(Decoder, "step", starved)

    return starve


@pytest.mark.rest
@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_memory_that_runs_out_halves_the_rows(tiny, run, starve, capsys):
    expected = run(tiny)
    starve(9)
    assert run(tiny) == expected
    assert "going on with 8 rows" in capsys.readouterr().err


@pytest.mark.rest
@pytest.mark.parametrize("share", [0.95, 0.7, 0.4])
@pytest.mark.parametrize("run", RUNS)
def test_memory_is_freed_before_the_search_begins_again(tiny, run, share, capsys):
    with SmallDevice(limit=0) as device:
        expected = run(tiny)
    with SmallDevice(limit=int(share * device.peak)) as smaller:
        assert run(tiny) == expected
    assert smaller.failures
    assert "going on with 256 rows" in capsys.readouterr().err


@pytest.mark.rest
@pytest.mark.slow
@pytest.mark.parametrize("run", RUNS)
def test_memory_for_the_fewest_rows_is_needed(tiny: Model, run, starve: Callable[[int], None]):
    starve(0)
    with pytest.raises(torch.OutOfMemoryError):
        run(tiny)
