"""Constraint sets by named choices of words, several for each reference (ParaBank, 3.2).

A variant chooses words by their IDF, or the first tokens. It forbids them, or wants them, or
forbids a word and wants its paraphrase. The configuration names the variants of each system; 37 of
them are Table 3 of the paper.
"""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import generator
from workflow_scripts.nmt.vocabulary import BOS, SYMBOLS
from workflow_scripts.plan.schema import filled
from workflow_scripts.stages.generate.constraint_words import (
    Word,
    phrases_of,
    plain_words,
    words_of,
)
from workflow_scripts.stages.generate.constraints import (
    ConstraintSet,
    Segment,
    SetMaker,
    constraint_sets,
    negative,
    unconstrained,
)
from workflow_scripts.stages.generate.idf import read_idf
from workflow_scripts.stages.generate.inflection import inflections, other_verb_forms
from workflow_scripts.stages.generate.ppdb import MOST, Paraphrases, read_paraphrases
from workflow_scripts.stages.generate.spare import Spare
from workflow_scripts.stages.generate.tagger import Tag, Tagger, Tags
from workflow_scripts.stages.generate.tokenizer import first_tokens, splitter


class Variants:
    """Makes the constraint sets of a system's variants.

    Args:
        constraints: the block of a system: "variants", by name None, for a search without
            constraints, or {"kind": "negative", "positive" or "pair", "choose": {choice: which
            words}, "inflect", "relations", "paraphrase"}; "without_words"; "language" of the
            references.
        seed: of the random choices.
        segment: gives the Viterbi pieces of a text.
        idf: of the words that may be chosen by it.
        paraphrases: those of pairs.
        spare: the words that may not be forbidden.
        tag: gives the parts of speech of a sentence's words; None: there is no tagger.
        at_start: gives the pieces of a text that begins a sentence, where they are others.
    """

    def __init__(
        self,
        constraints: dict[str, Any],
        seed: int,
        segment: Segment,
        idf: Mapping[str, float],
        paraphrases: Paraphrases,
        spare: Spare,
        tag: Tag | None = None,
        at_start: Segment | None = None,
    ):
        constraints = filled(constraints, "variants")
        self._variants: dict[str, dict[str, Any] | None] = constraints["variants"]
        self._free = constraints["without_words"] == "free"
        self._seed = seed
        self._language: str | None = constraints.get("language")
        self._split = splitter(self._language)
        self._segment = segment
        self._at_start = at_start or segment
        self._idf = idf
        self._paraphrases = paraphrases
        self._spare = spare
        self._tag = tag

    def sets(self, reference: str, identifier: str, source: str = "") -> list[ConstraintSet]:
        """Return the sets of a reference: one of each variant, one for each word of a pair.

        A variant for which the reference has no word has no set, or with `without_words: free` one
        without constraints, as in the outputs that the authors of ParaBank released. One of pairs
        has none then (3.2: "if present"). `source`: as for random sets.
        """
        words = words_of(reference, self._split)
        candidates = self._rarest_first(words)
        spared = {word.lower() for word in self._spare.of(reference, source)}
        forbidding = [word for word in candidates if word not in spared]
        tags = self._tag(reference) if self._tag else {}
        sets = []
        for name, variant in self._variants.items():
            if variant is None:
                sets.append(unconstrained(name))
                continue
            random = generator(self._seed, "constraints", identifier, name)
            if "first" in variant["choose"]:
                of_variant = self._first(reference, variant["choose"]["first"])
            elif variant["kind"] == "pair":
                of_variant = self._pairs(words, forbidding, variant, random, tags)
            elif variant["kind"] == "negative":
                of_variant = self._negative(words, forbidding, variant, random, tags)
            else:
                of_variant = self._positive(candidates, variant, random, tags)
            if not of_variant and self._free and variant["kind"] != "pair":
                of_variant = [unconstrained()]
            sets += [replace(of_one, variant=name) for of_one in of_variant]
        return sets

    def _rarest_first(self, words: list[Word]) -> list[str]:
        """Return the words that can be chosen by IDF, rarest first, then in alphabetical order."""
        known = [word for word in plain_words(words) if word in self._idf]
        return sorted(known, key=lambda word: (-self._idf[word], word))

    def _first(self, reference: str, count: int) -> list[ConstraintSet]:
        """Forbid the first tokens of the reference at the start, if it has enough."""
        first = first_tokens(reference, count, self._language)
        if first is None:
            return []
        start = SYMBOLS[BOS]
        forms = {
            form
            for text in first
            for form in (text, text[:1].lower() + text[1:], text[:1].upper() + text[1:])
        }
        ways = (self._segment, self._at_start)
        phrases = frozenset((start, *segment(form)) for form in forms for segment in ways)
        return [ConstraintSet([f"{start} {first[0]}"], [], frozenset(), phrases, [])]

    def _negative(
        self,
        words: list[Word],
        candidates: list[str],
        variant: dict[str, Any],
        random: np.random.Generator,
        tags: Tags,
    ) -> list[ConstraintSet]:
        """Forbid the chosen words of a reference together, if there are any."""
        chosen = choose(candidates, variant["choose"], random)
        inflect = filled(variant, "variant")["inflect"]
        forms = {word: inflections(word, tags.get(word)) if inflect else (word,) for word in chosen}
        return [self._without(words, forms)] if chosen else []

    def _positive(
        self,
        candidates: list[str],
        variant: dict[str, Any],
        random: np.random.Generator,
        tags: Tags,
    ) -> list[ConstraintSet]:
        """Want the chosen words of a reference together, if there are any.

        With `inflect` another form of a verb is wanted in its place (Table 3, note 5).
        """
        chosen = choose(candidates, variant["choose"], random)
        if filled(variant, "variant")["inflect"]:
            forms = [other_verb_forms(word, tags.get(word)) or (word,) for word in chosen]
            chosen = [other_forms[random.integers(len(other_forms))] for other_forms in forms]
        return [self._wanting(unconstrained(), chosen)] if chosen else []

    def _pairs(
        self,
        words: list[Word],
        candidates: list[str],
        variant: dict[str, Any],
        random: np.random.Generator,
        tags: Tags,
    ) -> list[ConstraintSet]:
        """Forbid a word and want a paraphrase of it that is new: one pair in each set.

        The paraphrase has a part of speech of the word, where both are known.
        """
        present = {word.text.lower() for word in words}
        paraphrases = {}
        for word in candidates:
            every = self._paraphrases.of(word, variant.get("relations"), tags.get(word))
            if new := [paraphrase for paraphrase in every if paraphrase not in present]:
                paraphrases[word] = new
        chosen = choose(list(paraphrases), variant["choose"], random)
        drawn = filled(variant, "variant")["paraphrase"] == "random"
        return [
            self._wanting(
                self._without(words, {word: (word,)}),
                [paraphrases[word][random.integers(len(paraphrases[word])) if drawn else 0]],
            )
            for word in chosen
        ]

    def _without(self, words: list[Word], chosen: dict[str, tuple[str, ...]]) -> ConstraintSet:
        """Forbid forms of words, also right after what stands before them in the reference."""
        forms = [
            Word(token.lead, form, token.tail)
            for word, every in chosen.items()
            for token in {token for token in words if token.text.lower() == word}
            for form in every
            if not self._spare.lists(form)
        ]
        return negative(list(chosen), phrases_of(forms, case=True, segment=self._segment))

    def _wanting(self, constraints: ConstraintSet, words: list[str]) -> ConstraintSet:
        wanted = [tuple(self._segment(word)) for word in words]
        return replace(constraints, want=words, wanted=wanted)


def choose(candidates: list[str], wanted: dict[str, Any], random: np.random.Generator) -> list[str]:
    """Return the chosen candidates, fewer where there are not enough.

    Args:
        candidates: the rarest first.
        wanted: those of the `highest` IDF, then of the `lowest` among the rest, each as how many or
            as a list of ranks; then how many at `random`.
        random: draws the latter.
    """
    highest = _of_ranks(candidates, wanted.get("highest", 0))
    rest = [word for word in candidates if word not in highest]
    lowest = _of_ranks(rest[::-1], wanted.get("lowest", 0))
    rest = [word for word in rest if word not in lowest]
    drawn = random.permutation(len(rest))[: wanted.get("random", 0)]
    return [*highest, *lowest, *(rest[index] for index in drawn)]


def _of_ranks(words: list[str], wanted: int | list[int]) -> list[str]:
    ranks = range(1, wanted + 1) if isinstance(wanted, int) else wanted
    return [words[rank - 1] for rank in ranks if rank <= len(words)]


def set_maker(
    config: dict[str, Any] | None,
    seed: int,
    segment: Segment,
    idf_path: Path | None,
    at_start: Segment | None = None,
) -> SetMaker:
    """Return a function that makes the constraint sets of a reference.

    Args:
        config: the `constraints` block of a system: None, random sets, or variants.
        seed: of the random choices.
        segment: gives the Viterbi pieces of a text inside of a sentence.
        idf_path: document frequencies, where the block has bounds of the IDF.
        at_start: gives those of a text that begins a sentence, where they are others.

    Raises:
        InputError: document frequencies or spaCy are missing, or the file of paraphrases or a model
            of the tagger can't be read.
    """
    make = _maker(config, seed, segment, idf_path, at_start)
    if at_start is None:
        return make
    return lambda reference, identifier, source="": [
        _at_start_too(each, at_start) for each in make(reference, identifier, source)
    ]


def _at_start_too(constraints: ConstraintSet, segment: Segment) -> ConstraintSet:
    """Forbid the spellings at the start of a sentence, too, where other pieces write them."""
    first = {(SYMBOLS[BOS], *segment(spelling)) for spelling in constraints.spellings}
    return replace(constraints, phrases=constraints.phrases | first)


def _maker(
    config: dict[str, Any] | None,
    seed: int,
    segment: Segment,
    idf_path: Path | None,
    at_start: Segment | None,
) -> SetMaker:
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
        most = None if _draws_paraphrases(config["variants"]) else MOST
        paraphrases = read_paraphrases(kind, Path(path), idf, most)
    spare = Spare(config.get("spare", {}), splitter(config.get("language")))
    tag = Tagger(**config["tagger"]).tags if "tagger" in config else None
    return Variants(config, seed, segment, idf, paraphrases, spare, tag, at_start).sets


def _draws_paraphrases(variants: dict[str, dict[str, Any] | None]) -> bool:
    return any(variant and variant.get("paraphrase") == "random" for variant in variants.values())
