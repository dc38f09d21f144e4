"""What is known of the rewriters, as the report and the card of a rewriter read it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.files.manifest import read_json, verify_file
from workflow_scripts.core.files.rewriter_card import CARD
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.stages.rewrite import unit_kinds

# The files of a rewriter's measures, of which one record speaks.
PARAPHRASES, MEASURES = "paraphrases.jsonl", "measures.json"
_RECORD = "paraphrases"
# The figures of a search that have an interval; None where a run can't have one of them.
FIGURES = ("bleu", "one_minus_bleu", "copies", "length_ratio", "cosine", "exact_meaning")
# The files of the measures of repair, of which one record speaks.
SENTENCES, REPAIR = "sentences.tsv", "repair.json"
# The figures of a method and a kind of damage; the last one only where meanings are known.
REPAIR_FIGURES = ("repaired", "kept", "exact", "same_meaning")
# How well a rewriter follows templates: the file and its record.
CONTROL, _ANSWERS = "control.json", "answers"
# What a setting asks for, and what the rewriter reads.
CONTROL_SETTINGS = {
    "target": "that of the held-out target, which it reads",
    "own": "that of the held-out target; it reads that of the sentence itself",
    "free": "that of the held-out target; it reads none",
    "frequent": "each of the most frequent ones, which it reads",
    "frequent_free": "each of the most frequent ones; it reads none",
}


def read_about(folder: Path) -> dict[str, Any]:
    """Return what the folder of a rewriter says of it."""
    return read_json(folder / CARD, "model")


def read_measures(folder: Path) -> dict[str, Any]:
    """Return the measures of a rewriter by search, `greedy` and `beam`."""
    return read_json(folder / MEASURES, _RECORD)


def read_paraphrases(folder: Path) -> Iterator[dict[str, Any]]:
    """Yield the held-out sentences with what both searches made of them."""
    path = folder / PARAPHRASES
    verify_file(path, _RECORD)
    with path.open(encoding="utf-8", newline="\n") as lines:
        for line in lines:
            yield json.loads(line)


def read_repair(folder: Path) -> dict[str, Any]:
    """Return what is known of the repair of damage, by method and kind, with examples."""
    return read_json(folder / REPAIR, Path(SENTENCES).stem)


def read_control(folder: Path) -> dict[str, Any]:
    """Return the measures of a rewriter with templates."""
    return read_json(folder / CONTROL, _ANSWERS)


def controlled(run: FinishedRun) -> dict[str, dict[str, Any]]:
    """Return the measures of the rewriters with templates, by their names."""
    units = [name for name in run.instances("rewrite") if name.endswith(unit_kinds.CONTROL)]
    return {
        name.removesuffix(unit_kinds.CONTROL): read_control(run.folder("rewrite", name))
        for name in units
    }


def repairers(run: FinishedRun) -> list[str]:
    """Return the rewriters whose repair of damage a release reads."""
    return _with_unit(run, unit_kinds.REPAIR)


def rewriters(run: FinishedRun) -> list[str]:
    """Return the rewriters whose models and measures a release reads."""
    return _with_unit(run, unit_kinds.MEASURES)


def _with_unit(run: FinishedRun, part: str) -> list[str]:
    return [name for name in run.instances("rewrite") if run.has("rewrite", f"{name}{part}")]
