"""Paraphrasing by translation there and back."""

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import overload

import numpy as np

from paraloom import models
from paraloom.answers import Paraphrase, Paraphrases
from paraloom.batches import UNTRANSLATED, answered, best_of, fault_of, is_copy
from paraloom.judging import ready_judge
from paraloom.requests import ArgumentError, Request, require_seed, wishes_of_call
from paraloom.search import Search
from paraloom.threads import Threads
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.text.language_codes import differ
from workflow_scripts.nmt.divergence import UNREADABLE, Compared, compared_texts
from workflow_scripts.plan.catalogues.judges import DEFAULT
from workflow_scripts.stages.judge.known_pairs import Pairs
from workflow_scripts.stages.rewrite import requests as wishes
from workflow_scripts.stages.rewrite.rewriter import Plan, Rewriter, Settings
from workflow_scripts.stages.score.near_doubles import content_key, likeliest

_USUAL = Search()
# Before what is wrong with a source that was given.
_SOURCE = "source: "


@dataclass
class _Candidate:
    """A text that was found, `nll` nats per token unlikely given `source`."""

    text: str
    source: str
    nll: float
    score: float = math.inf
    found: Compared = UNREADABLE
    probability: float | None = None


@dataclass
class _Work:
    """A request at work.

    `text`: it, cleaned; `sources`: to go back from; `candidates`: by their texts; `whys`: what
    stood in the way, the most telling first; `unknown`: words that the first model can't read.
    """

    request: Request
    text: str = ""
    sources: list[str] = field(default_factory=list)
    candidates: dict[str, _Candidate] = field(default_factory=dict)
    whys: list[str] = field(default_factory=list)
    unknown: list[str] = field(default_factory=list)


class Paraphraser:
    """Paraphrases sentences of one language, by models that translate there and back.

    A text without a source is translated there several times; from each of these written sources
    the model back makes candidates. What differs from the text by function words, case, articles
    and punctuation alone is no paraphrase, and of candidates that differ so from each other the
    two likeliest are scored against the source that gave them, and judged; only the best is one.
    The same text, seed and search give the same paraphrases. Several threads may call one object,
    and take turns; each stream is for one of them.

    Args:
        language: of the texts (ISO 639).
        there: the model that translates from the language: a name of the catalogue of models
            (config.yaml, recipes/models), or a folder. None: the one that `make setup` brings, for
            `en` and `pt`.
        back: the model that translates back.
        judge: `default`: the judge of the language that ships, which is an order alone for others
            than English and Portuguese; a folder with a `judge.json`; None: no judge, the best
            score comes first.
        search: how to search.
        precision: of the models: `int8`, which is for CPUs with oneDNN, `bf16` or `fp32`.
        device: `cpu`, `cuda` or `auto`; None: the CPU for int8, else `auto`.
        seed: of sources that are drawn (`Search.sampled`).
        threads: so many batches of a stream are worked on side by side, each by one thread of
            torch, and so many calls of other threads. How many torch has for others is as before.

    Attributes:
        language: of the texts.
        at_least: the probability of answers, where a call does not say it: that which the system
            `paraloom` asks for; 0 where the judge has no labels of the language, or there is none.
        licences: of the models' weights, by the models' names; `unknown` where nobody says it.

    Raises:
        InputError: a model is missing, can't be read, or is of another language; the message says
            how to get one.
    """

    def __init__(
        self,
        language: str,
        there: str | Path | None = None,
        back: str | Path | None = None,
        judge: str | Path | None = DEFAULT,
        search: Search = _USUAL,
        precision: str = "int8",
        device: str | None = None,
        seed: int = 1,
        threads: int = 1,
    ):
        if not isinstance(search, Search):
            raise ArgumentError(f"search is {search!r:.40}, and must be a paraloom.Search")
        if there is None or back is None:
            default = models.default_models(language)
            there = default[0] if there is None else there
            back = default[1] if back is None else back
        self.language = language
        self._content = partial(content_key, language=language)
        self._search, self._seed = search, require_seed(seed)
        self._there = models.load(there, device, precision)
        self._back = models.load(back, device, precision)
        _require_directions(language, self._there, self._back)
        self.licences = {model.name: model.licence for model in (self._there, self._back)}
        self._judge = ready_judge(judge, language, device)
        self.at_least = self._judge.at_least if self._judge else 0.0
        # Without the key all are scored.
        most = models.our_system()["score"].get("of_each_content")
        self._of_each_content: float = most or math.inf
        self._writer = self._rewriter(self._there, None, search.source_beam)
        self._finder = self._rewriter(self._back, language, search.beam)
        self._threads = Threads(threads)

    def _rewriter(self, loaded: models.Loaded, language: str | None, beam: int) -> Rewriter:
        settings = Settings(beam, batch_rows=max(beam, self._search.batch_rows), copies=True)
        return Rewriter(loaded.model, loaded.source, loaded.target, language, settings)

    # A text is an iterable of texts, too: the first signature counts.
    @overload
    def __call__(  # type: ignore[overload-overlap]
        self,
        texts: str | Request,
        n: int = 5,
        keep: Sequence[str] = (),
        avoid: Sequence[str] = (),
        at_least: float | None = None,
    ) -> Paraphrases: ...

    @overload
    def __call__(
        self,
        texts: Iterable[str | Request],
        n: int = 5,
        keep: Sequence[str] = (),
        avoid: Sequence[str] = (),
        at_least: float | None = None,
    ) -> Iterator[Paraphrases]: ...

    def __call__(
        self,
        texts: str | Request | Iterable[str | Request],
        n: int = 5,
        keep: Sequence[str] = (),
        avoid: Sequence[str] = (),
        at_least: float | None = None,
    ) -> Paraphrases | Iterator[Paraphrases]:
        """Return the paraphrases of a text, or a stream of those of many, in order.

        Args:
            texts: a text, a request, or an iterable of them, which may be endless: it is read one
                batch at a time.
            n: how many paraphrases of each, best first; a request may say its own number.
            keep: words and phrases that every paraphrase must have, besides those of a request.
            avoid: words and phrases that no paraphrase may have, in whatever case.
            at_least: the probability of each, 0 to 1; None: that of the paraphraser; 0: all come
                back.

        Returns:
            A list of paraphrases, with `why` where there are fewer than `n`; or an iterator of such
            lists.

        Raises:
            ArgumentError: an argument can't be, such as n = 0. In a stream it comes behind the
                answers to the texts before it.
        """
        defaults = wishes_of_call(n, keep, avoid, at_least)
        return answered(texts, defaults, self._answer, self._search.batch, self._threads)

    def _answer(self, requests: list[Request]) -> list[Paraphrases]:
        works = [_Work(request) for request in requests]
        self._write_sources(works)
        self._find(works)
        self._score(works)
        if self._judge is not None:
            self._judge_all(works)
        return [self._best(work) for work in works]

    def _write_sources(self, works: list[_Work]) -> None:
        """Give each text the sources to go back from."""
        planned: list[tuple[_Work, Plan]] = []
        for work in works:
            given = work.request.source
            fault, where = fault_of(work.request.text), ""
            if fault is None and given is not None:
                fault, where = fault_of(given), _SOURCE
            if fault:
                work.whys.append(f"{where}{fault}")
                continue
            work.text = wishes.clean(work.request.text)
            if given is not None:
                work.sources = [wishes.clean(given)]
                continue
            plan = self._writer.plan(self._wish(work.text))
            work.unknown = plan.unknown
            if plan.why:
                work.whys.append(plan.why)
            else:
                planned.append((work, plan))
        answers = self._writer.answers([plan for _, plan in planned])
        for (work, _), answer in zip(planned, answers, strict=True):
            written = [each.text for each in answer.paraphrases]
            work.sources = [text for text in written if not is_copy(work.text, text)]
            work.sources = work.sources[: self._search.sources]
            if not work.sources:
                work.whys.append(answer.why or UNTRANSLATED.format(self._there.name))

    def _wish(self, text: str) -> wishes.Request:
        if self._search.sampled:
            return wishes.Request(text, samples=self._search.sources, seed=self._seed)
        # One more: a copy of the text is no source.
        number = min(self._search.sources + 1, self._search.source_beam)
        return wishes.Request(text, number=number)

    def _find(self, works: list[_Work]) -> None:
        """Search back from all sources."""
        planned: list[tuple[_Work, str, Plan]] = []
        for work in works:
            for source in work.sources:
                wish = wishes.Request(
                    source,
                    avoid=tuple(work.request.avoid),
                    use=tuple(work.request.keep),
                    number=self._search.beam,
                )
                try:
                    plan = self._finder.plan(wish)
                except wishes.RequestError as error:
                    work.whys.append(f"refused: {error}")
                    break
                given = work.request.source is not None
                if given:
                    work.unknown = plan.unknown
                if plan.why:
                    work.whys.append(f"{_SOURCE if given else ''}{plan.why}")
                else:
                    planned.append((work, source, plan))
        answers = self._finder.answers([plan for _, _, plan in planned])
        for (work, source, _), answer in zip(planned, answers, strict=True):
            if answer.why:
                work.whys.append(answer.why)
            own = self._content(work.text)
            for found in answer.paraphrases:
                text, known = found.text, work.candidates.get(found.text)
                if known is not None and known.nll <= found.score:
                    continue
                if self._content(text) != own:
                    work.candidates[text] = _Candidate(text, source, found.score)
        for work in works:
            nlls = {text: each.nll for text, each in work.candidates.items()}
            likely = likeliest(nlls, work.text, self._content, self._of_each_content)
            work.candidates = {text: work.candidates[text] for text in likely}

    def _score(self, works: list[_Work]) -> None:
        """Score each candidate against the source that gave it; forget what can't be scored."""
        there = self._there
        both = [(work.text, each) for work in works for each in work.candidates.values()]
        texts = [(text, each.source, each.text) for text, each in both]
        read, write = there.source.encode, there.target.encode
        found = compared_texts(there.model, texts, read, write, shortlist=True)
        for (_, candidate), answer in zip(both, found, strict=True):
            candidate.score, candidate.found = candidate.nll + answer.nll, answer
        for work in works:
            work.candidates = {
                text: each for text, each in work.candidates.items() if math.isfinite(each.score)
            }

    def _judge_all(self, works: list[_Work]) -> None:
        assert self._judge is not None
        both = [(work.text, each) for work in works for each in work.candidates.values()]
        if not both:
            return
        found = [each for _, each in both]
        pairs = Pairs(
            [text for text, _ in both],
            [each.text for each in found],
            [each.source for each in found],
            forward_nll=np.array([each.nll for each in found]),
            backward_nll=np.array([each.found.nll for each in found]),
            lost=np.array([each.found.lost for each in found]),
            divergence=np.array([each.found.divergence for each in found]),
        )
        for each, probability in zip(found, self._judge.probabilities(pairs), strict=True):
            each.probability = probability

    def _best(self, work: _Work) -> Paraphrases:
        found = (
            Paraphrase(each.text, each.probability, each.score, each.source)
            for each in work.candidates.values()
        )
        why = next(iter(work.whys), None)
        return best_of(work.request, found, self.language, why, work.unknown, self.at_least)


def _require_directions(language: str, there: models.Loaded, back: models.Loaded) -> None:
    """Refuse models that do not translate from the language and back to it.

    Raises:
        InputError: their files tell other languages.
    """
    for name, model, read in (
        ("there", there, there.languages[0]),
        ("back", back, back.languages[1]),
    ):
        if differ(read, language):
            raise InputError(
                f"{name}: {model.name} translates from '{model.languages[0]}' to "
                f"'{model.languages[1]}', which is not {'from' if name == 'there' else 'to'} "
                f"'{language}'; name another model"
            )
    between = there.languages[1], back.languages[0]
    if differ(*between):
        raise InputError(
            f"there ({there.name}) writes '{between[0]}', and back ({back.name}) reads "
            f"'{between[1]}'; name two models of one pair of languages"
        )
