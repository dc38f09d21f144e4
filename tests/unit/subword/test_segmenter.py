from collections import Counter

import numpy as np
import pytest
import sentencepiece
from hypothesis import given, settings
from hypothesis import strategies as st

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.subword.segmenter import Segmenter, sample_segmentations

TEXT = "kočka vidí pes 12."


@settings(max_examples=50, deadline=None)
@given(words=st.lists(st.text("kočapesdmvi0123.\u20ac", min_size=1), min_size=1, max_size=8))
def test_pieces_join_to_the_same_text(segmenter, words):
    text = " ".join(words)
    assert segmenter.text(segmenter.pieces(text)) == text


def test_nbest_has_the_library_s_segmentations_and_probabilities(segmenter):
    text = TEXT + " \u20ac\u20ac ž"
    processor = sentencepiece.SentencePieceProcessor(model_file=str(segmenter.path))
    expected = processor.nbest_encode(text, nbest_size=20, return_type="proto").nbests
    found = segmenter.nbest(text, 20)
    assert [pieces for pieces, _ in found] == [[p.piece for p in best.pieces] for best in expected]
    assert [score for _, score in found] == pytest.approx(
        [best.score for best in expected], rel=1e-5
    )
    assert found[0][0] == segmenter.pieces(text)


def test_the_vocabulary_holds_every_piece_of_a_segmentation_and_no_symbol(segmenter):
    vocabulary = segmenter.vocabulary()
    assert len(set(vocabulary)) == len(vocabulary) == 50 - len(["<unk>", "<s>", "</s>"])
    assert not {"<unk>", "<s>", "</s>"} & set(vocabulary)
    assert set(segmenter.pieces(TEXT)) <= set(vocabulary)


def test_samples_follow_the_flattened_probabilities(segmenter):
    nbest, alpha, count = 4, 0.5, 4000
    drawn = sample_segmentations(segmenter, TEXT, count, nbest, alpha, np.random.default_rng(3))
    candidates = segmenter.nbest(TEXT, nbest)
    weights = np.exp([alpha * logprob for _, logprob in candidates])
    expected = count * weights / weights.sum()
    found = Counter(map(tuple, drawn))
    for (pieces, _), mean in zip(candidates, expected, strict=True):
        assert abs(found[tuple(pieces)] - mean) < 5 * np.sqrt(mean)
    assert sum(found.values()) == count


def test_alpha_zero_is_uniform_and_a_large_one_is_viterbi(segmenter):
    uniform = sample_segmentations(segmenter, TEXT, 3000, 3, 0.0, np.random.default_rng(1))
    assert all(abs(n - 1000) < 150 for n in Counter(map(tuple, uniform)).values())
    best = sample_segmentations(segmenter, TEXT, 20, 64, 1000.0, np.random.default_rng(1))
    assert best == [segmenter.pieces(TEXT)] * 20


@pytest.mark.parametrize("content", [None, b"no model"])
def test_what_is_no_model_is_named(tmp_path, content):
    path = tmp_path / "bad.model"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"bad\.model: cannot read the SentencePiece model"):
        Segmenter(path)
