"""Which way a finished model translates: what its files say, and a measurement.

A source says much of its translation, to whoever can read it. So a model gains by the true source
of a target, compared with the source of another pair: in nats, the NLL that it falls by. What is
gained does not depend on how the target is cut into pieces. A model that is given pairs the wrong
way round gains little by them.
"""

import json
import math
import re
from pathlib import Path
from typing import NamedTuple

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.kinds import HUGGING_FACE, ModelFiles
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.scoring import Pair, score
from workflow_scripts.subword.segmenter import Segmenter

# The most pairs that are measured.
PAIRS = 100
# A model is refused if it gains this many times as much the wrong way round, and so many nats more
# a pair: models without sense gain nothing either way.
_TIMES = 1.5
_MORE = 3.0

TextPair = tuple[str, str]


class Languages(NamedTuple):
    """Codes of what a model reads and writes; None where that is not known."""

    source: str | None
    target: str | None


def declared(folder: Path, files: ModelFiles) -> Languages:
    """Return the languages of a model as its files tell them: their names, or their settings."""
    if files.kind == HUGGING_FACE and "tokenizer_config.json" in files.names:
        settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
        known = [settings.get(f"{side}_lang") for side in ("source", "target")]
        return Languages(*(code if isinstance(code, str) else None for code in known))
    # As Firefox' models are named: model.pten.intgemm.alphas.bin
    found = re.search(r"\.([a-z]{2})([a-z]{2})\.", files.weights)
    return Languages(*found.groups()) if found else Languages(None, None)


def check_declared(name: str, languages: Languages, wanted: Languages) -> None:
    """Refuse a model whose files name other languages than those of its role.

    Codes of different kinds (pt, por) are not compared.

    Raises:
        InputError: they are others; the message says so if they are exchanged.
    """
    pairs = [(code, other) for code, other in zip(languages, wanted, strict=True) if code and other]
    if all(len(code) != len(other) or code == other for code, other in pairs):
        return
    told = "-".join(code or "?" for code in languages)
    role = "-".join(code or "?" for code in wanted)
    exchanged = languages == wanted[::-1]
    raise InputError(
        f"{name}: its files say that it translates {told}, but this role needs {role}; "
        + ("exchange the models of forward and backward" if exchanged else "take another model")
    )


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
    found = []
    for read, written in ((0, 1), (1, 0)):
        targets = [model.target_vocab.ids(target.pieces(pair[written])) for pair in pairs]
        sources = {
            kind: [model.source_ids(source.pieces(pair[read])) for pair in each]
            for kind, each in (("true", pairs), ("other", shifted))
        }
        true, other = (
            _nats(model, list(zip(sources[kind], targets, strict=True)))
            for kind in ("true", "other")
        )
        differences = [b - a for a, b in zip(true, other, strict=True) if math.isfinite(b - a)]
        if not differences:
            return None
        found.append(sum(differences) / len(differences))
    return found[0], found[1]


def _nats(model: Model, pairs: list[Pair]) -> list[float]:
    """Return the NLL of whole targets; infinite for pairs that have none."""
    nlls = zip(score(model, pairs), pairs, strict=True)
    return [nll * (len(target) + 1) for nll, (_, target) in nlls]


def check_measured(name: str, found: tuple[float, float] | None, wanted: Languages) -> None:
    """Refuse a model that translates the other way round.

    Raises:
        InputError: exchanged pairs tell it much more than pairs as they are.
    """
    if found is None:
        return
    as_is, exchanged = found
    if exchanged > _TIMES * max(as_is, 0.0) and exchanged - as_is > _MORE:
        role = "-".join(code or "?" for code in wanted)
        raise InputError(
            f"{name}: it translates the other way round, not {role} as this role needs: the true "
            f"source is worth {as_is:.1f} nats to it, and {exchanged:.1f} with the sides of the "
            "pairs exchanged; exchange the models of forward and backward, or take another model"
        )
