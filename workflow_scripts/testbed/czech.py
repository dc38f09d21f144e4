"""Czech forms: other modules import the whole morphology of the testbed from here.

Nouns and adjectives are in `declension`, verbs in `conjugation`. This module has the closed
classes: pronouns, possessives, demonstratives, numerals, and prepositions that take a vowel.
"""

from __future__ import annotations

import re

from workflow_scripts.testbed.conjugation import (
    CAN,
    MUST,
    auxiliary,
    be_future,
    be_past,
    be_present,
    clitic,
    form_of,
    future,
    infinitive,
    negated,
    participle,
    passive_participle,
    past,
    present,
    present_form,
)
from workflow_scripts.testbed.declension import (
    CASES,
    GENDERS,
    NUMBERS,
    adjectival,
    adjective,
    noun,
)

__all__ = [
    "CAN",
    "CASES",
    "GENDERS",
    "MUST",
    "NUMBERS",
    "adjectival",
    "adjective",
    "auxiliary",
    "be_future",
    "be_past",
    "be_present",
    "clitic",
    "counted_case",
    "demonstrative",
    "form_of",
    "future",
    "indefinite",
    "infinitive",
    "negated",
    "noun",
    "numeral",
    "participle",
    "passive_participle",
    "past",
    "possessive",
    "preposition",
    "present",
    "present_form",
    "pronoun",
    "someone",
]

_TEN = {
    "ma": ("ten toho tomu toho ten tom tím", "ti těch těm ty ti těch těmi"),
    "mi": ("ten toho tomu ten ten tom tím", "ty těch těm ty ty těch těmi"),
    "f": ("ta té té tu ta té tou", "ty těch těm ty ty těch těmi"),
    "n": ("to toho tomu to to tom tím", "ta těch těm ta ta těch těmi"),
}
_M = {
    "ma": ("ůj ého ému ého ůj ém ým", "oji ých ým oje oji ých ými"),
    "mi": ("ůj ého ému ůj ůj ém ým", "oje ých ým oje oje ých ými"),
    "f": ("oje é é oji oje é ou", "oje ých ým oje oje ých ými"),
    "n": ("oje ého ému oje oje ém ým", "oje ých ým oje oje ých ými"),
}
_N = {
    "ma": ("áš ašeho ašemu ašeho áš ašem aším", "aši ašich ašim aše aši ašich ašimi"),
    "mi": ("áš ašeho ašemu áš áš ašem aším", "aše ašich ašim aše aše ašich ašimi"),
    "f": ("aše aší aší aši aše aší aší", "aše ašich ašim aše aše ašich ašimi"),
    "n": ("aše ašeho ašemu aše aše ašem aším", "aše ašich ašim aše aše ašich ašimi"),
}
_POSSESSIVES = {
    "my": ("m", _M),
    "your": ("tv", _M),
    "own": ("sv", _M),
    "our": ("n", _N),
    "your_plural": ("v", _N),
}
_INVARIABLE = {"his": "jeho", "their": "jejich"}

# Cases as in CASES; three rows: clitic, stressed, after a preposition.
_PRONOUNS = {
    "I": (
        "já mě mi mě já mně mnou",
        "já mne mně mne já mně mnou",
        "já mě mně mě já mně mnou",
    ),
    "you": (
        "ty tě ti tě ty tobě tebou",
        "ty tebe tobě tebe ty tobě tebou",
        "ty tebe tobě tebe ty tobě tebou",
    ),
    "he": (
        "on ho mu ho on něm jím",
        "on jeho jemu jeho on něm jím",
        "on něj němu něj on něm ním",
    ),
    "she": ("ona jí jí ji ona ní jí",) * 2 + ("ona ní ní ni ona ní ní",),
    "it": (
        "ono ho mu ho ono něm jím",
        "ono jeho jemu je ono něm jím",
        "ono něj němu něj ono něm ním",
    ),
    "we": ("my nás nám nás my nás námi",) * 3,
    "you_plural": ("vy vás vám vás vy vás vámi",) * 3,
    "they": ("oni jich jim je oni nich jimi",) * 2 + ("oni nich nim ně oni nich nimi",),
}
_SOMEONE = "někdo někoho někomu někoho někdo někom někým"

_TWO = "dva dvou dvěma dva dva dvou dvěma"
_SMALL = {
    3: "tři tří třem tři tři třech třemi",
    4: "čtyři čtyř čtyřem čtyři čtyři čtyřech čtyřmi",
}
_LARGE = {
    5: ("pět", "pěti"),
    6: ("šest", "šesti"),
    7: ("sedm", "sedmi"),
    8: ("osm", "osmi"),
    9: ("devět", "devíti"),
    10: ("deset", "deseti"),
}

# A preposition of one consonant takes a vowel before sounds that would hide it.
_SIBILANT_GROUP = r"[szšž][bcčdďfghkmnňpqtťv]"
_ANY_GROUP = r"dv|tř|čt|mn|vš|vz|vs|ps|lž"
_VOCALISED = {
    "v": rf"[vf]|{_SIBILANT_GROUP}|{_ANY_GROUP}|sl|měst|mně",
    "s": rf"[szšž]|{_ANY_GROUP}",
    "z": rf"[szšž]|{_ANY_GROUP}|mě",
    "k": rf"[kg]|{_SIBILANT_GROUP}|{_ANY_GROUP}|mně",
}
_BEFORE_ME = ("od", "před", "nad", "pod", "přes", "bez")


def _form(forms: str, case: str) -> str:
    if case not in CASES:
        raise ValueError(f"case {case!r} is none of {', '.join(CASES)}")
    return forms.split()[CASES.index(case)]


def _agreeing(table: dict[str, tuple[str, str]], gender: str, case: str, number: str) -> str:
    if gender not in table or number not in NUMBERS:
        raise ValueError(f"no such agreement: gender {gender!r}, number {number!r}")
    return _form(table[gender][NUMBERS.index(number)], case)


def demonstrative(gender: str, case: str, number: str, near: bool = True) -> str:
    """Return tento ("this"), or where not ``near`` ten ("that")."""
    return _agreeing(_TEN, gender, case, number) + ("to" if near else "")


def indefinite(gender: str, case: str, number: str) -> str:
    """Return nějaký ("some")."""
    return adjectival("nějaký", gender, case, number)


def possessive(owner: str, gender: str, case: str, number: str) -> str:
    """Return the possessive pronoun of a noun, in agreement with it.

    Args:
        owner: ``my``, ``your``, ``your_plural``, ``his``, ``her``, ``our``, ``their``, or ``own``
            (svůj, where the owner is the subject).
        gender: of the noun owned.
        case: of the noun owned.
        number: of the noun owned.
    """
    if owner in _INVARIABLE:
        return _INVARIABLE[owner]
    if owner == "her":
        return adjectival("její", gender, case, number)
    if owner not in _POSSESSIVES:
        raise ValueError(f"no such owner: {owner!r}")
    stem, endings = _POSSESSIVES[owner]
    return stem + _agreeing(endings, gender, case, number)


def pronoun(who: str, case: str, place: str = "clitic") -> str:
    """Return a personal pronoun.

    Args:
        who: ``I``, ``you``, ``he``, ``she``, ``it``, ``we``, ``you_plural`` or ``they``.
        case: one of `CASES`.
        place: ``clitic`` (mi, ho), ``stressed`` (mně, jeho) or ``preposition`` (k němu).
    """
    places = ("clitic", "stressed", "preposition")
    if who not in _PRONOUNS or place not in places:
        raise ValueError(f"no such pronoun: {who!r}, {place!r}")
    return _form(_PRONOUNS[who][places.index(place)], case)


def someone(case: str) -> str:
    """Return někdo ("someone")."""
    return _form(_SOMEONE, case)


def numeral(value: int, gender: str, case: str) -> str:
    """Return a numeral from 2 to 10 in agreement with the noun it counts."""
    if value == 2:
        form = _form(_TWO, case)
        return "dvě" if form == "dva" and gender in ("f", "n") else form
    if value in _SMALL:
        return _form(_SMALL[value], case)
    if value not in _LARGE:
        raise ValueError(f"numeral {value!r} is not from 2 to 10")
    direct, oblique = _LARGE[value]
    return direct if case in ("nom", "acc", "voc") else oblique


def counted_case(value: int, case: str) -> str:
    """Return the case of a plural noun after a numeral: pět žen, but s pěti ženami.

    A subject in such a genitive takes its verb in the third person singular neuter.
    """
    if value >= 5 and case in ("nom", "acc", "voc"):
        return "gen"
    return case


def preposition(word: str, following: str) -> str:
    """Return a preposition as it is before the word that follows: v domě, ve škole, se psem."""
    lower = following.lower()
    if word in _BEFORE_ME and lower in ("mě", "mne", "mnou"):
        return word + "e"
    pattern = _VOCALISED.get(word)
    return word + "e" if pattern and re.match(pattern, lower) else word
