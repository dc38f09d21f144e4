"""When the references' own scores say that no usable paraphrases can come of the models."""

from typing import Any

POOR_SUM = 6.0  # nats per token: the median of the references' own sums


def doubts(own: dict[str, Any]) -> list[str]:
    """Return what is hopeless about the references' own scores; none if nothing is.

    Args:
        own: quantiles of the sums of all references, as in bounds.json.
    """
    (median,) = (one["max_sum"] for one in own["quantiles"] if one["quantile"] == 0.5)
    if median is None:
        unreadable, references = own["unreadable"], own["references"]
        return [f"the models can't read {unreadable:,} of the {references:,} references"]
    if median <= POOR_SUM:
        return []
    return [
        f"half of the references have a sum of NLLs above {median:.2f} themselves (poor: above 6): "
        "the models do not know such text"
    ]
