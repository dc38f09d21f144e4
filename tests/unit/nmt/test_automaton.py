import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.automaton import NONE, NegativeTable, Phrase, build
from workflow_scripts.nmt.vocabulary import BOS, EOS

TOKENS = st.integers(3, 6)  # few tokens, </s> among them, so that phrases overlap
PHRASES = st.lists(
    st.builds(
        lambda anchored, phrase: ((BOS,) if anchored else ()) + tuple(phrase),
        st.booleans(),
        st.lists(TOKENS, min_size=1, max_size=4),
    ),
    max_size=6,
)


def completes(output: list[int], phrases: list[Phrase]) -> bool:
    """Whether the last token of `output` completes one of `phrases`: the definition."""
    written = [BOS, *output]
    return any(tuple(written[-len(phrase) :]) == phrase for phrase in phrases)


@pytest.mark.slow
@given(phrases=PHRASES, tokens=st.lists(TOKENS, max_size=12))
@example(phrases=[(4, 5, 6, 5), (5, 6, 4)], tokens=[4, 5, 6])  # one begins inside another
@example(phrases=[(4, EOS)], tokens=[4])
def test_forbids_what_the_definition_forbids(phrases: list[Phrase], tokens: list[int]):
    automaton = build(phrases)
    state, output = automaton.start, []
    for token in tokens:
        forbidden = {other for other in range(3, 7) if completes([*output, other], phrases)}
        assert set(automaton.forbidden[state]) == forbidden
        if token in forbidden:
            continue
        output.append(token)
        state = automaton.edges[state].get(token, 0)


@pytest.mark.slow
@given(requests=st.lists(PHRASES, min_size=1, max_size=4), tokens=st.lists(TOKENS, max_size=10))
def test_tables_follow_every_automaton_at_once(requests: list[list[Phrase]], tokens: list[int]):
    automata = [build(phrases) for phrases in requests]
    table = NegativeTable.pack(automata, torch.device("cpu"))
    states = [automaton.start for automaton in automata]
    packed = table.start
    for token in tokens:
        forbidden = [set(a.forbidden[s]) for a, s in zip(automata, states, strict=True)]
        found = [{t for t in row if t != NONE} for row in table.forbidden[packed].tolist()]
        assert found == forbidden
        if any(token in tokens for tokens in forbidden):
            continue
        states = [a.edges[s].get(token, 0) for a, s in zip(automata, states, strict=True)]
        packed = table.moves.advance(packed, torch.full_like(packed, token))
        assert (packed - table.moves.offset).tolist() == states


def test_single_pieces_need_one_state():
    automaton = build([(4,), (5,), (4, 5)])
    assert automaton.edges == [{}]
    assert sorted(automaton.forbidden[0]) == [4, 5]


@pytest.mark.parametrize("phrase", [(), (BOS,)])
def test_phrases_that_nothing_avoids_are_refused(phrase: tuple[int, ...]):
    with pytest.raises(InputError, match="piece"):
        build([phrase])
