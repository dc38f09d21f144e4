"""Exact negative constraints: Aho-Corasick automata of many requests in one flat table.

A state stands for the longest suffix of the output that could still become a forbidden phrase,
so phrases that share a prefix, overlap or begin inside one another are all exact (Aho &
Corasick 1975). A token that would complete a phrase has no transition: it is forbidden.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.vocabulary import BOS

NONE = -1  # fills up the rows of a table; no token has this id


@dataclass(frozen=True)
class Automaton:
    """The automaton of one request; state 0 is the root, where no phrase has begun.

    `edges[state]` maps tokens to the next state, tokens without an edge lead to the root;
    `forbidden[state]` are the tokens that would complete a phrase; `start` is the state before
    the first token.
    """

    edges: list[dict[int, int]]
    forbidden: list[list[int]]
    start: int


def build(phrases: Iterable[Sequence[int]]) -> Automaton:
    """Build the automaton that keeps an output free of all `phrases`.

    A phrase that begins with <s> holds at the start of the sentence only.

    Raises:
        InputError: a phrase is empty or is <s> alone; no output could avoid it.
    """
    children: list[dict[int, int]] = [{}]
    complete = [False]
    for phrase in phrases:
        if not phrase or tuple(phrase) == (BOS,):
            raise InputError("a forbidden phrase must hold at least one piece besides <s>")
        node = 0
        for token in phrase:
            if token not in children[node]:
                children[node][token] = len(children)
                children.append({})
                complete.append(False)
            node = children[node][token]
        complete[node] = True

    # Breadth first, so that a node's fallback (its longest proper suffix) is ready before it.
    fallback = [0] * len(children)
    moves: list[dict[int, int]] = [{} for _ in children]
    queue = [0]
    for node in queue:
        # Leaving from the root, a child's fallback is the root itself, not the child.
        inherited = moves[fallback[node]] if node else {}
        complete[node] = complete[node] or complete[fallback[node]]
        moves[node] = inherited | children[node]
        for token, child in children[node].items():
            fallback[child] = inherited.get(token, 0)
            queue.append(child)

    # Completed phrases are never entered: only what can be reached without them is kept.
    start = moves[0].get(BOS, 0)
    reachable = {0: 0}
    reachable.setdefault(start, len(reachable))
    edges: list[dict[int, int]] = []
    forbidden: list[list[int]] = []
    for node in (queue := list(reachable)):
        allowed = {}
        for token, following in moves[node].items():
            if token == BOS or complete[following]:
                continue
            if following not in reachable:
                reachable[following] = len(reachable)
                queue.append(following)
            allowed[token] = reachable[following]
        edges.append(allowed)
        forbidden.append([t for t, following in moves[node].items() if complete[following]])
    return Automaton(edges, forbidden, reachable[start])


@dataclass
class AutomatonTable:
    """The automata of several requests, numbered through.

    `tokens`, `following`: [states, most edges of a state], an edge's token and next state;
    `forbidden`: [states, most forbidden tokens]; both filled up with `NONE`. `root`: [states]
    is the root of a state's own automaton, `offset`: [automata] the number of each root.
    """

    tokens: Tensor
    following: Tensor
    forbidden: Tensor
    root: Tensor
    offset: Tensor

    @classmethod
    def pack(cls, automata: Sequence[Automaton], device: torch.device) -> "AutomatonTable":
        """Put automata one after another into tensors on `device`."""
        tokens, following, forbidden, root, offset = [], [], [], [], []
        for automaton in automata:
            base = len(root)
            offset.append(base)
            for edges, stops in zip(automaton.edges, automaton.forbidden, strict=True):
                tokens.append(list(edges))
                following.append([base + state for state in edges.values()])
                forbidden.append(stops)
                root.append(base)
        return cls(
            *(_table(rows, device) for rows in (tokens, following, forbidden)),
            torch.tensor(root, dtype=torch.int64, device=device),
            torch.tensor(offset, dtype=torch.int64, device=device),
        )

    def advance(self, states: Tensor, tokens: Tensor) -> Tensor:
        """Return the states [N] after `tokens` [N], which must not be forbidden there."""
        matches = self.tokens[states] == tokens[:, None]
        # At most one edge of a state bears the token: the maximum picks its state.
        following = torch.where(matches, self.following[states], NONE).amax(dim=1)
        return torch.where(following == NONE, self.root[states], following)


def _table(rows: list[list[int]], device: torch.device) -> Tensor:
    """Return rows of different length as one table filled up with NONE, at least one wide."""
    width = max([1, *map(len, rows)])
    filled = [row + [NONE] * (width - len(row)) for row in rows]
    return torch.tensor(filled, dtype=torch.int64, device=device).view(len(rows), width)
