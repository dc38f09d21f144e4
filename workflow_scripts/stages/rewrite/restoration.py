"""Was a damage repaired, and were the words that nothing was wrong with kept?"""

from itertools import takewhile
from typing import NamedTuple

from rapidfuzz.distance import LCSseq

from workflow_scripts.stages.generate.constraint_words import split_word
from workflow_scripts.stages.rewrite.noising import Damage


class Outcome(NamedTuple):
    """What became of one sentence.

    Attributes:
        damages: how many it had.
        repaired: how many of these are gone.
        clean: its words that were not damaged.
        kept: how many of these are in the output.
        exact: whether the output is the undamaged sentence.
    """

    damages: int
    repaired: int
    clean: int
    kept: int
    exact: bool


def restoration(undamaged: str, damages: tuple[Damage, ...], output: str) -> Outcome:
    """Compare an output with the sentence as it was before the damage, word by word.

    Words are what stands between blanks, with punctuation and case. They are matched along a
    longest common subsequence of both sentences, so that as many as possible count. A damage is
    repaired if the word that stood there has a match; a doubled word must also stand there no more
    often in a row than before. So a synonym is no repair, and no kept word.
    """
    parts, written = undamaged.split(" "), output.split(" ")
    matches = {
        block.a + offset: block.b + offset
        for block in LCSseq.opcodes(parts, written).as_matching_blocks()
        for offset in range(block.size)
    }
    damaged = {damage.place: damage for damage in damages}
    clean = [place for place, part in enumerate(parts) if part and place not in damaged]
    repaired = [
        place
        for place, damage in damaged.items()
        if place in matches
        and (damage.kind != "double" or _run(written, matches[place]) <= _run(parts, place))
    ]
    return Outcome(
        damages=len(damaged),
        repaired=len(repaired),
        clean=len(clean),
        kept=sum(place in matches for place in clean),
        exact=output == undamaged,
    )


def _run(tokens: list[str], place: int) -> int:
    """Return how often a word stands in a row there, whatever its case and punctuation."""
    word = _bare(tokens[place])
    sides = tokens[place + 1 :], tokens[:place][::-1]
    return 1 + sum(1 for side in sides for _ in takewhile(lambda each: _bare(each) == word, side))


def _bare(token: str) -> str:
    word = split_word(token)
    return (word.text if word else token).lower()
