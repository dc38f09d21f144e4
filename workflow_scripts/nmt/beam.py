"""Beam search with n-best lists, plain or with lexical constraints, for a stream of requests.

Scores and stopping are those of Sockeye. An open hypothesis is ranked by its summed NLL, one that
has ended by its NLL per token. A sentence is done when no hypothesis in its beam is open. Positive
constraints follow Post & Vilar (NAACL 2018): the beam is divided into banks by the number of
constraint pieces written. Letters of shapes: S sentences, W beam size, N slots of the decoder (one
for each open hypothesis; with a stride above 1 for every hypothesis), C candidates of each.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt import automaton, positive
from workflow_scripts.nmt.automaton import Automaton, NegativeTable, Phrase
from workflow_scripts.nmt.banks import allocate, contenders
from workflow_scripts.nmt.best_tokens import OutputLayer, excludes
from workflow_scripts.nmt.decoder import BeamDecoder
from workflow_scripts.nmt.hypotheses import Beams, Continuations
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.positive import PositiveTable, Wanted
from workflow_scripts.nmt.request_queue import Jobs
from workflow_scripts.nmt.shortlist import Ids
from workflow_scripts.nmt.streaming import default_stride, run_search
from workflow_scripts.nmt.vocabulary import BOS, EOS, PAD


@dataclass(frozen=True)
class BeamRequest:
    """A sentence to translate.

    `source`: piece ids without </s>; `constraints`: phrases of piece ids that the output must
    contain; `avoid`: phrases that it must not contain. A phrase that begins with <s> counts at the
    start of the sentence only. With `whole_words` a constraint counts only where its last word
    ends.
    """

    source: list[int]
    constraints: list[Phrase] = field(default_factory=list)
    avoid: list[Phrase] = field(default_factory=list)
    whole_words: bool = False


@dataclass(frozen=True)
class BeamResult:
    """The n-best list of a request, best first; every entry meets all constraints.

    `outputs`: piece ids without </s>; `nlls`: NLL in nats per token, </s> included; `unmet`: empty
    if there is an output, or else the positive constraints that the search could not meet together
    with the others within the maximum length.
    """

    request: BeamRequest
    outputs: list[list[int]]
    nlls: list[float]
    unmet: list[Phrase]


@torch.inference_mode()
def translate(
    model: Model,
    requests: Iterable[BeamRequest],
    *,
    beam_size: int,
    nbest: int = 1,
    batch_rows: int = 512,
    stride: int | None = None,
) -> Iterator[BeamResult]:
    """Yield the `nbest` best outputs of every request, in the order of the requests.

    A source that the model cannot read (`Model.can_read`) gets no output.

    Args:
        model: translates.
        requests: read as beams become free.
        beam_size: hypotheses per sentence.
        nbest: at most `beam_size`.
        batch_rows: most hypotheses at a time, at least those of one sentence.
        stride: how many steps follow one another with equal shapes, without reading from the
            device. Sentences that are done wait for the last of these steps. Above 1 every
            hypothesis, open or not, has its own row of the decoder. Default:
            `streaming.default_stride`.
    """
    if not 1 <= nbest <= beam_size:
        raise InputError(f"n-best size {nbest}: must be 1 to the beam size, {beam_size}")
    stride = default_stride(model.device) if stride is None else stride
    if stride < 1:
        raise InputError(f"stride {stride}: must be above zero")
    start = partial(_Search, model, beam_size, nbest, stride)
    yield from run_search(start, requests, max(batch_rows, beam_size), beam_size)


@dataclass
class _Job:
    """A request at work."""

    request: BeamRequest
    negative: Automaton
    positive: Wanted
    limit: int
    allowed: Ids | None
    result: BeamResult | None = None


class _Search:
    """All beams at work, and the jobs they belong to."""

    def __init__(
        self,
        model: Model,
        beam_size: int,
        nbest: int,
        stride: int,
        requests: Iterable[BeamRequest],
        batch_rows: int,
    ):
        self._model = model
        self._beam_size = beam_size
        self._nbest = nbest
        self._stride = stride
        sentences = batch_rows // beam_size
        self.jobs = Jobs(requests, self._open, sentences)
        self._decoder = BeamDecoder(model, sentences * beam_size, stride)
        self._output_layer = OutputLayer(model)
        self._ends_word = torch.tensor(model.target_vocab.ends_word, device=model.device)
        self._negative = NegativeTable.pack([], model.device)
        self._positive = PositiveTable.pack([], model.device)
        self._beams = Beams.empty([], [], beam_size, model.device)
        # Per slot of the decoder: its hypothesis, numbered through the beams, and its next token.
        self._hypotheses = self._model.integers([])
        self._tokens = self._model.integers([])
        self._steps = 0

    def refill(self) -> bool:
        """Start new sentences if enough beams are free; return whether there are any beams."""
        if starts := self.jobs.take(len(self._beams)):
            self._start([start.job for start in starts])
        return len(self._beams) > 0

    def step(self) -> None:
        """Add a token to every open hypothesis; a stride's last step removes done sentences."""
        parents, tokens = self._advance()
        self._steps += 1
        if self._steps % self._stride == 0:
            self._compact(parents, tokens)
        else:
            self._follow(parents, tokens)

    def _advance(self) -> tuple[Tensor, Tensor]:
        """Let every open hypothesis read its last token, and choose the next beams.

        No shape depends on the choice, and the host does not read it.

        Returns:
            The numbers of the parents among all hypotheses, and the last tokens [S, W].
        """
        old = self._beams
        candidates = self._candidates()
        width = candidates.total.shape[1]
        total = contenders(candidates.total, self._beam_size, self._positive.lengths.shape[1])
        scores, chosen = allocate(
            total.view(len(old), -1),
            candidates.bank.view(len(old), -1),
            self._positive.size[old.index],
            self._positive.largest,
            self._beam_size,
            width,
        )
        # Numbers of the chosen candidates and of their parents, through all beams.
        first = torch.arange(len(old), device=scores.device)[:, None] * self._beam_size
        chosen = first * width + chosen
        parents = chosen // width
        tokens = candidates.token.flatten()[chosen]
        goes_on = old.open().flatten()[parents] & scores.isfinite()
        length = old.length.flatten()[parents]
        output = old.output.flatten(0, 1)[parents].scatter(2, length[..., None], tokens[..., None])
        length = length + goes_on
        ends = goes_on & (tokens == EOS)
        scores = torch.where(ends, scores / length, scores)
        met = candidates.met.flatten()[chosen]
        negative = self._negative.moves.advance(
            old.negative.flatten()[parents].flatten(), tokens.flatten()
        )
        exists = scores.isfinite().any(dim=1, keepdim=True)
        self._beams = Beams(
            job=old.job,
            limit=old.limit,
            index=old.index,
            score=scores,
            length=length,
            ended=old.ended.flatten()[parents] | ends,
            negative=negative.view_as(tokens),
            positive=candidates.positive.flatten()[chosen],
            met=met,
            last_score=scores.where(exists, old.last_score),
            last_met=met.where(exists, old.last_met),
            output=output,
        )
        return parents, tokens

    def _compact(self, parents: Tensor, tokens: Tensor) -> None:
        """Give sentences that are done to their jobs, and let the decoder follow the others.

        `parents` and `tokens` [S, W] are as `_advance` returns them.
        """
        slots = self._slots()
        active = self._beams.open().any(dim=1)
        if not active.all():
            self._collect(self._beams.select(~active))
            self._beams = self._beams.select(active)
            parents, tokens = parents[active], tokens[active]
        followed = torch.ones_like(self._beams.ended) if self._stride > 1 else self._beams.open()
        hypotheses = followed.flatten().nonzero()[:, 0]
        slots = self._decoder.branch(slots[parents.flatten()[hypotheses]])
        self._hypotheses = torch.empty_like(slots)
        self._hypotheses[slots] = hypotheses
        self._tokens = torch.empty_like(slots)
        self._tokens[slots] = tokens.flatten()[hypotheses]

    def _follow(self, parents: Tensor, tokens: Tensor) -> None:
        """Let the decoder follow all hypotheses, given parents and last tokens [S, W]."""
        self._decoder.follow(self._slots()[parents.flatten()[self._hypotheses]])
        self._tokens = tokens.flatten()[self._hypotheses]

    def _slots(self) -> Tensor:
        """Return the slot [S * W] of every hypothesis that has one."""
        slots = self._hypotheses.new_empty(len(self._beams) * self._beam_size)
        slots[self._hypotheses] = torch.arange(len(self._hypotheses), device=slots.device)
        return slots

    def _candidates(self) -> Continuations:
        """Return the candidates of all hypotheses [S * W, C].

        The last column is for those that have ended and stay as they are, the columns before it
        are for tokens that continue a positive constraint.
        """
        beams = self._beams
        size = self._positive.size[beams.index]
        return self._extend().spread(self._hypotheses, beams.staying(size))

    def _extend(self) -> Continuations:
        """Return the candidates of the hypotheses [N, C] in the decoder, by their slots.

        Those that are not open have none.
        """
        beams, rows, positive = self._beams, self._hypotheses, self._positive
        request = beams.index[rows // self._beam_size]
        state, met = beams.positive.flatten()[rows], beams.met.flatten()[rows]
        wanted = positive.wanted(state, met)
        asked = torch.cat([torch.full_like(wanted[:, :1], EOS), wanted.clamp(min=PAD)], dim=1)
        forbidden = self._negative.forbidden[beams.negative.flatten()[rows]]
        # Enough for the beam, though some are forbidden, wanted anyway, or </s>.
        count = self._beam_size + forbidden.shape[1] + asked.shape[1]
        hidden = self._decoder.step(self._tokens)
        best = self._output_layer.best(hidden, count, asked, request)

        token = torch.cat([best.ids, asked], dim=1)
        columns = token.shape[1]
        before = state.repeat_interleave(columns)
        states = positive.moves.advance(before, token.flatten())
        mets = positive.meets(
            before, states, met.repeat_interleave(columns), self._ends_word[token.flatten()]
        )
        bank = positive.bank(request.repeat_interleave(columns), states, mets)
        mets = mets.view_as(token)

        # </s> has the first column of what was asked for; it needs all constraints met, and at
        # the maximum length nothing else is left.
        last = (beams.length + 1 == beams.limit[:, None]).flatten()[rows, None]
        ends = torch.zeros_like(asked, dtype=torch.bool)
        ends[:, 0] = mets[:, best.ids.shape[1]] == positive.all_met[request]
        allowed = torch.cat(
            [excludes(best.ids, asked) & ~last, ends | (_is_new(asked) & ~last)], dim=1
        ) & excludes(token, forbidden)
        allowed = allowed & beams.open().flatten()[rows, None]
        nll = -torch.cat([best.log_probabilities, best.asked], dim=1).double()
        total = beams.score.flatten()[rows, None] + nll.masked_fill(~allowed, torch.inf)
        return Continuations(total, bank.view_as(token), token, states.view_as(token), mets)

    def _open(self, request: BeamRequest) -> _Job:
        """Make the job of a request; it has a result at once if the model can't read the source."""
        wanted = positive.build(request.constraints, whole_words=request.whole_words)
        limit = self._model.max_output_length(len(request.source))
        allowed = self._model.allowed(request.source, wanted.phrases)
        job = _Job(request, automaton.build(request.avoid), wanted, limit, allowed)
        if not self._model.can_read(request.source):
            job.result = BeamResult(request, [], [], list(wanted.phrases))
        return job

    def _start(self, numbers: list[int]) -> None:
        limits = [self.jobs[number].limit for number in numbers]
        new = Beams.empty(numbers, limits, self._beam_size, self._model.device)
        sources = [self.jobs[number].request.source for number in numbers]
        places = self._model.integers(self._decoder.places(sources))
        # Above a stride of 1 slots are given at the start only: every hypothesis has one then.
        hypotheses = torch.arange(new.ended.numel(), device=places.device).view_as(new.ended)
        hypotheses = hypotheses[:, : self._beam_size if self._stride > 1 else 1]
        slots = self._decoder.start(places[:, None].expand_as(hypotheses).flatten())
        self._tokens = torch.cat([self._tokens, torch.full_like(slots, BOS)])
        self._hypotheses = torch.cat(
            [self._hypotheses, self._beams.ended.numel() + hypotheses.flatten()]
        )
        self._pack_constraints(new)
        self._beams = self._beams.join(new)

    def _pack_constraints(self, new: Beams) -> None:
        """Replace the tables of constraints by those of the current and the new sentences.

        So are the sets of pieces that a shortlist allows.
        """
        old = self._beams
        jobs = [self.jobs[number] for number in torch.cat([old.job, new.job]).tolist()]
        if self._model.shortlist is not None:
            self._output_layer.restrict([job.allowed for job in jobs if job.allowed is not None])
        negative = NegativeTable.pack([job.negative for job in jobs], self._model.device)
        positive = PositiveTable.pack([job.positive for job in jobs], self._model.device)
        old.index = torch.arange(len(old), device=self._model.device)
        new.index = torch.arange(len(old), len(jobs), device=self._model.device)
        old.negative = self._negative.moves.rebase(old.negative, negative.moves, old.index)
        old.positive = self._positive.moves.rebase(old.positive, positive.moves, old.index)
        new.negative = negative.start[new.index, None].expand_as(new.negative)
        new.positive = positive.start[new.index, None].expand_as(new.positive)
        new.met = new.last_met = positive.met[new.positive]
        self._negative, self._positive = negative, positive

    def _collect(self, done: Beams) -> None:
        """Give beams without open hypotheses to their jobs."""
        columns = (done.score, done.length, done.output, done.last_score, done.last_met)
        beams = zip(done.job.tolist(), *(column.tolist() for column in columns), strict=True)
        for number, scores, lengths, outputs, last_scores, last_met in beams:
            job = self.jobs[number]
            ended = sorted(
                (score, output[: length - 1])
                for score, length, output in zip(scores, lengths, outputs, strict=True)
                if score < torch.inf
            )[: self._nbest]
            unmet = [] if ended else _unmet(job.positive.phrases, last_scores, last_met)
            outputs, nlls = [output for _, output in ended], [score for score, _ in ended]
            job.result = BeamResult(job.request, outputs, nlls, unmet)


def _unmet(phrases: list[Phrase], scores: list[float], met: list[int]) -> list[Phrase]:
    """Return the phrases that its best hypothesis lacks, of those that met most phrases."""
    *_, best = min(
        (-bits.bit_count(), score, bits)
        for score, bits in zip(scores, met, strict=True)
        if score < torch.inf
    )
    return [phrase for bit, phrase in enumerate(phrases) if not best >> bit & 1]


def _is_new(tokens: Tensor) -> Tensor:
    """Return which of `tokens` [N, A] are words that stand in no earlier column of their row."""
    same = tokens[:, :, None] == tokens[:, None]
    return (tokens > EOS) & ~same.tril(diagonal=-1).any(dim=2)
