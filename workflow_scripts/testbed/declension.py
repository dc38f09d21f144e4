"""Czech declension: nouns, adjectives, and words that decline like them.

A paradigm gives an ending for each of the fourteen cells. Where the ending depends on the end of
the stem, an upper-case name stands for the rule (`_RULES`). The lexicon lists exceptions.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from workflow_scripts.testbed.word_list import Adjective, Name, Noun

CASES = ("nom", "gen", "dat", "acc", "voc", "loc", "ins")
NUMBERS = ("sg", "pl")
GENDERS = ("ma", "mi", "f", "n")

_VELAR = ("k", "h", "g")
_HARD = {"ď": "d", "ť": "t", "ň": "n"}
_CARON = {hard: soft for soft, hard in _HARD.items()}
_CONSONANTS = "bcčdďfghjklmnňpqrřsštťvwxzž"


def join(stem: str, ending: str) -> str:
    """Put an ending on a stem as Czech spells it: koň + e is koně, loď + i is lodi."""
    hard = _HARD.get(stem[-1:])
    if hard and ending[:1] == "e":
        return stem[:-1] + hard + "ě" + ending[1:]
    if hard and ending[:1] in ("i", "í"):
        return stem[:-1] + hard + ending
    return stem + ending


def _softened(stem: str, velars: dict[str, str]) -> str:
    """Return the stem with its last consonant softened; ``velars`` says what k, h, ch become."""
    for hard, soft in {**velars, "r": "ř"}.items():
        if stem.endswith(hard):
            return stem[: -len(hard)] + soft
    return stem


_PALATAL = {"ch": "š", "k": "c", "h": "z", "g": "z"}


def _soft_e(stem: str) -> str:
    """Žena in the locative: ženě, matce, knize, sestře, škole."""
    if stem.endswith(tuple("dtnbpvmf")):
        return stem + "ě"
    return _softened(stem, _PALATAL) + "e"


def _vocative(stem: str) -> str:
    """Pán and hrad: voc. hrade, kluku, bratře (but r after a vowel stays)."""
    if stem.endswith(_VELAR):
        return stem + "u"
    if re.search(f"[{_CONSONANTS}]r$", stem):
        return stem[:-1] + "ře"
    return stem + "e"


def _vocative_soft(stem: str) -> str:
    """Muž: voc. muži, but those in -ec: otče, herče."""
    return stem[:-1] + "če" if re.search(f"[{_CONSONANTS}]c$", stem) else join(stem, "i")


def _animate_plural(stem: str) -> str:
    """Pán and muž: nom. pl. kluci, bratři, muži; učitelé."""
    return stem + "é" if stem.endswith("tel") else join(_softened(stem, _PALATAL), "i")


def _locative_plural(stem: str) -> str:
    """Masculines: hradech, but klucích, příbězích."""
    return _softened(stem, _PALATAL) + "ích" if stem.endswith(_VELAR) else stem + "ech"


def _bare(stem: str) -> str:
    """Gen. pl. without ending; a vowel breaks the groups that never end a word: matek, divadel."""
    if re.search(f"[{_CONSONANTS}]k$", stem) or stem.endswith("dl"):
        return stem[:-1] + "e" + stem[-1]
    return stem


def _soft_genitive_plural(stem: str) -> str:
    """Růže and moře: růží, moří, but ulic, letišť."""
    return stem if stem.endswith(("ic", "išť")) else join(stem, "í")


_RULES: dict[str, Callable[[str], str]] = {
    "VOC": _vocative,
    "VOC_SOFT": _vocative_soft,
    "ANIMATE": _animate_plural,
    "OVÉ": lambda stem: stem + ("é" if stem.endswith("ist") else "ové"),
    "LOC_PL": _locative_plural,
    "LOC_PL_N": lambda stem: stem + ("ách" if stem.endswith(_VELAR) else "ech"),
    "LOC_N": lambda stem: stem + "u" if stem.endswith(_VELAR) else _soft_e(stem),
    "Ě": _soft_e,
    "GEN": _bare,
    "GEN_SOFT": _soft_genitive_plural,
}

# Endings in the order of CASES, singular and plural: = is the lemma, . no ending.
PARADIGMS = {
    "pán": ("= a ovi a VOC ovi em", "ANIMATE ů ům y ANIMATE LOC_PL y"),
    "muž": ("= e i e VOC_SOFT i em", "ANIMATE ů ům e ANIMATE ích i"),
    "předseda": ("= y ovi u o ovi ou", "OVÉ ů ům y OVÉ LOC_PL y"),
    "soudce": ("= e i e e i em", "i ů ům e i ích i"),
    "hrad": ("= u u = VOC u em", "y ů ům y y LOC_PL y"),
    "stroj": ("= e i = i i em", "e ů ům e e ích i"),
    "žena": ("= y Ě u o Ě ou", "y GEN ám y y ách ami"),
    "růže": ("= e i i e i í", "e GEN_SOFT ím e e ích emi"),
    "píseň": ("= e i = i i í", "e í ím e e ích emi"),
    "kost": ("= i i = i i í", "i í em i i ech mi"),
    "město": ("= a u = = LOC_N em", "a GEN ům a a LOC_PL_N y"),
    "moře": ("= e i = = i em", "e GEN_SOFT ím e e ích i"),
    "kuře": ("= ete eti = = eti etem", "ata at atům ata ata atech aty"),
    "stavení": ("= í í = = í ím", "í í ím í í ích ími"),
}
_CUT = ("předseda", "soudce", "žena", "růže", "město", "moře", "kuře", "stavení")


def _stem(entry: Noun | Name) -> str:
    if entry.stem:
        return entry.stem
    if entry.paradigm not in _CUT:
        return entry.czech
    stem = entry.czech[:-1]
    return stem[:-1] + _CARON[stem[-1]] if entry.czech[-1] == "ě" else stem


def _cell(case: str, number: str) -> tuple[int, int]:
    try:
        return NUMBERS.index(number), CASES.index(case)
    except ValueError as error:
        raise ValueError(f"no such cell: case {case!r}, number {number!r}") from error


def noun(entry: Noun | Name, case: str, number: str = "sg") -> str:
    """Return the form of a noun or name in a case (`CASES`) and number (`NUMBERS`)."""
    row, column = _cell(case, number)
    forms = dict(entry.forms)
    if case == "voc" and number == "pl" and "voc.pl" not in forms:
        return noun(entry, "nom", "pl")
    if (listed := forms.get(f"{case}.{number}")) is not None:
        return listed
    ending = PARADIGMS[entry.paradigm][row].split()[column]
    if ending == "ANIMATE" and isinstance(entry, Name):
        ending = "OVÉ"
    if ending == "=":
        return entry.czech
    rule = _RULES.get(ending)
    return rule(_stem(entry)) if rule else join(_stem(entry), ending)


_HARD_ENDINGS = {
    "ma": ("ý ého ému ého ý ém ým", "SOFT ých ým é SOFT ých ými"),
    "mi": ("ý ého ému ý ý ém ým", "é ých ým é é ých ými"),
    "f": ("á é é ou á é ou", "é ých ým é é ých ými"),
    "n": ("é ého ému é é ém ým", "á ých ým á á ých ými"),
}
_SOFT_PLURAL = "í ích ím í í ích ími"
_SOFT_ENDINGS = {
    "ma": ("í ího ímu ího í ím ím", _SOFT_PLURAL),
    "mi": ("í ího ímu í í ím ím", _SOFT_PLURAL),
    "f": ("í í í í í í í", _SOFT_PLURAL),
    "n": ("í ího ímu í í ím ím", _SOFT_PLURAL),
}


def _soft_plural(stem: str) -> str:
    """Hard adjectives with animate nouns: dobří, velcí, tiší, drazí, obrovští."""
    for end, soft in (("sk", "šť"), ("ck", "čť")):
        if stem.endswith(end):
            return join(stem[:-2] + soft, "í")
    return _softened(stem, _PALATAL) + "í"


def adjectival(lemma: str, gender: str, case: str, number: str) -> str:
    """Return the form of a word that declines like an adjective in -ý or -í (nějaký, její)."""
    row, column = _cell(case, number)
    table = _SOFT_ENDINGS if lemma.endswith("í") else _HARD_ENDINGS
    if gender not in table:
        raise ValueError(f"gender {gender!r} is none of {', '.join(GENDERS)}")
    ending = table[gender][row].split()[column]
    stem = lemma[:-1]
    return _soft_plural(stem) if ending == "SOFT" else stem + ending


def adjective(
    entry: Adjective, gender: str, case: str, number: str = "sg", degree: str = "positive"
) -> str:
    """Return the form of an adjective; ``degree`` is positive, comparative or superlative."""
    lemmas = {
        "positive": entry.czech,
        "comparative": entry.comparative,
        "superlative": "nej" + entry.comparative,
    }
    if degree not in lemmas:
        raise ValueError(f"degree {degree!r} is none of {', '.join(lemmas)}")
    return adjectival(lemmas[degree], gender, case, number)
