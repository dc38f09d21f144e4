"""Streams of answers, without a model."""

from threading import Lock

import pandas as pd
import pytest

from paraloom import ArgumentError, Request
from paraloom.batches import answered, is_copy


def texts_of(requests):
    return [request.text for request in requests]


def stream(texts, size=2):
    return answered(texts, Request("", n=1), texts_of, size, Lock())


def test_answers_come_in_batches_in_order():
    assert list(stream(iter("abcde"))) == list("abcde")
    assert list(stream(pd.Series(["a", "b"]))) == ["a", "b"]
    assert list(stream([])) == []


@pytest.mark.parametrize("size", [1, 2, 4])
def test_texts_before_an_error_are_answered(size):
    def broken():
        yield from "abc"
        raise OSError("the disk is gone")

    found = stream(broken(), size)
    assert [next(found) for _ in range(3)] == list("abc")
    with pytest.raises(OSError, match="the disk is gone"):
        next(found)


def test_an_error_names_the_place_of_the_item():
    found = stream(["a", "b", None, "d"])
    assert [next(found), next(found)] == ["a", "b"]
    with pytest.raises(ArgumentError, match=r"texts\[2\]: a text .* not NoneType"):
        next(found)


@pytest.mark.parametrize("table", [{"text": "a"}, pd.DataFrame({"text": ["a"]})])
def test_a_table_is_no_stream_of_texts(table):
    with pytest.raises(ArgumentError, match=r"texts is a table; .* df\['text'\]"):
        stream(table)


def test_a_copy_has_nearly_all_words():
    assert is_copy("Tom Smith.", "tom smith")
    assert is_copy("Eu moro em Lisboa hoje", "Eu moro em Lisboa today")
    assert not is_copy("He lives in Lisbon.", "Ele mora em Lisboa.")
