"""report.html: all figures of a run and fifty of its references on one self-contained page."""

import argparse
import csv
import heapq
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import yaml
from markupsafe import Markup

from workflow_scripts.core.atomic import write_text
from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.manifest import shard_paths, verify, verify_file
from workflow_scripts.core.progress import progress
from workflow_scripts.core.seeding import fraction
from workflow_scripts.core.tables import read_batches, read_rows
from workflow_scripts.evaluate.membership import OTHER, group_of
from workflow_scripts.release import plots
from workflow_scripts.release.inputs import (
    add_embeddings,
    named_path,
    paraphrase_count,
    read_embeddings,
    read_measures,
    read_metrics,
    read_statistics,
    stages,
    tools,
)
from workflow_scripts.release.lengths import length_table
from workflow_scripts.release.rendering import decimal, environment, grouped
from workflow_scripts.release.sts_tables import (
    data_columns,
    data_set_rows,
    difference_rows,
    embedding_names,
    gain_rows,
    models,
    quotations,
    times_100,
    training_set_blocks,
)

SAMPLE = 50
COLUMNS = ["id", "source", "reference", "corpus", "paraphrases", "reason"]


def sample_references(shards: list[Path], seed: int) -> list[dict[str, Any]]:
    """Return fifty rows of the `paraphrases` schema, drawn by their ids, in flat memory.

    Systems that paraphrase the same references give the same sample.
    """
    for path in shards:
        verify(path)
    ids = (row["id"] for path in shards for row in read_rows(path, "paraphrases", ["id"]))
    chosen = heapq.nsmallest(
        SAMPLE,
        progress(ids, desc="report, references"),
        key=lambda identifier: fraction(seed, "report", identifier),
    )
    rows: dict[str, dict[str, Any]] = {}
    for path in shards:
        for batch in read_batches(path, "paraphrases", COLUMNS):
            mask = pc.is_in(batch.column("id"), value_set=pa.array(chosen, pa.string()))
            rows.update((row["id"], row) for row in batch.filter(mask).to_pylist())
    return [rows[identifier] for identifier in chosen]


def samples_by_group(
    samples: dict[str, list[dict[str, Any]]], groups: dict[str, list[str]]
) -> dict[str, list[dict[str, Any]]]:
    """Return the sampled references of each group, with each system's row.

    Args:
        samples: the rows of each system.
        groups: the corpora of each group; references of no group are in `OTHER`.

    Returns:
        By group, dicts of id, source, reference, and `systems`: the row by system.
    """
    membership = group_of(groups)
    result: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in [*groups, OTHER]}
    for system, rows in samples.items():
        for row in rows:
            entry = result[membership.get(row["corpus"], OTHER)].setdefault(
                row["id"],
                {key: row[key] for key in ("id", "source", "reference")} | {"systems": {}},
            )
            entry["systems"][system] = row
    return {group: list(entries.values()) for group, entries in result.items() if entries}


def read_model(folder: Path) -> dict[str, Any]:
    """Return a model's metrics.json with its `curve`: the rows of learning_curve.tsv."""
    verify_file(folder / "learning_curve.tsv", "model")
    with (folder / "learning_curve.tsv").open(encoding="utf-8", newline="") as stream:
        rows = [
            {key: float(value) for key, value in row.items()}
            for row in csv.DictReader(stream, delimiter="\t")
        ]
    return {**read_metrics(folder / "metrics.json"), "curve": rows}


def matrix(group: dict[str, Any], best: int) -> list[list[float | None]]:
    """Return the comparison between ranks as ParaBank 2's Table 2 has it, in one square.

    Above the diagonal stands 1-BLEU, below it the words' intersection/union.
    """
    cells: list[list[float | None]] = [[None] * best for _ in range(best)]
    for pair in group["between"]:
        if pair["pairs"]:
            first, second = pair["first"] - 1, pair["second"] - 1
            cells[first][second] = pair["one_minus_bleu"]
            cells[second][first] = pair["words"]["intersection_over_union"]
    return cells


def overview(system: str, measures: dict[str, Any]) -> dict[str, Any]:
    """Return how many of a system's candidates became paraphrases."""
    group, threshold = measures["groups"]["all"], measures["threshold"]
    return {
        "system": system,
        "references": group["references"],
        "distinct": group["scores"]["candidates"],
        "scored": group["scores"]["candidates"] - group["scores"]["pruned"],
        "keep": threshold["keep"],
        "max_sum": threshold["max_sum"],
        "kept": threshold["kept"],
        "paraphrases": paraphrase_count(group),
    }


def tiles(
    stage_list: list[dict[str, Any]],
    models: dict[str, dict[str, Any]],
    overviews: list[dict[str, Any]],
) -> list[tuple[str, str]]:
    """Return the few figures of the run that stand at the top, each with its label."""
    read = sum(stage["rows_in"] for stage in stage_list if stage["stage"] == "corpus")
    bleu = [
        (f"BLEU, {role} model", decimal(model["bleu"]["score"], 1))
        for role, model in models.items()
        if model["bleu"]
    ]
    return [
        ("pairs of bitext read", grouped(read)),
        *bleu,
        ("references paraphrased", grouped(max(each["references"] for each in overviews))),
        *((f"paraphrases, {each['system']}", grouped(each["paraphrases"])) for each in overviews),
    ]


def bars(stage_list: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the stages with the widths of their bars, in percent of the longest."""
    longest = max(stage["rows_in"] for stage in stage_list) or 1
    return [
        {
            **stage,
            "out_width": round(100 * stage["rows_out"] / longest, 2),
            "lost_width": round(100 * (stage["rows_in"] - stage["rows_out"]) / longest, 2),
            "config_text": _yaml(stage["config"]),
        }
        for stage in stage_list
    ]


def rank_plot(measures: dict[str, dict[str, Any]]) -> Markup | None:
    """Return the plot of the ranks, or None where no reference has a paraphrase."""
    groups: dict[str, dict[str, list[dict[str, Any]]]] = {}
    for system, each in measures.items():
        for name, group in each["groups"].items():
            if group["difference"]:
                groups.setdefault(name.replace("_", "-"), {})[system] = group["ranks"]
    return plots.ranks(groups) if groups else None


def embedding_section(
    config: dict[str, Any], sts: dict[str, Any] | None, training_sets: dict[str, dict[str, Any]]
) -> dict[str, Any] | None:
    """Return what the section on embeddings shows, or None where the run has none.

    Args:
        config: the release's part of the configuration.
        sts: sts.json.
        training_sets: the manifests of those that embeddings were trained on, by name.
    """
    if sts is None:
        return None
    found = models(sts, training_sets, embedding_names(config))
    return {
        "pairs": sts["pairs"],
        "missing": sts["missing"],
        "settings": config.get("embeddings", []),
        "overlap": times_100(sts["overlap"]["mean"]["pearson"]),
        "blocks": training_set_blocks(found, training_sets),
        "columns": data_columns(sts),
        "rows": data_set_rows(sts, found, quotations(config)),
        "gains": gain_rows(found),
        "differences": difference_rows(sts, found),
    }


def _yaml(value: Any) -> str:
    return yaml.safe_dump(value, sort_keys=False, allow_unicode=True)


def report(
    config: dict[str, Any],
    stage_list: list[dict[str, Any]],
    measures: dict[str, dict[str, Any]],
    statistics: dict[str, dict[str, Any]],
    models: dict[str, dict[str, Any]],
    samples: dict[str, list[dict[str, Any]]],
    sts: dict[str, Any] | None = None,
    training_sets: dict[str, dict[str, Any]] | None = None,
) -> str:
    """Return the page.

    Args:
        config: the release's part of the configuration.
        stage_list: what `inputs.stages` returns.
        measures: measures.json by system.
        statistics: statistics.json by system.
        models: what `read_model` returns, by role.
        samples: what `sample_references` returns, by system.
        sts: sts.json, where the run has embeddings.
        training_sets: the manifests of those that embeddings were trained on, by name.
    """
    first = next(iter(measures.values()))
    overviews = [overview(system, each) for system, each in measures.items()]
    return (
        environment()
        .get_template("report.html.j2")
        .render(
            config=config,
            config_text=_yaml(config),
            tiles=tiles(stage_list, models, overviews),
            overviews=overviews,
            most_paraphrases=max(each["config"]["best"] for each in measures.values()),
            stages=bars(stage_list),
            tools=tools(stage_list),
            models=models,
            curves=[
                plots.learning_curve(model["curve"], role)
                for role, model in models.items()
                if model["curve"]
            ],
            measures=measures,
            statistics=statistics,
            group_names=[
                name
                for name in ("all", *first["config"]["groups"])
                if any(each["groups"][name]["references"] for each in measures.values())
            ],
            histograms={
                system: plots.score_histogram(
                    each["groups"]["all"]["scores"], each["threshold"]["max_sum"], system
                )
                for system, each in measures.items()
            },
            rank_plot=rank_plot(measures),
            lengths=length_table(measures),
            matrices={
                system: matrix(each["groups"]["all"], each["config"]["best"])
                for system, each in measures.items()
                if each["config"]["best"] > 1
            },
            syntax=[
                (system, name, group["syntax"])
                for system, each in measures.items()
                for name, group in each["groups"].items()
                if group["syntax"]
            ],
            embeddings=embedding_section(config, sts, training_sets or {}),
            quality=[
                (system, name, group["testbed"])
                for system, each in measures.items()
                for name, group in each["groups"].items()
                if group["testbed"]
            ],
            samples=samples_by_group(samples, first["config"]["groups"]),
        )
    )


def main(argv: list[str] | None = None) -> None:
    """Write the report of a run."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--manifests", type=Path, nargs="+", required=True, help="by stage")
    for option, what in (
        ("--measures", "system=measures.json"),
        ("--statistics", "system=statistics.json"),
        ("--models", "role=model folder"),
        ("--selected", "system=folder of the select stage"),
    ):
        parser.add_argument(option, type=named_path, nargs="+", required=True, help=what)
    add_embeddings(parser)
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--output", type=Path, required=True, help="report.html")
    arguments = parser.parse_args(argv)
    page = report(
        arguments.config,
        stages(arguments.manifests),
        {system: read_measures(path) for system, path in arguments.measures},
        {system: read_statistics(path) for system, path in arguments.statistics},
        {role: read_model(folder) for role, folder in arguments.models},
        {
            system: sample_references(
                shard_paths(folder, arguments.shards), arguments.config["seed"]
            )
            for system, folder in arguments.selected
        },
        *read_embeddings(arguments),
    )
    write_text(arguments.output, page)


if __name__ == "__main__":
    run(main)
