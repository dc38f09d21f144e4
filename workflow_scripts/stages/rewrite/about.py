"""What the folder of a rewriter says of it."""

from collections import Counter
from pathlib import Path
from typing import Any

from workflow_scripts.core.files.atomic import copy_file, write_json
from workflow_scripts.core.files.manifest import read_manifest, verify
from workflow_scripts.core.files.rewriter_card import CARD
from workflow_scripts.stages.rewrite.syntax_templates import TABLE, known_labels, read_table


def tell(facts: dict[str, Any], pairs: Path, templates: Path | None, output: Path) -> list[str]:
    """Write into the model folder what is said of the rewriter, and return the files' names.

    These are `rewriter.json` and, with templates, their table.

    Args:
        facts: of its configuration.
        pairs: the manifest of its pairs.
        templates: the table of the templates that it learns, if it learns any.
        output: the model folder.

    Raises:
        InputError: the manifest of the pairs, or the table, is damaged.
    """
    facts, files = about(facts, read_manifest(pairs)), [CARD]
    if templates is not None:
        facts = take_table(facts, templates, output)
        files.append(TABLE)
    write_json(output / CARD, facts)
    return files


def about(facts: dict[str, Any], pairs: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of a rewriter in its folder."""
    counts: dict[str, Counter[str]] = {"pairs": Counter(), "references": Counter()}
    for part in pairs["parts"].values():
        for name, count in counts.items():
            count.update(part["extra"][name])
    return {
        **facts,
        **{name: dict(count) for name, count in counts.items()},
        "left_out": {reason: count for reason, count in pairs["rejected"].items() if count},
    }


def take_table(facts: dict[str, Any], table: Path, output: Path) -> dict[str, Any]:
    """Copy the table of templates into a model folder; return what is said of a rewriter with it.

    It adds the numbers of templates and of the training examples that have them, and the labels.
    Pairs of equal templates, or without a tree, count as left out.

    Raises:
        InputError: the table is damaged.
    """
    counts = verify(table)["extra"]
    # A pair is left out in all its directions, or in none.
    directions = len(facts["write"])
    left_out = {reason: count // directions for reason, count in counts["left_out"].items()}
    copy_file(table, output / TABLE)
    templates = read_table(table)
    of_templates = {
        "count": len(templates),
        "labels": known_labels(templates),
        "examples": sum(template.count for template in templates),
    }
    return {
        **facts,
        "templates": facts["templates"] | of_templates,
        "pairs": {split: count // directions for split, count in counts["rows"].items()},
        "references": counts["references"],
        "left_out": facts["left_out"] | left_out,
    }
