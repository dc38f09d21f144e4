"""Many texts in one call: in order, in bounded memory, and the same as each alone."""

from itertools import count
from threading import Thread

import pytest

import paraloom
from paraloom import ArgumentError, Request

pytestmark = pytest.mark.slow
TEXTS = [
    "The patient received antibiotics for 10 days.",
    "What time is the train to Boston?",
    "",
    "I forgot my umbrella in the office.",
    "He never drinks coffee in the evening because it keeps him awake.",
]


def test_a_text_gets_the_same_alone_and_among_others(exact):
    together = list(exact(iter(TEXTS), n=4, at_least=0))
    alone = [exact(text, n=4, at_least=0) for text in TEXTS]
    assert [answers.text for answers in together] == TEXTS
    for one, other in zip(together, alone, strict=True):
        assert [each.text for each in one] == [each.text for each in other]
        assert [each.probability for each in one] == pytest.approx(
            [each.probability for each in other], abs=1e-4
        )
        assert one.why == other.why
    assert together[2].why.startswith("empty")


def test_the_same_call_gives_the_same_bits(exact):
    assert list(exact(TEXTS, n=4)) == list(exact(TEXTS, n=4))


def test_threads_change_no_bit_of_a_stream(exact):
    two = paraloom.Paraphraser("en", search=exact._search, precision="fp32", threads=2)
    assert list(two(TEXTS * 2, n=4)) == list(exact(TEXTS * 2, n=4))


def test_two_threads_may_call_one_object(exact):
    expected = list(exact(TEXTS, n=2))
    found = {}

    def call(name):
        found[name] = list(exact(TEXTS, n=2))

    threads = [Thread(target=call, args=(name,)) for name in "ab"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {"a": expected, "b": expected}


def test_a_generator_is_never_read_more_than_two_batches_ahead(exact):
    read, size = count(), exact._search.batch
    taken = []

    def endless():
        while True:
            taken.append(next(read))
            yield TEXTS[1]

    stream = exact(endless(), n=1)
    assert not taken  # nothing before the first answer is asked for
    for given in range(1, 3 * size + 1):
        next(stream)
        assert len(taken) - given <= 2 * size


def test_a_request_has_its_own_number_and_words(exact):
    requests = [Request(TEXTS[0], n=1), Request(TEXTS[1], avoid=["train"]), TEXTS[3]]
    one, two, three = exact(requests, n=2, avoid=["umbrella"], at_least=0)
    assert len(one) == 1 and len(two) == 2
    assert not any("train" in each.text.lower().split() for each in two)
    assert not any("umbrella" in each.text for each in three)


def test_what_is_no_text_ends_the_stream_with_its_batch(exact):
    stream = exact([*TEXTS[:2], None], n=1)
    assert len([next(stream), next(stream)]) == 2
    with pytest.raises(ArgumentError, match=r"a paraloom\.Request is asked for, not NoneType"):
        next(stream)
