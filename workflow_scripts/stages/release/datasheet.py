"""The datasheet of a released corpus: README.md in the form of a Hugging Face dataset card."""

import os
import re
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.model_notes import forbids_commerce
from workflow_scripts.core.files.yaml_text import yaml_of
from workflow_scripts.core.report.finished_run import finished_run
from workflow_scripts.core.report.rendering import environment
from workflow_scripts.core.version import commit, version
from workflow_scripts.plan.run.tools import tools_of
from workflow_scripts.stages.corpus.report import Written, written_of
from workflow_scripts.stages.evaluate.results import paraphrase_count, read_measures, shown_groups
from workflow_scripts.stages.release import TEMPLATES
from workflow_scripts.stages.release.doubts import doubts_of
from workflow_scripts.stages.release.export import LATER_FIGURES, PARAPHRASE_FIELDS
from workflow_scripts.stages.release.inputs import described_stages
from workflow_scripts.stages.release.licences import licence_fields
from workflow_scripts.stages.train.doubts import ADVICE
from workflow_scripts.stages.train.results import all_metrics

_WIDTH = 100
# The Hub's own size classes: upper bound and name.
SIZES = {
    10**3: "n<1K",
    10**4: "1K<n<10K",
    10**5: "10K<n<100K",
    10**6: "100K<n<1M",
    10**7: "1M<n<10M",
    10**8: "10M<n<100M",
    10**9: "100M<n<1B",
}


def size_category(rows: int) -> str:
    """Return the Hub's name for the size of a data set of `rows` rows."""
    return next((name for bound, name in SIZES.items() if rows < bound), "n>1B")


def front_matter(config: dict[str, Any], rows: int) -> dict[str, Any]:
    """Return the card's metadata."""
    data_files = [{"split": "train", "path": "paraphrases.parquet"}]
    told = (config, *config.get("runs", ()))
    written = any({"written_sources", "written", "sources"} & each.keys() for each in told)
    return {
        "pretty_name": " ".join(config["title"].split()),
        **licence_fields(config["licence"]),
        "language": [config["languages"]["reference"]],
        "annotations_creators": ["machine-generated"],
        "task_categories": ["sentence-similarity", "text-generation"],
        "tags": [
            *("paraphrase", "back-translation", "paraloom"),
            *(["machine-written-sources"] if written else []),
        ],
        "size_categories": [size_category(rows)],
        "configs": [{"config_name": "default", "data_files": data_files}],
    }


def datasheet(
    config: dict[str, Any],
    stage_list: list[dict[str, Any]],
    measures: dict[str, Any],
    models: list[dict[str, Any]],
    doubts: list[str],
    made_by: dict[str, str | None],
    written: Sequence[Written] = (),
) -> str:
    """Return the datasheet's text.

    Args:
        config: the release's settings for one system.
        stage_list: what `inputs.described_stages` returns.
        measures: the system's measures.json.
        models: the metrics.json of each model.
        doubts: why nobody should trust the corpus.
        made_by: what `making` returns.
        written: the corpora whose sources are written.
    """
    configuration = yaml_of(config["configuration"], _WIDTH) if "configuration" in config else ""
    everything = measures["groups"]["all"]
    declared = {model["role"]: model.get("declared", {}).get("licence") for model in models}
    licences = {
        model["role"]: model["licence"] or declared.get(model["role"])
        for model in config.get("models", ())
    }
    return (
        environment(TEMPLATES)
        .get_template("datasheet.md.j2")
        .render(
            front_matter=yaml_of(front_matter(config, everything["references"]), _WIDTH),
            title=" ".join(config["title"].split()),
            config=config,
            paraphrase_fields=[*PARAPHRASE_FIELDS],
            later_figures=[*LATER_FIGURES],
            system_block=yaml_of(config["block"], _WIDTH),
            stages=stage_list,
            tools=tools_of(stage_list),
            measures=measures,
            everything=everything,
            groups=shown_groups(measures["groups"]),
            paraphrases=paraphrase_count(everything),
            models=models,
            licences=licences,
            restricted=[role for role, licence in licences.items() if forbids_commerce(licence)],
            doubts=doubts,
            advice=ADVICE,
            made=made_by,
            written=written,
            configuration=configuration,
            fence=fence(configuration),
        )
    )


def fence(text: str) -> str:
    """Return the backticks around a block of code that may hold backticks itself."""
    return "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))


def making(times: list[float]) -> dict[str, str | None]:
    """Return what made a corpus and when: version and commit of Paraloom, first and last day.

    The days (UTC) are recorded ones, so a datasheet that is made again is the same. As for other
    programs, SOURCE_DATE_EPOCH takes their place: then two runs on two days give the same bytes.

    Args:
        times: when the manifests of the stages were written, in seconds since 1970.
    """
    epoch = os.environ.get("SOURCE_DATE_EPOCH", "")
    seconds = [float(epoch)] if epoch.isdecimal() else times
    first, last = (datetime.fromtimestamp(extreme(seconds), UTC).date() for extreme in (min, max))
    return {
        "version": version(),
        "commit": commit(),
        "first": first.isoformat(),
        "last": last.isoformat(),
    }


def write_datasheet(
    config: dict[str, Any], units: list[str], rows: dict[str, str], output: Path
) -> None:
    """Write the datasheet of one system's corpus.

    Args:
        config: the release's part of the configuration, for this system.
        units: `<stage>[/<instance>]=<folder>` of the finished units, in the order of the flow.
        rows: what a row is, by stage; the units of these stages are described.
        output: README.md.
    """
    finished = finished_run(config, units, rows)
    text = datasheet(
        config,
        described_stages(finished),
        read_measures(finished.folder("evaluate", config["system"]) / "measures.json"),
        list(all_metrics(finished).values()),
        doubts_of(finished),
        making(finished.times()),
        written_of(finished, config.get("written_sources", ())),
    )
    write_text(output, text)
    write_record(output, 0, 0, {})


main = command(write_datasheet, __name__)
