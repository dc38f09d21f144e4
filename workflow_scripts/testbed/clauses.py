"""English clauses: which rules and verb groups express one, and how they are put together."""

from collections import defaultdict
from collections.abc import Iterator
from functools import cache, partial

from workflow_scripts.testbed.agreement import is_personal_pronoun, person
from workflow_scripts.testbed.auxiliaries import GROUPS, Group, TaggedWords, tense_key
from workflow_scripts.testbed.clause_rules import CLAUSES, ClauseRule
from workflow_scripts.testbed.forest import Deferred, Forest, Sequence, Word, marked
from workflow_scripts.testbed.lexical_slots import SURFACES
from workflow_scripts.testbed.phrases import build, choice, lexical, noun_phrase, place
from workflow_scripts.testbed.rules import POSITIONED, Slot, flat
from workflow_scripts.testbed.structure import SOMEONE, Clause, NounPhrase
from workflow_scripts.testbed.word_list import LEXICON

# Frames whose verb is "be": always a state.
BE_FRAMES = frozenset({"copular", "existential"})
# Verbs all of whose synonyms can do without "that".
THATLESS = frozenset(
    {"assume", "fear", "find_out", "hope", "know", "realize", "remember", "suspect", "think"}
)
_PHRASES = ("object", "recipient")
_PLACES = ("place", "goal")
_ADVERBS = ("time", "degree", "quality")
_OPTIONAL = (*_PHRASES, *_PLACES, *_ADVERBS, *sorted(POSITIONED))


def _rules() -> dict[tuple[str, bool, frozenset[str]], tuple[ClauseRule, ...]]:
    table = defaultdict(list)
    for rule in CLAUSES:
        table[rule.frame, rule.inverted, rule.slots].append(rule)
    return {key: tuple(rules) for key, rules in table.items()}


def _groups() -> dict[tuple[str, bool, str, bool, bool], tuple[Group, ...]]:
    table = defaultdict(list)
    for group in GROUPS:
        key = (group.key, group.negative, group.person, group.passive, bool(group.lead))
        table[key].append(group)
    return {key: tuple(groups) for key, groups in table.items()}


_RULES = _rules()
_GROUPS = _groups()


@cache
def stative(frame: str, verb: str) -> bool:
    """Return whether a verb has no progressive: "knows", not "is knowing"."""
    return frame in BE_FRAMES or frame == "clausal" or LEXICON.verb[verb].stative


@cache
def particles(verb: str) -> tuple[str, ...]:
    """Return the particles of the synonyms of a verb."""
    return tuple(
        dict.fromkeys(verb.particle for verb in LEXICON.verb[verb].english if verb.particle)
    )


def filled(clause: Clause) -> frozenset[str]:
    """Return the attributes that a clause has and a rule must express."""
    slots = {slot for slot in _OPTIONAL if getattr(clause, slot) is not None}
    return frozenset(slots | {"subject", "verb"})


def grammatical_subject(rule: ClauseRule, clause: Clause) -> NounPhrase:
    """Return the phrase that the verb agrees with; for "there is", the phrase that follows."""
    slot = rule.subject.slot if isinstance(rule.subject, Slot) else "subject"
    return getattr(clause, slot)


@cache
def positioned(rule: ClauseRule) -> tuple[Slot, ...]:
    """Return the slots of a rule that not every adverb can fill."""
    slots = (item for item in flat((*rule.front, *rule.body)) if isinstance(item, Slot))
    return tuple(item for item in slots if item.slot in POSITIONED)


def _rule_fits(rule: ClauseRule, clause: Clause) -> bool:
    if clause.negative and rule.mid in ("manner", "attitude"):
        return False  # "didn't quickly read" denies something else than "didn't read quickly"
    for category, slot in positioned(rule):
        if getattr(clause, slot) not in SURFACES[category]:
            return False
    if rule.agentless and (clause.subject.head != SOMEONE or clause.negative):
        return False  # "it wasn't read" denies more than "someone didn't read it"
    return not rule.split or bool(particles(clause.verb))


def _group_fits(group: Group, rule: ClauseRule, clause: Clause) -> bool:
    if rule.mid == "attitude" and len(group.rest) > 1:
        return False  # "is going to probably read"
    if not group.clitic:
        return True
    if not isinstance(rule.subject, Slot):
        return group.operator == "is"  # there's
    return is_personal_pronoun(grammatical_subject(rule, clause))


def fits(rule: ClauseRule, group: Group, clause: Clause) -> bool:
    """Return whether a rule and a verb group that express a clause's slots suit each other."""
    who = person(grammatical_subject(rule, clause))
    return group.person == who and _rule_fits(rule, clause) and _group_fits(group, rule, clause)


def layouts(clause: Clause, inverted: bool) -> Iterator[tuple[ClauseRule, Group]]:
    """Yield every rule and verb group that express a clause, inverted or declarative."""
    key = tense_key(clause, stative(clause.frame, clause.verb))
    for rule in _RULES.get((clause.frame, inverted, filled(clause)), ()):
        if not _rule_fits(rule, clause):
            continue
        who = person(grammatical_subject(rule, clause))
        for group in _GROUPS.get((key, clause.negative, who, rule.passive, inverted), ()):
            if _group_fits(group, rule, clause):
                yield rule, group


def _values(clause: Clause, rule: ClauseRule, group: Group) -> dict[str, Forest]:
    values: dict[str, Forest] = {}
    for slot in _PHRASES:
        if phrase := getattr(clause, slot):
            values[slot] = noun_phrase(phrase)
    for slot in _PLACES:
        if where := getattr(clause, slot):
            values[slot] = place(where, slot)
    for slot in _ADVERBS:
        if concept := getattr(clause, slot):
            values[slot] = lexical(slot, concept)
    for category, slot in positioned(rule):
        values[slot] = lexical(category, getattr(clause, slot))
    if clause.frame not in BE_FRAMES:
        values["verb"] = lexical("verb", (clause.verb, group.form))
    return values


def _nested(words: TaggedWords, inner: Forest) -> Forest:
    """Wrap auxiliaries around a verb phrase; each governs what follows it."""
    if not words:
        return inner
    (tag, word), rest = words[0], words[1:]
    if tag == "RB":
        return Sequence("", (Word(tag, word), _nested(rest, inner)))
    nested = Sequence("ADJP" if tag == "JJ" else "VP", (Word(tag, word), _nested(rest, inner)))
    return Sequence("S", (nested,)) if tag == "TO" else nested


def _assembled(
    rule: ClauseRule, group: Group, values: dict[str, Forest], clause: Clause, tail: list[Forest]
) -> Forest:
    case = "objective" if _is_agent(rule) else "nominative"
    values = {**values, "subject": noun_phrase(clause.subject, case)}
    # With "be" the verb is in the group, whose phrase the body joins.
    label = "" if clause.frame in BE_FRAMES else "VP"
    body = Sequence(label, (*(build(item, values) for item in rule.body), *tail))
    lead = tuple(Word(tag, word) for tag, word in group.lead)
    front = tuple(build(item, values) for item in rule.front)
    subject = build(rule.subject, values)
    children = (*front, *lead, subject, _nested(group.rest, body))
    return Sequence("", children, marked(clause.topic, rule.marks + group.marks))


def _is_agent(rule: ClauseRule) -> bool:
    return rule.passive and isinstance(rule.subject, Slot) and rule.subject.slot != "subject"


def arranged(clause: Clause, rule: ClauseRule, group: Group, tail: list[Forest]) -> Forest:
    """Return a clause in one layout; `tail` goes to the end of its verb phrase."""
    values = _values(clause, rule, group)
    if not rule.split:
        return _assembled(rule, group, values, clause, tail)
    options = []
    for particle in particles(clause.verb):
        values["verb"] = lexical("particle_verb", (clause.verb, group.form, particle))
        values["particle"] = lexical("particle", particle)
        options.append(_assembled(rule, group, values, clause, tail))
    return choice(options)


def declarative(clause: Clause, tail: list[Forest] | None = None, fronting: bool = True) -> Forest:
    """Return all ways to state a clause.

    Args:
        clause: to be stated.
        tail: what stands at the end of its verb phrase.
        fronting: whether something may stand before the subject; not in subordinate clauses.
    """
    return choice(
        [
            Deferred(partial(arranged, clause, rule, group, tail or []))
            for rule, group in layouts(clause, False)
            if fronting or not rule.front
        ]
    )
