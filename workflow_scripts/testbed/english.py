"""The English sentences of a meaning: all its realisations, or one at random."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice

import numpy as np

from workflow_scripts.testbed.clauses import THATLESS, arranged, declarative, layouts
from workflow_scripts.testbed.forest import (
    Deferred,
    Drawn,
    Forest,
    Mark,
    Sequence,
    Tree,
    Word,
    bracketed,
)
from workflow_scripts.testbed.phrases import choice, lexical
from workflow_scripts.testbed.question_tags import question_tags
from workflow_scripts.testbed.structure import Meaning
from workflow_scripts.testbed.treebank_tokens import written
from workflow_scripts.testbed.word_list import article

_STOP, _QUESTION, _COMMA = Word(".", "."), Word(".", "?"), Word(",", ",")
_THAT = Word("IN", "that")


@dataclass(frozen=True, slots=True)
class Realisation:
    """One English sentence.

    Attributes:
        text: as it is written.
        tree: in Penn Treebank brackets; its words are the tokens of `text`.
        variations: the choices that it stands for, (kind, form), sorted.
    """

    text: str
    tree: str
    variations: tuple[Mark, ...]


def _statement(meaning: Meaning) -> Forest:
    if meaning.tied is None:
        return Sequence("S", (declarative(meaning.main), _STOP))
    tie, clause = meaning.tied
    subordinate = declarative(clause, fronting=False)
    if tie == "that":
        said = Sequence("SBAR", (_THAT, Sequence("S", (subordinate,))), (("that", "said"),))
        tails = [said]
        if meaning.main.verb in THATLESS:
            content = (Sequence("S", (subordinate,)),)
            tails.append(Sequence("SBAR", content, (("that", "dropped"),)))
        return choice([Sequence("S", (declarative(meaning.main, [tail]), _STOP)) for tail in tails])
    connective = lexical("connective", tie)
    because = Sequence("SBAR", (connective, Sequence("S", (subordinate,))))
    main = declarative(meaning.main, fronting=False)
    first, last = (("clause order", "subordinate first"),), (("clause order", "main first"),)
    return choice(
        [
            Sequence("S", (because, _COMMA, main, _STOP), first),
            Sequence("S", (declarative(meaning.main, [because]), _STOP), last),
        ]
    )


def _question(meaning: Meaning) -> Forest:
    mark = (("question", "inverted"),)
    inverted: list[Forest] = [
        Sequence("SQ", (arranged(meaning.main, rule, group, []), _QUESTION), mark)
        for rule, group in layouts(meaning.main, True)
    ]
    stated = declarative(meaning.main, fronting=False)
    clause = Sequence("SBAR", (_THAT, Sequence("S", (stated,))))
    true = Sequence("ADJP", (Word("JJ", "true"), clause))
    it = (Word("VBZ", "is"), Sequence("NP", (Word("PRP", "it"),)), true, _QUESTION)
    return choice([choice(inverted), Sequence("SQ", it, (("question", "is it true"),))])


def _confirmation(meaning: Meaning) -> Forest:
    options: list[Forest] = []
    for rule, group in layouts(meaning.main, False):
        clause = Deferred(partial(arranged, meaning.main, rule, group, []))
        for words, mark in question_tags(meaning.main, rule, group):
            tag = Sequence("SQ", tuple(Word(*word) for word in words), (mark,))
            options.append(Sequence("S", (clause, _COMMA, tag, _QUESTION)))
    return choice(options)


_MOODS = {"statement": _statement, "question": _question, "confirmation": _confirmation}


def forest(meaning: Meaning) -> Forest:
    """Return all realisations of a meaning."""
    return _MOODS[meaning.mood](meaning)


def _finished(words: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Adapt words to their neighbours: a or an, 's or ', a capital at the beginning."""
    out = list(words)
    for index, (tag, word) in enumerate(words):
        if word == "a" and tag == "DT":
            out[index] = (tag, article(words[index + 1][1]))
        elif tag == "POS" and words[index - 1][0] == "NNS" and words[index - 1][1].endswith("s"):
            out[index] = (tag, "'")
    tag, word = out[0]
    out[0] = (tag, word[:1].upper() + word[1:])
    return out


def _with_words(tree: Tree, words: Iterator[tuple[str, str]]) -> Tree:
    if tree.word is not None:
        return Tree(*next(words))
    return Tree(tree.label, None, tuple(_with_words(child, words) for child in tree.children))


def _realisation(drawn: Drawn) -> Realisation:
    words = _finished(list(drawn.tree.words()))
    tree = bracketed(_with_words(drawn.tree, iter(words)))
    return Realisation(written([word for _, word in words]), tree, tuple(sorted(drawn.marks)))


def reference(meaning: Meaning, rng: np.random.Generator) -> Realisation:
    """Draw one realisation: every choice by itself, each of its options with the same chance."""
    return _realisation(forest(meaning).sample(lambda options: int(rng.random() * options)))


def realisations(meaning: Meaning, limit: int | None = None) -> Iterator[Realisation]:
    """Yield the realisations of a meaning, at most `limit` of them, in a fixed order."""
    return map(_realisation, islice(forest(meaning).all(), limit))
