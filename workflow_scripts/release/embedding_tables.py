"""The test of the embeddings as tables, a row for each set of figures; correlations are x 100."""

from typing import Any

from workflow_scripts.release.sts_tables import (
    MEASURES,
    Model,
    chosen_by,
    correlation,
    data_columns,
    difference_rows,
    gain_rows,
    matching,
    of_model,
    source_of,
    times_100,
)
from workflow_scripts.release.table import Table

_STATES = ("trained", "untrained")


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
            *_interval(each[over]),
        )
        for each in gain_rows(found)
        for over in ("untrained", "overlap")
    ]
    return Table(("embedding", "training_set", "seed", "over", "pearson", "low", "high"), rows)


def sts_differences(sts: dict[str, Any], found: list[Model]) -> Table:
    """Return the gain of one training set over another, means over seeds, with 95 % intervals."""
    columns = ("embedding", "first", "second", "pearson", "low", "high")
    rows = [
        (each["embedding"], each["first"], each["second"], *_interval(each["gain"]))
        for each in difference_rows(sts, found)
    ]
    return Table(columns, rows)


def _interval(gain: dict[str, float | None] | None) -> tuple[float | None, ...]:
    return (gain["pearson"], gain["low"], gain["high"]) if gain else (None, None, None)
