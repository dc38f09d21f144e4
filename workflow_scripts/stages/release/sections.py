"""The release's own sections of the report: what became of the rows, and by which settings."""

from collections.abc import Sequence
from typing import Any

from workflow_scripts.core.files.yaml_text import yaml_of
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.rendering import decimal, grouped
from workflow_scripts.plan.catalogues.written_sources import TEXT
from workflow_scripts.plan.run.tools import tools_of
from workflow_scripts.stages.corpus.report import Written, written_of
from workflow_scripts.stages.evaluate.results import (
    all_measures,
    most_paraphrases,
    paraphrase_count,
    shown_groups,
)
from workflow_scripts.stages.release.inputs import described_stages
from workflow_scripts.stages.train.results import all_metrics


def overview(run: FinishedRun) -> dict[str, Any] | None:
    """Return the few figures that matter most, and how many paraphrases there are.

    None for a run without systems.
    """
    measures = all_measures(run)
    if not measures:
        return None
    systems = [system_overview(name, system) for name, system in measures.items()]
    return {
        "tiles": tiles(
            described_stages(run),
            all_metrics(run),
            systems,
            written_of(run, run.config.get("written_sources", ())),
        ),
        "overviews": systems,
        "groups": {name: shown_groups(system["groups"]) for name, system in measures.items()},
        "most_paraphrases": most_paraphrases(measures),
    }


def stages(run: FinishedRun) -> dict[str, Any] | None:
    """Return the rows of every stage; None for a run without systems."""
    described = described_stages(run)
    return {"stages": bars(described)} if described else None


def configuration(run: FinishedRun) -> dict[str, Any]:
    """Return the settings of the release and of every stage, and the versions of the tools."""
    described = described_stages(run)
    return {
        "config_text": yaml_of(run.config),
        "tools": tools_of(described),
        "stages": [{**stage, "config_text": yaml_of(stage["config"])} for stage in described],
    }


def system_overview(system: str, measures: dict[str, Any]) -> dict[str, Any]:
    """Return how many of a system's candidates became paraphrases."""
    group, threshold = measures["groups"]["all"], measures["threshold"]
    probability = threshold.get("probability")  # of a judge, where there is one
    return {
        "system": system,
        "references": group["references"],
        "distinct": group["scores"]["candidates"],
        "scored": group["scores"]["candidates"] - group["scores"]["pruned"],
        "keep": threshold["keep"],
        "max_sum": threshold["max_sum"],
        "probability": probability,
        "kept": (probability or threshold)["kept"],
        "paraphrases": paraphrase_count(group),
    }


def tiles(
    stage_list: list[dict[str, Any]],
    models: dict[str, dict[str, Any]],
    overviews: list[dict[str, Any]],
    written: Sequence[Written] = (),
) -> list[tuple[str, str]]:
    """Return the few figures of the run that stand at the top, each with its label.

    Text whose sources are written is no bitext, and is told apart.
    """
    names = [one.name for one in written]
    units = {f"corpus / {name}{part}" for name in names for part in ("", TEXT)}
    read = [
        stage["rows_in"]
        for stage in stage_list
        if stage["stage"] == "corpus" and stage["label"] not in units
    ]
    bleu = [
        (f"BLEU, {role} model", decimal(model["bleu"]["score"], 1))
        for role, model in models.items()
        if model["bleu"]
    ]
    return [
        *([("pairs of bitext read", grouped(sum(read)))] if read else []),
        *((f"references of {one.name}, {one.source}", grouped(one.written)) for one in written),
        *bleu,
        ("references paraphrased", grouped(max(one["references"] for one in overviews))),
        *((f"paraphrases, {one['system']}", grouped(one["paraphrases"])) for one in overviews),
    ]


def bars(stage_list: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the stages with the widths of their bars, in percent of the longest."""
    longest = max(stage["rows_in"] for stage in stage_list) or 1
    return [
        {
            **stage,
            "out_width": round(100 * stage["rows_out"] / longest, 2),
            "lost_width": round(100 * (stage["rows_in"] - stage["rows_out"]) / longest, 2),
        }
        for stage in stage_list
    ]
