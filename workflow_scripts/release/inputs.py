"""What datasheet, report and tables read: manifests, models' metrics, measures, STS."""

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import read_json, read_manifest
from workflow_scripts.stages import STAGES

# What a row of each stage's manifest is. The stages of models count segmented pairs.
ROWS = {stage.name: stage.row for stage in STAGES}


def read_measures(path: Path) -> dict[str, Any]:
    """Return a measures.json of the evaluate stage, checked against its record."""
    return read_json(path, "evaluation")


def read_statistics(path: Path) -> dict[str, Any]:
    """Return a statistics.json of the evaluate stage, checked against its record."""
    return read_json(path, "counting")


def read_sts(path: Path) -> dict[str, Any]:
    """Return the sts.json of the embed stage, checked against its record."""
    return read_json(path, "testing")


def read_metrics(path: Path) -> dict[str, Any]:
    """Return the metrics.json of a model, checked against the model's record."""
    return read_json(path, "model")


def named_path(text: str) -> tuple[str, Path]:
    """Return the two sides of `name=path`."""
    name, separator, path = text.partition("=")
    if not (name and separator and path):
        raise InputError(f"'{text}' is not of the form name=path")
    return name, Path(path)


def add_embeddings(parser: argparse.ArgumentParser) -> None:
    """Add the options of a run with embeddings, which the report takes as well."""
    parser.add_argument("--sts", type=Path, help="sts.json, where there are embeddings")
    parser.add_argument(
        "--training-sets",
        type=named_path,
        nargs="*",
        default=[],
        metavar="NAME=MANIFEST",
        help="those that embeddings were trained on",
    )


def read_embeddings(
    arguments: argparse.Namespace,
) -> tuple[dict[str, Any] | None, dict[str, dict[str, Any]]]:
    """Return what `add_embeddings` names: sts.json or None, and the manifests by name."""
    sts = None if arguments.sts is None else read_sts(arguments.sts)
    return sts, {name: read_manifest(path) for name, path in arguments.training_sets}


def stages(manifests: Iterable[Path]) -> list[dict[str, Any]]:
    """Return what is told of each stage, in the order given.

    Returns:
        Dicts of `label`, `stage`, `rows` (what they are), `rows_in`, `rows_out`, `rejected`
        (by reason, most frequent first), `counts` (the further ones of its records), `config`,
        `name` and `tools`.
    """
    return [_stage(read_manifest(path)) for path in manifests]


def _stage(manifest: dict[str, Any]) -> dict[str, Any]:
    counts: Counter[str] = Counter()
    for record in manifest["parts"].values():
        counts.update(dict(_integers(record.get("extra", {}))))
    rejected = sorted(manifest["rejected"].items(), key=lambda item: (-item[1], item[0]))
    return {
        "label": " / ".join(filter(None, (manifest["stage"], manifest["instance"]))),
        "stage": manifest["stage"],
        "rows": ROWS[manifest["stage"]],
        "rows_in": manifest["rows_in"],
        "rows_out": manifest["rows_out"],
        "rejected": dict(rejected),
        "counts": dict(sorted(counts.items())),
        "config": manifest["config"],
        "name": manifest["name"],
        "tools": manifest["tools"],
    }


def _integers(value: Any, path: tuple[str, ...] = ()) -> Iterable[tuple[str, int]]:
    """Yield the integers in nested dicts, by the path to them: the counts, which add up."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _integers(item, (*path, str(key)))
    elif isinstance(value, int) and not isinstance(value, bool):
        yield " / ".join(path), value


def tools(stage_list: list[dict[str, Any]]) -> dict[str, list[str]]:
    """Return the versions of each tool that the stages used."""
    versions: dict[str, set[str]] = {}
    for stage in stage_list:
        for tool, found in stage["tools"].items():
            versions.setdefault(tool, set()).update(found)
    return {tool: sorted(found) for tool, found in sorted(versions.items())}


def paraphrase_count(group: dict[str, Any]) -> int:
    """Return the number of paraphrases in a group of measures.json."""
    return sum(n * count for n, count in enumerate(group["references_by_paraphrases"]))
