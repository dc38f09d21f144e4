"""Which group of references a corpus belongs to."""

from workflow_scripts.core.errors import InputError

# The group of what is in none of the configured ones.
OTHER = "other"


def group_of(groups: dict[str, list[str]]) -> dict[str, str]:
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
