import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from workflow_scripts.core.text.normalisation import words
from workflow_scripts.core.text.word_tokens import TOKENISERS, words_and_punctuation
from workflow_scripts.plan.schema import schema
from workflow_scripts.stages.filter import token_numbers as module
from workflow_scripts.stages.filter.token_numbers import Lexicon, Tokens

ROOT = Path(__file__).resolve().parents[3]

# Single lines with much of what the tokeniser looks at.
characters = st.sampled_from("abAB09 .,-'&;:!()~\"<>/ěΣ…\u2028\t") | st.characters(
    exclude_characters="\n", exclude_categories=["Cs"]
)
lines = st.lists(characters | st.sampled_from(["&amp;", "&quot;", "<skipped>", "1,000.5", "2-3"]))
sentences = st.lists(lines.map("".join), max_size=6)


def split(tokens: Tokens) -> list[list[int]]:
    return [part.tolist() for part in np.split(tokens.ids, tokens.lengths.cumsum())[:-1]]


def renamed(sentences):
    """Sentences of whatever tokens, as numbers by first occurrence."""
    names = {}
    return [[names.setdefault(token, len(names)) for token in each] for each in sentences]


@pytest.mark.slow
@settings(deadline=None)
@given(sentences, sentences)
def test_they_are_those_of_words_and_of_sacrebleu(before, sentences):
    lexicon, tokenize = Lexicon(), Tokenizer13a()
    lexicon.tokens(pa.array(before, pa.string()))
    found = [renamed(split(tokens)) for tokens in lexicon.tokens(pa.array(sentences, pa.string()))]
    assert found == [
        renamed(map(words, sentences)),
        renamed(tokenize(each.rstrip()).split() for each in sentences),
    ]


@pytest.mark.slow
@pytest.mark.parametrize("name", TOKENISERS)
@settings(deadline=None)
@given(sentences)
def test_words_are_what_the_configuration_says(name, sentences):
    found, _ = Lexicon(name).tokens(pa.array(sentences, pa.string()))
    expected = [TOKENISERS[name](each.rstrip()) for each in sentences]
    assert renamed(split(found)) == renamed(expected)


def test_a_configuration_can_name_every_tokeniser_and_the_page_describes_it():
    known = schema()["properties"]["evaluate"]["properties"]["punctuation"]["enum"]
    assert known == [*TOKENISERS]
    page = (ROOT / "docs" / "evaluate.md").read_text(encoding="utf-8")
    table = page.partition("\n| `evaluate.punctuation` |")[2].partition("\n\n")[0]
    assert re.findall(r"(?m)^\| `(\w+)`", table) == [*TOKENISERS]


def test_words_and_punctuation():
    assert words_and_punctuation("Well, don't (worry): it's 3.5.") == [
        *("well", ",", "don't", "(", "worry", ")", ":", "it's", "3.5", ".")
    ]


def test_a_full_lexicon_starts_anew(monkeypatch):
    monkeypatch.setattr(module, "CAPACITY", 2)
    lexicon = Lexicon()
    lexicon.tokens(pa.array(["a b c d"]))
    found, _ = lexicon.tokens(pa.array(["e a e"]))
    assert len(lexicon) == 2
    assert renamed(split(found)) == [[0, 1, 0]]


def test_parts_and_chosen_sentences():
    tokens = Tokens(np.array([7, 8, 9, 7, 5]), np.array([2, 0, 1, 2]))
    assert split(tokens.run(slice(1, 3))) == [[], [9]]
    assert split(tokens.run(slice(2, None))) == [[9], [7, 5]]
    assert split(tokens.run(slice(4, 9))) == []
    assert split(tokens.take(np.array([3, 0, 3, 1]))) == [[7, 5], [7, 8], [7, 5], []]
    assert split(tokens.take(np.array([], np.int64))) == []
