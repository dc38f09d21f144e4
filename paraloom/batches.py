"""Streams of requests, answered in batches."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import TypeVar

from paraloom.answers import Paraphrase, Paraphrases
from paraloom.requests import ArgumentError, Request, asked, is_single, refuse_table
from paraloom.threads import Threads
from workflow_scripts.core.text.normalisation import (
    letters_and_digits,
    words,
    written_without_blanks,
)
from workflow_scripts.core.text.text_tokens import parts, tokens
from workflow_scripts.nmt.memory import return_freed_memory
from workflow_scripts.stages.rewrite import requests as wishes
from workflow_scripts.stages.rewrite.requests import MOST_CHARACTERS
from workflow_scripts.stages.rewrite.requests import Answer as Found
from workflow_scripts.stages.rewrite.rewriter import Plan, Rewriter
from workflow_scripts.stages.score.near_doubles import content_key

Answer = TypeVar("Answer")
_NEAR_DOUBLES = "copy: only the text itself was found, or what differs from it by function words"
UNTRANSLATED = (
    "untranslated: {} gives the text back as it stands; is it in another language, or a name?"
)
_UNJUDGED = "refused: at_least is a probability, which nothing gives without a judge; leave it out"
_UNLIKE = "unlike: what was found shares no word with so short a text (at_least=0 gives all)"
# A text of so many words is short; words that begin with so many equal letters are alike.
_SHORT, _BEGINNING = 2, 4
# Of the words of a text: with so many of them a translation is a copy, whatever else it has.
_COPIED = 0.8
# Characters that only blank: they count as a blank each.
_BLANKS = "\t\n\v\f\r\x1c\x1d\x1e\x1f\x85"


def answered(
    texts: str | Request | Iterable[str | Request],
    defaults: Request,
    answer: Callable[[list[Request]], list[Answer]],
    size: int,
    threads: Threads,
) -> Answer | Iterator[Answer]:
    """Return the answer to one text, or a stream of the answers to many, in order.

    Args:
        texts: what is asked. A stream is read by batches, when their answers are asked for.
        defaults: what the call says for all of them.
        answer: answers a batch.
        size: of a batch.
        threads: that answer batches.

    Raises:
        ArgumentError: what is asked can't be. In a stream it comes behind the answers to the texts
            before it, as an error of whoever gives the texts does.
    """
    refuse_table("texts", texts)
    if is_single(texts):
        return threads.answer(answer, [asked(texts, defaults)])[0]
    if not isinstance(texts, Iterable):
        raise ArgumentError(
            f"a text, a paraloom.Request, or an iterable of them is asked for, not "
            f"{type(texts).__name__}"
        )
    return _stream(iter(texts), defaults, answer, size, threads)


def _stream(
    texts: Iterator[str | Request],
    defaults: Request,
    answer: Callable[[list[Request]], list[Answer]],
    size: int,
    threads: Threads,
) -> Iterator[Answer]:
    requests = _asked(texts, defaults)
    faults: list[Exception] = []

    def batches() -> Iterator[list[Request]]:
        full = True
        while full and not faults:
            batch: list[Request] = []
            try:
                for request in islice(requests, size):
                    batch.append(request)
            except Exception as error:
                faults.append(error)
            full = len(batch) == size
            if batch:
                yield batch

    for answers in threads.side_by_side(answer, batches()):
        return_freed_memory()
        yield from answers
    if faults:
        raise faults[0]


def _asked(texts: Iterator[str | Request], defaults: Request) -> Iterator[Request]:
    for number, text in enumerate(texts):
        try:
            request = asked(text, defaults)
        except ArgumentError as error:
            raise ArgumentError(f"texts[{number}]: {error}") from error
        yield request


def fault_of(text: str) -> str | None:
    """Return why a text can't be worked on, None if it can."""
    if not text.strip():
        return "empty: there is no sentence"
    if len(text) > MOST_CHARACTERS:
        return (
            f"too long: the text has {len(text):,} characters, at most {MOST_CHARACTERS:,} are "
            "read; give it sentence by sentence"
        )
    for sign in text:
        if (sign < " " or "\x7f" <= sign < "\xa0") and sign not in _BLANKS:
            return f"control: the text has the control character U+{ord(sign):04X}; take it out"
        if "\ud800" <= sign <= "\udfff":
            return "control: half of a surrogate pair (\\ud800 to \\udfff) is no text; take it out"
    if not any(map(str.isalnum, text)):
        return "empty: the text has no letter or digit"
    return None


def is_copy(text: str, translation: str) -> bool:
    """Tell whether a translation is the text itself, or nearly all of it."""
    if letters_and_digits(text) == letters_and_digits(translation):
        return True
    copied, of_text = set(words(translation)), words(text)
    return sum(word in copied for word in of_text) >= _COPIED * len(of_text)


def wished_of(
    engine: Rewriter, requests: Sequence[Request], samples: int, seed: int
) -> Iterator[tuple[Request, Found]]:
    """Yield each request with what a model gives for it.

    Args:
        engine: the model at work.
        requests: what is asked; of a beam search all that the beam holds is given, whatever `n`.
        samples: drawn of each; 0: a beam search.
        seed: of the samples.
    """
    number = 1 if samples else engine.settings.beam_size
    planned: list[Plan] = []
    faults: list[str | None] = []
    for request in requests:
        fault = fault_of(request.text)
        if fault is None:
            wish = wishes.Request(
                wishes.clean(request.text),
                avoid=tuple(request.avoid),
                use=tuple(request.keep),
                number=number,
                samples=samples,
                seed=seed,
            )
            try:
                planned.append(engine.plan(wish))
            except wishes.RequestError as error:
                fault = f"refused: {error}"
        faults.append(fault)
    answers = iter(engine.answers(planned))
    for request, fault in zip(requests, faults, strict=True):
        if fault is not None:
            yield request, Found(wishes.Request(request.text), [], why=fault)
        else:
            yield request, next(answers)


def best_of(
    request: Request,
    found: Iterable[Paraphrase],
    language: str,
    why: str | None,
    unknown: Iterable[str] = (),
    at_least: float = 0.0,
) -> Paraphrases:
    """Return the best paraphrases of a text, of which no two are near doubles.

    They are as probable as is asked for; and a text of one or two words shares one with each, or
    how it begins (by four letters), unless a probability of 0 is asked for.

    Args:
        request: what was asked for.
        found: paraphrases in any order.
        language: of the texts; empty if unknown.
        why: the reason if there are none; None: all were near doubles.
        unknown: words that the model can't read.
        at_least: the probability of each, where the request does not say it.
    """
    wanted = request.n or 0
    bound = at_least if request.at_least is None else request.at_least
    ranked = sorted(found, key=lambda each: (-(each.probability or 0), each.score, each.text))
    different: dict[tuple[str, ...], Paraphrase] = {}
    for each in ranked:
        different.setdefault(content_key(each.text, language), each)
    best = list(different.values())
    if bound and any(each.probability is None for each in best):
        return Paraphrases(request.text, [], _UNJUDGED, unknown)
    alike = [each for each in best if request.at_least == 0 or _alike(request.text, each.text)]
    probable = [each for each in alike if (each.probability or 0) >= bound]
    if len(probable) >= min(wanted, len(best)):
        told = why_fewer(len(probable), wanted, why or _NEAR_DOUBLES)
    elif len(probable) == len(alike):
        told = _UNLIKE
    else:
        told = (
            f"improbable: {len(probable)} of {len(alike)} found have a probability of {bound:g} or "
            "more (at_least=0 gives all)"
        )
    return Paraphrases(request.text, probable[:wanted], told, unknown)


def _alike(text: str, paraphrase: str) -> bool:
    """Tell whether a paraphrase shares a word with a short text, or how it begins.

    Longer texts need not, nor those in scripts that part no words.
    """
    of_text, others = (
        list(
            filter(
                None, (letters_and_digits(part) for word in tokens(each) for part in parts(word))
            )
        )
        for each in (text, paraphrase)
    )
    if len(of_text) > _SHORT or any(map(written_without_blanks, text)):
        return True
    return not {word[:_BEGINNING] for word in of_text}.isdisjoint(
        word[:_BEGINNING] for word in others
    )


def why_fewer(found: int, wanted: int, why: str | None) -> str | None:
    """Return why fewer than wanted were found, `why` if none were; None if they are enough."""
    if found >= wanted:
        return None
    if found:
        return f"fewer: {found} of {wanted} different ones were found; search wider for more"
    return why
