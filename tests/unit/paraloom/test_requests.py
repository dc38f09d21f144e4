import numpy as np
import pytest

from paraloom import ArgumentError, InputError, Request, Search
from paraloom.models import load
from paraloom.requests import MOST_WORDS, asked, require_seed, wishes_of_call

DEFAULTS = Request("", None, 5, ["tea"], ["cup"], 0.5)


def test_a_text_gets_the_wishes_of_the_call():
    assert asked("A text.", DEFAULTS) == Request("A text.", None, 5, ["tea"], ["cup"], 0.5)


def test_a_requests_own_wishes_come_first():
    own = Request("A text.", "Um texto.", 2, ["milk"], at_least=0)
    assert asked(own, DEFAULTS) == Request("A text.", "Um texto.", 2, ["milk", "tea"], ["cup"], 0)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": None}, "text must be a text"),
        ({"text": b"a"}, "text must be a text"),
        ({"source": 1}, "source must be a text"),
        ({"n": 0}, "n is 0, and must be a whole number above zero"),
        ({"n": True}, "n is True"),
        ({"n": 1.5}, "n is 1.5"),
        ({"keep": "tea"}, r"keep must be a list of words, such as \['favor'\]"),
        ({"avoid": ["tea", ""]}, "avoid: '' is no word"),
        ({"avoid": [3]}, "avoid: 3 is no word"),
        ({"avoid": ["<s>"]}, "avoid: '<s>' is no word"),
        ({"at_least": 1.5}, "at_least is 1.5, and must be a number from 0 to 1"),
        ({"at_least": -0.1}, "at_least is -0.1"),
        ({"at_least": float("nan")}, "at_least is nan"),
        ({"at_least": True}, "at_least is True"),
        ({"at_least": "0.5"}, "at_least is '0.5'"),
        ({"n": 1001}, "n is 1001, and can be 1,000 at most"),
        ({"keep": ["x" * 101]}, "keep has a word of more than 100 letters; shorten it"),
        ({"avoid": ["!" * 5000]}, r"avoid: '!{39} is no word"),
        ({"avoid": ["\ud800a"]}, "avoid: .* has half of a surrogate pair; take it out"),
        ({"keep": ["a"] * (MOST_WORDS + 1)}, f"keep has {MOST_WORDS + 1} words"),
    ],
)
def test_what_can_not_be_is_refused(fields, message):
    with pytest.raises(ArgumentError, match=message):
        Request(**{"text": "A text.", **fields})


def test_a_number_of_numpy_is_a_number():
    assert type(Request("A text.", n=np.int64(2)).n) is int
    assert Search(beam=np.int32(4)).beam == 4
    assert Request("A text.", at_least=np.float32(0.5)).at_least == 0.5


@pytest.mark.parametrize("source", ["", " \n"])
def test_an_empty_source_is_none(source):
    assert Request("A text.", source=source) == Request("A text.")


@pytest.mark.parametrize("n", [None, "x", 0, 10**6])
def test_a_call_must_say_a_number(n):
    with pytest.raises(ArgumentError, match="n is"):
        wishes_of_call(n, (), ())
    assert wishes_of_call(2, ["tea"], ()).keep == ("tea",)


@pytest.mark.parametrize("value", [None, 3, ""])
def test_what_names_no_model_is_refused(value):
    with pytest.raises(ArgumentError, match=r"model is .*, and must be a name or a path"):
        load(value, None, "fp32")


def test_an_error_of_an_argument_is_also_a_value_error():
    with pytest.raises(ValueError):
        Request("A text.", n=0)
    assert issubclass(ArgumentError, InputError)


@pytest.mark.parametrize("item", [None, 3, b"a", ["a"]])
def test_what_is_no_text_in_a_stream_is_refused(item):
    with pytest.raises(ArgumentError, match="a text"):
        asked(item, DEFAULTS)


def test_a_search_is_bounded():
    with pytest.raises(ArgumentError, match="beam is 0"):
        Search(beam=0)
    with pytest.raises(ArgumentError, match="source_beam holds 2"):
        Search(sources=3, source_beam=2)
    with pytest.raises(ArgumentError, match="beam is 100000, and can be 1,000 at most"):
        Search(beam=100_000)
    with pytest.raises(ArgumentError, match="sampled is 'no', and must be True or False"):
        Search(sampled="no")
    assert Search(sources=3, source_beam=2, sampled=True).batch == 8
    assert Search(batch_rows=1).batch == 1


def test_a_seed_is_a_whole_number():
    assert require_seed(np.int64(-1)) == -1
    with pytest.raises(ArgumentError, match="seed is 'x', and must be a whole number"):
        require_seed("x")
