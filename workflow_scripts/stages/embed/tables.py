"""The stage's tables in the release: the test of the embeddings, correlations x 100."""

from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.embed.results import tested
from workflow_scripts.stages.embed.sts_tables import (
    MEASURES,
    baseline_results,
    chosen_by,
    correlation,
    data_columns,
    difference_rows,
    encoder_differences,
    gain_rows,
    matching,
    mean_columns,
    of_model,
    quotations,
    source_of,
    times_100,
    tuned_rows,
)

_STATES = ("trained", "untrained")


def sts(run: FinishedRun) -> Table:
    """Return every embedding on every training set: means over data sets and seeds."""
    result, training_sets, found = tested(run)
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
                *(times_100(result["overlap"]["mean"][measure]) for measure in MEASURES),
            )
        )
    return Table(columns, rows)


def sts_data_sets(run: FinishedRun) -> Table:
    """Return every model on every data set and year, baselines and quoted figures among them.

    Of the rows of a mean, `bt2017` is that of the 22 tasks of Wieting et al. (2017), or of those of
    them that the run has.
    """
    result, _, found = tested(run)
    quoted = quotations(run.config)
    columns = (
        *("data", "pairs", "kind", "embedding", "training_set", "seeds"),
        *("pearson", "pearson_deviation", "spearman", "spearman_deviation", "source"),
    )
    names = list(dict.fromkeys([*result["pairs"], *data_columns(result), *mean_columns(result)]))
    rows: list[tuple[Any, ...]] = []
    for data in names:
        size = result["pairs"].get(data)
        for baseline, each in baseline_results(result).items():
            plain = [times_100(correlation(each, data, measure)) for measure in MEASURES]
            shown = (plain[0], None, plain[1], None, None)
            rows.append((data, size, baseline, None, None, None, *shown))
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
        for each in matching(quoted, result, [data]):
            figure = (each["pearson"], None, None, None, source_of(each))
            rows.append((data, size, "quoted", each["row"], None, None, *figure))
    return Table(columns, rows)


def sts_gains(run: FinishedRun) -> Table:
    """Return the gains in mean Pearson of each seed's model, with 95 % intervals."""
    rows = [
        (
            *(each["embedding"], each["training_set"], each["seed"], over),
            *_interval(each[over]),
        )
        for each in gain_rows(tested(run).models)
        for over in ("untrained", "overlap")
    ]
    return Table(("embedding", "training_set", "seed", "over", "pearson", "low", "high"), rows)


def sts_differences(run: FinishedRun) -> Table:
    """Return the gain of one training set over another, means over seeds, with 95 % intervals."""
    result, _, found = tested(run)
    columns = ("embedding", "first", "second", "pearson", "low", "high")
    rows = [
        (each["embedding"], each["first"], each["second"], *_interval(each["gain"]))
        for each in difference_rows(result, found)
    ]
    return Table(columns, rows)


def sts_encoder_differences(run: FinishedRun) -> Table:
    """Return how much each two embeddings on a training set differ (ParaNMT-50M, Table 10)."""
    result, _, found = tested(run)
    columns = ("training_set", "first", "second", "data_sets", "difference")
    rows = [
        tuple(each[column] for column in columns) for each in encoder_differences(result, found)
    ]
    return Table(columns, rows)


def sts_tuned(run: FinishedRun) -> Table:
    """Return the points of the grids that were tuned (Wieting et al. 2017, Tables 6, 7 and 12).

    Only the chosen point has figures of the test sets.
    """
    result, training_sets, found = tested(run)
    columns = (
        *("grid", "embedding", "training_set", "chosen_by", "pairs", "development", "chosen"),
        *("pearson", "pearson_deviation", "pearson_bt2017", "bt2017_data_sets"),
    )
    tasks = result["overlap"]["bt2017"]["data_sets"]
    rows: list[tuple[Any, ...]] = []
    for each in tuned_rows(result, found, training_sets):
        for point in each["points"]:
            known = (each["grid"], each["embedding"], point["training_set"], point["chosen_by"])
            figures: tuple[Any, ...] = (None, None, None, None)
            if point["chosen"]:
                mean = point["mean"]
                figures = (mean["mean"], mean["deviation"], point["bt2017"]["mean"], tasks)
            chosen = int(point["chosen"])
            rows.append((*known, point["pairs"], point["development"], chosen, *figures))
    return Table(columns, rows)


def _interval(gain: dict[str, float | None] | None) -> tuple[float | None, ...]:
    return (gain["pearson"], gain["low"], gain["high"]) if gain else (None, None, None)
