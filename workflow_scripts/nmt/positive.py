"""Positive constraints: phrases that an output must contain, for the search of Post & Vilar 2018.

A hypothesis keeps a state of the Aho-Corasick automaton of its phrases and the set of phrases
that it has met, as bits. A phrase counts wherever it occurs, so one occurrence may serve two
phrases that overlap. Phrases that are whole words count only where the word ends, which the next
token tells: until then they are pending.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.automaton import NONE, Matcher, Moves, Phrase, table

MOST_PHRASES = 62  # bits of a signed integer, less one to spare


@dataclass(frozen=True)
class Wanted:
    """The automaton of one request's phrases, which are distinct.

    Per state: `met`, the bits of phrases that end there, or `pending`, where they are whole words;
    `progress`, for each phrase how much of it has just been written, short of what is met.
    """

    phrases: list[Phrase]
    moves: list[dict[int, int]]
    met: list[int]
    pending: list[int]
    progress: list[list[int]]
    start: int

    @property
    def size(self) -> int:
        """The number of pieces of all phrases."""
        return sum(map(len, self.phrases))

    @property
    def all_met(self) -> int:
        """The bits of all phrases."""
        return (1 << len(self.phrases)) - 1


def build(phrases: Iterable[Phrase], *, whole_words: bool = False) -> Wanted:
    """Build the automaton of positive constraints: phrases of piece ids.

    With `whole_words` a phrase counts only where the next token does not continue its last word.

    Raises:
        InputError: a phrase is empty or is <s> alone, or there are too many.
    """
    distinct = list(dict.fromkeys(phrases))
    if len(distinct) > MOST_PHRASES:
        raise InputError(f"{len(distinct)} positive constraints, at most {MOST_PHRASES} can be met")
    matcher = Matcher(distinct)
    ends = [
        sum(1 << index for index, phrase in enumerate(distinct) if phrase in matches)
        for matches in matcher.matches
    ]
    none = [0] * len(ends)
    return Wanted(
        distinct,
        matcher.moves,
        none if whole_words else ends,
        ends if whole_words else none,
        [
            [_begun(prefix, phrase, len(phrase) - (not whole_words)) for phrase in distinct]
            for prefix in matcher.prefixes
        ],
        matcher.start,
    )


def resolve(constraints: list[Phrase], avoid: list[Phrase]) -> tuple[list[Phrase], list[Phrase]]:
    """Split `avoid` into what can be avoided, and what is part of a wanted phrase.

    As in Sockeye the wanted phrase wins.
    """
    overruled = [
        phrase
        for phrase in avoid
        if any(
            wanted[start:][: len(phrase)] == phrase
            for wanted in constraints
            for start in range(len(wanted))
        )
    ]
    return [phrase for phrase in avoid if phrase not in overruled], overruled


def _begun(written: Phrase, phrase: Phrase, most: int) -> int:
    """Return the length, up to `most`, of the longest prefix of `phrase` that ends `written`."""
    lengths = range(min(len(written), most), 0, -1)
    return next((n for n in lengths if written[-n:] == phrase[:n]), 0)


@dataclass
class PositiveTable:
    """Positive constraints of several requests, states numbered through.

    Per state: `met`, `pending` [states], bits; `progress`, `following` [states, most phrases], the
    pieces of each phrase just written, and its next piece (`NONE` beyond a request's own phrases,
    and where one is pending).
    Per request: `start` [requests], `size` [requests], pieces of all phrases, `all_met`
    [requests], bits, `lengths` [requests, most phrases], pieces of each phrase. `largest`: the
    largest size.
    """

    moves: Moves
    met: Tensor
    pending: Tensor
    progress: Tensor
    following: Tensor
    start: Tensor
    size: Tensor
    all_met: Tensor
    lengths: Tensor
    largest: int

    @classmethod
    def pack(cls, requests: Sequence[Wanted], device: torch.device) -> "PositiveTable":
        """Put the automata of requests one after another into tensors on `device`."""

        def integers(values: list[int]) -> Tensor:
            return torch.tensor(values, dtype=torch.int64, device=device)

        progress = [row for wanted in requests for row in wanted.progress]
        following = [
            [(*phrase, NONE)[length] for phrase, length in zip(wanted.phrases, row, strict=True)]
            for wanted in requests
            for row in wanted.progress
        ]
        moves = Moves.pack([wanted.moves for wanted in requests], device)
        return cls(
            moves,
            integers([bits for wanted in requests for bits in wanted.met]),
            integers([bits for wanted in requests for bits in wanted.pending]),
            table(progress, device).clamp(min=0),
            table(following, device),
            moves.offset + integers([wanted.start for wanted in requests]),
            integers([wanted.size for wanted in requests]),
            integers([wanted.all_met for wanted in requests]),
            table([list(map(len, wanted.phrases)) for wanted in requests], device).clamp(min=0),
            max((wanted.size for wanted in requests), default=0),
        )

    def meets(self, before: Tensor, after: Tensor, met: Tensor, ends_word: Tensor) -> Tensor:
        """Return the bits met [N] once a token has led from states `before` to `after`.

        `ends_word` [N] tells whether a word before the token is over.
        """
        return met | self.met[after] | torch.where(ends_word, self.pending[before], 0)

    def missing(self, met: Tensor) -> Tensor:
        """Return for bits [N] whether each phrase is missing: [N, most phrases]."""
        bits = torch.arange(self.lengths.shape[1], device=met.device)
        return (met[:, None] >> bits) & 1 == 0

    def wanted(self, states: Tensor, met: Tensor) -> Tensor:
        """Return the tokens [N, most phrases] that go on with or begin a missing phrase."""
        tokens = self.following[states]
        return torch.where(self.missing(met), tokens, NONE)

    def bank(self, requests: Tensor, states: Tensor, met: Tensor) -> Tensor:
        """Return how many pieces of its phrases each hypothesis [N] has written.

        They are those of the phrases met and of the missing phrase that is furthest on.
        """
        missing = self.missing(met)
        begun = torch.where(missing, self.progress[states], 0).amax(dim=1)
        return torch.where(missing, 0, self.lengths[requests]).sum(dim=1) + begun
