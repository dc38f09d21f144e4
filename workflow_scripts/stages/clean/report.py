"""The stage's section of the report."""

import unicodedata
from collections import Counter
from itertools import islice
from typing import Any

from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.statistics.frequency import most_frequent
from workflow_scripts.plan.charset import told_character

# Characters of each side that the table has.
_MOST = 30


def characters(run: FinishedRun) -> dict[str, Any] | None:
    """Return the characters for which pairs were left out; None if there are none.

    A folder that an older version made has no lists of rejected pairs.
    """
    if not run.has("clean"):
        return None
    counts = {side: Counter[str]() for side in ("source", "reference")}
    for record in sorted((run.folder("clean") / "rejected").glob("*.tsv.json")):
        by_side = read_record(record)["extra"]["characters"]
        for side, pairs in by_side.items():
            counts[side].update(pairs)
    if not any(counts.values()):
        return None
    charsets = run.manifest("clean")["config"]["charset"]
    sides = [
        {
            "side": side,
            "charset": charsets[side],
            "distinct": len(of_side),
            "rows": [
                {
                    "character": told_character(character),
                    "name": unicodedata.name(character, "no name"),
                    "pairs": pairs,
                }
                for character, pairs in islice(most_frequent(of_side).items(), _MOST)
            ],
        }
        for side, of_side in counts.items()
        if of_side
    ]
    return {"sides": sides}
