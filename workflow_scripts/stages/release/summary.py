"""The summary of a finished run on the terminal: its folders, counts, measures and STS."""

import os
from pathlib import Path
from typing import Any

import yaml

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_manifest
from workflow_scripts.core.report.terminal import fitted_table
from workflow_scripts.plan.catalogues.training_sets import training_sets
from workflow_scripts.plan.run.run_folders import run_folder
from workflow_scripts.stages.catalogue import STAGES
from workflow_scripts.stages.embed.results import read_sts
from workflow_scripts.stages.embed.sts_tables import Model, models, of_model, times_100
from workflow_scripts.stages.evaluate.results import read_measures, shown_groups
from workflow_scripts.stages.release.doubts import doubts
from workflow_scripts.stages.release.inputs import stages
from workflow_scripts.stages.train.doubts import ADVICE
from workflow_scripts.stages.train.results import read_metrics


def count_table(stage_list: list[dict[str, Any]]) -> str:
    """Return rows in, out and rejected of each unit; `stage_list` as from `inputs.stages`."""
    rows = [
        [
            stage["label"],
            stage["rows_in"],
            stage["rows_out"],
            ", ".join(f"{reason} {count:,}" for reason, count in stage["rejected"].items()),
        ]
        for stage in stage_list
    ]
    headers = ["stage", "rows in", "rows out", "rejected"]
    return fitted_table(rows, headers, texts=["stage", "rejected"])


def measure_table(systems: dict[str, dict[str, Any]]) -> str:
    """Return the measures of every system: a row for each rank in each group of references.

    The columns: 1-BLEU with its 95 % interval; intersection over union x 100; length ratio; mean
    sum of NLLs (lower is better); tree edit distance if sentences were parsed; on the testbed the
    percentage of paraphrases that mean exactly the same as their references.

    Args:
        systems: the groups of measures.json by system; without any there is no table ("").
    """
    if not systems:
        return ""
    rows = []
    for system, groups in systems.items():
        for name, group in shown_groups(groups).items():
            absent = {"ranks": [None] * len(group["ranks"])}
            quality, syntax = ((group[part] or absent)["ranks"] for part in ("testbed", "syntax"))
            for rank, exact, trees in zip(group["ranks"], quality, syntax, strict=True):
                interval, bag = rank["interval"], rank.get("words", {})
                rows.append(
                    [
                        system,
                        name,
                        rank["rank"],
                        rank["listed"],
                        rank["one_minus_bleu"],
                        f"{interval['low']:.1f} to {interval['high']:.1f}" if interval else None,
                        bag.get("intersection_over_union"),
                        bag.get("length_ratio"),
                        rank["mean_sum"],
                        trees["tree_edit_distance"] if trees else None,
                        exact["share"] if exact else None,
                    ]
                )
    headers = ["system", "references", "rank", "listed", "1-BLEU", "95 % interval", "int/union"]
    headers += ["length ratio", "mean sum", "tree distance", "same meaning %"]
    texts = ["system", "references", "95 % interval"]
    return fitted_table(rows, headers, keys=3, texts=texts, floatfmt=".2f")


def model_table(metrics: dict[str, dict[str, Any]]) -> str:
    """Return validation perplexity and BLEU of each model, by its role; "" if none has any."""
    rows = [
        [
            role,
            figures.get("updates"),  # a model of the user's own has none
            figures["validation_perplexity"],
            (figures["bleu"] or {}).get("score"),
        ]
        for role, figures in metrics.items()
    ]
    if all(figure is None for row in rows for figure in row[1:]):
        return ""
    headers = ["model", "updates", "dev perplexity", "test BLEU"]
    return fitted_table(rows, headers, texts=["model"], floatfmt=".2f")


def embedding_table(sts: dict[str, Any], embedding_models: list[Model]) -> str:
    """Return a row for each embedding: Pearson's r x 100, the mean over data sets and seeds."""
    overlap = times_100(sts["overlap"]["mean"]["pearson"])
    rows = []
    for model in embedding_models:
        untrained, trained = (of_model(model, "mean", state) for state in ("untrained", "trained"))
        figures = [untrained["mean"], trained["mean"], trained["deviation"], overlap]
        rows.append([model.embedding, model.training_set, len(model.seeds), *figures])
    headers = ["embedding", "training set", "seeds", "untrained STS", "trained STS", "deviation"]
    headers.append("word overlap")
    texts = ["embedding", "training set"]
    return fitted_table(rows, headers, keys=2, texts=texts, floatfmt=".1f")


def describe(folder: Path) -> str:
    """Return the summary of `runs/<name>`.

    Raises:
        InputError: the run does not exist or is not finished.
    """
    try:
        config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{folder}: no run there ({error.strerror}); see runs/") from error
    # The manifest of the release is the last file of a run.
    if not (folder / "release" / "manifest.json").exists():
        raise InputError(f"{folder}: the run is not finished; see paraloom status")
    links = [link for link in folder.iterdir() if link.is_symlink() and link.name != "release"]
    flow = [stage.name for stage in STAGES]
    links.sort(key=lambda link: (flow.index(link.name.partition(".")[0]), link.name))
    known = [link / "manifest.json" for link in links if (link / "manifest.json").exists()]
    metrics = {
        path.parent.name.removeprefix("train."): read_metrics(path.with_name("metrics.json"))
        for path in known
        if path.parent.name.startswith("train.")
    }
    measures = {
        system: read_measures(folder / f"evaluate.{system}" / "measures.json")["groups"]
        for system in config["run"]["systems"]
    }
    described = stages(map(read_manifest, known), {stage.name: stage.row for stage in STAGES})
    sections = [count_table(described), model_table(metrics), measure_table(measures)]
    if config["run"]["embeddings"]:
        sts = read_sts(folder / "embed.sts" / "sts.json")
        # Without STS data embeddings are trained, and not tested.
        if sts["overlap"]["all"]["n"]:
            embedding_models = models(sts, training_sets(config), config["run"]["embeddings"])
            sections.append(embedding_table(sts, embedding_models))
    release = os.path.relpath((folder / "release").resolve())
    evaluated = [folder / f"evaluate.{system}" for system in measures]
    if doubtful := doubts(metrics, evaluated):
        sections.append("\n".join(f"warning: {warning}" for warning in [*doubtful, ADVICE]))
    sections.append(f"release  {release}\nreport   {release}/report.html")
    return "\n\n".join(filter(None, sections))


def main(argv: list[str] | None = None) -> None:
    """Print where a finished run's release is, its counts and its measures."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--run", type=Path, required=True, help="name or folder")
    print(describe(run_folder(parser.parse_args(argv).run)))


if __name__ == "__main__":
    run(main)
