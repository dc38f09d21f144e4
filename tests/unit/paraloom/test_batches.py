"""Streams of answers, and which answers are given, without a model."""

from threading import Barrier, Thread

import pandas as pd
import pytest
import torch

from paraloom import ArgumentError, Paraphrase, Request
from paraloom.batches import answered, best_of, is_copy
from paraloom.threads import Threads, _setting, one_torch_thread


def texts_of(requests):
    return [request.text for request in requests]


def stream(texts, size=2, threads=1, answer=texts_of):
    return answered(texts, Request("", n=1), answer, size, Threads(threads))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_answers_come_in_batches_in_order(threads):
    assert list(stream(iter("abcdefghijk"), threads=threads)) == list("abcdefghijk")
    assert list(stream(pd.Series(["a", "b"]), threads=threads)) == ["a", "b"]
    assert list(stream([], threads=threads)) == []


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("size", [1, 2, 4])
def test_texts_before_an_error_are_answered(size, threads):
    def broken():
        yield from "abc"
        raise OSError("the disk is gone")

    found = stream(broken(), size, threads)
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


# --- threads ---------------------------------------------------------------------------------


@pytest.fixture
def host():
    """A host that has three threads of torch; return those of a thread that is new to torch."""

    def of_a_new_thread():
        found = []
        new = Thread(target=lambda: found.append(torch.get_num_threads()))
        new.start()
        new.join()
        return found[0]

    before = torch.get_num_threads()
    torch.set_num_threads(3)
    yield of_a_new_thread
    torch.set_num_threads(before)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_batch_has_one_thread_of_torch_and_its_host_what_it_had(host, threads):
    seen = set()

    def answer(requests):
        with _setting:  # not while another batch begins
            seen.add((torch.get_num_threads(), host()))
        if requests[-1].text == "f":
            raise OSError("broken")
        return texts_of(requests)

    found = stream(list("abcdef"), 2, threads, answer)
    assert [next(found), torch.get_num_threads()] == ["a", 3]  # between two batches, too
    with pytest.raises(OSError, match="broken"):
        list(found)
    assert stream("a", 2, threads, answer) == "a"
    with pytest.raises(OSError, match="broken"):
        stream("f", 2, threads, answer)
    assert seen == {(1, 3)}
    assert (torch.get_num_threads(), host()) == (3, 3)


def test_hosts_threads_that_call_together_keep_their_own_numbers(host):
    together, kept = Barrier(2), {}

    def call(number):
        torch.get_num_threads()  # a new thread takes the host's number when it first asks
        torch.set_num_threads(number)
        for _ in range(20):
            together.wait(20)
            with one_torch_thread():
                assert torch.get_num_threads() == 1
        kept[number] = torch.get_num_threads()

    callers = [Thread(target=call, args=(number,)) for number in (2, 4)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert (kept, torch.get_num_threads()) == ({2: 2, 4: 4}, 3)


def test_batches_are_at_work_side_by_side_and_few_are_read_ahead():
    together, read = Barrier(2), []

    def texts():
        for text in "abcdefgh":
            read.append(text)
            yield text

    def answer(requests):
        together.wait(20)  # it ends if two batches are at work at once
        return texts_of(requests)

    found = stream(texts(), 1, 2, answer)
    assert (next(found), len(read)) == ("a", 3)
    assert list(found) == list("bcdefgh")


def test_a_stream_that_nobody_reads_on_ends(host):
    found = stream(iter("abcdefgh"), 1, 2)
    assert next(found) == "a"
    found.close()
    assert list(stream("abc")) == list("abc")


@pytest.mark.parametrize("threads", [0, -1, 1.5, "2", None, 1001])
def test_threads_are_a_number_above_zero(threads):
    with pytest.raises(ArgumentError, match="threads is"):
        Threads(threads)


# --- which are given -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "at_least", "given", "why"),
    [
        ("The cat sleeps here.", None, ["A dog barks.", "A cat naps."], "improbable: 2 of 3"),
        ("The cat sleeps here.", 0.5, ["A dog barks."], "improbable: 1 of 3"),
        ("The cat sleeps here.", 0.3, ["A dog barks.", "A cat naps."], "improbable: 2 of 3"),
        ("The cat sleeps here.", 1, [], "improbable: 0 of 3 found have a probability of 1 or more"),
        ("The cat sleeps here.", 0, ["A dog barks.", "A cat naps.", "Cats!"], "fewer: 3 of 5"),
        ("Sleep!", None, [], "unlike: what was found shares no word"),
        ("Sleep!", 0.2, [], "unlike"),
        ("Sleep!", 0, ["A dog barks.", "A cat naps.", "Cats!"], "fewer"),
        ("A BARK!", None, ["A dog barks.", "A cat naps."], "unlike"),
        ("Barking.", None, ["A dog barks."], "unlike"),
        ("Cat", None, ["A cat naps."], "unlike"),  # what begins like "Cats" has four letters
        ("猫が寝る", None, ["A dog barks.", "A cat naps."], "improbable"),
    ],
)
def test_what_is_given_is_probable_and_of_a_short_text_shares_a_word(text, at_least, given, why):
    found = [("Cats!", 0.1), ("A cat naps.", 0.3), ("A dog barks.", 0.6)]
    paraphrases = [Paraphrase(each, probability, 1.0, None) for each, probability in found]
    best = best_of(Request(text, n=5, at_least=at_least), paraphrases, "en", None, at_least=0.25)
    assert [each.text for each in best] == given
    assert best.why.startswith(why)
    if not why.startswith("fewer"):
        assert best.why.endswith("(at_least=0 gives all)")


def test_as_many_as_asked_for_need_no_why():
    found = [
        Paraphrase(f"A {word} naps.", 0.5 - 0.3 * (word == "dog"), 1.0, None)
        for word in ("cat", "dog")
    ]
    assert best_of(Request("The cat sleeps.", n=1), found, "en", None, at_least=0.25).why is None


def test_without_a_judge_nothing_is_probable():
    found = [Paraphrase("A cat naps.", None, 1.0, None)]
    assert best_of(Request("The cat sleeps.", n=1), found, "en", None) == found
    best = best_of(Request("The cat sleeps.", n=1, at_least=0.5), found, "en", None)
    assert best == [] and best.why.startswith("refused: at_least is a probability")


def test_a_copy_has_nearly_all_words():
    assert is_copy("Tom Smith.", "tom smith")
    assert is_copy("Eu moro em Lisboa hoje", "Eu moro em Lisboa today")
    assert not is_copy("He lives in Lisbon.", "Ele mora em Lisboa.")
