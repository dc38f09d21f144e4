import json
from dataclasses import replace
from functools import lru_cache
from math import isinf
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sockeye.beam_search import CandidateScorer
from sockeye.inference import Translator, make_input_from_plain_string
from sockeye.model import load_model as load_sockeye_model

from tests.unit.nmt.by_hand import contains
from tests.unit.nmt.folders import write_model
from tests.unit.nmt.marian_files import spm_model, write_binary
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.automaton import Phrase
from workflow_scripts.nmt.banks import allocate
from workflow_scripts.nmt.beam import BeamRequest, BeamResult, _unmet, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.scoring import score
from workflow_scripts.nmt.vocabulary import BOS, EOS

WORDS = st.lists(st.integers(4, 23), min_size=1, max_size=3).map(tuple)
REQUESTS = st.lists(
    st.builds(
        BeamRequest,
        source=st.lists(st.integers(4, 23), min_size=3, max_size=8),
        constraints=st.lists(WORDS, max_size=2),
        avoid=st.lists(st.one_of(WORDS, WORDS.map(lambda phrase: (BOS, *phrase))), max_size=6),
    ),
    min_size=1,
    max_size=6,
)


def read_cases(model: Model, path: Path) -> list[BeamRequest]:
    def phrases(case: dict, key: str) -> list[Phrase]:
        return [tuple(model.target_vocab.ids(text.split())) for text in case.get(key, [])]

    return [
        BeamRequest(
            model.source_vocab.ids(case["text"].split()),
            phrases(case, "constraints"),
            phrases(case, "avoid"),
        )
        for case in map(json.loads, path.read_text().splitlines())
    ]


def read_outputs(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.slow
def test_plain_beam_equals_sockeye_on_a_trained_model(oracle: Model, oracle_dir: Path):
    requests = read_cases(oracle, oracle_dir / "cases" / "plain.jsonl")
    found = sorted((oracle_dir / "cases").glob("plain*.sockeye3.jsonl"))
    assert found
    for path in found:
        # As many translations as hypotheses; of a single one Sockeye makes no list.
        expected = read_outputs(path)
        beam_size = len(expected[0].get("translations", "1"))
        results = list(translate(oracle, requests, beam_size=beam_size, nbest=beam_size))
        for result, line in zip(results, expected, strict=True):
            texts = [" ".join(oracle.target_vocab.pieces(output)) for output in result.outputs]
            assert texts == line.get("translations", [line["translation"]])
            scores = line.get("scores", [[line["score"]]])
            assert result.nlls == pytest.approx([nll for [nll] in scores], abs=1e-4)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore:Encountering a list at the output of the tracer")
@pytest.mark.parametrize("beam_size", [1, 3, 12])
def test_plain_beam_equals_sockeye_on_random_models(tmp_path: Path, beam_size: int):
    folder = write_model(tmp_path / "model", layers=2, end_bias=1.0, symbol_bias=-30.0)
    sockeye, source_vocabs, target_vocabs = load_sockeye_model(
        str(folder), device=torch.device("cpu"), inference_only=True
    )
    translator = Translator(
        device=torch.device("cpu"),
        ensemble_mode="linear",
        scorer=CandidateScorer(1.0, 0.0, 0.0),
        batch_size=1,
        beam_search_stop="all",
        models=[sockeye],
        source_vocabs=source_vocabs,
        target_vocabs=target_vocabs,
        beam_size=beam_size,
        nbest_size=beam_size,
        output_scores=True,
    )
    model = load_model(folder, "cpu")
    generator = torch.Generator().manual_seed(5)
    sources = [
        torch.randint(4, 24, (length,), generator=generator).tolist() for length in range(1, 13)
    ]
    results = translate(
        model, [BeamRequest(source) for source in sources], beam_size=beam_size, nbest=beam_size
    )
    for source, result in zip(sources, results, strict=True):
        text = " ".join(model.source_vocab.pieces(source))
        [expected] = translator.translate([make_input_from_plain_string(0, text)])
        nbest = expected.nbest_tokens if beam_size > 1 else [expected.tokens]
        assert [model.target_vocab.pieces(output) for output in result.outputs] == nbest


def read_constrained(folder: Path, name: str) -> list[dict]:
    """Read the results to compare with: Sockeye 2's, or what of Sockeye 3's plain search fits."""
    [path] = (folder / "cases").glob(f"{name}.sockeye?.jsonl")
    return read_outputs(path)


def mean(results: list[BeamResult]) -> float:
    return sum(result.nlls[0] for result in results) / len(results)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["negative_single", "negative_phrase"])
def test_negative_constraints_are_as_good_as_those_of_sockeye(oracle, oracle_dir, name):
    requests = read_cases(oracle, oracle_dir / "cases" / f"{name}.jsonl")
    expected = read_constrained(oracle_dir, name)
    for result, line in zip(
        translate(oracle, requests, beam_size=10, nbest=10), expected, strict=True
    ):
        assert len(result.outputs) == 10
        assert not any(
            contains(output, phrase) for output in result.outputs for phrase in result.request.avoid
        )
        assert result.nlls[0] <= line["score"] + 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("name", ["positive", "both"])
def test_positive_constraints_are_as_good_as_those_of_sockeye(oracle, oracle_dir, name):
    requests = read_cases(oracle, oracle_dir / "cases" / f"{name}.jsonl")
    expected = read_constrained(oracle_dir, name)
    results = list(translate(oracle, requests, beam_size=10, nbest=10))
    for result in results:
        assert result.outputs
        assert result.unmet == []
        for output in result.outputs:
            assert all(contains(output, phrase) for phrase in result.request.constraints)
            assert not any(contains(output, phrase) for phrase in result.request.avoid)
    assert mean(results) <= sum(line["score"] for line in expected) / len(expected) + 0.01


@pytest.mark.rest
@settings(deadline=None, max_examples=40)
@given(requests=REQUESTS, beam_size=st.integers(1, 8))
def test_every_output_meets_its_constraints(either: Model, requests, beam_size: int):
    results = list(translate(either, requests, beam_size=beam_size, nbest=beam_size))
    assert [result.request for result in results] == requests
    for result in results:
        assert result.nlls == sorted(result.nlls)
        assert len({tuple(output) for output in result.outputs}) == len(result.outputs)
        assert bool(result.outputs) or bool(result.unmet) or not result.request.constraints
        for output in result.outputs:
            assert len(output) < either.max_output_length(len(result.request.source))
            assert all(contains(output, phrase) for phrase in result.request.constraints)
            assert not any(contains(output, phrase) for phrase in result.request.avoid)


@pytest.mark.rest
@settings(deadline=None, max_examples=25)
@given(requests=REQUESTS, rows=st.integers(1, 40), order=st.randoms(use_true_random=False))
def test_results_depend_on_their_own_request_alone(every: Model, requests, rows: int, order):
    expected = list(translate(every, requests, beam_size=4, nbest=4))
    indices = list(range(len(requests)))
    order.shuffle(indices)
    shuffled = list(
        translate(
            every, [requests[index] for index in indices], beam_size=4, nbest=4, batch_rows=rows
        )
    )
    for index, result in enumerate(expected):
        other = shuffled[indices.index(index)]
        assert (other.outputs, other.unmet) == (result.outputs, result.unmet)
        assert other.nlls == pytest.approx(result.nlls, abs=1e-5)


@lru_cache(maxsize=64)
def one_of_a_stream(model: Model, length: int, avoids: bool, beam_size: int) -> BeamResult:
    source = [4 + (7 * position + length) % 20 for position in range(length)]
    request = BeamRequest(source, [], [(11, 4), (9,)] if avoids else [])
    return next(translate(model, [request], beam_size=beam_size, nbest=beam_size))


@pytest.mark.rest
@settings(deadline=None, max_examples=8)
@given(
    stream=st.lists(
        st.tuples(st.sampled_from([1, 2, 5, 15, 16, 17, 33]), st.booleans()), min_size=4
    ),
    beam_size=st.sampled_from([1, 6]),
    rows=st.integers(1, 40),
    stride=st.sampled_from([1, 3, 8]),
)
def test_streams_of_very_different_lengths(either, stream, beam_size, rows, stride):
    # Rooms of sources and prefixes grow and shrink again, places are used again, and some
    # sentences occur twice, with the same constraints and with others.
    alone = [one_of_a_stream(either, *each, beam_size) for each in stream]
    requests = [result.request for result in alone]
    arguments = {"beam_size": beam_size, "nbest": beam_size, "batch_rows": rows, "stride": stride}
    found = list(translate(either, requests, **arguments))
    assert [result.outputs for result in found] == [result.outputs for result in alone]
    nlls = [nll for result in found for nll in result.nlls]
    assert nlls == pytest.approx([nll for result in alone for nll in result.nlls], abs=1e-5)
    pairs = [(result.request.source, output) for result in found for output in result.outputs]
    for nll, forced in zip(nlls, score(either, pairs), strict=True):
        assert isinf(forced) or nll == pytest.approx(forced, abs=1e-5)


@pytest.fixture(scope="module", params=["attention", "SSRU"])
def in_parts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Model:
    """A random model in which pieces with an odd id go on with the word before them."""
    folder = tmp_path_factory.mktemp("models") / "parts"
    if request.param == "SSRU":
        write_binary(folder, end_bias=1.0)
        pieces = [str(index) if index % 2 else f"▁{index}" for index in range(4, 24)]
        (folder / "vocab.xxyy.spm").write_bytes(spm_model(pieces))
        return load_model(folder, "cpu")
    write_model(folder, end_bias=1.0)
    path = folder / "vocab.trg.0.json"
    entries = json.loads(path.read_text(encoding="utf-8"))
    parts = {piece.lstrip("▁") if index % 2 else piece: index for piece, index in entries.items()}
    path.write_text(json.dumps(parts), encoding="utf-8")
    return load_model(folder, "cpu")


def has_word(output: list[int], phrase: Phrase) -> bool:
    written = (BOS, *output, EOS)
    return any(
        written[start:][: len(phrase)] == phrase
        and (written[start + len(phrase)] == EOS or written[start + len(phrase)] % 2 == 0)
        for start in range(len(written) - len(phrase))
    )


@pytest.mark.rest
@settings(deadline=None, max_examples=40)
@given(requests=REQUESTS, beam_size=st.integers(2, 8))
def test_whole_words_stand_where_the_word_ends(in_parts: Model, requests, beam_size: int):
    requests = [replace(request, whole_words=True) for request in requests]
    for result in translate(in_parts, requests, beam_size=beam_size, nbest=beam_size):
        assert bool(result.outputs) or bool(result.unmet) or not result.request.constraints
        for output in result.outputs:
            assert all(has_word(output, phrase) for phrase in result.request.constraints)
            assert not any(contains(output, phrase) for phrase in result.request.avoid)


def test_whole_words_exclude_what_pieces_allow(in_parts: Model):
    requests = [BeamRequest([4, 9, 5, 6, 7], [(token,)]) for token in range(4, 24, 2)]
    pieces = list(translate(in_parts, requests, beam_size=6, nbest=6))
    whole = [replace(request, whole_words=True) for request in requests]
    words = list(translate(in_parts, whole, beam_size=6, nbest=6))
    for results, expected in ((pieces, False), (words, True)):
        assert all(result.outputs for result in results)
        assert expected == all(
            has_word(output, result.request.constraints[0])
            for result in results
            for output in result.outputs
        )


def test_nlls_are_those_of_forced_decoding(either: Model):
    requests = [BeamRequest([4 + n, 9, 5], [(7, 8)], [(6,)]) for n in range(16)]
    results = list(translate(either, requests, beam_size=6, nbest=6))
    pairs = [(r.request.source, output) for r in results for output in r.outputs]
    nlls = [nll for result in results for nll in result.nlls]
    assert len(nlls) > 20
    assert list(score(either, pairs)) == pytest.approx(nlls, abs=1e-5)


def test_what_cannot_be_met_is_said(either: Model):
    source = [4, 5]  # outputs have at most 9 tokens
    fits, long, contradictory = (7,), tuple(range(8, 17)), (17, 18)
    requests = [
        BeamRequest(source, [fits, long]),
        BeamRequest(source, [contradictory], [(17,)]),
        BeamRequest([4] * 40, [fits]),
        BeamRequest(source, [fits]),
    ]
    results = list(translate(either, requests, beam_size=4))
    assert [result.unmet for result in results] == [[long], [contradictory], [fits], []]
    assert [len(result.outputs) for result in results] == [0, 0, 0, 1]


def test_what_is_unmet_is_what_the_best_hypothesis_lacks():
    phrases = [(5,), (6,), (7,)]
    # Each met as many; the better one wrote the second and the third phrase.
    assert _unmet(phrases, [9.0, 1.0, torch.inf], [0b011, 0b110, 0b111]) == [(5,)]
    assert _unmet(phrases, [1.0, 9.0], [0b010, 0b110]) == [(5,)]


def test_constraints_may_overlap(either: Model):
    phrases = [(7, 8, 9), (8, 9, 10), (9,)]
    [result] = translate(either, [BeamRequest([4] * 5, phrases)], beam_size=8)
    assert all(contains(result.outputs[0], phrase) for phrase in phrases)


def test_anchored_constraints_stand_at_the_start(either: Model):
    requests = [BeamRequest([4, 5, 6], [(BOS, token)]) for token in (7, 8)]
    results = list(translate(either, requests, beam_size=4, nbest=2))
    assert [{output[0] for output in result.outputs} for result in results] == [{7}, {8}]


def test_allocation_gives_every_bank_its_share():
    # One sentence, 3 banks, beam of 4: shares 1, 1 and 2; bank 1 has no candidate.
    scores = torch.tensor([[1.0, 2.0, 3.0, 9.0, 8.0, 7.0, torch.inf, torch.inf]])
    banks = torch.tensor([[0, 0, 0, 2, 2, 2, 1, 0]])
    chosen_scores, columns = allocate(scores, banks, torch.tensor([2]), 2, 4, width=8)
    assert chosen_scores.tolist() == [[1.0, 2.0, 7.0, 8.0]]
    assert columns.tolist() == [[0, 1, 5, 4]]


def test_allocation_keeps_what_has_ended():
    # Two hypotheses of four columns; the last of each is for its ended state.
    scores = torch.tensor([[1.0, 2.0, 3.0, 0.5, torch.inf, torch.inf, torch.inf, 50.0]])
    banks = torch.tensor([[0, 0, 1, 1, 0, 0, 0, 1]])
    chosen_scores, _ = allocate(scores, banks, torch.tensor([1]), 1, 4, width=4)
    assert chosen_scores.tolist() == [[0.5, 1.0, 3.0, 50.0]]


@pytest.mark.parametrize(
    ("beam_size", "nbest", "stride", "message"),
    [(0, 0, 1, "n-best"), (2, 3, 1, "n-best"), (2, 0, 1, "n-best"), (1, 1, 0, "stride 0")],
)
def test_impossible_sizes_are_refused(tiny: Model, beam_size, nbest, stride, message):
    with pytest.raises(InputError, match=message):
        next(translate(tiny, [], beam_size=beam_size, nbest=nbest, stride=stride))
