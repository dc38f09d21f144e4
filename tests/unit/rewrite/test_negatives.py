"""No output has a forbidden word or phrase, however many pieces it has and however it is cut."""

import random
import re
from itertools import pairwise, product

import pytest

from tests import oracles
from workflow_scripts.core.text.piece_spelling import WORD_MARK
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.vocabulary import SYMBOLS, Vocabulary
from workflow_scripts.stages.rewrite import spellings
from workflow_scripts.stages.rewrite.spellings import every_segmentation
from workflow_scripts.stages.subword.segmenter import Segmenter


def cuts(text, vocabulary):
    """Every way to cut a text into pieces of a vocabulary, by trying all places of cuts."""
    for marks in product([False, True], repeat=len(text) - 1):
        places = [0, *(place for place, cut in enumerate(marks, 1) if cut), len(text)]
        pieces = [text[start:end] for start, end in pairwise(places)]
        if all(piece in vocabulary for piece in pieces):
            yield tuple(vocabulary.ids(pieces))


@pytest.mark.parametrize("seed", range(30))
def test_every_way_to_write_a_phrase_is_found(seed):
    draw = random.Random(seed)
    letters = "abAB"
    pieces = {WORD_MARK, *letters}
    for _ in range(30):
        piece = "".join(draw.choices(letters, k=draw.randint(1, 3)))
        pieces.add(draw.choice(["", WORD_MARK]) + piece)
    vocabulary = Vocabulary([*SYMBOLS, *sorted(pieces)])
    text = " ".join("".join(draw.choices("ab", k=draw.randint(1, 4))) for _ in range(2))
    expected = set()
    for spelling in {text, text.lower(), text[:1].upper() + text[1:]}:
        written = WORD_MARK + WORD_MARK.join(spelling.split())
        expected.update(cuts(written, vocabulary))
    assert len(expected) <= spellings.MOST_SEGMENTATIONS
    assert set(every_segmentation(text, vocabulary)) >= expected


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """The small model, its segmenters, and its outputs for some sentences."""
    oracle = oracles.small()
    folder = oracle.copy_model(tmp_path_factory.mktemp("model"))
    model = load_model(folder, "cpu")
    source, target = (Segmenter(folder / f"{name}.model") for name in ("source", "reference"))
    read = [model.source_ids(source.pieces(text)) for text, _ in oracle.sentences]
    return model, target, read


def written(text, phrase):
    """Whether a text has a phrase as it stands, in lower case or capitalised."""
    forms = (phrase, phrase.lower(), phrase[:1].upper() + phrase[1:])
    return any(re.search(rf"(?<!\w){re.escape(form)}(?!\w)", text) for form in forms)


def beams(small, avoid):
    model, target, read = small
    requests = [BeamRequest(ids, [], phrases) for ids, phrases in zip(read, avoid, strict=True)]
    results = translate(model, requests, beam_size=4, nbest=2)
    text = lambda ids: target.text(model.target_vocab.pieces(ids))  # noqa: E731
    return [[text(ids) for ids in result.outputs] for result in results]


def samples(small, avoid):
    model, target, read = small
    requests = [
        SampleRequest(str(number), 0, ids, phrases)
        for number, (ids, phrases) in enumerate(zip(read, avoid, strict=True))
    ]
    text = lambda ids: target.text(model.target_vocab.pieces(ids))  # noqa: E731
    results = sample(model, requests, samples=20, seed=1, k=10)
    return [[text(ids) for ids in result.outputs] for result in results]


@pytest.mark.slow
@pytest.mark.parametrize("search", [beams, samples])
def test_no_output_has_a_forbidden_word_or_phrase(small, search):
    model, target, read = small
    free = [texts[0] if texts else "" for texts in beams(small, [[] for _ in read])]
    tried = several = 0
    for place in range(4):
        chosen = []
        for text in free:
            words = text.rstrip(".!?").split()
            if place + 1 < len(words):
                chosen.append(words[place] if place % 2 else f"{words[place]} {words[place + 1]}")
            else:
                chosen.append("")
        avoid = [
            every_segmentation(phrase, model.target_vocab) if phrase else [] for phrase in chosen
        ]
        for phrase, texts in zip(chosen, search(small, avoid), strict=True):
            if phrase:
                several += len(target.pieces(phrase)) > 1
                tried += len(texts)
                assert not [(phrase, text) for text in texts if written(text, phrase)]
    assert tried >= 30 and several >= 4
