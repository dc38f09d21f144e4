"""A rewriter at work: sentences with wishes in, paraphrases out, many of them in one search.

What the search promises is not trusted: every paraphrase is read again for the words that it must
and must not have.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from itertools import islice, product

import numpy as np

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.text.normalisation import letters_and_digits, written_without_blanks
from workflow_scripts.encoding.interface import Encoder
from workflow_scripts.nmt.automaton import Phrase
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import TextCoder
from workflow_scripts.nmt.positive import MOST_PHRASES, resolve
from workflow_scripts.nmt.raw import forbidden, wanted, whole_words
from workflow_scripts.nmt.sampling import SampleRequest, sample
from workflow_scripts.nmt.vocabulary import BOS, UNK
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.generate.constraints import SetMaker
from workflow_scripts.stages.generate.inflection import inflections
from workflow_scripts.stages.judge.features import FEATURES, Models
from workflow_scripts.stages.judge.known_pairs import Pairs
from workflow_scripts.stages.rewrite.requests import (
    MOST_RESULTS,
    Answer,
    Paraphrase,
    Request,
    RequestError,
    clean,
)
from workflow_scripts.stages.rewrite.spellings import (
    START,
    at_start,
    capitals,
    every_segmentation,
    forms_of,
    holds,
    plain,
)
from workflow_scripts.stages.rewrite.syntax_templates import checked, labels_of, prefixed

# Searches that one request may need: one for each choice of forms, or for each set of a system.
MOST_SEARCHES = 48
# Sequences of pieces that one search may have to avoid.
MOST_AVOIDED = 20_000
# Letters of the wanted words that a reason repeats.
_MOST_TOLD = 200


@dataclass(frozen=True)
class Settings:
    """How a rewriter searches.

    `beam_size`: hypotheses of a sentence; `k`: samples are drawn from the k best tokens;
    `batch_rows`: hypotheses at work at once; `copies`: whether the sentence itself counts as a
    paraphrase.
    """

    beam_size: int = 5
    k: int = 10
    batch_rows: int = 512
    copies: bool = False


@dataclass(frozen=True)
class Search:
    """One search of a request.

    `avoid`, `use`: the phrases for the search, in pieces; `banned`, `needed`: the words that the
    text is read for; `variant`: whose words these are.
    """

    avoid: list[Phrase]
    use: list[Phrase]
    whole_words: bool
    banned: frozenset[str]
    needed: tuple[str, ...]
    variant: str | None = None


@dataclass(frozen=True)
class Plan:
    """The searches that answer a request, whose source is in pieces.

    `unknown`: words of the sentence that the model can't read; `why`: None, or why there is
    nothing to search.
    """

    request: Request
    source: list[int]
    searches: list[Search]
    avoided: list[str]
    used: list[str]
    unknown: list[str] = field(default_factory=list)
    why: str | None = None

    @property
    def cost(self) -> int:
        """How many beams or samples it takes."""
        return len(self.searches) * max(1, self.request.samples)


@dataclass(frozen=True)
class Found:
    """What one search gave: texts with their NLLs; `unmet`: wanted phrases it could not meet."""

    texts: list[str]
    nlls: list[float]
    unfinished: int
    unmet: int


class Rewriter:
    """Paraphrases sentences of one language.

    Args:
        model: reads and writes sentences of the language.
        source: the coder of what it reads, of raw text.
        target: that of what it writes.
        language: its code; inflections are known of English only.
        settings: of the searches.
        templates: those that it was trained with, the most frequent first; none: it has no
            control of syntax.
        systems: makes the constraint sets of a system, given its name.
        encoder: of sentences; None: there are no meaning scores.
    """

    def __init__(
        self,
        model: Model,
        source: TextCoder,
        target: TextCoder,
        language: str | None,
        settings: Settings | None = None,
        *,
        templates: Sequence[str] = (),
        systems: Callable[[str], SetMaker] | None = None,
        encoder: Encoder | None = None,
    ):
        self.language = language
        self.inflects = language in ENGLISH
        self.settings = settings or Settings()
        self.templates = list(templates)
        self.has_meaning = encoder is not None
        self._model = model
        self._source = source
        self._target = target
        self._labels = sorted(
            {label for template in self.templates for label in labels_of(template)}
        )
        self._systems = systems
        self._encoder = encoder
        # Each holds the document frequencies and paraphrases of its own system.
        self._sets = lru_cache(maxsize=8)(self._make_sets)
        # The same words are avoided in many requests.
        self._forbidden = lru_cache(maxsize=1024)(partial(forbidden, target))
        self._in_pieces = lru_cache(maxsize=256)(
            lambda phrase: every_segmentation(phrase, model.target_vocab, target.unmarked_start)
        )

    def answer(self, requests: Iterable[Request]) -> list[Answer]:
        """Return the answers of requests, which share one search.

        Raises:
            RequestError: one of them can't be answered.
        """
        return self.answers([self.plan(request) for request in requests])

    # --- what to search ----------------------------------------------------------------------

    def plan(self, request: Request) -> Plan:
        """Return the searches that a request needs.

        Raises:
            RequestError: it can't be answered; the message says what to change.
        """
        settings = self.settings
        if request.at_least is not None:
            raise RequestError("'at_least' needs a judge, and a rewriter has none; leave it out")
        if request.samples and request.use:
            raise RequestError(
                "'samples' can't have words to use, only words to avoid: they are drawn "
                "token by token; leave 'samples' out, a beam search then answers"
            )
        if not request.samples and request.number > settings.beam_size:
            raise RequestError(
                f"'number' is {request.number}, but the beam holds {settings.beam_size}; ask for "
                "fewer, or for 'samples'"
            )
        if request.system and (request.avoid or request.use):
            raise RequestError(
                f"'system' {request.system} chooses the words itself; leave 'avoid' and 'use' out"
            )
        text = self._with_template(request)
        source = self._source.encode(text)
        searches = self._of_system(request) if request.system else self._of_words(request)
        plan = Plan(
            request,
            source,
            searches,
            list(request.avoid),
            list(request.use),
            self._unknown(request.text) if UNK in source else [],
        )
        if not self._model.can_read(source):
            most = self._model.max_source_pieces
            why = f"too long: the sentence has {len(source)} pieces, the model reads up to {most}"
            return replace(plan, searches=[], why=why)
        if plan.unknown and self._mostly_unknown(request.text, plan.unknown):
            why = (
                "unreadable: most characters of the sentence, or all its words, are unknown to "
                "the model; give it a sentence of the language that it reads"
            )
            return replace(plan, searches=[], why=why)
        if not searches:
            why = f"no words: {request.system} finds none here that the rewriter can write"
            return replace(plan, why=why)
        return plan

    def _unknown(self, text: str) -> list[str]:
        """Return the parts of a text that the model can't read: it can't know what they say."""
        return [part for part in _parts(text) if UNK in self._source.encode(part)]

    def _mostly_unknown(self, text: str, unknown: Sequence[str]) -> bool:
        """Tell whether the model can't read most letters of a text, or none of its words.

        Args:
            text: the sentence.
            unknown: those of its words that have something that the model can't read.
        """
        known = set(_parts(text)) - set(unknown)
        signs = Counter(filter(str.isalnum, text))
        strange = sum(signs[sign] for sign in signs if UNK in self._source.encode(sign))
        return not any(map(letters_and_digits, known)) or 2 * strange > signs.total()

    def _with_template(self, request: Request) -> str:
        """Return what the model reads: one with templates is also told that there is none."""
        if not self.templates:
            if request.template is not None:
                raise RequestError("'template': this rewriter knows no templates; leave it out")
            return request.text
        if request.template is None:
            return prefixed(None, request.text)
        try:
            return prefixed(checked(request.template, self._labels), request.text)
        except InputError as error:
            raise RequestError(f"'template': {error}") from error

    def _of_words(self, request: Request) -> list[Search]:
        """Return a search for each choice of the forms in which the wanted words may come."""
        banned = {form for word in request.avoid for form in self._forms(word, request.avoid_forms)}
        choices = []
        for word in request.use:
            forms = [
                form
                for form in self._use_forms(word, request.use_forms)
                if not any(_has(form, other) for other in banned)
            ]
            if not forms:
                raise RequestError(f"{word!r} is to be used, but it has a word to avoid")
            choices.append(forms)
        count = int(np.prod([len(forms) for forms in choices])) if choices else 1
        if count > MOST_SEARCHES:
            raise RequestError(
                f"the words to use have {count} combinations of forms, at most {MOST_SEARCHES} can "
                "be searched; ask for fewer words, or for the words as they stand"
            )
        avoid = self._avoid_phrases(banned, request.avoid_pieces)
        return [self._search(avoid, chosen, banned) for chosen in product(*choices)]

    def _forms(self, word: str, inflect: bool) -> list[str]:
        if not inflect:
            return [word]
        if not self.inflects:
            raise RequestError(
                f"inflections are known of English (en) only, and the rewriter's language is "
                f"{self.language or 'not known'}; name the forms themselves"
            )
        return forms_of(word, inflections)

    def _use_forms(self, word: str, inflect: bool) -> list[str]:
        """Return the forms of a wanted word: with `inflect` also with a capital at the start."""
        forms = self._forms(word, inflect)
        if inflect and not at_start(word)[0]:
            forms += [f"{START} {form[:1].upper()}{form[1:]}" for form in forms]
        return forms

    def _avoid_phrases(self, banned: Iterable[str], pieces: bool) -> list[Phrase]:
        phrases: dict[Phrase, None] = {}
        for word in sorted({*banned, *map(plain, banned)}):
            for written in capitals(word):
                phrases |= dict.fromkeys(self._forbidden(written))
            if pieces:
                phrases |= dict.fromkeys(self._in_pieces(word))
            if len(phrases) > MOST_AVOIDED:
                raise RequestError(
                    f"the words to avoid can be written in more than {MOST_AVOIDED:,} ways; ask "
                    "for fewer or shorter ones, or leave out 'avoid_forms' or 'avoid_pieces'"
                )
        return [phrase for phrase in phrases if set(phrase) - {BOS}]

    def _search(self, avoid: list[Phrase], chosen: Sequence[str], banned: set[str]) -> Search:
        use = [wanted(self._target, form) for form in chosen]
        # What the model does not know as it stands, it may know in its plain spelling.
        use = [
            wanted(self._target, plain(form)) if UNK in phrase else phrase
            for form, phrase in zip(chosen, use, strict=True)
        ]
        for form, phrase in zip(chosen, use, strict=True):
            if UNK in phrase:
                raise RequestError(f"{form!r} has a sign that the rewriter can't write")
        avoided, _ = resolve(use, avoid)
        whole = whole_words(self._target, list(chosen))
        return Search(avoided, use, whole, frozenset(banned), tuple(chosen))

    def _make_sets(self, system: str) -> SetMaker:
        if self._systems is None:
            raise RequestError("'system': there is no run whose systems could choose; give --run")
        return self._systems(system)

    def _of_system(self, request: Request) -> list[Search]:
        """Return a search for each of the sets of words that a system chooses."""
        assert request.system is not None
        sets = self._sets(request.system)(request.text, f"{request.seed} {request.text}")
        if len(sets) > MOST_SEARCHES:
            raise RequestError(
                f"'system' {request.system} has {len(sets)} sets of words for this sentence, at "
                f"most {MOST_SEARCHES} can be searched; name one of its variants"
            )
        vocabulary, searches = self._model.target_vocab, []
        for word_set in sets:
            if word_set.wanted and request.samples:
                raise RequestError(
                    f"'samples' can't have words to use, as {word_set.variant} of "
                    f"{request.system} has"
                )
            use = [tuple(vocabulary.ids(phrase)) for phrase in word_set.wanted]
            if len(use) > MOST_PHRASES or any(UNK in phrase for phrase in use):
                continue
            phrases = (tuple(vocabulary.ids(phrase)) for phrase in sorted(word_set.phrases))
            avoided, _ = resolve(use, [phrase for phrase in phrases if UNK not in phrase])
            searches.append(
                Search(
                    avoided,
                    use,
                    True,
                    frozenset(word_set.spellings) | frozenset(word_set.avoid),
                    tuple(word_set.want),
                    word_set.variant or request.system,
                )
            )
        return searches

    # --- answers -----------------------------------------------------------------------------

    def answers(self, plans: Sequence[Plan]) -> list[Answer]:
        """Return the answers of planned requests, all in two searches at most."""
        beams = self._beams([plan for plan in plans if not plan.request.samples])
        samples = self._samples([plan for plan in plans if plan.request.samples])
        answers = [
            self._answer(plan, next(samples if plan.request.samples else beams)) for plan in plans
        ]
        return self._with_meaning(answers)

    def _beams(self, plans: list[Plan]) -> Iterator[list[Found]]:
        requests = [
            BeamRequest(plan.source, search.use, search.avoid, search.whole_words)
            for plan in plans
            for search in plan.searches
        ]
        size, rows = self.settings.beam_size, self.settings.batch_rows
        results = translate(self._model, requests, beam_size=size, nbest=size, batch_rows=rows)
        for plan in plans:
            yield [
                Found(self._texts(beam.outputs), beam.nlls, int(not beam.outputs), len(beam.unmet))
                for beam in islice(results, len(plan.searches))
            ]

    def _samples(self, plans: list[Plan]) -> Iterator[list[Found]]:
        # Each sample is a request of its own: so requests for other numbers share the search.
        requests = [
            SampleRequest(
                f"{plan.request.seed} {plan.request.text}",
                number * MOST_RESULTS + draw,
                plan.source,
                search.avoid,
            )
            for plan in plans
            for number, search in enumerate(plan.searches)
            for draw in range(plan.request.samples)
        ]
        settings = self.settings
        k, rows = settings.k, settings.batch_rows
        results = sample(self._model, requests, samples=1, seed=0, k=k, batch_rows=rows)
        for plan in plans:
            of_plan = []
            for _ in plan.searches:
                drawn = list(islice(results, plan.request.samples))
                outputs = [output for result in drawn for output in result.outputs]
                nlls = [nll for result in drawn for nll in result.nlls]
                of_plan.append(
                    Found(self._texts(outputs), nlls, sum(result.dropped for result in drawn), 0)
                )
            yield of_plan

    def _texts(self, outputs: list[list[int]]) -> list[str]:
        return [clean(self._target.decode(output)) for output in outputs]

    def _answer(self, plan: Plan, results: list[Found]) -> Answer:
        """Return the answer of a plan, still without meaning scores."""
        request, lost = plan.request, Counter[str]()
        answer = Answer(request, [], plan.avoided, plan.used, plan.unknown, plan.why)
        if plan.why:
            return answer
        # What a system's sets of words give is ranked for each set by itself.
        best: dict[tuple[int, str], Paraphrase] = {}
        itself = letters_and_digits(request.text)
        for number, (search, result) in enumerate(zip(plan.searches, results, strict=True)):
            lost["unfinished"] += result.unfinished - bool(result.unmet)
            lost["unmet"] += bool(result.unmet)
            for text, nll in zip(result.texts, result.nlls, strict=True):
                place = number if request.system else 0, text
                if fault := self._fault(text, itself, search):
                    lost[fault] += 1
                elif place not in best or nll < best[place].score:
                    different = difference(request.text, text)
                    best[place] = Paraphrase(text, nll, None, different, search.variant)
        if request.system:
            words = [word for search in plan.searches for word in search.banned]
            needed = [word for search in plan.searches for word in search.needed]
            answer = replace(answer, avoided=sorted(set(words)), used=sorted(set(needed)))
        most = request.samples or request.number
        ranked: list[Paraphrase] = []
        for number in sorted({number for number, _ in best}):
            of_set = [paraphrase for (place, _), paraphrase in best.items() if place == number]
            of_set.sort(key=lambda paraphrase: (paraphrase.score, paraphrase.text))
            ranked += of_set[:most]
        return replace(answer, paraphrases=ranked, why=None if ranked else _why(lost, plan))

    def _fault(self, text: str, itself: str, search: Search) -> str | None:
        """Return what is wrong with a text, None if it is a paraphrase that was asked for."""
        if not text:
            return "empty"
        if any(holds(text, word) for word in search.banned):
            return "avoided"
        if not all(holds(text, word, affirmed=True) for word in search.needed):
            return "missing"
        if not self.settings.copies and letters_and_digits(text) == itself:
            return "copy"
        return None

    def _with_meaning(self, answers: list[Answer]) -> list[Answer]:
        if self._encoder is None:
            return answers
        places: dict[str, int] = {}
        for answer in answers:
            if answer.paraphrases:
                places.setdefault(answer.request.text, len(places))
            for paraphrase in answer.paraphrases:
                places.setdefault(paraphrase.text, len(places))
        if not places:
            return answers
        vectors = np.asarray(self._encoder.encode(list(places)), np.float64)
        vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)

        def scored(original: str, paraphrase: Paraphrase) -> Paraphrase:
            cosine = float(vectors[places[original]] @ vectors[places[paraphrase.text]])
            return replace(paraphrase, meaning=100 * min(1.0, max(0.0, cosine)))

        return [
            replace(
                answer,
                paraphrases=[
                    scored(answer.request.text, paraphrase) for paraphrase in answer.paraphrases
                ],
            )
            for answer in answers
        ]


def difference(sentence: str, paraphrase: str) -> float:
    """Return the feature `edit_distance` of two sentences, 0 to 100.

    A BLEU of one sentence would be 0 wherever one of four words in a row has changed.
    """
    (distance,) = FEATURES["edit_distance"].compute(Pairs([sentence], [paraphrase]), Models())
    return 100.0 * float(distance)


def _has(form: str, banned: str) -> bool:
    """Tell whether a wanted form can't be written without a word to avoid."""
    starts, words = at_start(form)
    only_at_start, avoided = at_start(banned)
    if only_at_start:
        return starts and holds(words, banned)
    return holds(words, avoided)


def _parts(text: str) -> list[str]:
    """Return the different words of a text, single characters where no blanks part words."""
    parts: dict[str, None] = {}
    for word in text.split():
        parts |= dict.fromkeys(word if any(map(written_without_blanks, word)) else [word])
    return list(parts)


def _why(lost: Counter[str], plan: Plan) -> str:
    """Return why a search gave nothing that could be returned: the commonest reason."""
    needed = ", ".join(sorted({word for search in plan.searches for word in search.needed}))
    if len(needed) > _MOST_TOLD:
        needed = f"{needed[:_MOST_TOLD]}..."
    reasons = {
        "unmet": f"unmet: no sentence with {needed} was found within the longest length",
        "unfinished": "unfinished: no sentence came to its end within the longest length",
        "avoided": "avoided: every sentence found had a word to avoid in some other spelling",
        "missing": f"unmet: no sentence found has {needed} as words of their own",
        "empty": "empty: the search gave no text",
        "copy": "copy: only the sentence itself was found; avoid one of its words",
    }
    (reason, _), *_ = lost.most_common(1)
    return reasons[reason]
