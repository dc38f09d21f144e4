"""How alike two meanings are, from 0 (nothing shared) to 1 (the same)."""

from dataclasses import fields, is_dataclass

from workflow_scripts.testbed.structure import Clause, Meaning, NounPhrase, Place, Relative

# The weight of each attribute, if at least one of the two has it. Who does what weighs most.
WEIGHTS: dict[type, dict[str, float]] = {
    Meaning: {"mood": 1.0, "main": 10.0, "connective": 1.0, "subordinate": 6.0},
    Clause: {
        "frame": 0.5,
        "subject": 2.0,
        "verb": 3.0,
        "tense": 0.5,
        "negative": 1.0,
        "object": 2.0,
        "recipient": 1.5,
        "quality": 3.0,
        "degree": 0.5,
        "goal": 1.5,
        "manner": 0.75,
        "frequency": 0.75,
        "place": 0.75,
        "time": 0.75,
        "attitude": 0.5,
    },
    NounPhrase: {
        "head": 4.0,
        "kind": 0.25,
        "number": 0.5,
        "determiner": 0.5,
        "adjective": 1.0,
        "possessor": 1.0,
        "relative": 1.0,
    },
    Relative: {"verb": 2.0, "past": 0.25, "object": 1.0, "place": 1.0},
    Place: {"relation": 1.0, "phrase": 2.0},
}


def similarity(first: object, second: object) -> float:
    """Return the weighted share of the attributes in which two meanings agree, from 0 to 1.

    Attributes that have attributes of their own, such as clauses, may agree in some of them. The
    similarity is symmetric, and 1 only for equal meanings. Each attribute is compared with the
    same attribute of the other meaning: clauses that changed places do not count as alike.

    Args:
        first: a meaning, or the value of any attribute of one.
        second: the other.
    """
    if not is_dataclass(first) or type(first) is not type(second):
        return float(first == second)
    weights = WEIGHTS[type(first)]
    shared = total = 0.0
    for field in fields(first):
        one, other = getattr(first, field.name), getattr(second, field.name)
        if one is None and other is None:
            continue
        total += weights[field.name]
        shared += weights[field.name] * similarity(one, other)
    return shared / total
