"""The features of pairs, on worked examples."""

import math
import re
from dataclasses import fields
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from workflow_scripts.core.text.text_tokens import known_words, tokens
from workflow_scripts.stages.judge.features import FEATURES, Models, compute
from workflow_scripts.stages.judge.features.dictionary import WithDictionary
from workflow_scripts.stages.judge.features.numbers_and_names import names, negated, numbers
from workflow_scripts.stages.judge.known_pairs import Pairs

ROOT = Path(__file__).resolve().parents[3]


def one(name, reference, paraphrase, models=None, **columns):
    pairs = Pairs([reference], [paraphrase], **{key: np.array([x]) for key, x in columns.items()})
    return compute(pairs, [name], models or Models())[name][0]


class Encoder:
    """Counts two letters, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def encode(self, sentences):
        self.asked.append(list(sentences))
        return np.array(
            [[sentence.count("a"), sentence.count("b")] for sentence in sentences], np.float32
        )


class Grammar:
    """Minus the number of words, and remembers what it was asked."""

    def __init__(self):
        self.asked = []

    def log_odds(self, sentences):
        self.asked.append(list(sentences))
        return np.array([-len(sentence.split()) for sentence in sentences], np.float64)


class LanguageModel:
    def log_probability(self, sentences):
        return np.array([-float(len(sentence)) for sentence in sentences])


def test_the_page_has_a_row_for_each_feature_and_says_what_it_needs():
    page = (ROOT / "docs" / "judge.md").read_text("utf-8")
    table = page[page.index("| feature | value") : page.index("A number can be unknown")]
    rows = [line.split("|") for line in table.splitlines()[2:] if line]
    needs = {name: row[4].strip() for row in rows for name in re.findall(r"`(\w+)`", row[1])}
    assert needs.keys() == FEATURES.keys()
    said = {"known_words": "known words", "language_model": "KenLM"}
    of_columns = ("NLL", "forced", "forward model", "backward model")
    for name, feature in FEATURES.items():
        assert (feature.languages is not None) == (needs[name] == "English"), name
        models = {
            model for model in fields(Models) if said.get(model.name, model.name) in needs[name]
        }
        assert {model.name for model in models} == set(feature.models), name
        assert any(column in needs[name] for column in of_columns) == bool(feature.columns), name


def test_pairs_have_columns_of_one_length():
    with pytest.raises(ValueError, match="forward_nll: 2 values for 1 references"):
        Pairs(["a"], ["b"], forward_nll=np.zeros(2))


def test_some_pairs_are_taken_with_all_their_columns():
    pairs = Pairs(["a", "b", "c"], ["d", "e", "f"], forward_nll=np.array([1.0, 2.0, np.nan]))
    taken = pairs.take([2, 0])
    assert (taken.references, taken.paraphrases) == (["c", "a"], ["f", "d"])
    np.testing.assert_array_equal(taken.forward_nll, [np.nan, 1.0])
    assert taken.sources is None and len(taken) == 2


@pytest.mark.parametrize("name", FEATURES)
def test_what_is_not_at_hand_is_named_and_gives_nothing(name):
    feature, pairs = FEATURES[name], Pairs(["One dog."], ["A dog."])
    lacking = [*feature.columns, *feature.models]
    assert feature.missing(pairs, Models()) == lacking
    assert np.isnan(feature.compute(pairs, Models())).all() == bool(lacking)


@pytest.mark.parametrize("name", FEATURES)
def test_no_pairs_have_no_numbers(name):
    assert compute(Pairs([], []), [name], Models())[name].shape == (0,)


# --- NLLs -------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["forward_nll", "backward_nll", "forward_total", "forward_worst"])
def test_an_nll_is_the_column_itself(name):
    assert one(name, "a", "b", **{name: 0.5}) == 0.5
    assert math.isnan(one(name, "a", "b", **{name: np.inf}))  # longer than the model takes


@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_a_gain_is_what_the_paraphrase_is_better_than_the_reference(direction):
    nlls = {f"{direction}_nll": 0.5, f"reference_{direction}_nll": 2.0}
    assert one(f"{direction}_gain", "a", "b", **nlls) == 1.5
    for unknown in (np.nan, np.inf):
        nlls[f"reference_{direction}_nll"] = unknown
        assert math.isnan(one(f"{direction}_gain", "a", "b", **nlls))


@pytest.mark.parametrize(
    ("name", "column"), [("divergence", "divergence"), ("source_lost", "lost")]
)
def test_what_is_compared_is_told_as_a_logarithm_with_a_floor(name, column):
    def told(value, **more):
        columns = {"backward_nll": 1.0, "lost": 1.0, "divergence": 1.0, column: value} | more
        return one(name, "a", "b", **columns)

    assert told(2.0) == pytest.approx(math.log(2.05))
    assert told(0.0) == told(-3.0) == pytest.approx(math.log(0.05))
    assert math.isnan(told(math.inf)) and math.isnan(told(math.nan))
    for lacking in ("backward_nll", "lost", "divergence"):
        columns = dict.fromkeys({"backward_nll", "lost", "divergence"} - {lacking}, 1.0)
        assert math.isnan(one(name, "a", "b", **columns))


# --- models -----------------------------------------------------------------------------------


def test_the_cosine_of_both_sides():
    models = Models(encoder=Encoder())
    assert one("cosine", "aab", "abb", models) == pytest.approx(4 / 5)
    assert one("cosine", "ab", "ab", models) == pytest.approx(1)


def test_a_side_without_a_vector_has_no_cosine():
    assert math.isnan(one("cosine", "a", "xyz", Models(encoder=Encoder())))


def test_each_sentence_is_encoded_once():
    encoder = Encoder()
    compute(Pairs(["a", "a", "ab"], ["b", "ab", "ab"]), ["cosine"], Models(encoder=encoder))
    assert encoder.asked == [["a", "ab", "b"]]


def test_grammar_and_what_the_paraphrase_gains():
    grammar = Grammar()
    pairs = Pairs(["a b", "a b"], ["c", "a b"])
    columns = compute(pairs, ["grammar", "grammar_gain"], Models(grammar=grammar))
    np.testing.assert_array_equal(columns["grammar"], [-1, -2])
    np.testing.assert_array_equal(columns["grammar_gain"], [1, 0])
    assert grammar.asked == [["c", "a b"]]  # each sentence once, however many features ask


def test_the_language_model_compares_with_the_reference():
    assert one("language_model", "abc", "a", Models(language_model=LanguageModel())) == 2


# --- words ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Don't, 1,000.50 B52s (x)", ["Don't", ",", "1,000.50", "B52s", "(", "x", ")"]),
        ("twenty-one", ["twenty", "-", "one"]),
        ("क्षि है", ["क्षि", "है"]),
        ("", []),
    ],
)
def test_tokens(sentence, expected):
    assert list(tokens(sentence)) == expected


KNOWN = known_words(["The dog will not eat it.", "I don't know Tom's NATO, t s."])


@pytest.mark.parametrize(
    ("paraphrase", "count"),
    [
        ("The dog will eat.", 0),
        ("the DOG will not know", 0),  # known in lower case
        ("The dog willn't eat the contemucious meat.", 3),
        ("Dog's", 0),  # an apostrophe parts what is known by itself
        ("eat 17 !", 0),  # no words
        ("nato", 1),
        ("", 0),
    ],
)
def test_unknown_words(paraphrase, count):
    assert one("unknown_words", "Any.", paraphrase, Models(known_words=KNOWN)) == count


def test_a_dictionary_knows_more_english_words():
    known = WithDictionary(frozenset(["The"]))
    assert "The" in known and "paddocks" in known
    assert "contemucious" not in known and "Paddocks" not in known
    models = Models(known_words=known)
    assert one("unknown_words", "Any.", "The paddocks, Paddocks willn't", models) == 1


def test_a_word_of_the_dictionary_that_is_a_name_in_the_references_is_one():
    known = WithDictionary(known_words(["So Tom is here.", "Paddocks are here."]))
    assert "tom" not in known and "paddocks" in known
    assert one("unknown_words", "Any.", "tom", Models(known_words=known)) == 0
    assert one("names", "Tom is here.", "Tone is here.", Models(known_words=known)) == 0
    assert one("names", "Paddocks are here.", "Fields are here.", Models(known_words=known)) == 1


def test_known_words_tell_what_begins_a_sentence():
    words = known_words(["The dog's here. Look: Tom!", "«Oui»", "the end"])
    assert words == {"^The", "dog", "s", "here", "^Look", "^Tom", "^Oui", "the", "end"}


# --- agreement --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("3 dogs", ["3"]),
        ("three dogs", ["3"]),
        ("twenty-one, Twenty one, 21", ["21", "21", "21"]),
        ("two and three", ["2", "3"]),
        ("two hundred and five", ["205"]),
        ("a hundred", ["100"]),
        ("two hundred and a dog", ["200"]),
        ("3 million or three million or 3,000,000", ["3000000"] * 3),
        ("two thousand five hundred", ["2000", "500"]),  # not added up
        ("1,000 or 1.000 or 1000", ["1000"] * 3),
        ("2.50 or 2,5", ["2.5"] * 2),
        ("at 10:30", ["10.3"]),
        ("one dog, 1 dog, a dog", []),
        ("the 3rd B52 of the 1970s", ["3rd", "b52", "1970s"]),
        ("it's third", []),
    ],
)
def test_english_numbers(sentence, expected):
    assert sorted(numbers(sentence, english=True).elements()) == sorted(expected)


def test_numbers_of_another_language_stand_in_digits():
    assert sorted(numbers("três, 3, 1 e 1.000", english=False)) == ["1", "1000", "3"]


@pytest.mark.parametrize(
    ("reference", "paraphrase", "agreement"),
    [
        ("I have three dogs.", "I've got 3 dogs.", 1),
        ("I have three dogs.", "I've got four dogs.", 0),
        ("Call 4 of 5.", "Call 4.", 2 / 3),
        ("No number.", "None.", 1),
    ],
)
def test_agreement_of_numbers(reference, paraphrase, agreement):
    assert one("numbers", reference, paraphrase) == pytest.approx(agreement)


def test_number_words_count_in_english_alone():
    assert one("numbers", "three", "3", Models(language="en")) == 1
    assert one("numbers", "three", "3", Models(language="pt")) == 0


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("Tom's dog eats.", {"tom"}),
        ("The dog is Tom's.", {"tom"}),  # `the` is known in lower case
        ("It eats. The dog.", set()),
        ("I eat, and I'm here.", set()),
        ("A NATO dog in Prague.", {"nato", "prague"}),
        ("Dog Will", {"will"}),
    ],
)
def test_names(sentence, expected):
    known = known_words(["it eats; the dog will eat."])
    assert set(names(sentence, known)) == expected


@pytest.mark.parametrize(
    ("reference", "paraphrase", "agreement"),
    [
        ("Tom eats.", "Tom's eating.", 1),
        ("Tom eats.", "Tone eats.", 0),
        ("Tom and Tom and Mary", "Tom and Maria", 0.5),
        ("He eats.", "She eats.", 1),
        ("他吃饭", "她 吃 饭", 1),  # no capitals, no names
    ],
)
def test_agreement_of_names(reference, paraphrase, agreement):
    models = Models(known_words=known_words(["so he or she eats and a tone"]))
    assert one("names", reference, paraphrase, models) == pytest.approx(agreement)


@pytest.mark.parametrize(
    ("sentence", "expected"),
    [
        ("I don't know.", True),
        ("I don’t know.", True),
        ("I CANNOT go", True),
        ("Nobody knows", True),
        ("without him", True),
        ("She willn't", True),
        ("He notices nothingness", False),
        ("It is unknown.", False),
    ],
)
def test_negation_of_a_sentence(sentence, expected):
    assert negated(sentence) is expected


def test_agreement_of_negation():
    assert one("negation", "I think he won't go.", "I don't think he will.") == 1
    assert one("negation", "He goes.", "He never goes.") == 0


# --- surface ----------------------------------------------------------------------------------


def test_length_ratio_and_words():
    assert one("length_ratio", "Two words.", "Now three words!") == 1.5
    assert math.isnan(one("length_ratio", "...", "word"))
    assert one("words", "Now, three words!", "x") == 3


def test_edit_distance_is_in_tokens():
    assert one("edit_distance", "The dog eats .", "the cat eats.") == 0.25
    assert one("edit_distance", "a b", "c d e f") == 1
    assert one("edit_distance", "", "") == 0


@pytest.mark.parametrize("order", [1, 2, 3])
def test_overlap_is_that_of_the_column_of_filter(order):
    from workflow_scripts.stages.filter.columns import Counter

    references = ["the dog eats the cat .", "a", "", "a b c d", "The, dog!"]
    paraphrases = ["The dog and the cat", "b", "x", "b c d a b c", "the dog dog"]
    expected = Counter().columns(pa.array(references), pa.array(paraphrases))
    name = f"overlap_{order}"
    column = compute(Pairs(references, paraphrases), [name], Models())[name]
    np.testing.assert_allclose(column, expected[name])
