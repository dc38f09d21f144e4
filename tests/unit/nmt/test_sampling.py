import math
from collections import Counter
from dataclasses import replace

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.unit.nmt.by_hand import assert_same, contains
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.sampling import SampleRequest, draw, sample
from workflow_scripts.nmt.scoring import score
from workflow_scripts.nmt.vocabulary import BOS, EOS

PHRASES = st.lists(
    st.one_of(
        st.lists(st.integers(3, 23), min_size=1, max_size=3),
        st.lists(st.integers(4, 23), min_size=1, max_size=2).map(lambda phrase: [BOS, *phrase]),
    ).map(tuple),
    max_size=12,
)
TRUNCATIONS = st.one_of(
    st.builds(lambda k: {"k": k}, st.integers(1, 30)),
    *(
        st.builds(lambda share, name=name: {name: share}, st.floats(0.01, 0.99))
        for name in ("top_p", "min_p", "epsilon")
    ),
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


@pytest.mark.slow
@settings(deadline=None, max_examples=40)
@given(requests=REQUESTS, cut=TRUNCATIONS)
def test_no_output_contains_a_forbidden_phrase(either: Model, requests, cut):
    results = list(sample(either, requests, **cut, samples=5, seed=3, batch_rows=16))
    assert [result.request for result in results] == requests
    for result in results:
        assert len(result.outputs) + result.dropped == 5
        assert len(result.nlls) == len(result.outputs)
        limit = either.max_output_length(len(result.request.source))
        for output in result.outputs:
            assert len(output) < limit
            assert all(4 <= token < 24 for token in output)
            assert not any(contains(output, phrase) for phrase in result.request.avoid)


@pytest.mark.rest
@settings(deadline=None, max_examples=25)
@given(
    requests=REQUESTS,
    cut=st.sampled_from([{"k": 5}, {"top_p": 0.8}, {"min_p": 0.1}, {"epsilon": 0.03}]),
    rows=st.integers(1, 40),
    order=st.randoms(use_true_random=False),
)
def test_samples_depend_on_their_own_request_alone(every: Model, requests, cut, rows: int, order):
    settings = {**cut, "samples": 4, "seed": 7}
    expected = list(sample(every, requests, **settings))
    indices = list(range(len(requests)))
    order.shuffle(indices)
    shuffled = list(
        sample(every, [requests[index] for index in indices], **settings, batch_rows=rows)
    )
    assert_same(shuffled, [expected[index] for index in indices])


@pytest.mark.parametrize("more", [{"k": 8}, {"k": 8, "stride": 4}, {"top_p": 0.9}])
def test_repeating_is_identical_to_the_bit(either: Model, more):
    requests = [SampleRequest(str(n), 0, [4 + n, 5], []) for n in range(9)]
    runs = [list(sample(either, requests, **more, samples=6, seed=1, batch_rows=20)) for _ in "ab"]
    assert runs[0] == runs[1]


@pytest.mark.slow
@pytest.mark.parametrize("cut", [{"k": 10}, {"top_p": 0.9}, {"min_p": 0.05}, {"epsilon": 0.01}])
@pytest.mark.parametrize("temperature", [0.7, 1.0])
def test_nlls_are_those_of_forced_decoding(either: Model, cut, temperature: float):
    requests = [SampleRequest("x", n, [4, 5, 6], [(7,), (8, 9)]) for n in range(20)]
    results = list(sample(either, requests, **cut, samples=20, seed=5, temperature=temperature))
    pairs = [([4, 5, 6], output) for result in results for output in result.outputs if output]
    nlls = [
        nll
        for result in results
        for output, nll in zip(result.outputs, result.nlls, strict=True)
        if output
    ]
    assert len(nlls) > 20
    assert list(score(either, pairs)) == pytest.approx(nlls, abs=1e-4)


@pytest.mark.slow
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


def left(weights: dict[int, float], cut: dict[str, float]) -> dict[int, float]:
    """The probabilities that a truncation leaves of the weights, by its definition."""
    shares = {token: weight / sum(weights.values()) for token, weight in weights.items()}
    ranked = sorted(shares, key=lambda token: -shares[token])
    if "k" in cut:
        ranked = ranked[: int(cut["k"])]
    if "top_p" in cut:
        mass = sum(shares[token] for token in ranked)
        ahead = [sum(shares[token] for token in ranked[:n]) for n in range(len(ranked))]
        ranked = [
            t for t, before in zip(ranked, ahead, strict=True) if before < cut["top_p"] * mass
        ]
    if "min_p" in cut:
        ranked = [token for token in ranked if shares[token] >= cut["min_p"] * shares[ranked[0]]]
    if "epsilon" in cut:
        mass = sum(shares[token] for token in ranked)
        best, *rest = ranked
        ranked = [best, *(token for token in rest if shares[token] >= cut["epsilon"] * mass)]
    return {token: shares[token] / sum(shares[each] for each in ranked) for token in ranked}


def short_outputs(
    model: Model, request: SampleRequest, cut: dict[str, float], temperature: float, longest: int
) -> dict[tuple[int, ...], float]:
    """The exact probability of every output of at most `longest` pieces, by enumeration."""
    memory = model.remember(*model.encode([request.source]))
    probabilities = {}
    prefixes = {(): 1.0}
    while prefixes:
        prefix, probability = prefixes.popitem()
        scores = (
            model.network.output(model.decode([list(prefix)], memory)[-1:])[0].double().tolist()
        )
        weights = {
            token: math.exp(scores[token] / temperature)
            for token in range(EOS, len(model.target_vocab))
            if not any((BOS, *prefix, token)[-len(p) :] == p for p in request.avoid)
        }
        for token, share in left(weights, cut).items():
            if token == EOS:
                probabilities[prefix] = probability * share
            elif len(prefix) < longest:
                prefixes[(*prefix, token)] = probability * share
    return probabilities


@pytest.mark.rest
@pytest.mark.parametrize(
    ("cut", "temperature", "stride"),
    [
        *[({"k": 4}, 1.0, 1), ({"k": 6}, 0.7, 1), ({"k": 21}, 1.5, 1)],
        *[({"top_p": 0.6}, 1.0, 1), ({"top_p": 0.9}, 1.5, 4)],
        *[({"min_p": 0.15}, 1.0, 4), ({"min_p": 0.1}, 0.7, 1)],
        *[({"epsilon": 0.06}, 1.0, 1), ({"epsilon": 0.02}, 1.5, 4)],
        ({"k": 12, "top_p": 0.8, "min_p": 0.2, "epsilon": 0.09}, 1.2, 1),
        ({"top_p": 0.8, "epsilon": 0.07}, 1.2, 1),
    ],
)
def test_distribution_is_the_truncated_one(either: Model, cut, temperature: float, stride: int):
    count = 4000
    avoid = [(7,), (8,), (9, 10), (11, EOS), (BOS, 12), (13, 13)]
    request = SampleRequest("chi-square", 0, [4, 9, 5, 6], avoid)
    exact = short_outputs(either, request, cut, temperature, longest=2)
    arguments = {"samples": count, "seed": 2, "temperature": temperature, "stride": stride}
    result = next(sample(either, [request], **cut, **arguments))
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


def test_draw_takes_what_is_kept_and_no_other():
    ids = torch.tensor([[8, 5, 9, 4]])
    log_probabilities = torch.tensor([[0.4, 0.3, 0.2, 0.1]]).log()
    kept = torch.tensor([[True, False, True, False]])
    points = [0.0, 0.66, 0.67, 1 - 2**-53]
    columns = [
        int(draw(ids, log_probabilities, kept, 1.0, torch.tensor([point]).double()))
        for point in points
    ]
    # Of 8 (0.4) and 9 (0.2), in the order of ids: 8 up to two thirds.
    assert columns == [0, 0, 2, 2]


@pytest.mark.parametrize("cut", [{"k": 3}, {"top_p": 0.9}, {"min_p": 0.1}, {"epsilon": 0.1}])
def test_a_sample_without_any_allowed_token_is_dropped(every: Model, cut):
    request = SampleRequest("x", 0, [4], [(token,) for token in range(EOS, 24)])
    result = next(sample(every, [request], **cut, samples=4, seed=1))
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


@pytest.mark.rest
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
