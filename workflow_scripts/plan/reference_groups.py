"""The groups of references: those that models were trained on, and those held out."""

from collections.abc import Mapping, Sequence

from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.catalogues.model_blocks import UNKNOWN

# The group of what is in none of the configured ones.
OTHER = "other"


def held_out_and_seen(
    paraphrased: Sequence[str], trained_on: Sequence[str], all_known: bool = True
) -> dict[str, list[str]]:
    """Return the groups of the corpora whose references are paraphrased, in the report's order.

    Args:
        paraphrased: these corpora.
        trained_on: the corpora that a model is known to have seen.
        all_known: whether it is known of every model what it has seen. If not, a corpus that none
            is known to have seen is not held out for sure: its group is `unknown`.
    """
    return {
        "held_out" if all_known else UNKNOWN: [
            name for name in paraphrased if name not in trained_on
        ],
        "seen": [name for name in paraphrased if name in trained_on],
    }


def group_of(groups: Mapping[str, Sequence[str]]) -> dict[str, str]:
    """Return the group of each corpus.

    Raises:
        InputError: a corpus is in two groups.
    """
    result: dict[str, str] = {}
    for group, corpora in groups.items():
        for corpus in corpora:
            if result.setdefault(corpus, group) != group:
                raise InputError(
                    f"evaluate.groups: '{corpus}' is both in {result[corpus]} and in {group}; "
                    "name it in one of them"
                )
    return result
