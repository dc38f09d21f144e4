import math
from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, SampleResult, draw, sample
from workflow_scripts.nmt.scoring import score
from workflow_scripts.nmt.vocabulary import BOS, EOS

PHRASES = st.lists(
    st.one_of(
        st.lists(st.integers(3, 23), min_size=1, max_size=3),
        st.lists(st.integers(4, 23), min_size=1, max_size=2).map(lambda phrase: [BOS, *phrase]),
    ).map(tuple),
    max_size=12,
)
REQUESTS = st.lists(
    st.builds(
        SampleRequest,
        id=st.sampled_from("abc"),
        set=st.integers(0, 1),
        source=st.lists(st.integers(4, 6), min_size=1, max_size=4),
        avoid=PHRASES,
    ),
    min_size=1,
    max_size=6,
)


def contains(output: list[int], phrase: tuple[int, ...]) -> bool:
    written = (BOS, *output, EOS)
    return any(written[start : start + len(phrase)] == phrase for start in range(len(written)))


def outputs(results: list[SampleResult]) -> list[tuple[list[list[int]], int]]:
    return [(result.outputs, result.dropped) for result in results]


@settings(deadline=None, max_examples=40)
@given(requests=REQUESTS, k=st.integers(1, 30))
def test_no_output_contains_a_forbidden_phrase(either: Model, requests, k: int):
    results = list(sample(either, requests, k=k, samples=5, seed=3, batch_rows=16))
    assert [result.request for result in results] == requests
    for result in results:
        assert len(result.outputs) + result.dropped == 5
        assert len(result.nlls) == len(result.outputs)
        limit = either.max_output_length(len(result.request.source))
        for output in result.outputs:
            assert len(output) < limit
            assert all(4 <= token < 24 for token in output)
            assert not any(contains(output, phrase) for phrase in result.request.avoid)


@settings(deadline=None, max_examples=25)
@given(requests=REQUESTS, rows=st.integers(1, 40), order=st.randoms(use_true_random=False))
def test_samples_depend_on_their_own_request_alone(either: Model, requests, rows: int, order):
    settings = {"k": 5, "samples": 4, "seed": 7}
    expected = list(sample(either, requests, **settings))
    indices = list(range(len(requests)))
    order.shuffle(indices)
    shuffled = list(
        sample(either, [requests[index] for index in indices], **settings, batch_rows=rows)
    )
    assert outputs([shuffled[indices.index(index)] for index in range(len(requests))]) == outputs(
        expected
    )


def test_repeating_is_identical_to_the_bit(either: Model):
    requests = [SampleRequest(str(n), 0, [4 + n, 5], []) for n in range(9)]
    runs = [list(sample(either, requests, k=8, samples=6, seed=1, batch_rows=20)) for _ in "ab"]
    assert runs[0] == runs[1]


def test_nlls_are_those_of_forced_decoding(either: Model):
    requests = [SampleRequest("x", n, [4, 5, 6], [(7,), (8, 9)]) for n in range(20)]
    results = list(sample(either, requests, k=10, samples=20, seed=5, temperature=0.7))
    pairs = [([4, 5, 6], output) for result in results for output in result.outputs if output]
    nlls = [
        nll
        for result in results
        for output, nll in zip(result.outputs, result.nlls, strict=True)
        if output
    ]
    assert len(nlls) > 20
    assert list(score(either, pairs)) == pytest.approx(nlls, abs=1e-4)


def test_seed_id_set_and_sample_all_matter(either: Model):
    request = SampleRequest("x", 0, [4, 5, 6, 7, 8], [])

    def drawn(request: SampleRequest, seed: int) -> list[list[int]]:
        return next(sample(either, [request], k=20, samples=8, seed=seed)).outputs

    base = drawn(request, 1)
    assert len({tuple(output) for output in base}) > 1
    assert base not in (
        drawn(request, 2),
        drawn(replace(request, id="y"), 1),
        drawn(replace(request, set=1), 1),
    )


def short_outputs(
    model: Model, request: SampleRequest, k: int, temperature: float, longest: int
) -> dict[tuple[int, ...], float]:
    """The exact probability of every output of at most `longest` pieces, by enumeration."""
    memory = model.remember(*model.encode([request.source]))
    probabilities = {}
    prefixes = {(): 1.0}
    while prefixes:
        prefix, probability = prefixes.popitem()
        scores = model.logits(model.decode([list(prefix)], memory)[-1:])[0].double().tolist()
        allowed = [
            token
            for token in range(EOS, len(model.target_vocab))
            if not any((BOS, *prefix, token)[-len(p) :] == p for p in request.avoid)
        ]
        best = sorted(allowed, key=lambda token: -scores[token])[:k]
        weights = {token: math.exp(scores[token] / temperature) for token in best}
        for token, weight in weights.items():
            share = probability * weight / sum(weights.values())
            if token == EOS:
                probabilities[prefix] = share
            elif len(prefix) < longest:
                prefixes[(*prefix, token)] = share
    return probabilities


@pytest.mark.parametrize(("k", "temperature"), [(4, 1.0), (6, 0.7), (21, 1.5)])
def test_distribution_is_the_renormalised_top_k(either: Model, k: int, temperature: float):
    count = 4000
    avoid = [(7,), (8,), (9, 10), (11, EOS), (BOS, 12), (13, 13)]
    request = SampleRequest("chi-square", 0, [4, 9, 5, 6], avoid)
    exact = short_outputs(either, request, k, temperature, longest=2)
    result = next(sample(either, [request], k=k, samples=count, seed=2, temperature=temperature))
    drawn = Counter(tuple(output) for output in result.outputs if len(output) <= 2)
    assert set(drawn) <= set(exact)
    # Longer and unfinished outputs are one cell, as are those too rare for a cell of their own.
    cells = {output: share * count for output, share in exact.items() if share * count >= 5}
    assert len(cells) > 5
    rest = count - sum(cells.values())
    observed_rest = count - sum(drawn[output] for output in cells)
    statistic = (observed_rest - rest) ** 2 / rest
    statistic += sum((drawn[cell] - share) ** 2 / share for cell, share in cells.items())
    # The upper tail of chi-square with as many degrees of freedom as there are cells but one.
    degrees = torch.tensor(len(cells) / 2).double()
    assert torch.special.gammaincc(degrees, torch.tensor(statistic / 2).double()) > 0.001


def test_draw_takes_the_best_allowed_and_no_other():
    ids = torch.tensor([[8, 5, 9, 4]])
    log_probabilities = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    allowed = torch.tensor([[True, False, True, True]])
    points = [0.0, 0.66, 0.67, 1 - 2**-53]
    columns = [
        int(draw(ids, log_probabilities, allowed, 2, 1.0, torch.tensor([point]).double()))
        for point in points
    ]
    # Of 8 (0.4) and 9 (0.2), in the order of ids: 8 up to two thirds.
    assert columns == [0, 0, 2, 2]


def test_a_sample_without_any_allowed_token_is_dropped(either: Model):
    request = SampleRequest("x", 0, [4], [(token,) for token in range(EOS, 24)])
    result = next(sample(either, [request], k=3, samples=4, seed=1))
    assert (result.outputs, result.dropped) == ([], 4)


def test_sources_that_cannot_be_read_have_all_samples_dropped(either: Model):
    requests = [
        SampleRequest("empty", 0, [], []),
        SampleRequest("good", 0, [4], []),
        SampleRequest("long", 0, [4] * 40, []),
    ]
    results = list(sample(either, requests, k=24, samples=3, seed=1))
    assert [result.dropped for result in (results[0], results[2])] == [3, 3]
    assert results[1].outputs


def test_requests_are_read_as_rows_become_free(tiny: Model):
    read = 0

    def requests():
        nonlocal read
        for read in range(1, 1001):
            yield SampleRequest(str(read), 0, [4, 5], [])

    stream = sample(tiny, requests(), k=5, samples=2, seed=1, batch_rows=8)
    next(stream)
    assert read < 50
    assert len(list(stream)) == 999


@pytest.mark.parametrize("wrong", [{"k": 0}, {"samples": 0}, {"temperature": 0.0}, {"stride": 0}])
def test_impossible_settings_are_refused(tiny: Model, wrong: dict):
    with pytest.raises(InputError, match="above zero"):
        next(sample(tiny, [], **({"k": 1, "samples": 1, "seed": 1} | wrong)))
