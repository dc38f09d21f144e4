"""Aho-Corasick automata of phrases; one flat table holds those of many requests.

A state stands for the longest suffix of the output that is the beginning of a phrase. So all
phrases are found, also those that share a prefix, overlap, or begin inside one another (Aho &
Corasick 1975).
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.vocabulary import BOS

NONE = -1  # fills the rest of a table's rows; no token has this id

Phrase = tuple[int, ...]


class Matcher:
    """All states of the automaton of some phrases. In state 0, the root, no phrase has begun.

    `prefixes[state]` is the suffix that the state stands for. `moves[state]` maps a token to the
    next state; a token without a move leads to the root. `matches[state]` are the phrases that end
    there.

    Raises:
        InputError: a phrase is empty or is <s> alone.
    """

    def __init__(self, phrases: Iterable[Phrase]):
        self.prefixes: list[Phrase] = [()]
        self.matches: list[set[Phrase]] = [set()]
        children: list[dict[int, int]] = [{}]
        for phrase in phrases:
            if not phrase or phrase == (BOS,):
                raise InputError("a constraint must hold at least one piece besides <s>")
            node = 0
            for length, token in enumerate(phrase, start=1):
                if token not in children[node]:
                    children[node][token] = len(children)
                    children.append({})
                    self.prefixes.append(tuple(phrase[:length]))
                    self.matches.append(set())
                node = children[node][token]
            self.matches[node].add(tuple(phrase))
        # Breadth first: the longest proper suffix of a state is complete before the state.
        self.moves: list[dict[int, int]] = [{} for _ in children]
        suffix = [0] * len(children)
        queue = [0]
        for node in queue:
            inherited = self.moves[suffix[node]] if node else {}
            self.moves[node] = inherited | children[node]
            self.matches[node] |= self.matches[suffix[node]]
            for token, child in children[node].items():
                suffix[child] = inherited.get(token, 0)
                queue.append(child)
        self.start = self.moves[0].get(BOS, 0)


@dataclass(frozen=True)
class Automaton:
    """The automaton that keeps the outputs of one request free of its phrases.

    `edges[state]` maps a token to the next state; a token without an edge leads to the root, state
    0. `forbidden[state]` are the tokens that would complete a phrase; they have no edge. `start` is
    the state before the first token.
    """

    edges: list[dict[int, int]]
    forbidden: list[list[int]]
    start: int


def build(phrases: Iterable[Phrase]) -> Automaton:
    """Build the automaton of negative constraints: phrases of piece ids.

    A phrase that begins with <s> is forbidden at the start of the sentence only.

    Raises:
        InputError: a phrase is empty or is <s> alone; no output could avoid it.
    """
    matcher = Matcher(phrases)
    # Only states that can be reached without completing a phrase are kept.
    number = {state: index for index, state in enumerate(dict.fromkeys((0, matcher.start)))}
    edges: list[dict[int, int]] = []
    forbidden: list[list[int]] = []
    for state in (queue := list(number)):
        allowed, stops = {}, []
        for token, following in matcher.moves[state].items():
            if matcher.matches[following]:
                stops.append(token)
            elif token != BOS:
                if following not in number:
                    number[following] = len(number)
                    queue.append(following)
                allowed[token] = number[following]
        edges.append(allowed)
        forbidden.append(stops)
    return Automaton(edges, forbidden, number[matcher.start])


@dataclass
class Moves:
    """The moves of several automata. Their states have consecutive numbers, automaton by automaton.

    `tokens`, `following`: [states, most moves of a state], filled up with `NONE`; `root`:
    [states], the root of the automaton that a state belongs to; `offset`: [automata], the number of
    each root.
    """

    tokens: Tensor
    following: Tensor
    root: Tensor
    offset: Tensor

    @classmethod
    def pack(cls, automata: Sequence[Sequence[dict[int, int]]], device: torch.device) -> "Moves":
        """Put the moves of automata into tensors; each state has a dict from token to state."""
        tokens: list[list[int]] = []
        following: list[list[int]] = []
        root: list[int] = []
        offset: list[int] = []
        for automaton in automata:
            base = len(root)
            offset.append(base)
            for moves in automaton:
                tokens.append(list(moves))
                following.append([base + state for state in moves.values()])
                root.append(base)
        return cls(
            table(tokens, device),
            table(following, device),
            torch.tensor(root, dtype=torch.int64, device=device),
            torch.tensor(offset, dtype=torch.int64, device=device),
        )

    def advance(self, states: Tensor, tokens: Tensor) -> Tensor:
        """Return the states [N] after `tokens` [N]."""
        matches = self.tokens[states] == tokens[:, None]
        # At most one move of a state has this token: the maximum picks its state.
        following = torch.where(matches, self.following[states], NONE).amax(dim=1)
        return torch.where(following == NONE, self.root[states], following)

    def rebase(self, states: Tensor, table: "Moves", index: Tensor) -> Tensor:
        """Return the numbers that `states` [N, ...], of automata `index` [N], have in `table`."""
        offset = table.offset[index].view(-1, *[1] * (states.dim() - 1))
        return states - self.root[states] + offset


@dataclass
class NegativeTable:
    """Negative constraints of several requests.

    `forbidden`: [states, most forbidden tokens], filled up with `NONE`; `start`: [requests].
    """

    moves: Moves
    forbidden: Tensor
    start: Tensor

    @classmethod
    def pack(cls, automata: Sequence[Automaton], device: torch.device) -> "NegativeTable":
        """Put automata one after another into tensors on `device`."""
        moves = Moves.pack([automaton.edges for automaton in automata], device)
        start = torch.tensor([automaton.start for automaton in automata], device=device)
        forbidden = [stops for automaton in automata for stops in automaton.forbidden]
        return cls(moves, table(forbidden, device), moves.offset + start.long())


def table(rows: Sequence[Sequence[int]], device: torch.device) -> Tensor:
    """Return rows of different lengths as one tensor, filled up with NONE; its width is above 0."""
    width = max([1, *map(len, rows)])
    filled = [[*row, *[NONE] * (width - len(row))] for row in rows]
    return torch.tensor(filled, dtype=torch.int64, device=device).view(len(rows), width)
