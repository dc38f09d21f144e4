"""The differences between two runs: configuration, folders, counts, versions, measures."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_json
from workflow_scripts.core.files.seal import read_sealed
from workflow_scripts.core.report.terminal import fitted_table
from workflow_scripts.plan.run.run_folders import read_config
from workflow_scripts.plan.run.tools import tools_of
from workflow_scripts.plan.selection import used

Flat = dict[str, Any]
_ABSENT = "-"


def flat(value: Any, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of nested mappings by their dotted keys; lists are leaves."""
    if isinstance(value, dict) and value:
        for key, inner in value.items():
            yield from flat(inner, f"{prefix}.{key}" if prefix else str(key))
    else:
        yield prefix, value


def differences(first: Flat, second: Flat) -> list[tuple[str, Any, Any]]:
    """Return each key that differs with its two values; `-` stands for a missing key."""
    keys = list(dict.fromkeys([*first, *second]))
    pairs = [(key, first.get(key, _ABSENT), second.get(key, _ABSENT)) for key in keys]
    return [(key, one, other) for key, one, other in pairs if one != other]


def manifests(run: Path) -> dict[str, dict[str, Any]]:
    """Return the manifests of the finished units of a run by the names of their links.

    Raises:
        InputError: one is damaged.
    """
    links = [link for link in sorted(run.iterdir()) if link.is_symlink()]
    paths = {link.name: link / "manifest.json" for link in links}
    return {name: _read_manifest(path) for name, path in paths.items() if path.is_file()}


def _read_manifest(path: Path) -> dict[str, Any]:
    try:
        return read_sealed(path)
    except ValueError as error:
        raise InputError(f"{path} is damaged ({error}); delete it and run again") from error


def counts(of_units: dict[str, dict[str, Any]]) -> Flat:
    """Return rows in, rows out and rejected of every manifest."""
    flattened: Flat = {}
    for name, manifest in of_units.items():
        picked = {key: manifest.get(key) for key in ("rows_in", "rows_out", "rejected")}
        flattened |= dict(flat(picked, name))
    return flattened


def versions(of_units: dict[str, dict[str, Any]]) -> Flat:
    """Return the versions of the packages that made each unit."""
    return {
        f"{name}.{tool}": ", ".join(numbers)
        for name, manifest in of_units.items()
        for tool, numbers in tools_of([manifest]).items()
    }


def _rank_measures(group: dict[str, Any], prefix: str) -> Iterator[tuple[str, float | None]]:
    testbed = group.get("testbed") or {"ranks": []}
    shares = {rank["rank"]: rank["share"] for rank in testbed["ranks"]}
    for rank in group["ranks"]:
        name = f"{prefix}.rank {rank['rank']}"
        yield f"{name}.1-BLEU", rank["one_minus_bleu"]
        counted = rank.get("words", {})  # a group without paraphrases has none
        yield f"{name}.intersection/union", counted.get("intersection_over_union")
        yield f"{name}.length ratio", counted.get("length_ratio")
        yield f"{name}.mean sum of NLLs", rank["mean_sum"]
        if rank["rank"] in shares:
            yield f"{name}.same meaning %", shares[rank["rank"]]


def _figures(run: Path, pattern: str, record: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the link and the content of files; what has no record yet is not finished."""
    for path in sorted(run.glob(pattern)):
        if path.with_name(f"{record}.json").is_file():
            yield path.parent.name, read_json(path, record)


def measures(run: Path) -> Flat:
    """Return perplexity and BLEU of a run's models, and the measures of its paraphrases.

    Raises:
        InputError: a file of them is not what its stage wrote.
    """
    figures: Flat = {}
    for link, metrics in _figures(run, "train.*/metrics.json", "model"):
        figures[f"{link}.dev perplexity"] = metrics["validation_perplexity"]
        figures[f"{link}.test BLEU"] = (metrics["bleu"] or {}).get("score")
    for link, measured in _figures(run, "evaluate.*/measures.json", "evaluation"):
        for name, group in measured["groups"].items():
            figures |= dict(_rank_measures(group, f"{link}.{name}"))
    return figures


def _shown(value: Any) -> str:
    return _ABSENT if value is _ABSENT else json.dumps(value)


def _table(rows: list[tuple[str, Any, Any]], names: list[str], numbers: bool) -> str:
    headers = ["", *names]
    lines: list[tuple[Any, ...]]
    if numbers:
        headers.append("difference")
        lines = [
            (*row, row[2] - row[1])
            if all(isinstance(value, int | float) for value in row[1:])
            else (*row, None)
            for row in rows
        ]
    else:
        lines = [(key, *map(_shown, values)) for key, *values in rows]
    texts = headers[:1] if numbers else headers
    return fitted_table(lines, headers, texts=texts, floatfmt=".2f")


def compare(first: Path, second: Path) -> str:
    """Return the differences between two runs as text.

    Raises:
        InputError: one of the folders is not a run.
    """
    names = [first.name, second.name]
    sections = []
    # Of the catalogues (corpora, models, systems) only the entries that the run names.
    configs = [dict(flat(used(read_config(run)))) for run in (first, second)]
    finished = [manifests(run) for run in (first, second)]
    compared: list[tuple[str, list[Flat], bool]] = [
        ("configuration", configs, False),
        ("rows", [counts(own) for own in finished], True),
        ("versions of packages", [versions(own) for own in finished], False),
        ("measures", [measures(first), measures(second)], True),
    ]
    for title, (one, other), numbers in compared:
        rows = differences(one, other)
        body = _table(rows, names, numbers) if rows else "the same" if one else "none yet"
        sections.append(f"{title}\n{body}")
    links = [
        {link.name: link.resolve() for link in run.glob("*") if link.is_symlink()}
        for run in (first, second)
    ]
    shared = [name for name, target in links[0].items() if links[1].get(name) == target]
    sections.append(f"folders in common: {', '.join(sorted(shared)) or 'none'}")
    return "\n\n".join(sections)
