"""What is known of the lexicons' measures, as the report reads it."""

from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.report.finished_run import FinishedRun

# The files of a lexicon's measures, of which one record speaks.
SAMPLE, MEASURES = "sample.tsv", "measures.json"
_RECORD = "sample"
# The lexicon itself among what is compared.
LEXICON = "lexicon"
# What follows its name in the name of the unit.
PART = "-measures"


def measured(run: FinishedRun) -> list[str]:
    """Return the lexicons whose measures a release reads."""
    return [
        instance.removesuffix(PART)
        for instance in run.instances("lexicon")
        if instance.endswith(PART)
    ]


def read_measures(folder: Path) -> dict[str, Any]:
    """Return the measures of a lexicon."""
    return read_json(folder / MEASURES, _RECORD)
