"""All features by name, and their numbers for some pairs."""

from collections.abc import Iterable

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.judge.features import nll
from workflow_scripts.judge.features.feature import Feature, Models
from workflow_scripts.judge.pairs import Numbers, Pairs

FEATURES: dict[str, Feature] = {each.name: each for family in (nll,) for each in family.FEATURES}


def compute(pairs: Pairs, names: Iterable[str], models: Models) -> dict[str, Numbers]:
    """Return the numbers of each feature, shape (pairs,), NaN where unknown.

    Raises:
        InputError: a name is no feature.
    """
    names = list(names)
    for name in names:
        if name not in FEATURES:
            raise InputError(f"'{name}' is no feature of pairs{suggestion(name, list(FEATURES))}")
    return {name: FEATURES[name].compute(pairs, models) for name in names}
