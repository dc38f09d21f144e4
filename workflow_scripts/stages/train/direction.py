"""Which way a finished model translates: what its files say, and a measurement.

A source says much of its translation, to whoever can read it. So a model gains by the true source
of a target, compared with the source of another pair: in nats, the NLL that it falls by. What is
gained does not depend on how the target is cut into pieces. A model that is given pairs the wrong
way round gains little by them.
"""

import math
from typing import NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.text.language_codes import differ
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.scoring import Pair, score
from workflow_scripts.stages.subword.segmenter import Segmenter

# The most pairs that are measured.
PAIRS = 100
# A model translates a way in which it gains this many times as much as in the other, and this many
# nats more a pair: models without sense gain nothing either way.
_TIMES = 1.5
_MORE = 3.0

TextPair = tuple[str, str]


class Languages(NamedTuple):
    """Codes of what a model reads and writes; None where that is not known."""

    source: str | None
    target: str | None


def check(
    name: str,
    declared: Languages,
    gained: tuple[float, float] | None,
    wanted: Languages,
    chosen: bool = False,
) -> None:
    """Refuse a model of other languages than those of its role, or of the other direction.

    Args:
        name: what messages call the model.
        declared: the languages, as its files tell them, also with a script or a country (por_Latn,
            pt_XX). Codes of two and of three letters are compared where both are known.
        gained: see `gains`. Notes may name a model's languages in any order, so where they say that
            it is exchanged, the measurement decides.
        wanted: the languages of the role.
        chosen: whether a user chose the declared languages, so that their order is certain.

    Raises:
        InputError: it is of others, or exchanged.
    """
    as_is, exchanged = gained or (0.0, 0.0)
    role = "-".join(code or "?" for code in wanted)
    if _much_more(exchanged, as_is):
        raise InputError(
            f"{name}: it translates the other way round, not {role} as this role needs: the true "
            f"source is worth {as_is:.1f} nats to it, and {exchanged:.1f} with the sides of the "
            "pairs exchanged; exchange the models of forward and backward, or take another model"
        )
    if not any(map(differ, declared, wanted)):
        return
    is_exchanged = None not in declared and not any(map(differ, declared, wanted[::-1]))
    if is_exchanged and not chosen and _much_more(as_is, exchanged):
        return
    says = "source and target (paraloom.json) say" if chosen else "its files say"
    advice = "exchange the models of forward and backward" if is_exchanged else "take another model"
    if chosen and not is_exchanged:
        advice = "correct them, or the codes of `languages`"
    raise InputError(
        f"{name}: {says} that it translates {'-'.join(code or '?' for code in declared)}, but this "
        f"role needs {role}; {advice}"
    )


def _much_more(one: float, other: float) -> bool:
    return one > _TIMES * max(other, 0.0) and one - other > _MORE


def gains(
    model: Model, source: Segmenter, target: Segmenter, pairs: list[TextPair]
) -> tuple[float, float] | None:
    """Return what a model gains by the true source, in nats a pair: as it is, and the other way.

    Args:
        model: to be measured.
        source: its segmentation of what it reads.
        target: its segmentation of what it writes.
        pairs: texts, of what the model should read and write.

    Returns:
        The mean gain of the pairs as they are, and of the pairs with their sides exchanged; None
        if there are too few that the model can score.
    """
    if len(pairs) < 2:
        return None
    shifted = [*pairs[len(pairs) // 2 :], *pairs[: len(pairs) // 2]]
    mean_gains = []
    for read, written in ((0, 1), (1, 0)):
        targets = [model.target_vocab.ids(target.pieces(pair[written])) for pair in pairs]
        sources = [model.source_ids(source.pieces(pair[read])) for pair in (*pairs, *shifted)]
        # At once, so that each source is encoded once for both of its targets.
        nats = _nats(model, list(zip(sources, targets * 2, strict=True)))
        true, other = nats[: len(pairs)], nats[len(pairs) :]
        differences = [b - a for a, b in zip(true, other, strict=True) if math.isfinite(b - a)]
        if not differences:
            return None
        mean_gains.append(sum(differences) / len(differences))
    return mean_gains[0], mean_gains[1]


def _nats(model: Model, pairs: list[Pair]) -> list[float]:
    """Return the NLL of whole targets; infinite for pairs that have none."""
    nlls = zip(score(model, pairs), pairs, strict=True)
    return [nll * (len(target) + 1) for nll, (_, target) in nlls]
