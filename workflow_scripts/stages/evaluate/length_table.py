"""The systems by the length of the reference, as ParaBank's Table 4 (Hu et al., AAAI 2019)."""

from collections.abc import Callable
from functools import partial
from typing import Any

from workflow_scripts.stages.evaluate.results import paraphrase_count

# A range of lengths, or an exact length, in measures.json -> a figure of it.
Cell = Callable[[dict[str, Any]], float | None]


def heading(span: dict[str, Any]) -> str:
    """Return the name of a range of lengths, or of an exact length, in measures.json."""
    if "length" in span:
        return f"exactly {span['length']}"
    return f"over {span['from'] - 1}" if span["to"] is None else f"{span['from']} to {span['to']}"


def per_reference(span: dict[str, Any]) -> float | None:
    """Return the mean number of paraphrases of a range's references."""
    return paraphrase_count(span) / span["references"] if span["references"] else None


def length_table(
    measures: dict[str, dict[str, Any]], group: str = "all", exact: bool = False
) -> dict[str, Any]:
    """Return the table: for each measure, a row for each system and a column for each range.

    Args:
        measures: measures.json by system.
        group: the references that count.
        exact: the columns are exact lengths; the measure is the modified BLEU.

    Returns:
        `headings` of the columns and `measures`: dicts of `label`, `digits` (None for counts) and
        `rows`: the system and its cells. Systems with one rank have no row of the last rank.
    """
    lengths = "exact_lengths" if exact else "by_length"
    systems = {name: figures["groups"][group][lengths] for name, figures in measures.items()}
    ranks = {name: figures["config"]["best"] for name, figures in measures.items()}

    def rows(cell: Cell, several: bool = False) -> list[tuple[str, list[float | None]]]:
        return [
            (name, [cell(span) for span in spans])
            for name, spans in systems.items()
            if not several or ranks[name] > 1
        ]

    def overlap(rank: int) -> Cell:
        return lambda span: span["ranks"][rank].get("words", {}).get("intersection_over_union")

    def figure(rank: int, name: str) -> Cell:
        return lambda span: span["ranks"][rank][name]

    table: list[dict[str, Any]] = [
        {"label": "references", "digits": None, "rows": rows(lambda span: span["references"])},
        {"label": "paraphrases per reference", "digits": 2, "rows": rows(per_reference)},
    ]
    cells: dict[str, Callable[[int], Cell]]
    if exact:
        table.append({"label": "drawn", "digits": None, "rows": rows(lambda span: span["drawn"])})
        cells = {"modified BLEU": partial(figure, name="modified_bleu")}
    else:
        cells = {"1−BLEU": partial(figure, name="one_minus_bleu"), "∩/∪ of words": overlap}
    for label, cell in cells.items():
        table.append({"label": f"{label}, rank 1", "digits": 2, "rows": rows(cell(0))})
        last = rows(cell(-1), several=True)
        table.append({"label": f"{label}, last rank", "digits": 2, "rows": last})
    first = next(iter(systems.values()))
    return {
        "headings": [heading(span) for span in first],
        "measures": [measure for measure in table if measure["rows"]],
    }
