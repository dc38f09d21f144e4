"""The grammar of English clauses: what stands before the subject, after it, and at the end."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

from workflow_scripts.testbed.forest import Mark
from workflow_scripts.testbed.rules import (
    COMMA,
    POSITIONED,
    Constituent,
    Fixed,
    Item,
    Slot,
    flat,
)
from workflow_scripts.testbed.structure import Frame


@dataclass(frozen=True, slots=True, eq=False)
class ClauseRule:
    """One arrangement of a clause: `front`, subject, verb group, `body`.

    Attributes:
        frame: as in `Clause`.
        passive: the verb is a participle.
        inverted: the operator stands before the subject.
        front: what stands before the subject.
        subject: the grammatical subject, which the verb agrees with unless it is "there".
        body: what follows the auxiliaries.
        slots: the attributes of the clause that it expresses.
        agentless: the subject of the meaning, `SOMEONE`, is left unsaid.
        split: the verb's particle stands after the object.
        mid: an adverb stands between auxiliaries and verb.
        marks: the choices that it stands for.
    """

    frame: Frame
    passive: bool
    inverted: bool
    front: tuple[Item, ...]
    subject: Item
    body: tuple[Item, ...]
    slots: frozenset[str]
    agentless: bool
    split: bool
    mid: str | None
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class _Core:
    """A clause without adverbials.

    `tail` is the agent of a passive. An adverb of manner stands before the verb, or between `head`
    and `tail`: "was read quickly by the man".
    """

    frame: Frame
    subject: Item
    head: tuple[Item, ...]
    tail: tuple[Item, ...] = ()
    passive: bool = False
    agentless: bool = False
    split: bool = False
    marks: tuple[Mark, ...] = ()


_SUBJECT = Slot("subject", "subject")
_VERB = Slot("verb", "verb")
_OBJECT = Slot("phrase", "object")
_RECIPIENT = Slot("phrase", "recipient")
_TO = Constituent("PP", (Fixed("TO", "to"), _RECIPIENT))
_BY = Constituent("PP", (Fixed("IN", "by"), Slot("agent", "subject")))
_PARTICLE = Constituent("PRT", (Slot("particle", "particle"),))
_SPLIT = (Slot("particle_verb", "verb"), _OBJECT, _PARTICLE)


def _cores() -> Iterator[_Core]:
    active, passive = ("voice", "active"), ("voice", "passive")
    yield _Core("intransitive", _SUBJECT, (_VERB,))
    yield _Core("motion", _SUBJECT, (_VERB, Slot("goal", "goal")))
    yield _Core("clausal", _SUBJECT, (_VERB,))
    split = ("particle", "split")
    yield _Core("transitive", _SUBJECT, (_VERB, _OBJECT), marks=(active,))
    yield _Core("transitive", _SUBJECT, _SPLIT, split=True, marks=(active, split))
    double, prepositional = ("dative", "double"), ("dative", "to")
    two, to = (_VERB, _RECIPIENT, _OBJECT), (_VERB, _OBJECT, _TO)
    yield _Core("ditransitive", _SUBJECT, two, marks=(active, double))
    yield _Core("ditransitive", _SUBJECT, to, marks=(active, prepositional))
    for agentless, by in ((False, (_BY,)), (True, ())):
        voice = (passive, ("agent", "unsaid")) if agentless else (passive,)
        common = {"passive": True, "agentless": agentless}
        yield _Core("transitive", _OBJECT, (_VERB,), by, marks=voice, **common)
        marks = (*voice, double)
        yield _Core("ditransitive", _RECIPIENT, (_VERB, _OBJECT), by, marks=marks, **common)
        marks = (*voice, prepositional)
        yield _Core("ditransitive", _OBJECT, (_VERB, _TO), by, marks=marks, **common)
    quality = Slot("quality", "quality")
    degree = Constituent("ADVP", (Slot("degree", "degree"),))
    yield _Core("copular", _SUBJECT, (Constituent("ADJP", (quality,)),), passive=True)
    yield _Core("copular", _SUBJECT, (Constituent("ADJP", (degree, quality)),), passive=True)


def _adverb(slot: str, position: str = "end") -> Item:
    """Return an adverbial; in `POSITIONED` ones the category names the position."""
    if slot == "place":
        return Slot("place", "place")
    category = f"{position}_{slot}" if slot in POSITIONED else slot
    return Constituent("ADVP", (Slot(category, slot),))


@dataclass(frozen=True, slots=True)
class _Arrangement:
    front: str | None
    mid: str | None
    manner: bool
    end: tuple[str, ...]
    marks: tuple[Mark, ...]


def _arrangements(adverbials: frozenset[str]) -> Iterator[_Arrangement]:
    """Yield the places of some adverbials: before the subject, before the verb, at the end."""
    fronts = [slot for slot in ("attitude", "time", "place", "frequency") if slot in adverbials]
    mids = [slot for slot in ("attitude", "manner", "frequency") if slot in adverbials]
    for front in (None, *fronts):
        for mid in (None, *mids):
            if (mid and mid == front) or ("attitude" in adverbials - {front, mid}):
                continue
            yield from _ordered(adverbials, front, mid)


def _ordered(
    adverbials: frozenset[str], front: str | None, mid: str | None
) -> Iterator[_Arrangement]:
    """Yield the orders of the adverbials that are left for the end."""
    left = adverbials - {front, mid}
    end = tuple(slot for slot in ("frequency", "place", "time") if slot in left)
    orders = [end]
    if {"place", "time"} <= left:
        orders.append((*(slot for slot in end if slot != "place"), "place"))
    for order in orders:
        marks: list[Mark] = []
        if front in ("time", "place"):
            marks.append(("fronting", front))
        for slot in sorted(adverbials & {"attitude", "manner", "frequency"}):
            position = {front: "front", mid: "before the verb"}.get(slot, "end")
            marks.append(("adverb placement", f"{slot} {position}"))
        if len(orders) > 1:
            marks.append(("adverbial order", " ".join(order)))
        yield _Arrangement(front, mid, "manner" in left, order, tuple(marks))


# Which adverbials may come together.
_ADVERBIALS = ("manner", "place", "time", "frequency", "attitude")
_EXCLUDED = (
    {"frequency", "time"},
    {"frequency", "manner"},
    {"frequency", "attitude"},
    {"manner", "attitude"},
)


def _adverbial_sets(core: _Core) -> Iterator[frozenset[str]]:
    allowed = {
        "clausal": (),
        "copular": ("time", "frequency", "attitude"),
        "motion": ("manner", "time", "frequency", "attitude"),
    }.get(core.frame, _ADVERBIALS)
    for size in range(4):
        for chosen in combinations(allowed, size):
            if not any(pair <= set(chosen) for pair in _EXCLUDED):
                yield frozenset(chosen)


def _slots(items: tuple[Item, ...]) -> set[str]:
    return {item.slot for item in flat(items) if isinstance(item, Slot)} - {"particle"}


def _clause_rules() -> Iterator[ClauseRule]:
    for core in _cores():
        for adverbials in _adverbial_sets(core):
            for place in _arrangements(adverbials):
                mid = (_adverb(place.mid, "mid"),) if place.mid else ()
                manner = (_adverb("manner"),) if place.manner else ()
                end = tuple(_adverb(slot) for slot in place.end)
                body = (*mid, *core.head, *manner, *core.tail, *end)
                front = (_adverb(place.front, "front"), COMMA) if place.front else ()
                slots = _slots((*front, core.subject, *body)) | {"subject", "verb"}
                for inverted in (False,) if front or "attitude" in adverbials else (False, True):
                    yield ClauseRule(
                        core.frame,
                        core.passive,
                        inverted,
                        front,
                        core.subject,
                        body,
                        frozenset(slots),
                        core.agentless,
                        core.split,
                        place.mid,
                        core.marks + place.marks,
                    )
    yield from _existential_rules()


def _existential_rules() -> Iterator[ClauseRule]:
    """Yield the forms of "there is a book on the table"; each names the place."""
    there = Constituent("NP", (Fixed("EX", "there"),))
    place, time = _adverb("place"), _adverb("time")
    slots = frozenset({"subject", "verb", "place"})
    for has_time in (False, True):
        last = (time,) if has_time else ()
        said = slots | {"time"} if has_time else slots
        layouts: list[tuple[tuple[Item, ...], Item, tuple[Item, ...], str, str | None]] = [
            ((), there, (_SUBJECT, place, *last), "there", None),
            ((), _SUBJECT, (place, *last), "subject", None),
            ((place, COMMA), there, (_SUBJECT, *last), "there", "place"),
        ]
        if has_time:
            layouts.append(((time, COMMA), there, (_SUBJECT, place), "there", "time"))
            layouts.append(((time, COMMA), _SUBJECT, (place,), "subject", "time"))
        for front, subject, body, form, fronted in layouts:
            marks: tuple[Mark, ...] = (("existential", form),)
            if fronted:
                marks += (("fronting", fronted),)
            for inverted in (False, True) if not front else (False,):
                yield ClauseRule(
                    "existential",
                    True,
                    inverted,
                    front,
                    subject,
                    body,
                    said,
                    False,
                    False,
                    None,
                    marks,
                )


CLAUSES: tuple[ClauseRule, ...] = tuple(_clause_rules())
