"""Train a rewriter with Sockeye as the stage `train` does, and say what it is: `rewriter.json`."""

import argparse
import shutil
from collections import Counter
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.core.atomic import atomic_path, write_json
from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.device import choose_device
from workflow_scripts.core.manifest import read_manifest, shard_paths, verify
from workflow_scripts.rewrite.results import ABOUT
from workflow_scripts.rewrite.templates import TABLE, known_labels, read_table
from workflow_scripts.train.sockeye import Task, make_model


def about(facts: dict[str, Any], pairs: dict[str, Any]) -> dict[str, Any]:
    """Return what is said of a rewriter in its folder.

    Args:
        facts: of its configuration.
        pairs: the manifest of its pairs.
    """
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

    Added are the numbers of templates and of the training examples that have them, and the labels.
    Pairs of equal templates, or without a tree, count as left out.

    Args:
        facts: those of `about`.
        table: of the templates.
        output: the model folder.

    Raises:
        InputError: the table is damaged.
    """
    counts = verify(table)["extra"]
    # A pair is left out in all its directions, or in none.
    directions = len(facts["write"])
    left_out = {reason: count // directions for reason, count in counts["left_out"].items()}
    with atomic_path(output / TABLE) as temporary:
        shutil.copyfile(table, temporary)
    found = read_table(table)
    of_templates = {
        "count": len(found),
        "labels": known_labels(found),
        "examples": sum(each.count for each in found),
    }
    return {
        **facts,
        "templates": facts["templates"] | of_templates,
        "pairs": {split: count // directions for split, count in counts["rows"].items()},
        "references": counts["references"],
        "left_out": facts["left_out"] | left_out,
    }


def main(argv: list[str] | None = None) -> None:
    """Train a rewriter, and measure it as any model."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--folder", type=Path, required=True, help="shards of segments")
    parser.add_argument("--shards", type=int, required=True)
    parser.add_argument("--pairs", type=Path, required=True, help="manifest of its pairs")
    parser.add_argument("--templates", type=Path, help="table of the templates it learns")
    parser.add_argument("--source-model", type=Path, required=True)
    parser.add_argument("--reference-model", type=Path, required=True)
    parser.add_argument("--work", type=Path, required=True, help="survives kills, resumed from")
    parser.add_argument("--output", type=Path, required=True, help="the model folder")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    options = parser.parse_args(argv)
    settings = dict(options.config)
    facts = settings.pop("about")
    task = Task(
        **settings,
        shards=shard_paths(options.folder, options.shards),
        segmenters={"source": options.source_model, "reference": options.reference_model},
        work=options.work,
        threads=options.threads,
        device=choose_device(options.device).type,
        mxnet_python="",
    )
    torch.set_num_threads(options.threads)
    said, beside = about(facts, read_manifest(options.pairs)), [ABOUT]
    if options.templates is not None:
        said = take_table(said, options.templates, options.output)
        beside.append(TABLE)
    write_json(options.output / ABOUT, said)
    make_model(task, options.output, beside)


if __name__ == "__main__":
    run(main)
