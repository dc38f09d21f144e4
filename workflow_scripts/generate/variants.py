"""Constraint sets by named choices of words, several for each reference (ParaBank, 3.2).

A variant chooses words by their IDF, or the first tokens. It forbids them, or wants them, or
forbids a word and wants its paraphrase. The configuration names the variants of each system.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.schema import filled
from workflow_scripts.core.seeding import generator
from workflow_scripts.generate.constraints import (
    ConstraintSet,
    Segment,
    constraint_sets,
    negative,
    unconstrained,
)
from workflow_scripts.generate.idf import plain_words, read_idf
from workflow_scripts.generate.inflection import inflections, other_verb_forms
from workflow_scripts.generate.ppdb import Paraphrases, read_paraphrases
from workflow_scripts.generate.spare import Spare
from workflow_scripts.generate.words import Word, phrases_of, words_of
from workflow_scripts.nmt.vocabulary import BOS, SYMBOLS


class Variants:
    """Makes the constraint sets of a system's variants.

    Args:
        variants: by name None, for a search without constraints, or {"kind": "negative",
            "positive" or "pair", "choose": {choice: how many words}, "inflect", "relations"}.
        seed: of the random choices.
        segment: gives the Viterbi pieces of a text.
        idf: of the words that may be chosen by it.
        paraphrases: those of pairs.
        spare: the words that may not be forbidden.
    """

    def __init__(
        self,
        variants: dict[str, dict[str, Any] | None],
        seed: int,
        segment: Segment,
        idf: Mapping[str, float],
        paraphrases: Paraphrases,
        spare: Spare,
    ):
        self._variants = variants
        self._seed = seed
        self._segment = segment
        self._idf = idf
        self._paraphrases = paraphrases
        self._spare = spare

    def sets(self, reference: str, identifier: str, source: str = "") -> list[ConstraintSet]:
        """Return the sets of a reference: one of each variant, one for each word of a pair.

        A variant for which the reference has no word has no set. `source`: as for random sets.
        """
        candidates = self.candidates(reference)
        spared = {word.lower() for word in self._spare.of(reference, source)}
        forbidding = [word for word in candidates if word not in spared]
        words = words_of(reference)
        sets = []
        for name, variant in self._variants.items():
            if variant is None:
                sets.append(unconstrained(name))
                continue
            random = generator(self._seed, "constraints", identifier, name)
            if "first" in variant["choose"]:
                found = self._first(reference, variant["choose"]["first"])
            elif variant["kind"] == "pair":
                found = self._pairs(words, forbidding, variant, random)
            elif variant["kind"] == "negative":
                found = self._negative(words, forbidding, variant, random)
            else:
                found = self._positive(candidates, variant, random)
            sets += [replace(each, variant=name) for each in found]
        return sets

    def candidates(self, reference: str) -> list[str]:
        """Return the words that can be chosen by IDF, the rarest first, ties by the alphabet."""
        words = [word for word in plain_words(reference) if word in self._idf]
        return sorted(words, key=lambda word: (-self._idf[word], word))

    def _first(self, reference: str, count: int) -> list[ConstraintSet]:
        """Forbid the first tokens of the reference at the start, if it has so many."""
        tokens = reference.split()[:count]
        if len(tokens) < count:
            return []
        text = " ".join(tokens)
        start = SYMBOLS[BOS]
        forms = {text, text[:1].lower() + text[1:], text[:1].upper() + text[1:]}
        phrases = frozenset((start, *self._segment(form)) for form in forms)
        return [ConstraintSet([f"{start} {text}"], [], frozenset(), phrases, [])]

    def _negative(
        self,
        words: list[Word],
        candidates: list[str],
        variant: dict[str, Any],
        random: np.random.Generator,
    ) -> list[ConstraintSet]:
        """Forbid the chosen words of a reference together, if there are any."""
        chosen = choose(candidates, variant["choose"], random)
        inflect = filled(variant, "variant")["inflect"]
        return [self._without(words, chosen, inflect)] if chosen else []

    def _positive(
        self, candidates: list[str], variant: dict[str, Any], random: np.random.Generator
    ) -> list[ConstraintSet]:
        """Want the chosen words of a reference together, if there are any."""
        inflect = filled(variant, "variant")["inflect"]
        if inflect:
            candidates = [word for word in candidates if other_verb_forms(word)]
        chosen = choose(candidates, variant["choose"], random)
        if inflect:
            forms = map(other_verb_forms, chosen)
            chosen = [each[random.integers(len(each))] for each in forms]
        return [self._wanting(unconstrained(), chosen)] if chosen else []

    def _pairs(
        self,
        words: list[Word],
        candidates: list[str],
        variant: dict[str, Any],
        random: np.random.Generator,
    ) -> list[ConstraintSet]:
        """Forbid a word and want its best paraphrase that is new: one pair in each set."""
        present = {word.text.lower() for word in words}
        best = {}
        for word in candidates:
            found = self._paraphrases.of(word, variant.get("relations"))
            new = next((paraphrase for paraphrase in found if paraphrase not in present), None)
            if new is not None:
                best[word] = new
        chosen = choose(list(best), variant["choose"], random)
        return [
            self._wanting(self._without(words, [word], inflect=False), [best[word]])
            for word in chosen
        ]

    def _without(self, words: list[Word], chosen: list[str], inflect: bool) -> ConstraintSet:
        """Forbid words, also right after the punctuation before them in the reference."""
        forms = [
            Word(lead, form)
            for word in chosen
            for lead in {each.lead for each in words if each.text.lower() == word}
            for form in (inflections(word) if inflect else [word])
            if not self._spare.lists(form)
        ]
        return negative(chosen, phrases_of(forms, case=True, segment=self._segment))

    def _wanting(self, constraints: ConstraintSet, words: list[str]) -> ConstraintSet:
        wanted = [tuple(self._segment(word)) for word in words]
        return replace(constraints, want=words, wanted=wanted)


def choose(candidates: list[str], counts: dict[str, int], random: np.random.Generator) -> list[str]:
    """Return the chosen candidates, fewer where there are not enough.

    Args:
        candidates: the rarest first.
        counts: how many of `highest` IDF, then of `lowest` among the rest, then at `random`.
        random: draws the latter.
    """
    rest = list(candidates)
    chosen = rest[: counts.get("highest", 0)]
    del rest[: len(chosen)]
    lowest = min(counts.get("lowest", 0), len(rest))
    chosen += [rest.pop() for _ in range(lowest)]
    drawn = random.permutation(len(rest))[: counts.get("random", 0)]
    return chosen + [rest[index] for index in drawn]


class SetMaker(Protocol):
    """Makes the constraint sets of a reference."""

    def __call__(self, reference: str, identifier: str, source: str = "") -> list[ConstraintSet]:
        """Return the sets; the source tells which words are names, where these are spared."""
        ...


def set_maker(
    config: dict[str, Any] | None, seed: int, segment: Segment, idf_path: Path | None
) -> SetMaker:
    """Return a function that makes the constraint sets of a reference.

    Args:
        config: the `constraints` block of a system: None, random sets, or variants.
        seed: of the random choices.
        segment: gives the Viterbi pieces of a text.
        idf_path: document frequencies, where the block has bounds of the IDF.

    Raises:
        InputError: document frequencies are missing, or the file of paraphrases can't be read.
    """
    if config is None or "variants" not in config:
        return lambda reference, identifier, source="": constraint_sets(
            reference, identifier, config, seed, segment, source
        )
    idf = {}
    if "idf" in config:
        if idf_path is None:
            raise InputError("--idf: needed for constraints with bounds of the IDF")
        idf = read_idf(idf_path, config["idf"])
    paraphrases = Paraphrases()
    for kind, path in config.get("pairs", {}).items():
        paraphrases = read_paraphrases(kind, Path(path), idf)
    spare = Spare(config.get("spare", {}))
    return Variants(config["variants"], seed, segment, idf, paraphrases, spare).sets
