"""Records of single data files, and the manifest of a whole stage.

What they are for: docs/architecture.md, "Versioned files".

A record is `<name>.json` next to `<name>.parquet`: SHA-256, rows in and out, rows rejected by
reason. Whoever reads the data verifies it against the record first. The manifest merges the
records of a stage's folder; it is the stage's last output and is deterministic. Both hold a hash
of themselves (`core/files/seal.py`).
"""

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterable, Sequence
from importlib import metadata
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.packages import packages_read
from workflow_scripts.core.files.seal import read_sealed, sealed

# The packages whose version can change what a stage writes; a record names those it has loaded.
TOOLS = (
    "apted",
    "faiss-cpu",
    "jinja2",
    "kenlm",
    "lemminflect",
    "matplotlib",
    "nltk",
    "numpy",
    "pandas",
    "py3langid",
    "pyarrow",
    "rapidfuzz",
    "regex",
    "pyspellchecker",
    "sacrebleu",
    "sacremoses",
    "safetensors",
    "scikit-learn",
    "scipy",
    "sentence-transformers",
    "sentencepiece",
    "sockeye",
    "spacy",
    "stanza",
    "tokenizers",
    "torch",
    "transformers",
    "zstandard",
)


# Tools whose module has another name.
_MODULES = {"faiss-cpu": "faiss", "pyspellchecker": "spellchecker", "scikit-learn": "sklearn"}


def module(tool: str) -> str:
    """Return the module that one of `TOOLS` is loaded as."""
    return _MODULES.get(tool, tool.replace("-", "_"))


def sha256(path: str | Path) -> str:
    """Return the file's SHA-256 as hexadecimal digits."""
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def record_path(data_path: str | Path) -> Path:
    """Return where the record of `data_path` stands."""
    return Path(data_path).with_suffix(".json")


def write_record(
    data_path: str | Path,
    rows_in: int,
    rows_out: int,
    rejected: dict[str, int],
    extra: dict[str, Any] | None = None,
    files: Iterable[str | Path] = (),
) -> None:
    """Write the record of one data file, after the data itself.

    Args:
        data_path: the data file; its record is `<stem>.json` in the same folder.
        rows_in: rows read.
        rows_out: rows written.
        rejected: rows that were not written, by reason.
        extra: more figures of the stage, kept as they are.
        files: the files that the record names, if they are others than `data_path` alone (a model
            folder, a shard with a list). All are in the folder of the record, or below it.

    Raises:
        ValueError: the rows don't add up.
    """
    rejected = {reason: count for reason, count in rejected.items() if count}
    names = [Path(file) for file in files] or [Path(data_path)]
    folder = Path(data_path).parent
    record = {
        "files": {path.relative_to(folder).as_posix(): sha256(path) for path in names},
        "rows_in": rows_in,
        "rows_out": rows_out,
        "rejected": rejected,
        "tools": loaded_tools(),
    }
    if extra:
        record["extra"] = extra
    _check_rows(record)
    write_json(record_path(data_path), sealed(record))


def loaded_tools() -> dict[str, str]:
    """Return the versions of what this process has loaded of `TOOLS`, and of packages of models."""
    loaded = [tool for tool in TOOLS if module(tool) in sys.modules]
    return {tool: metadata.version(tool) for tool in loaded} | packages_read()


def _check_rows(record: dict[str, Any]) -> None:
    """Raise ValueError if the rows of a record or a manifest don't add up."""
    read, written, rejected = (record[key] for key in ("rows_in", "rows_out", "rejected"))
    if read != written + sum(rejected.values()):
        raise ValueError(f"{read} rows in, {written} out, rejected {rejected}")


def read_record(data_path: str | Path) -> dict[str, Any]:
    """Return the record of a data file.

    Raises:
        InputError: there is none, it can't be read, it is not what its stage wrote, or its rows
            don't add up.
    """
    path = record_path(data_path)
    try:
        record = read_sealed(path)
        _check_rows(record)
    except FileNotFoundError as error:
        raise InputError(
            f"{data_path} has no record {path.name} beside it; {remedy(Path(data_path))}"
        ) from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path} is damaged ({error}); {remedy(path)}") from error
    return record


def verify(data_path: str | Path) -> dict[str, Any]:
    """Check the files that a record names against their hashes, and return the record.

    Args:
        data_path: a data file, or its record.

    Raises:
        InputError: a file is missing or differs from what its stage wrote.
    """
    record = read_record(data_path)
    path = record_path(data_path)
    for name, expected in record["files"].items():
        verify_hash(path.parent / name, expected, path)
    return record


def verify_file(path: str | Path, record: str) -> None:
    """Check one file against `<record>.json` beside it; the record may name other files too.

    Raises:
        InputError: it is missing, unknown to the record, or differs from what its stage wrote.
    """
    path = Path(path)
    record_file = record_path(path.with_name(record))
    if not record_file.is_file():
        raise InputError(f"{path} has no record {record_file.name} beside it; {remedy(path)}")
    known = read_record(record_file)["files"]
    if path.name not in known:
        raise InputError(
            f"{path} is not in {record_file.name} beside it; {remedy(path, record_file)}"
        )
    verify_hash(path, known[path.name], record_file)


def read_json(path: str | Path, record: str) -> dict[str, Any]:
    """Return the object in a JSON file that a stage wrote, after `verify_file`."""
    verify_file(path, record)
    return json.loads(Path(path).read_text(encoding="utf-8"))


def verify_hash(data: Path, expected: str, record: Path) -> None:
    """Check one file against its hash in a record.

    Raises:
        InputError: it is missing, or differs from what its stage wrote.
    """
    if not data.is_file():
        raise InputError(f"{data} is missing; {remedy(data, record)}")
    if sha256(data) != expected:
        raise InputError(
            f"{data} differs from what its stage wrote (its SHA-256 is not the one in "
            f"{record.name}); {remedy(data, record)}"
        )


def remedy(damaged: Path, record: Path | None = None) -> str:
    """Say what the user must delete so that a damaged file is made again.

    It is the file, its record and the manifest, as seen from the file's folder. While the
    manifest is there, Snakemake does not notice that data of its folder is gone; while the record
    is there, neither does the manifest.
    """
    vouchers = [record] if record else []
    vouchers.append((record or damaged).with_name("manifest.json"))
    vouchers = [voucher for voucher in vouchers if voucher != damaged]
    names = [
        *(["it"] if damaged.exists() else []),
        *(os.path.relpath(path, damaged.parent) for path in vouchers if path.exists()),
    ]
    if not names:
        return "run its stage again with --forcerun"
    *others, last = names
    listed = f"{', '.join(others)} and {last}" if others else last
    return f"delete {listed}{' beside it' if last != 'it' else ''} and run again"


def shard_names(count: int) -> list[str]:
    """Return the names of `count` shards: 0000, 0001, ..."""
    return [f"{shard:04d}" for shard in range(count)]


def shard_paths(folder: str | Path, count: int) -> list[Path]:
    """Return the data files of a stage folder with `count` shards.

    Raises:
        InputError: it has more, which would be left out.
    """
    more = Path(folder, f"{max(count, 0):04d}.parquet")
    if more.exists():
        raise InputError(
            f"{more}: of this folder {count} shards were asked for, and it has more; name the "
            "number of all (--shards)"
        )
    return [Path(folder) / f"{name}.parquet" for name in shard_names(count)]


def merge(
    unit: dict[str, Any], records: dict[str, dict[str, Any]], upstream: dict[str, str]
) -> dict[str, Any]:
    """Return the manifest of a unit (a stage, or one instance of it).

    Args:
        unit: stage, instance, version and settings, as the workflow resolved them.
        records: all records of the unit, by their names.
        upstream: SHA-256 of each manifest that the unit read, by "<stage>/[<instance>/]<version>".
    """
    rejected: Counter[str] = Counter()
    tools: dict[str, set[str]] = {}
    for record in records.values():
        rejected.update(record["rejected"])
        for tool, version in record["tools"].items():
            tools.setdefault(tool, set()).add(version)
    return {
        **unit,
        "rows_in": sum(record["rows_in"] for record in records.values()),
        "rows_out": sum(record["rows_out"] for record in records.values()),
        "rejected": dict(rejected),
        "parts": records,
        "tools": {tool: sorted(versions) for tool, versions in tools.items()},
        "upstream": upstream,
    }


def read_manifest(path: str | Path) -> dict[str, Any]:
    """Return the manifest of a unit.

    Raises:
        InputError: it is missing or damaged.
    """
    try:
        manifest = read_sealed(path)
        for counts in (manifest, *manifest["parts"].values()):
            _check_rows(counts)
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{path} is no readable manifest ({error}); delete it and run again"
        ) from error
    return manifest


def write_manifest(
    unit: dict[str, Any],
    folder: Path,
    output: Path,
    shards: int = 0,
    records: Sequence[str] = (),
    upstream: Sequence[Path] = (),
) -> None:
    """Merge the records of a unit's folder into its manifest.

    Args:
        unit: what it is; see `merge`.
        folder: of the unit.
        shards: how many of them the unit has: 0000, 0001, ...
        records: the names of its other records.
        upstream: the manifests of the units that it read.

    Raises:
        InputError: a file differs from what its stage wrote, or a manifest is damaged.
    """
    names = [*shard_names(shards), *records]
    parts = {name: verify(folder / f"{name}.json") for name in names}
    hashes = {read_manifest(path)["name"]: sha256(path) for path in upstream}
    write_json(output, sealed(merge(unit, parts, hashes)))


main = command(write_manifest, __name__)
