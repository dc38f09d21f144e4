"""The stage's tables in the release: the test of the embeddings, correlations x 100."""

from typing import Any

from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.table import Record, Table
from workflow_scripts.stages.embed.results import tested
from workflow_scripts.stages.embed.sts_tables import (
    MEASURES,
    Model,
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
    source_rows,
    times_100,
    tuned_rows,
)

_STATES = ("trained", "untrained")
_GAIN = "pearson=gain.pearson low=gain.low high=gain.high"


def _with_deviation(figures: list[str]) -> str:
    return " ".join(f"{name}={name}?.mean {name}_deviation={name}?.deviation?" for name in figures)


def _known(model: Model) -> dict[str, Any]:
    """Return what a row tells of a model: its names, and the number of its seeds."""
    return {**model._asdict(), "seeds": len(model.seeds)}


def sts(run: FinishedRun) -> Table:
    """Return every embedding on every training set: means over data sets and seeds."""
    result, training_sets, models = tested(run)
    overlap = {f"overlap_{name}": times_100(result["overlap"]["mean"][name]) for name in MEASURES}
    states = [(f"{state}_{name}", state, name) for state in _STATES for name in MEASURES]
    rows = [
        {
            **_known(model),
            **overlap,
            **{name: of_model(model, "mean", state, measure) for name, state, measure in states},
            "system": manifest["config"]["system"],
            "chosen_by": chosen_by(manifest["config"]),
            "pairs": manifest["rows_out"],
        }
        for model in models
        for manifest in [training_sets[model.training_set]]
    ]
    figures = _with_deviation([name for name, *_ in states])
    known = "training_set system chosen_by pairs embedding seeds"
    return Table(f"{known} {figures} {' '.join(overlap)}", rows)


def sts_data_sets(run: FinishedRun) -> Table:
    """Return every model on every data set and year, baselines and quoted figures among them.

    Of the rows of a mean, `bt2017` is that of the 22 tasks of Wieting et al. (2017), or of those of
    them that the run has.
    """
    result, _, models = tested(run)
    quoted = quotations(run.config)
    names = dict.fromkeys([*result["pairs"], *data_columns(result), *mean_columns(result)])
    rows: list[Record] = []
    for data in names:
        own = {"data": data, "pairs": result["pairs"].get(data)}
        for baseline, of_data in baseline_results(result).items():
            figures = {
                name: {"mean": times_100(correlation(of_data, data, name))} for name in MEASURES
            }
            rows.append({**own, "kind": baseline, **figures})
        for model in models:
            for state in _STATES:
                figures = {name: of_model(model, data, state, name) for name in MEASURES}
                rows.append({**own, "kind": state, **_known(model), **figures})
        for figure in matching(quoted, result, [data]):
            of = {"kind": "quoted", "embedding": figure["row"], "source": source_of(figure)}
            rows.append({**own, **of, "pearson": {"mean": figure["pearson"]}})
    columns = "data pairs kind embedding? training_set? seeds?"
    return Table(f"{columns} {_with_deviation(list(MEASURES))} source?", rows)


def sts_gains(run: FinishedRun) -> Table:
    """Return the gains in mean Pearson of each seed's model, with 95 % intervals."""
    rows = [
        {**gain, "over": over, "gain": gain[over]}
        for gain in gain_rows(tested(run).models)
        for over in ("untrained", "overlap")
    ]
    return Table(f"embedding training_set seed over {_GAIN}", rows)


def sts_differences(run: FinishedRun) -> Table:
    """Return the gain of one training set over another, means over seeds, with 95 % intervals."""
    result, _, models = tested(run)
    return Table(f"embedding first second {_GAIN}", difference_rows(result, models))


def sts_encoder_differences(run: FinishedRun) -> Table:
    """Return how much each two embeddings on a training set differ (ParaNMT-50M, Table 10)."""
    result, _, models = tested(run)
    columns = "training_set first second data_sets difference"
    return Table(columns, encoder_differences(result, models))


def sts_tuned(run: FinishedRun) -> Table:
    """Return the points of the grids that were tuned (Wieting et al. 2017, Tables 6, 7 and 12).

    Only the chosen point has figures of the test sets.
    """
    result, training_sets, models = tested(run)
    tasks = result["overlap"]["bt2017"]["data_sets"]
    rows = [
        {
            **point,
            "grid": grid["grid"],
            "embedding": grid["embedding"],
            "chosen": int(point["chosen"]),
            "tasks": tasks if point["chosen"] else None,
        }
        for grid in tuned_rows(result, models, training_sets)
        for point in grid["points"]
    ]
    columns = (
        "grid embedding training_set chosen_by pairs development chosen pearson=mean.mean "
        "pearson_deviation=mean.deviation pearson_bt2017=bt2017.mean bt2017_data_sets=tasks"
    )
    return Table(columns, rows)


def sts_sources(run: FinishedRun) -> Table:
    """Return means over sources of data (Wieting et al. 2017, Tables 5, 6, 7 and 12)."""
    result, training_sets, models = tested(run)
    tasks = result["overlap"]["bt2017"]["data_sets"]
    rows = [{**row, "tasks": tasks} for row in source_rows(result, models, training_sets)]
    columns = (
        "grid embedding chosen_by sources pearson=mean pearson_bt2017=bt2017 "
        "bt2017_data_sets=tasks best=best.training_set best_pearson=best.mean "
        "best_bt2017=best.bt2017"
    )
    return Table(columns, rows)
