"""What the stage found, as the report, the datasheet and the summary read it."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.evaluate.diversity import mean

# The files of figures in the folder of a system, each with the record that speaks for it.
_RECORDS = {
    "measures": "evaluation",
    "statistics": "counting",
    "bounds": "bounding",
    "answers": "answering",
    "ratings": "rating",
    "variants": "comparison",
    "rewriting": "pairing",
}

# The oracle systems of ParaBank 2, 3.4: one paraphrase of each reference, by its human score; and
# the row of two of them against each other (Table 2).
ORACLES = ("max", "median", "min")
MAX_AGAINST_MIN = "max against min"


def read_measures(path: Path) -> dict[str, Any]:
    """Return the figures of a file, such as measures.json, checked against its record."""
    return read_json(path, _RECORDS[path.stem])


def all_measures(run: FinishedRun, file: str = "measures") -> dict[str, dict[str, Any]]:
    """Return the figures of a file, without its suffix, of every system that has it, by system."""
    return {
        system: read_measures(run.folder("evaluate", system) / f"{file}.json")
        for system in run.instances("evaluate")
        if _has(run, system, file)
    }


def _has(run: FinishedRun, system: str, file: str) -> bool:
    """Tell whether a system has a file that not all systems of its run have."""
    if file not in ("variants", "bounds", "rewriting"):
        return True
    config = read_measures(run.folder("evaluate", system) / "measures.json")["config"]
    if file == "bounds":  # none of a system that a rewriter writes
        return not config.get("rewritten")
    return bool(config.get("variants" if file == "variants" else "bilingual"))


def mean_modified_bleu(lengths: list[dict[str, Any]]) -> float | None:
    """Return the mean over the exact lengths, the column Avg. of ParaBank's Table 4.

    None where a length has no pair.
    """
    values = [of_length["modified_bleu"] for of_length in lengths]
    return None if None in values else mean(sum(values), len(values))


def rating_rows(figures: dict[str, Any] | None) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of a table of ratings with their names.

    Args:
        figures: of a ratings.json; None where nothing of a system was rated.
    """
    if figures is None:
        return []
    nobody = dict.fromkeys(("similarity", "grammatical", "interval"))
    # Figures of an earlier version do not compare them.
    oracles = figures.get("max_against_min")
    against = oracles and [(MAX_AGAINST_MIN, {**nobody, "rated": oracles["pairs"], **oracles})]
    return [
        ("all", figures["all"]),
        *((f"rank {row['rank']}", row) for row in figures["ranks"]),
        *((row["oracle"], row) for row in figures["oracles"]),
        *(against or []),
    ]


def shown_groups(groups: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return the groups that tables show, by their names for readers.

    They are those of a measures.json, or of the `own` of a bounds.json. A group without references
    is left out. One that has all references is not shown twice: its figures are those of `all`,
    whose name then tells it, as in `all (unknown)`.
    """
    everything = groups["all"]
    shown = {"all": everything}
    for name, group in groups.items():
        label = name.replace("_", "-")
        if name == "all" or not group["references"]:
            continue
        if group["references"] == everything["references"]:
            return {f"all ({label})": everything}
        shown[label] = group
    return shown


def paraphrase_count(group: dict[str, Any]) -> int:
    """Return the number of paraphrases in a group of measures.json, or in a range of lengths."""
    return sum(n * count for n, count in enumerate(group["references_by_paraphrases"]))


def most_paraphrases(measures: dict[str, dict[str, Any]]) -> int:
    """Return how many paraphrases of a reference any system may have; measures.json by system."""
    return max(figures["config"]["best"] for figures in measures.values())
