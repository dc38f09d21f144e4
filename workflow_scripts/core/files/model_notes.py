"""What the notes beside a model say of its languages and its licence; nobody has checked them.

The Snakefile imports this module: only the standard library and Snakemake's own dependencies.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.files.model_folder import MARIAN_BINARY, OF_THE_RUN, SETTINGS, ModelFiles
from workflow_scripts.core.files.yaml_text import parse_yaml

# The notes of a model take some kilobytes.
_LONGEST_NOTES = 1_000_000
_TOKENIZER = "tokenizer_config.json"


@dataclass(frozen=True)
class Notes:
    """What the notes of a model say, None where they don't."""

    source: str | None = None
    target: str | None = None
    licence: str | None = None


def read_notes(folder: Path, files: ModelFiles) -> Notes:
    """Return the languages and the licence of a model as far as its files tell them.

    Languages that a user has chosen come first, then those of notes, then those in names of
    a student's files. In a run's folder, what its configuration says of the licence comes first.

    Raises:
        InputError: a file of notes can't be read.
    """
    source = target = None
    licence = _of_run(folder / OF_THE_RUN[-1])
    for name in (SETTINGS, _TOKENIZER, *files.about):
        if name not in (*files.configs, *files.about):
            continue
        if name.endswith(".json"):
            found = _of_json(name, _object(folder / name))
        else:
            found = _of_card(_front_matter(folder / name))
        licence = licence or found.licence
        if source is None and target is None:
            source, target = found.source, found.target
    names = (files.weights, files.shortlist or "", files.source_spm or "")
    pairs = [pair for name in names if (pair := re.search(r"\.([a-z]{2})([a-z]{2})\.", name))]
    if pairs and files.kind == MARIAN_BINARY:
        source, target = source or pairs[0][1], target or pairs[0][2]
    return Notes(source, target, licence)


def forbids_commerce(licence: str | None) -> bool:
    """Tell whether a licence says that it forbids commercial use, as CC BY-NC does."""
    return re.search(r"\bnc\b|non-?commercial", licence or "", re.IGNORECASE) is not None


def _of_json(name: str, notes: dict[str, Any]) -> Notes:
    """Return what a user has chosen, a tokenizer, a student or an Argos package says."""
    if name == SETTINGS:
        found = (notes.get("source"), notes.get("target"))
    elif name == _TOKENIZER:
        found = (notes.get("source_lang"), notes.get("target_lang"))
    else:
        short = str(notes.get("shortName", "")).split("-")
        declared = short if len(short) > 1 else (notes.get("from_code"), notes.get("to_code"))
        found = (
            _text(notes.get("sourceLanguage")) or declared[0],
            _text(notes.get("targetLanguage")) or declared[1],
        )
    return Notes(_text(found[0]), _text(found[1]), _licence(notes))


def _of_card(front: dict[str, Any]) -> Notes:
    """Return what stands first in a README.md, as the Hugging Face hub has it."""
    languages = front.get("language")
    two = languages if isinstance(languages, list) and len(languages) == 2 else (None, None)
    return Notes(_text(two[0]), _text(two[1]), _licence(front))


def _of_run(record: Path) -> str | None:
    """Return the licence that the record of a finished model in a run tells."""
    extra = _object(record).get("extra") if record.is_file() else None
    declared = extra.get("declared") if isinstance(extra, dict) else None
    return _text(declared.get("licence")) if isinstance(declared, dict) else None


def _licence(notes: dict[str, Any]) -> str | None:
    """Return the licences that notes name; `other` has its name beside it."""
    licence = notes.get("license")
    if isinstance(licence, list):
        return ", ".join(filter(None, map(_text, licence))) or None
    return (_text(notes.get("license_name")) if licence == "other" else None) or _text(licence)


def _content(path: Path) -> str:
    try:
        if path.stat().st_size > _LONGEST_NOTES:
            raise InputError(f"{path}: more than {_LONGEST_NOTES:,} bytes of notes; take it away")
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def _object(path: Path) -> dict[str, Any]:
    """Return the JSON object of a file."""
    try:
        content = parse_json(_content(path))
    except ValueError as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error
    return content if isinstance(content, dict) else {}


def _front_matter(path: Path) -> dict[str, Any]:
    """Return the YAML between the first two lines of three dashes."""
    parts = re.split(r"^---[ \t]*$", _content(path), maxsplit=2, flags=re.MULTILINE)
    if len(parts) < 3 or parts[0].strip():
        return {}
    content = parse_yaml(parts[1], str(path))
    return content if isinstance(content, dict) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None
