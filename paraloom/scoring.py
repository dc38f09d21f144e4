"""Scores of given pairs: of translations by a model, of paraphrases by the judge."""

from collections.abc import Iterator, Sequence, Set, Sized
from itertools import chain
from pathlib import Path
from typing import Any

from paraloom import models
from paraloom.judging import ReadyJudge, column
from paraloom.requests import ArgumentError, refuse_table
from paraloom.threads import Threads
from workflow_scripts.nmt import scoring
from workflow_scripts.plan.catalogues.judges import DEFAULT
from workflow_scripts.stages.judge.known_pairs import Pairs
from workflow_scripts.stages.rewrite.requests import clean
from workflow_scripts.stages.rewrite.spellings import plain

# Pairs that a thread scores at a time.
_CHUNK = 256


def score(
    sources: Sequence[str],
    targets: Sequence[str],
    model: str | Path,
    precision: str = "int8",
    device: str | None = None,
    threads: int = 1,
) -> list[float]:
    """Return how unlikely a model finds each translation, in nats per token; lower is better.

    It is the NLL per token of the target, its end included, by forced decoding, as the pipeline's
    stage `score` has it.

    Args:
        sources: the texts that are translated.
        targets: a translation of each.
        model: a name or a folder, as a Paraphraser takes them.
        precision: as that of a Paraphraser.
        device: as that of a Paraphraser.
        threads: as those of a Paraphraser.

    Returns:
        The NLLs; infinite where a text is empty, or too long for the model.

    Raises:
        ArgumentError: the lists differ in length.
        InputError: the model is missing, or can't be read.
    """
    _require_pairs(sources=sources, targets=targets)
    at_work = Threads(threads)
    loaded = models.load(model, device, precision)
    pairs = list(zip(map(clean, sources), map(clean, targets), strict=True))
    return list(nlls(loaded, at_work, _CHUNK, pairs))


def nlls(
    loaded: models.Loaded, at_work: Threads, size: int, pairs: Sequence[Sequence[str]]
) -> Iterator[float]:
    """Yield the NLLs of pairs of cleaned texts, as `score` has them, `size` at a time."""

    def of_chunk(start: int) -> list[float]:
        chunk = pairs[start : start + size]
        pieces = (
            (loaded.source.encode(left), loaded.target.encode(right)) for left, right in chunk
        )
        return list(scoring.score(loaded.model, pieces))

    return chain.from_iterable(at_work.side_by_side(of_chunk, range(0, len(pairs), size)))


def judge(
    references: Sequence[str],
    paraphrases: Sequence[str],
    forward_nll: Sequence[float] | None = None,
    backward_nll: Sequence[float] | None = None,
    judge: str | Path = DEFAULT,
    language: str = "en",
    encoder: str | Path | None = None,
    device: str | None = None,
    threads: int = 1,
) -> list[float]:
    """Return how probable it is that each paraphrase is good, 0 to 1; higher is better.

    Args:
        references: the texts.
        paraphrases: a paraphrase of each.
        forward_nll: of each paraphrase given a source, as `score` gives it; NaN or infinite where
            it is unknown. With both NLLs the judge is better.
        backward_nll: of the source given each paraphrase.
        judge: `default`: the one of the language that ships; or a folder with a `judge.json`.
        language: of the texts (ISO 639).
        encoder: folder of the judge's encoder; None: the one that `make setup` brings.
        device: `cpu`, `cuda` or `auto`.
        threads: as those of a Paraphraser.

    Returns:
        The probabilities.

    Raises:
        ArgumentError: the lists differ in length, or a text is empty.
        InputError: there is no such judge, or it knows another language.
    """
    _require_pairs(references=references, paraphrases=paraphrases)
    at_work = Threads(threads)
    ready = ReadyJudge(judge, language, None if encoder is None else Path(encoder), device)
    left, right = list(map(clean, references)), list(map(clean, paraphrases))
    for name, texts in (("references", left), ("paraphrases", right)):
        for place, text in enumerate(texts):
            if not plain(text).strip():
                raise ArgumentError(f"{name}[{place}] is empty; a pair needs both texts")
    pairs = Pairs(
        left,
        right,
        forward_nll=column("forward_nll", forward_nll, len(references)),
        backward_nll=column("backward_nll", backward_nll, len(references)),
    )
    return ready.probabilities(pairs, at_work.side_by_side)


def _require_pairs(**lists: Any) -> None:
    """Refuse two lists that are no texts, or that differ in length.

    Raises:
        ArgumentError: so it is.
    """
    for name, texts in lists.items():
        refuse_table(name, texts)
        is_list = isinstance(texts, Sized) and not isinstance(texts, str | Set)
        if not is_list or not all(isinstance(text, str) for text in texts):
            raise ArgumentError(f"{name} must be a list of texts (str)")
    (first, left), (second, right) = lists.items()
    if len(left) != len(right):
        raise ArgumentError(
            f"{first} has {len(left)} texts, {second} has {len(right)}; text n of each is of the "
            "same pair"
        )
