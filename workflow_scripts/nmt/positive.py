"""Positive constraints: phrases that an output must contain, for the search of Post & Vilar 2018.

A hypothesis keeps a state of the Aho-Corasick automaton of its phrases, and the set of phrases that
it has met, as bits. A phrase counts wherever it occurs, so phrases that overlap may share pieces. A
phrase of whole words counts only where its last word ends. Only the next token shows this; until
then the phrase is pending.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.automaton import NONE, Matcher, Moves, Phrase, table

MOST_PHRASES = 62  # bits of a signed 64-bit integer, and one to spare


@dataclass(frozen=True)
class Wanted:
    """The automaton of the phrases of one request; no two phrases are equal.

    For each state: `met`, the bits of the phrases that end there; `pending`, the same bits where
    phrases are whole words; `progress`, for each phrase how many of its first pieces were just
    written (all of them only where it is pending).
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
    """Split `avoid` into phrases that can be avoided, and phrases that are part of a wanted one.

    As in Sockeye, the wanted phrase wins.
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
    """Positive constraints of several requests; their states have consecutive numbers.

    For each state: `met` and `pending` [states], bits; `progress` [states, most phrases], how many
    pieces of each phrase were just written; `following` [states, most phrases], the next piece of
    each phrase (`NONE` after a request's own phrases, and for a pending one).
    For each request: `start` [requests]; `size` [requests], the pieces of all its phrases;
    `all_met` [requests], bits; `lengths` [requests, most phrases], the pieces of each phrase.
    `largest`: the largest `size`.
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
        """Return the bits met [N] after a token has led from states `before` to `after`.

        `ends_word` [N]: whether a word that stands before the token has ended.
        """
        return met | self.met[after] | torch.where(ends_word, self.pending[before], 0)

    def missing(self, met: Tensor) -> Tensor:
        """Return for bits [N] whether each phrase is missing: [N, most phrases]."""
        bits = torch.arange(self.lengths.shape[1], device=met.device)
        return (met[:, None] >> bits) & 1 == 0

    def wanted(self, states: Tensor, met: Tensor) -> Tensor:
        """Return the tokens [N, most phrases] that begin or continue a missing phrase."""
        tokens = self.following[states]
        return torch.where(self.missing(met), tokens, NONE)

    def bank(self, requests: Tensor, states: Tensor, met: Tensor) -> Tensor:
        """Return how many pieces of its phrases each hypothesis [N] has written.

        They are all pieces of the phrases met, and those of the longest begun phrase.
        """
        missing = self.missing(met)
        begun = torch.where(missing, self.progress[states], 0).amax(dim=1)
        return torch.where(missing, 0, self.lengths[requests]).sum(dim=1) + begun
