import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.stages.generate.constraints import constraint_sets
from workflow_scripts.stages.generate.spare import Spare
from workflow_scripts.stages.generate.tokenizer import splitter

CONFIG = {"kind": "negative", "choose": "random", "sets": 6, "fraction": [0.0, 1.0]}


def letters(text):
    return ["▁" + text[0], *text[1:]]


def draw(reference, number=1, source="", **changes):
    return constraint_sets(reference, f"c:{number}", CONFIG | changes, 1, letters, source)


@pytest.mark.parametrize(
    ("sentence", "inside", "everywhere"),
    [
        ("Tom told Mary that I ran.", {"Mary", "I"}, {"Tom", "Mary", "I"}),
        ("He ran. She saw the BBC! Why?", {"BBC"}, {"He", "She", "BBC", "Why"}),
        ("NASA and McDonald met.", {"NASA", "McDonald"}, {"NASA", "McDonald"}),
        ("McDonald met NASA.", {"McDonald", "NASA"}, {"McDonald", "NASA"}),
        ("We met Mr. Smith here.", {"Mr", "Smith"}, {"We", "Mr", "Smith"}),
        ('She said: "Come" to Bob', {"Bob"}, {"She", "Come", "Bob"}),
        ("She asked, «Come?»", set(), {"She", "Come"}),
        ('"Stop!" Then (Bob) ran.', {"Bob"}, {"Stop", "Then", "Bob"}),
        ("Der Hund sah eine Katze.", {"Hund", "Katze"}, {"Der", "Hund", "Katze"}),
        ("Шёл Иван", {"Иван"}, {"Шёл", "Иван"}),
        ("", set(), set()),
    ],
)
def test_capitalised_words(sentence, inside, everywhere):
    assert Spare({"capitalised": "inside"}).of(sentence) == inside
    assert Spare({"capitalised": "everywhere"}).of(sentence) == everywhere
    assert Spare({}).of(sentence) == set()


def test_names_and_listed_words_inside_other_words_by_tokens():
    spare = Spare({"capitalised": "inside", "words": ["mother"]}, splitter("en"))
    assert spare.of("My mother's well-known Jean-Paul") == {"mother", "Jean", "Paul"}
    assert spare.of("Jean-paul, self-made") == set()
    assert spare.of("Jean-Paul ran") == {"Paul"}


def test_a_first_word_that_the_source_has_is_a_name():
    inside = Spare({"capitalised": "inside"})
    assert inside.of("Tom ran. Then he fell.", "«Tom» correu. Caiu.") == {"Tom"}
    assert inside.of("The tom ran.", "Tom correu, the.") == set()
    assert Spare({"digits": True}).of("Tom ran.", "Tom correu.") == set()
    sets = draw("Tom ran off", source="Tom fugiu", spare={"capitalised": "inside"})
    assert {word for each in sets for word in each.avoid} == {"ran", "off"}


def test_words_with_digits_and_words_of_the_list():
    sentence = "On the 3rd day B2 and the and 12 ran."
    assert Spare({"digits": True}).of(sentence) == {"3rd", "B2"}
    assert Spare({"words": ["THE", "on", "12"]}).of(sentence) == {"On", "the"}
    assert Spare({"digits": True, "words": ["day"]}).of(sentence) == {"3rd", "B2", "day"}


def test_a_word_is_spared_in_all_its_forms_where_these_are_one_word():
    spare = {"capitalised": "inside"}
    reference = "Mark saw Mark mark it."
    sets = draw(reference, spare=spare, case=True)
    assert {word for each in sets for word in each.avoid} == {"saw", "it"}
    # Otherwise they are two words.
    sets = draw(reference, spare=spare)
    assert {word for each in sets for word in each.avoid} == {"saw", "mark", "it"}
    assert "Mark" not in {word for each in sets for word in each.spellings}


def test_a_set_takes_the_rest_if_there_are_fewer_than_its_share():
    (found,) = draw("Ann saw Bob", sets=1, fraction=[1, 1], spare={"capitalised": "everywhere"})
    assert found.avoid == ["saw"]
    (found,) = draw("Ann Bob", sets=1, fraction=[1, 1], spare={"capitalised": "everywhere"})
    assert found.avoid == []
    # The share is of all words: with two of six spared, a half is still three.
    (found,) = draw("Ann a b c d Bob", sets=1, fraction=[0.5, 0.5], spare={"words": ["ann", "bob"]})
    assert len(found.avoid) == 3


def test_nothing_changes_where_nothing_is_spared():
    reference = "one two three four five six"
    assert draw(reference) == draw(reference, spare={"capitalised": "everywhere", "digits": True})


WORDS = st.text("abAB1é'\"-.!", min_size=1, max_size=5)


@pytest.mark.slow
@given(
    words=st.lists(WORDS, max_size=12),
    listed=st.lists(WORDS, max_size=3),
    capitalised=st.sampled_from([None, "inside", "everywhere"]),
    digits=st.booleans(),
    case=st.booleans(),
    number=st.integers(0, 99),
)
def test_a_spared_word_is_never_avoided(words, listed, capitalised, digits, case, number):
    spare = {"capitalised": capitalised, "digits": digits, "words": listed}
    reference = " ".join(words)
    spared = Spare(spare).of(reference)
    for constraints in draw(reference, number, spare=spare, case=case):
        assert spared.isdisjoint(constraints.avoid)
        assert spared.isdisjoint(constraints.spellings)
        for word in constraints.avoid:
            assert word.lower() not in {each.lower() for each in listed}
            assert not (digits and any(map(str.isdigit, word)))
            assert capitalised != "everywhere" or word == word.lower()
            assert capitalised != "inside" or word[1:] == word[1:].lower()
