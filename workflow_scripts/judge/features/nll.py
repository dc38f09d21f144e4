"""NLLs of the paraphrase, and the same relative to those of the human reference."""

from workflow_scripts.judge.features.feature import Feature, Models
from workflow_scripts.judge.pairs import Numbers, Pairs


def _column(name: str) -> Feature:
    return Feature(name, lambda pairs, _: getattr(pairs, name), columns=(name,))


def _gain(direction: str) -> Feature:
    of_reference, own = f"reference_{direction}_nll", f"{direction}_nll"

    def gain(pairs: Pairs, _: Models) -> Numbers:
        return getattr(pairs, of_reference) - getattr(pairs, own)

    return Feature(f"{direction}_gain", gain, columns=(own, of_reference))


FEATURES = (
    *map(_column, ("forward_nll", "backward_nll", "forward_total", "forward_worst")),
    *map(_gain, ("forward", "backward")),
)
