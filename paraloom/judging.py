"""The judge of a language, ready to work on pairs of texts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paraloom.models import COMPILED_PRODUCTS
from paraloom.requests import ArgumentError, device_for
from workflow_scripts.core.device import choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.memory import bound_compiled_products
from workflow_scripts.plan.catalogues.judges import DEFAULT
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.judge.judge import Judge
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs
from workflow_scripts.stages.judge.opened import load_judge, models_of, scores

# Pairs that are judged together: the vectors of all their tokens are in memory.
_CHUNK = 128


class ReadyJudge:
    """A judge with the models of its features.

    Args:
        judge: as `judge.json` has it.
        encoder: folder of its encoder; None for the judge's own.
        device: `auto`, `cpu` or `cuda`.

    Raises:
        InputError: a model is missing, or is not the judge's.
    """

    def __init__(self, judge: Judge, encoder: Path | None = None, device: str | None = None):
        self._judge = judge
        bound_compiled_products(COMPILED_PRODUCTS)
        place = choose_device(device_for(device, "fp32")).type
        self._models = models_of(judge, encoder, None, place)

    def probabilities(self, pairs: Pairs) -> list[float]:
        """Return the probability of each pair to be good.

        Raises:
            InputError: too little is known of a pair.
        """
        return list(scores(self._judge, pairs, self._models, _CHUNK))


def ready_judge(
    name: str | Path | None, language: str, encoder: Path | None = None, device: str | None = None
) -> ReadyJudge | None:
    """Return the judge of a language.

    Args:
        name: `default`: the one that ships, for English, and none for other languages; a folder
            with judge.json, or such a file; None: no judge.
        language: of the references (ISO 639).
        encoder: folder of its encoder; None for the judge's own.
        device: `auto`, `cpu` or `cuda`.

    Raises:
        InputError: there is no such judge, or it knows another language.
    """
    if name is None or (name == DEFAULT and language not in ENGLISH):
        return None
    judge = load_judge(str(name))
    if language not in (ENGLISH if judge.language in ENGLISH else (judge.language,)):
        raise InputError(
            f"the judge '{name}' knows references in '{judge.language}' only, not in '{language}'; "
            "name another one, or none (judge=None)"
        )
    return ReadyJudge(judge, encoder, device)


def column(name: str, values: Sequence[float] | None, length: int) -> Numbers | None:
    """Return NLLs as a column of pairs, NaN where they are not finite.

    Raises:
        ArgumentError: there is not one for each pair, or they are no numbers.
    """
    if values is None:
        return None
    try:
        numbers = np.asarray(list(values), np.float64)
    except (TypeError, ValueError) as error:
        raise ArgumentError(f"{name} must be a list of numbers ({error})") from error
    if numbers.shape != (length,):
        raise ArgumentError(f"{name} has {numbers.size} numbers for {length} references")
    return np.where(np.isfinite(numbers), numbers, np.nan)
