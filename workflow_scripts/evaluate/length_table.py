"""The systems by the length of the reference, as ParaBank's Table 4 (Hu et al., AAAI 2019)."""

from typing import Any

from workflow_scripts.evaluate.results import paraphrase_count


def heading(part: dict[str, Any]) -> str:
    """Return how a range of lengths is called; `part` is one of `by_length` in measures.json."""
    return f"over {part['from'] - 1}" if part["to"] is None else f"{part['from']} to {part['to']}"


def per_reference(part: dict[str, Any]) -> float | None:
    """Return the mean number of paraphrases of a range's references."""
    return paraphrase_count(part) / part["references"] if part["references"] else None


def length_table(measures: dict[str, dict[str, Any]], group: str = "all") -> dict[str, Any]:
    """Return the table: of each measure a row for each system, a column for each range.

    Args:
        measures: measures.json by system.
        group: the references that count.

    Returns:
        `headings` of the columns and `measures`: dicts of `label`, `digits` (None for counts) and
        `rows`: the system and its cells. Systems with one rank have no row of the last rank.
    """
    systems = {name: each["groups"][group]["by_length"] for name, each in measures.items()}
    ranks = {name: each["config"]["best"] for name, each in measures.items()}

    def rows(cell: Any, several: bool = False) -> list[tuple[str, list[Any]]]:
        return [
            (name, [cell(part) for part in parts])
            for name, parts in systems.items()
            if not several or ranks[name] > 1
        ]

    def overlap(rank: int) -> Any:
        return lambda part: part["ranks"][rank].get("words", {}).get("intersection_over_union")

    def bleu(rank: int) -> Any:
        return lambda part: part["ranks"][rank]["one_minus_bleu"]

    table = [
        {"label": "references", "digits": None, "rows": rows(lambda part: part["references"])},
        {"label": "paraphrases per reference", "digits": 2, "rows": rows(per_reference)},
        {"label": "1−BLEU, rank 1", "digits": 2, "rows": rows(bleu(0))},
        {"label": "1−BLEU, last rank", "digits": 2, "rows": rows(bleu(-1), several=True)},
        {"label": "∩/∪ of words, rank 1", "digits": 2, "rows": rows(overlap(0))},
        {"label": "∩/∪ of words, last rank", "digits": 2, "rows": rows(overlap(-1), several=True)},
    ]
    first = next(iter(systems.values()))
    return {
        "headings": [heading(part) for part in first],
        "measures": [each for each in table if each["rows"]],
    }
