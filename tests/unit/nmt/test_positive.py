import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from tests.unit.nmt.test_automaton import PHRASES, TOKENS
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.automaton import NONE, Phrase
from workflow_scripts.nmt.positive import PositiveTable, build, resolve
from workflow_scripts.nmt.vocabulary import BOS, EOS


def contains(written: Phrase, phrase: Phrase) -> bool:
    return any(written[start:][: len(phrase)] == phrase for start in range(len(written)))


def begun(written: Phrase, phrase: Phrase) -> int:
    """How much of `phrase`, short of the whole, `written` ends with: the definition."""
    return max(n for n in range(len(phrase)) if written[len(written) - n :] == phrase[:n])


@pytest.mark.slow
@given(
    requests=st.lists(PHRASES, min_size=1, max_size=3),
    outputs=st.lists(st.lists(TOKENS, min_size=6, max_size=6), min_size=3, max_size=3),
)
@example(requests=[[(4, EOS)]], outputs=[[4, EOS, 4, 4, 4, 4]])
def test_tables_follow_the_definitions(requests: list[list[Phrase]], outputs: list[list[int]]):
    automata = [build(phrases) for phrases in requests]
    table = PositiveTable.pack(automata, torch.device("cpu"))
    assert table.size.tolist() == [sum(map(len, set(phrases))) for phrases in requests]
    index, states = torch.arange(len(requests)), table.start
    met = table.met[states]
    for length in range(7):
        wanted, bank = table.wanted(states, met), table.bank(index, states, met)
        for row, automaton in enumerate(automata):
            written = (BOS, *outputs[row][:length])
            done = [phrase for phrase in automaton.phrases if contains(written, phrase)]
            missing = [phrase for phrase in automaton.phrases if phrase not in done]
            bits = int(met[row])
            assert done == [p for n, p in enumerate(automaton.phrases) if bits >> n & 1]
            assert (bits == automaton.all_met) == (not missing)
            tokens = {phrase[begun(written, phrase)] for phrase in missing}
            assert set(wanted[row].tolist()) - {NONE} == tokens
            furthest = max((begun(written, phrase) for phrase in missing), default=0)
            assert int(bank[row]) == sum(map(len, done)) + furthest
        if length < 6:
            tokens = torch.tensor([outputs[row][length] for row in range(len(requests))])
            states = table.moves.advance(states, tokens)
            met = met | table.met[states]


def ended(written: Phrase, phrase: Phrase) -> bool:
    """Whether `phrase` stands in `written` before a token that ends a word: the definition."""
    return any(
        written[start:][: len(phrase)] == phrase and written[start + len(phrase)] in ENDS_WORD
        for start in range(len(written) - len(phrase))
    )


ENDS_WORD = {EOS, 4, 6}


@pytest.mark.slow
@given(phrases=PHRASES, output=st.lists(TOKENS, min_size=8, max_size=8))
def test_whole_words_count_when_the_next_token_ends_them(phrases: list[Phrase], output: list[int]):
    table = PositiveTable.pack([automaton := build(phrases, whole_words=True)], torch.device("cpu"))
    index, state = torch.tensor([0]), table.start
    met = table.met[state]
    for length in range(8):
        written = (BOS, *output[:length])
        done = [phrase for phrase in automaton.phrases if ended(written, phrase)]
        bits = int(met)
        assert done == [p for n, p in enumerate(automaton.phrases) if bits >> n & 1]
        missing = [phrase for phrase in automaton.phrases if phrase not in done]
        pending = [phrase for phrase in missing if written[-len(phrase) :] == phrase]
        going_on = [phrase for phrase in missing if phrase not in pending]
        tokens = {phrase[begun(written, phrase)] for phrase in going_on}
        assert set(table.wanted(state, met)[0].tolist()) - {NONE} == tokens
        furthest = [*map(len, pending), *(begun(written, phrase) for phrase in going_on), 0]
        assert int(table.bank(index, state, met)) == sum(map(len, done)) + max(furthest)
        token = torch.tensor([output[length]])
        following = table.moves.advance(state, token)
        ends_word = torch.tensor([output[length] in ENDS_WORD])
        state, met = following, table.meets(state, following, met, ends_word)


@pytest.mark.parametrize("phrases", [[()], [(BOS,)], [(token,) for token in range(4, 70)]])
def test_impossible_constraints_are_refused(phrases: list[Phrase]):
    with pytest.raises(InputError, match="constraint"):
        build(phrases)


def test_resolve_drops_parts_of_wanted_phrases_only():
    constraints = [(1, 2, 3)]
    avoid = [(2,), (2, 3), (1, 3), (1, 2, 3, 4), (1, 2, 3)]
    assert resolve(constraints, avoid) == ([(1, 3), (1, 2, 3, 4)], [(2,), (2, 3), (1, 2, 3)])
