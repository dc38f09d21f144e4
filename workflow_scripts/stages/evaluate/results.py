"""What the stage found, as the report, the datasheet and the summary read it."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.evaluate.diversity import mean


def read_measures(path: Path) -> dict[str, Any]:
    """Return a measures.json, checked against its record."""
    return read_json(path, "evaluation")


def read_statistics(path: Path) -> dict[str, Any]:
    """Return a statistics.json, checked against its record."""
    return read_json(path, "counting")


def read_bounds(path: Path) -> dict[str, Any]:
    """Return a bounds.json, checked against its record."""
    return read_json(path, "bounding")


def read_answers(path: Path) -> dict[str, Any]:
    """Return an answers.json, checked against its record."""
    return read_json(path, "answering")


def read_ratings(path: Path) -> dict[str, Any]:
    """Return a ratings.json, checked against its record."""
    return read_json(path, "rating")


def read_variants(path: Path) -> dict[str, Any]:
    """Return a variants.json, checked against its record."""
    return read_json(path, "comparison")


def read_rewriting(path: Path) -> dict[str, Any]:
    """Return a rewriting.json, checked against its record."""
    return read_json(path, "pairing")


def all_measures(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the measures.json of every system, by system."""
    return {
        system: read_measures(run.folder("evaluate", system) / "measures.json")
        for system in run.instances("evaluate")
    }


def all_variants(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the variants.json of every system that has variants, by system."""
    return {
        system: read_variants(run.folder("evaluate", system) / "variants.json")
        for system, measures in all_measures(run).items()
        if measures["config"].get("variants")
    }


def all_statistics(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the statistics.json of every system, by system."""
    return {
        system: read_statistics(run.folder("evaluate", system) / "statistics.json")
        for system in run.instances("evaluate")
    }


def all_bounds(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the bounds.json of every system, by system, but for those that a rewriter writes."""
    return {
        system: read_bounds(run.folder("evaluate", system) / "bounds.json")
        for system, measures in all_measures(run).items()
        if not measures["config"].get("rewritten")
    }


def all_rewriting(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the rewriting.json of every system that is compared so, by system."""
    return {
        system: read_rewriting(run.folder("evaluate", system) / "rewriting.json")
        for system, measures in all_measures(run).items()
        if measures["config"].get("bilingual")
    }


def all_answers(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the answers.json of every system, by system."""
    return {
        system: read_answers(run.folder("evaluate", system) / "answers.json")
        for system in run.instances("evaluate")
    }


def all_ratings(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the ratings.json of every system, by system."""
    return {
        system: read_ratings(run.folder("evaluate", system) / "ratings.json")
        for system in run.instances("evaluate")
    }


def mean_modified_bleu(lengths: list[dict[str, Any]]) -> float | None:
    """Return the mean over the exact lengths, the column Avg. of ParaBank's Table 4.

    None where a length has no pair.
    """
    found = [each["modified_bleu"] for each in lengths]
    return None if None in found else mean(sum(found), len(found))


def rating_rows(figures: dict[str, Any] | None) -> list[tuple[str, dict[str, Any]]]:
    """Return the rows of a table of ratings with their names.

    Args:
        figures: of a ratings.json; None where nothing of a system was rated.
    """
    if figures is None:
        return []
    return [
        ("all", figures["all"]),
        *((f"rank {each['rank']}", each) for each in figures["ranks"]),
        *((each["oracle"], each) for each in figures["oracles"]),
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
    return max(each["config"]["best"] for each in measures.values())
