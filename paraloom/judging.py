"""The judge of a language, ready to work on pairs of texts."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from paraloom.models import COMPILED_PRODUCTS, our_system
from paraloom.requests import ArgumentError, device_for
from paraloom.threads import one_torch_thread
from workflow_scripts.core.device import choose_device
from workflow_scripts.nmt.memory import bound_compiled_products
from workflow_scripts.plan.catalogues.judges import DEFAULT
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs
from workflow_scripts.stages.judge.opened import AtWork, has_labels, judge_of, models_of, scores

# Pairs that are judged together: the vectors of all their tokens are in memory.
_CHUNK = 64


class ReadyJudge:
    """The judge of a language, with the models of its features.

    Args:
        name: `default`: the one that ships; a folder with judge.json, or such a file.
        language: of the references (ISO 639); None: not known.
        encoder: folder of its encoder; None for the judge's own.
        device: `auto`, `cpu` or `cuda`.

    Attributes:
        at_least: the probability of what is worth giving; 0 where no label is in the language.

    Raises:
        InputError: there is no such judge, or it knows another language; or a model is missing, or
            is not the judge's.
    """

    @one_torch_thread()
    def __init__(
        self,
        name: str | Path,
        language: str | None,
        encoder: Path | None = None,
        device: str | None = None,
    ):
        self._judge = judge = judge_of(str(name), language)
        usual = our_system()["select"]["keep"].get("probability")
        self.at_least = float(usual or 0) if has_labels(judge, language) else 0.0
        bound_compiled_products(COMPILED_PRODUCTS)
        place = choose_device(device_for(device, "fp32")).type
        self._models = models_of(judge, encoder, None, place)

    def probabilities(self, pairs: Pairs, at_work: AtWork = map) -> list[float]:
        """Return the probability of each pair to be good; see `scores`.

        Raises:
            InputError: too little is known of a pair.
        """
        return list(scores(self._judge, pairs, self._models, _CHUNK, at_work))


def ready_judge(
    name: str | Path | None, language: str | None, device: str | None
) -> ReadyJudge | None:
    """Return the judge of a language.

    Args:
        name: as that of a `ReadyJudge`; None: no judge.
        language: of the references (ISO 639); None: not known, and `default` is no judge.
        device: `auto`, `cpu` or `cuda`.

    Raises:
        InputError: there is no such judge, or it knows another language.
    """
    if name is None or (name == DEFAULT and language is None):
        return None
    return ReadyJudge(name, language, device=device)


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
