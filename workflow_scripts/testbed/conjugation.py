"""Czech conjugation: present, past and passive participles, future, of both aspects.

A model verb names each class. The lexicon lists in which stems a verb differs from its class:
present stem, l-participle, passive participle.
"""

from __future__ import annotations

from workflow_scripts.testbed.word_list import CzechVerb, Verb

# Singular 1, 2, 3, plural 1, 2, 3. "~" is the theme vowel of the infinitive (sázejí, vyrábějí).
PRESENT = {
    "dělat": "ám áš á áme áte ají",
    "prosit": "ím íš í íme íte í",
    "trpět": "ím íš í íme íte í",
    "sázet": "ím íš í íme íte ~jí",
    "kupovat": "uji uješ uje ujeme ujete ují",
    "krýt": "ji ješ je jeme jete jí",
    "tisknout": "nu neš ne neme nete nou",
    "minout": "nu neš ne neme nete nou",
    "nést": "u eš e eme ete ou",
    "jíst": "ím íš í íme íte edí",
    "vědět": "ím íš í íme íte ědí",
    "moci": "mohu můžeš může můžeme můžete mohou",
}
_INFINITIVE_END = {
    "dělat": 2,
    "prosit": 2,
    "trpět": 2,
    "sázet": 2,
    "kupovat": 4,
    "krýt": 1,
    "tisknout": 4,
    "minout": 4,
}
_SHORT = str.maketrans("áíý", "aiy")
# Verbs of motion make their future with a prefix instead of budu.
_PREFIXED_FUTURE = {"jít": "pů", "jet": "po", "běžet": "po", "letět": "po"}

BE_PRESENT = ("jsem", "jsi", "je", "jsme", "jste", "jsou")
BE_FUTURE = ("budu", "budeš", "bude", "budeme", "budete", "budou")
_BE_PAST = CzechVerb("být", "", "nést", "", "byl", "")

MUST = CzechVerb("muset", "", "sázet", "", "", "")
CAN = CzechVerb("moct", "", "moci", "", "mohl", "")


def _slot(person: int, number: str) -> int:
    if person not in (1, 2, 3) or number not in ("sg", "pl"):
        raise ValueError(f"no such person: {person!r}, {number!r}")
    return person - 1 + 3 * (number == "pl")


def form_of(verb: Verb, aspect: str) -> CzechVerb:
    """Return the Czech verb of an aspect, ``imperfective`` or ``perfective``.

    Raises:
        ValueError: the verb has no such aspect.
    """
    if aspect not in ("imperfective", "perfective"):
        raise ValueError(f"aspect {aspect!r} is neither imperfective nor perfective")
    czech_verb = verb.imperfective if aspect == "imperfective" else verb.perfective
    if czech_verb is None:
        raise ValueError(f"verb {verb.concept!r} has no {aspect} aspect")
    return czech_verb


def _present_stem(verb: CzechVerb) -> str:
    if verb.present or verb.verb_class == "moci":
        return verb.present
    stem = verb.infinitive[: -_INFINITIVE_END[verb.verb_class]]
    return stem[:-1] + stem[-1].translate(_SHORT) if verb.verb_class == "krýt" else stem


def present_form(verb: CzechVerb, person: int, number: str) -> str:
    """Return the present of one Czech verb, without its clitic."""
    ending = PRESENT[verb.verb_class].split()[_slot(person, number)]
    return _present_stem(verb) + ending.replace("~", verb.infinitive[-2])


def _past_stem(verb: CzechVerb) -> str:
    if verb.past:
        return verb.past
    stem = verb.infinitive[: -_INFINITIVE_END[verb.verb_class]]
    if verb.verb_class == "tisknout":
        return stem + "l"
    if verb.verb_class == "minout":
        return stem + "nul"
    if verb.verb_class == "krýt":
        return _present_stem(verb) + "l"
    return verb.infinitive[:-1] + "l"


def _softened_participle(stem: str) -> str:
    """Participle of prosit: prošen, placen, čištěn, změněn, koupen."""
    for hard, soft in (("st", "ště"), ("t", "ce"), ("d", "ze"), ("n", "ně"), ("s", "še")):
        if stem.endswith(hard):
            return stem[: -len(hard)] + soft + "n"
    return stem[:-1] + "žen" if stem.endswith("z") else stem + "en"


def _passive_stem(verb: CzechVerb) -> str:
    if verb.passive:
        return verb.passive
    stem = verb.infinitive[: -_INFINITIVE_END[verb.verb_class]]
    if verb.verb_class == "prosit":
        return _softened_participle(stem)
    if verb.verb_class == "krýt":
        return _present_stem(verb) + "t"
    ends = {"dělat": "án", "kupovat": "ován", "tisknout": "nut", "minout": "nut"}
    ending = ends.get(verb.verb_class)
    return stem + ending if ending else verb.infinitive[:-1] + "n"


def _agreeing(participle: str, gender: str, number: str) -> str:
    endings = {"sg": {"ma": "", "mi": "", "f": "a", "n": "o"}}
    endings["pl"] = {"ma": "i", "mi": "y", "f": "y", "n": "a"}
    if gender not in endings["sg"] or number not in endings:
        raise ValueError(f"no such agreement: gender {gender!r}, number {number!r}")
    return participle + endings[number][gender]


def participle(verb: CzechVerb, gender: str, number: str) -> str:
    """Return the l-participle of one Czech verb in agreement with its subject."""
    stem = _past_stem(verb)
    agreeing = _agreeing(stem, gender, number)
    # Šel loses its vowel before an ending, as do přišel, našel: their infinitive is that of jít.
    if agreeing != stem and verb.infinitive.endswith("jít"):
        return _agreeing(stem[:-2] + "l", gender, number)
    return agreeing


def infinitive(verb: Verb, aspect: str) -> str:
    """Return the infinitive, without clitic."""
    return form_of(verb, aspect).infinitive


def clitic(verb: Verb, aspect: str) -> str:
    """Return the reflexive clitic that goes with the verb (``se``, ``si``), or nothing."""
    return form_of(verb, aspect).clitic


def present(verb: Verb, aspect: str, person: int, number: str) -> str:
    """Return the present; of a perfective verb it tells the future."""
    return present_form(form_of(verb, aspect), person, number)


def past(verb: Verb, aspect: str, gender: str, number: str) -> str:
    """Return the l-participle, which with `auxiliary` makes the past tense."""
    return participle(form_of(verb, aspect), gender, number)


def auxiliary(person: int, number: str) -> str:
    """Return the auxiliary of the past tense, a clitic; the third person has none."""
    return "" if person == 3 else BE_PRESENT[_slot(person, number)]


def future(verb: Verb, aspect: str, person: int, number: str) -> str:
    """Return the future: the perfective present, else budu and infinitive (but půjdu, poletím)."""
    czech = form_of(verb, aspect)
    if aspect == "perfective":
        return present_form(czech, person, number)
    if prefix := _PREFIXED_FUTURE.get(czech.infinitive):
        return prefix + present_form(czech, person, number)
    return f"{be_future(person, number)} {czech.infinitive}"


def passive_participle(verb: Verb, aspect: str, gender: str, number: str) -> str:
    """Return the short passive participle in agreement with its subject (napsán, napsána).

    Raises:
        ValueError: it has none (no object, a prepositional one, reflexive), or no such aspect.
    """
    czech = form_of(verb, aspect)
    listed = czech.passive or czech.verb_class in _INFINITIVE_END
    lacking = verb.frame in ("intransitive", "motion") or verb.preposition or czech.clitic
    if lacking or not listed:
        raise ValueError(f"verb {czech.infinitive!r} has no passive participle")
    return _agreeing(_passive_stem(czech), gender, number)


def be_present(person: int, number: str) -> str:
    """Return the present of být as a full verb."""
    return BE_PRESENT[_slot(person, number)]


def be_future(person: int, number: str) -> str:
    """Return the future of být."""
    return BE_FUTURE[_slot(person, number)]


def be_past(gender: str, number: str) -> str:
    """Return the l-participle of být."""
    return participle(_BE_PAST, gender, number)


def negated(form: str) -> str:
    """Return a finite verb form or participle with ne-: nepíše, není."""
    return "není" if form == "je" else "ne" + form
