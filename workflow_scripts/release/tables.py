"""The report's tables of measures for programs: TSV files with the figures in full.

Each has a header line and one row for each figure or set of figures (docs/release.md).
"""

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.atomic import write_text
from workflow_scripts.core.cli import run
from workflow_scripts.core.manifest import read_manifest, write_record
from workflow_scripts.release.export import escape
from workflow_scripts.release.inputs import (
    named_path,
    read_measures,
    read_statistics,
    read_sts,
)
from workflow_scripts.release.lengths import per_reference
from workflow_scripts.release.sts_tables import (
    MEASURES,
    Model,
    chosen_by,
    correlation,
    data_columns,
    embedding_names,
    gain_rows,
    matching,
    models,
    of_model,
    quotations,
    source_of,
    times_100,
)

# The record of the files.
RECORD = "tables"
_STATES = ("trained", "untrained")


class Table(NamedTuple):
    """Names of the columns, and rows of as many values; None is an empty field."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


def _groups(measures: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    for system, each in measures.items():
        for name, group in each["groups"].items():
            yield system, name, group


def _overlaps(comparison: dict[str, Any]) -> tuple[Any, ...]:
    words, pieces = (comparison.get(bag, {}) for bag in ("words", "pieces"))
    return (
        words.get("intersection_over_union"),
        pieces.get("intersection_over_union"),
        words.get("length_ratio"),
    )


def _ends(interval: dict[str, float] | None) -> tuple[Any, Any]:
    return (interval["low"], interval["high"]) if interval else (None, None)


def diversity(measures: dict[str, Any]) -> Table:
    """Return every rank against the references (ParaBank 2, Table 1)."""
    columns = (
        *("system", "references", "rank", "one_minus_bleu", "low", "high"),
        *("intersection_over_union", "intersection_over_union_pieces", "length_ratio"),
        *("tree_edit_distance", "tree_low", "tree_high"),
        *("mean_sum", "listed", "repeated", "copies"),
    )
    rows = []
    for system, name, group in _groups(measures):
        for number, rank in enumerate(group["ranks"]):
            tree = group["syntax"]["ranks"][number] if group["syntax"] else {}
            rows.append(
                (
                    *(system, name, rank["rank"], rank["one_minus_bleu"]),
                    *_ends(rank["interval"]),
                    *_overlaps(rank),
                    *(tree.get("tree_edit_distance"), *_ends(tree.get("interval"))),
                    *(rank["mean_sum"], rank["listed"], rank["repeated"], rank["copies"]),
                )
            )
    return Table(columns, rows)


def between_ranks(measures: dict[str, Any]) -> Table:
    """Return every two ranks against each other (ParaBank 2, Table 2)."""
    columns = (
        *("system", "references", "first", "second", "pairs", "one_minus_bleu"),
        *("intersection_over_union", "intersection_over_union_pieces", "length_ratio"),
        "tree_edit_distance",
    )
    rows = []
    for system, name, group in _groups(measures):
        for number, pair in enumerate(group["between"]):
            tree = group["syntax"]["between"][number] if group["syntax"] else {}
            rows.append(
                (
                    *(system, name, pair["first"], pair["second"], pair["pairs"]),
                    *(pair["one_minus_bleu"], *_overlaps(pair), tree.get("tree_edit_distance")),
                )
            )
    return Table(columns, rows)


def lengths(measures: dict[str, Any]) -> Table:
    """Return every rank by the length of the reference (ParaBank, Table 4)."""
    columns = (
        *("system", "references", "from", "to", "number", "paraphrases_per_reference", "rank"),
        *("listed", "repeated", "one_minus_bleu"),
        *("intersection_over_union", "intersection_over_union_pieces", "length_ratio"),
    )
    rows = [
        (
            *(system, name, part["from"], part["to"], part["references"], per_reference(part)),
            *(rank["rank"], rank["listed"], rank["repeated"], rank["one_minus_bleu"]),
            *_overlaps(rank),
        )
        for system, name, group in _groups(measures)
        for part in group["by_length"]
        for rank in part["ranks"]
    ]
    return Table(columns, rows)


def statistics(found: dict[str, Any]) -> Table:
    """Return the corpus statistics (ParaNMT-50M, Table 1; Wieting et al. 2017, 9 and 10).

    A figure is named by its place in statistics.json; only means over sentences have a deviation
    and a count.
    """
    parts = ("sides", "difference", "columns", "correlations")
    rows = [
        (system, *figure)
        for system, each in found.items()
        for part in parts
        for figure in _figures(each[part], part)
    ]
    return Table(("system", "figure", "value", "deviation", "count"), rows)


def _figures(value: Any, name: str) -> Iterator[tuple[Any, ...]]:
    if not isinstance(value, dict):
        yield name, value, None, None
    elif "mean" in value:
        yield name, value["mean"], value["deviation"], value["count"]
    else:
        for key, each in value.items():
            yield from _figures(each, f"{name}.{key}")


def bins(found: dict[str, Any]) -> Table:
    """Return pairs and trigram overlap by bins of a paraphrase score (ParaNMT-50M, Table 3)."""
    rows = [
        (system, column, part["to"], part["count"], part["mean"], part["deviation"])
        for system, each in found.items()
        for column, parts in each["bins"].items()
        for part in parts
    ]
    return Table(("system", "column", "up_to", "pairs", "overlap_3", "deviation"), rows)


def sts_models(
    sts: dict[str, Any], found: list[Model], training_sets: dict[str, dict[str, Any]]
) -> Table:
    """Return every embedding on every training set: means over data sets and seeds."""
    correlations = [f"{state}_{measure}" for state in _STATES for measure in MEASURES]
    columns = (
        *("training_set", "system", "chosen_by", "pairs", "embedding", "seeds"),
        *(name for each in correlations for name in (each, f"{each}_deviation")),
        *(f"overlap_{measure}" for measure in MEASURES),
    )
    rows = []
    for model in found:
        manifest = training_sets[model.training_set]
        figures = [
            of_model(model, "mean", state, measure) for state in _STATES for measure in MEASURES
        ]
        rows.append(
            (
                *(model.training_set, manifest["config"]["system"], chosen_by(manifest["config"])),
                *(manifest["rows_out"], model.embedding, len(model.seeds)),
                *(value for each in figures for value in (each["mean"], each["deviation"])),
                *(times_100(sts["overlap"]["mean"][measure]) for measure in MEASURES),
            )
        )
    return Table(columns, rows)


def sts_data_sets(sts: dict[str, Any], found: list[Model], quoted: list[dict[str, Any]]) -> Table:
    """Return every model on every data set and year, overlap and quoted figures among them."""
    columns = (
        *("data", "pairs", "kind", "embedding", "training_set", "seeds"),
        *("pearson", "pearson_deviation", "spearman", "spearman_deviation", "source"),
    )
    names = list(dict.fromkeys([*sts["pairs"], *data_columns(sts), "mean"]))
    rows: list[tuple[Any, ...]] = []
    for data in names:
        size = sts["pairs"].get(data)
        plain = [times_100(correlation(sts["overlap"], data, measure)) for measure in MEASURES]
        rows.append((data, size, "overlap", None, None, None, plain[0], None, plain[1], None, None))
        for model in found:
            for state in _STATES:
                figures = [of_model(model, data, state, measure) for measure in MEASURES]
                rows.append(
                    (
                        *(data, size, state, model.embedding, model.training_set),
                        len(model.seeds),
                        *(value for each in figures for value in (each["mean"], each["deviation"])),
                        None,
                    )
                )
        for each in matching(quoted, sts, [data]):
            figure = (each["pearson"], None, None, None, source_of(each))
            rows.append((data, size, "quoted", each["row"], None, None, *figure))
    return Table(columns, rows)


def sts_gains(found: list[Model]) -> Table:
    """Return the gains in mean Pearson of each seed's model, with 95 % intervals."""
    rows = [
        (
            *(each["embedding"], each["training_set"], each["seed"], over),
            *((gain["pearson"], gain["low"], gain["high"]) if gain else (None, None, None)),
        )
        for each in gain_rows(found)
        for over in ("untrained", "overlap")
        for gain in (each[over],)
    ]
    return Table(("embedding", "training_set", "seed", "over", "pearson", "low", "high"), rows)


def tsv(table: Table) -> str:
    """Return a table as text, a line for each row."""
    lines = (map(_field, row) for row in [table.columns, *table.rows])
    return "".join("\t".join(fields) + "\n" for fields in lines)


def _field(value: Any) -> str:
    return "" if value is None else escape(str(value))


def tables(
    config: dict[str, Any],
    measures: dict[str, Any],
    found: dict[str, Any],
    sts: dict[str, Any] | None,
    training_sets: dict[str, dict[str, Any]],
) -> dict[str, Table]:
    """Return all tables by their names.

    Args:
        config: the release's part of the configuration.
        measures: measures.json by system.
        found: statistics.json by system.
        sts: sts.json, or None where the run has no embeddings.
        training_sets: the manifests of those that embeddings were trained on, by name.
    """
    result = {
        "diversity": diversity(measures),
        "between_ranks": between_ranks(measures),
        "lengths": lengths(measures),
        "statistics": statistics(found),
        "bins": bins(found),
    }
    if sts is not None:
        tested = models(sts, training_sets, embedding_names(config))
        result["sts"] = sts_models(sts, tested, training_sets)
        result["sts_data_sets"] = sts_data_sets(sts, tested, quotations(config))
        result["sts_gains"] = sts_gains(tested)
    return result


def add_embeddings(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run with embeddings, which the report takes as well."""
    parser.add_argument("--sts", type=Path, help="sts.json, where there are embeddings")
    parser.add_argument(
        "--training-sets",
        type=named_path,
        nargs="*",
        default=[],
        metavar="NAME=MANIFEST",
        help="those that embeddings were trained on",
    )


def read_embeddings(
    arguments: argparse.Namespace,
) -> tuple[dict[str, Any] | None, dict[str, dict[str, Any]]]:
    """Return what `add_embeddings` names: sts.json or None, and the manifests by name."""
    sts = None if arguments.sts is None else read_sts(arguments.sts)
    return sts, {name: read_manifest(path) for name, path in arguments.training_sets}


def main(argv: list[str] | None = None) -> None:
    """Write the tables of a run as TSV files."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json.loads, required=True, help="JSON")
    for option in ("measures", "statistics"):
        parser.add_argument(
            f"--{option}", type=named_path, nargs="+", required=True, help=f"system={option}.json"
        )
    add_embeddings(parser)
    parser.add_argument("--output", type=Path, required=True, help="folder")
    arguments = parser.parse_args(argv)
    sts, training_sets = read_embeddings(arguments)
    result = tables(
        arguments.config,
        {system: read_measures(path) for system, path in arguments.measures},
        {system: read_statistics(path) for system, path in arguments.statistics},
        sts,
        training_sets,
    )
    files = [arguments.output / f"{name}.tsv" for name in result]
    for path, table in zip(files, result.values(), strict=True):
        write_text(path, tsv(table))
    write_record(arguments.output / RECORD, 0, 0, {}, files=files)


if __name__ == "__main__":
    run(main)
