"""Question tags: how an English statement asks for confirmation."""

from workflow_scripts.testbed.agreement import tag_pronoun
from workflow_scripts.testbed.auxiliaries import Group
from workflow_scripts.testbed.clause_rules import ClauseRule
from workflow_scripts.testbed.clauses import grammatical_subject
from workflow_scripts.testbed.forest import Mark
from workflow_scripts.testbed.rules import Slot
from workflow_scripts.testbed.structure import Clause

Words = tuple[tuple[str, str], ...]

FIXED_TAGS: tuple[Words, ...] = (
    (("JJ", "right"),),
    (("VBZ", "is"), ("RB", "n't"), ("DT", "that"), ("JJ", "so")),
)
# Operators that change before n't.
_BEFORE_NT = {"will": "wo", "can": "ca", "am": "are"}


def question_tags(clause: Clause, rule: ClauseRule, group: Group) -> list[tuple[Words, Mark]]:
    """Return the tags that may follow a statement with this rule and verb group, and their marks.

    Fixed tags follow any statement. One more repeats operator and subject, with the opposite
    polarity: "didn't he?".
    """
    tags = [(words, ("tag", " ".join(word for _, word in words))) for words in FIXED_TAGS]
    there = not isinstance(rule.subject, Slot)
    pronoun = "there" if there else tag_pronoun(grammatical_subject(rule, clause))
    if pronoun is None or any(word == "unable" for _, word in group.rest):
        return tags
    subject = ("EX" if there else "PRP", pronoun)
    if group.negative:
        return [*tags, ((_tagged(group.operator), subject), ("tag", "operator"))]
    stem = _tagged(_BEFORE_NT.get(group.operator, group.operator))
    return [*tags, ((stem, ("RB", "n't"), subject), ("tag", "operator"))]


def _tagged(word: str) -> tuple[str, str]:
    modal = word in ("will", "wo", "can", "ca", "must", "need")
    return ("MD" if modal else "VB", word)
