"""Truncated sampling with negative constraints, for a stream of requests (ParaBank 2, 2.1)."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt import automaton
from workflow_scripts.nmt.automaton import Automaton, NegativeTable, Phrase
from workflow_scripts.nmt.best_tokens import OutputLayer, excludes
from workflow_scripts.nmt.decoder import Decoder
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.randomness import derive, request_key, uniform
from workflow_scripts.nmt.request_queue import Jobs, Start
from workflow_scripts.nmt.shortlist import Ids
from workflow_scripts.nmt.streaming import default_stride, run_search
from workflow_scripts.nmt.tensor_table import Columns
from workflow_scripts.nmt.truncation import Truncation
from workflow_scripts.nmt.vocabulary import BOS, EOS, PAD


@dataclass(frozen=True)
class SampleRequest:
    """A sentence to sample from under one constraint set.

    `source`: piece ids without </s>; `avoid`: phrases of piece ids that no sample may contain. A
    phrase that begins with <s> counts at the start of the sentence only. `id` and `set` choose the
    random numbers.
    """

    id: str
    set: int
    source: list[int]
    avoid: list[Phrase]


@dataclass(frozen=True)
class SampleResult:
    """The finished samples of a request, in the order of their numbers.

    `outputs`: piece ids without </s>; `nlls`: NLL in nats per token, </s> included, under the
    full softmax; `dropped`: how many samples were not finished at the maximum length.
    """

    request: SampleRequest
    outputs: list[list[int]]
    nlls: list[float]
    dropped: int


@torch.inference_mode()
def sample(
    model: Model,
    requests: Iterable[SampleRequest],
    *,
    samples: int,
    seed: int,
    k: int | None = None,
    top_p: float | None = None,
    min_p: float | None = None,
    epsilon: float | None = None,
    temperature: float = 1.0,
    batch_rows: int = 512,
    stride: int | None = None,
) -> Iterator[SampleResult]:
    """Yield the samples of every request, in the order of the requests.

    Each token is drawn from those that complete no forbidden phrase and that `k`, `top_p`, `min_p`
    and `epsilon` leave; their probabilities are renormalised. A sample depends only on (seed, id,
    set, number of the sample), and on the rounding of floating-point sums. With the same device,
    threads, `batch_rows` and `stride` it is the same to the bit. If the model cannot read a source
    (`Model.can_read`), all its samples are dropped.

    Args:
        model: generates.
        requests: read when rows become free. Requests with the same source share its encoding if
            they follow one another.
        samples: how many samples each request gets.
        seed: of the run.
        k: how many tokens to draw from. For this and the next three, at least one of which is
            needed, see `Truncation`.
        top_p: the probability that the tokens to draw from have together.
        min_p: the share of the most probable token's probability that they have at least.
        epsilon: the probability that they have at least.
        temperature: divides the log-probabilities before the truncation and the draw; NLLs are
            those at temperature 1.
        batch_rows: most hypotheses at a time; with the longest sentence it bounds the memory.
        stride: how many steps follow one another with equal shapes, without reading from the
            device. Rows that have ended wait for the last of these steps. Above 1 no two samples
            share a row of the decoder. Default: `streaming.default_stride`.
    """
    stride = default_stride(model.device) if stride is None else stride
    if min(samples, batch_rows, stride) < 1 or not temperature > 0:
        raise InputError("samples, batch_rows, stride and temperature must be above zero")
    truncation = Truncation(k, top_p, min_p, epsilon)
    settings = _Settings(truncation, samples, seed, temperature, stride)
    yield from run_search(partial(_Sampler, model, settings), requests, batch_rows, 1)


@dataclass(frozen=True)
class _Settings:
    """Arguments of `sample`."""

    truncation: Truncation
    samples: int
    seed: int
    temperature: float
    stride: int


@dataclass
class _Job:
    """A request for `samples` samples that is being worked on.

    `ended` holds the samples that have ended: output and NLL, or None where one is dropped.
    """

    request: SampleRequest
    samples: int
    key: int
    automaton: Automaton
    limit: int
    allowed: Ids | None
    ended: dict[int, tuple[list[int], float] | None] = field(default_factory=dict)

    @property
    def result(self) -> SampleResult | None:
        """The result, once all samples have ended."""
        if len(self.ended) < self.samples:
            return None
        finished = [end for _, end in sorted(self.ended.items()) if end is not None]
        return SampleResult(
            self.request,
            [output for output, _ in finished],
            [nll for _, nll in finished],
            len(self.ended) - len(finished),
        )


@dataclass
class _Rows(Columns):
    """One row for each hypothesis: tensors [rows].

    `job`, `sample`: the numbers of its job and sample; `key`: of its random numbers; `state`: of
    the automaton; `slot`: of the decoder; `token`: the last one, <s> before the first, <pad> where
    none was allowed; `length`: tokens so far, at most `limit`; `nll`: the sum of their NLLs (fp64).
    """

    job: Tensor
    sample: Tensor
    key: Tensor
    state: Tensor
    slot: Tensor
    token: Tensor
    limit: Tensor
    length: Tensor
    nll: Tensor

    def ended(self) -> Tensor:
        """Return which rows [rows] stay as they are."""
        return (self.token == EOS) | (self.token == PAD) | (self.length == self.limit)


class _Sampler:
    """All hypotheses at work, and the jobs they belong to."""

    def __init__(
        self,
        model: Model,
        settings: _Settings,
        requests: Iterable[SampleRequest],
        batch_rows: int,
    ):
        self._model = model
        self._settings = settings
        self.jobs = Jobs(requests, self._open, batch_rows, settings.samples)
        self._decoder = Decoder(model, batch_rows, settings.stride)
        self._output_layer = OutputLayer(model)
        # With a shortlist: by place, the pieces that its source allows.
        self._allowed: dict[int, Ids] = {}
        self._rows = self._new_rows([])
        self._negative = NegativeTable.pack([], model.device)
        self._steps = 0

    def refill(self) -> bool:
        """Start new hypotheses if enough rows are free; return whether there are any rows."""
        if starts := self.jobs.take(len(self._rows)):
            self._start(starts)
        return len(self._rows) > 0

    def step(self) -> None:
        """Draw one token for every row; the last step of a stride removes rows that have ended."""
        self._draw()
        self._steps += 1
        if self._steps % self._settings.stride == 0:
            self._compact()

    def _draw(self) -> None:
        """Draw one more token for every row that has not ended.

        No shape depends on the draw, and the host does not read it. So the host never waits for an
        accelerator.
        """
        rows = self._rows
        tokens = rows.token.new_empty(len(self._decoder))
        tokens[rows.slot] = rows.token
        hidden = self._decoder.step(tokens)
        ids, log_probabilities, mask = self._candidates(hidden)
        numbers = uniform(rows.key, rows.length)
        temperature = self._settings.temperature
        drawn = draw(ids, log_probabilities, mask, temperature, numbers)[:, None]
        goes_on = ~rows.ended()
        tokens = ids.gather(1, drawn)[:, 0].where(mask.any(dim=1), PAD)
        rows.token = tokens.where(goes_on, rows.token)
        rows.nll = rows.nll - log_probabilities.gather(1, drawn)[:, 0].where(goes_on, 0)
        rows.length = rows.length + goes_on
        # A row that had ended before writes its last token again.
        rows.output.scatter_(1, rows.length[:, None] - 1, rows.token[:, None])
        rows.state = self._negative.moves.advance(rows.state, rows.token)

    def _candidates(self, hidden: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """Return the tokens that rows may draw, given the decoder's output for the slots.

        Returns:
            Ids, log-probabilities, and which may be drawn, each [rows, candidates], best first.
        """
        rows, settings, place = self._rows, self._settings, self._decoder.place
        forbidden = self._negative.forbidden
        if settings.truncation.k is None:
            # Rows that are alike in both share their candidates.
            alike, index = self._distinct(rows.slot * len(forbidden) + rows.state)
            candidates = self._output_layer.kept(
                hidden,
                alike // len(forbidden),
                forbidden[alike % len(forbidden)],
                settings.truncation,
                settings.temperature,
                place,
                reads=settings.stride == 1,
            )
            log_probabilities = candidates.log_probabilities[index]
            return candidates.ids[index], log_probabilities, log_probabilities.isfinite()
        # However many of the best tokens are forbidden to a row, k others are among these.
        best = self._output_layer.best(
            hidden, settings.truncation.k + forbidden.shape[1], number=place
        )
        ids, log_probabilities = best.ids[rows.slot], best.log_probabilities[rows.slot]
        # A shortlist may leave fewer tokens than were asked for.
        allowed = excludes(ids, forbidden[rows.state]) & log_probabilities.isfinite()
        scores = (log_probabilities.double() / settings.temperature).masked_fill(
            ~allowed, -torch.inf
        )
        mask, _ = settings.truncation.kept(scores, scores[:, 0])
        return ids, log_probabilities, mask

    def _compact(self) -> None:
        """Give rows that have ended to their jobs, and let the decoder follow the others."""
        ended = self._rows.ended()
        self._collect(self._rows.select(ended.nonzero()[:, 0]))
        self._rows = rows = self._rows.select((~ended).nonzero()[:, 0])
        size = len(self._model.target_vocab)
        children, child = self._distinct(rows.slot * size + rows.token)
        rows.slot = self._decoder.branch(children // size)[child]

    def _open(self, request: SampleRequest) -> _Job:
        """Make the job of a request; all samples are dropped if the model can't read the source."""
        samples = self._settings.samples
        job = _Job(
            request,
            samples,
            request_key(self._settings.seed, request.id, request.set),
            automaton.build(request.avoid),
            self._model.max_output_length(len(request.source)),
            self._model.allowed(request.source),
        )
        if not self._model.can_read(request.source):
            job.ended = dict.fromkeys(range(samples))
        return job

    def _start(self, starts: list[Start]) -> None:
        rows = self._new_rows(starts)
        sources = [self.jobs[number].request.source for number, _ in starts]
        numbers = self._decoder.places(sources)
        places, place = self._distinct(self._model.integers(numbers))
        rows.slot = self._decoder.start(places)[place]
        if self._model.shortlist is not None:
            self._restrict({place: start.job for place, start in zip(numbers, starts, strict=True)})
        self._pack_automata(rows)
        self._rows = self._rows.join(rows)

    def _restrict(self, new: dict[int, int]) -> None:
        """Tell the output layer which pieces each place allows, given jobs at new places."""
        none = np.zeros(0, dtype=np.int64)
        live = set(self._decoder.place.tolist())
        self._allowed = {place: ids for place, ids in self._allowed.items() if place in live}
        for place, job in new.items():
            allowed = self.jobs[job].allowed
            assert allowed is not None
            self._allowed[place] = allowed
        self._output_layer.restrict(
            [self._allowed.get(place, none) for place in range(max(live) + 1)]
        )

    def _pack_automata(self, new: _Rows) -> None:
        """Replace the table of automata by one for the jobs of the current and the new rows."""
        rows = self._rows
        jobs, index = torch.unique(torch.cat([rows.job, new.job]), return_inverse=True)
        automata = [self.jobs[number].automaton for number in jobs.tolist()]
        negative = NegativeTable.pack(automata, self._model.device)
        rows.state = self._negative.moves.rebase(rows.state, negative.moves, index[: len(rows)])
        new.state = negative.start[index[len(rows) :]]
        self._negative = negative

    def _distinct(self, values: Tensor) -> tuple[Tensor, Tensor]:
        """Return the values [M] that get a slot each, and the index of each value [N] in them.

        Rows of equal values share a slot, unless they may become different before slots change
        again.
        """
        if self._settings.stride > 1:
            return values, torch.arange(len(values), device=values.device)
        return torch.unique(values, return_inverse=True)

    def _collect(self, rows: _Rows) -> None:
        """Give rows that have ended to their jobs."""
        columns = (rows.job, rows.sample, rows.token, rows.length, rows.nll, rows.output)
        for number, sample, token, length, nll, output in zip(
            *(column.tolist() for column in columns), strict=True
        ):
            end = (output[: length - 1], nll / length) if token == EOS else None
            self.jobs[number].ended[sample] = end

    def _new_rows(self, starts: list[Start]) -> _Rows:
        """Return one row for each start; the caller still has to set slots and states."""
        jobs = [self.jobs[number] for number, _ in starts]
        samples = self._model.integers([sample for _, sample in starts])
        limits = [job.limit for job in jobs]
        zeros = torch.zeros_like(samples)
        return _Rows(
            job=self._model.integers([number for number, _ in starts]),
            sample=samples,
            key=derive(self._model.integers([job.key for job in jobs]), samples),
            state=zeros,
            slot=zeros,
            token=torch.full_like(zeros, BOS),
            limit=self._model.integers(limits),
            length=zeros,
            nll=zeros.double(),
            output=zeros.new_zeros(len(starts), max(limits, default=0)),
        )


def draw(
    ids: Tensor, log_probabilities: Tensor, mask: Tensor, temperature: float, numbers: Tensor
) -> Tensor:
    """Draw one of the candidates of every row that are kept.

    The cumulative distribution runs over the tokens in the order of their ids. So it stays nearly
    the same if rounding changes the order of two candidates of nearly equal probability.

    Args:
        ids: [rows, candidates].
        log_probabilities: [rows, candidates].
        mask: [rows, candidates].
        temperature: divides the log-probabilities.
        numbers: [rows] in [0, 1).

    Returns:
        The chosen column [rows]; in a row where nothing is kept it has no meaning.
    """
    scaled = (log_probabilities.double() / temperature).masked_fill(~mask, -torch.inf)
    order = ids.argsort(dim=1)
    cumulative = scaled.softmax(dim=1).gather(1, order).cumsum(dim=1)
    total = cumulative[:, -1]
    # Rounding must not raise the point to the total: there is no candidate after it.
    point = torch.minimum(numbers * total, torch.nextafter(total, torch.zeros_like(total)))
    position = (cumulative <= point[:, None]).sum(dim=1)
    return order.gather(1, position.clamp(max=ids.shape[1] - 1)[:, None])[:, 0]
