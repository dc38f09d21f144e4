"""Tells of a model folder what it is, as one JSON object, and whether it can be used.

The keys: `kind`; `source` and `target`, the languages; `layers` of encoder and decoder; `size` of
their vectors; `vocabulary`, the pieces of source and target; `shortlist`, whether it has one;
`licence`; `refused`, the reasons why the model can't be used. What is not known is null. The exit
status is 1 if there are reasons. With --compare there is one more, `compared`: on how many
`sentences` of the file the library that published the model (transformers) has the `same_ids` and
the `same_outputs`, and the greatest difference of `log_probabilities` (nats).

Languages and licence are what names of files and the model's own notes say; nobody has checked
them. Weights are read too: a damaged model is refused here already.
"""

import argparse
import json
import re
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.files.model_folder import (
    CTRANSLATE2,
    HUGGING_FACE,
    HUGGING_FACE_MORE,
    MARIAN_BINARY,
    ModelFiles,
    model_files,
)
from workflow_scripts.core.files.yaml_text import parse_yaml
from workflow_scripts.nmt.compare import compare
from workflow_scripts.nmt.loaders import LOADERS, load_model
from workflow_scripts.nmt.loaders.description import Summary
from workflow_scripts.nmt.pieces import raw_coders

# The notes of a model take some kilobytes.
_LONGEST_NOTES = 1_000_000
# So many sentences of a file are compared; a large model takes seconds for each.
_COMPARED = 20


@dataclass(frozen=True)
class Notes:
    """What the notes of a model say, None where they don't."""

    source: str | None = None
    target: str | None = None
    licence: str | None = None


def inspect(folder: Path, sentences: list[str] | None = None) -> dict[str, Any]:
    """Return what is known of a model's folder; it is compared on sentences if there are any."""
    refused: list[str] = []
    kind, summary, notes, shortlist = None, Summary(), Notes(), None
    compared: dict[str, Any] = {}
    try:
        files = model_files(folder)
        kind, shortlist = files.kind, files.shortlist is not None
        notes = read_notes(folder, files)
        summary = LOADERS[kind].summary(folder, files)
        refused += summary.refused
        if not refused:
            model = load_model(folder, "cpu", shortlist=shortlist)
            if model.source_spm is not None:
                raw_coders(model)
            if sentences is not None:
                found = compare(folder, sentences)
                compared = {"compared": found.shown()}
                refused += found.refused
    except InputError as error:
        refused.append(str(error))
    return {
        "kind": kind,
        "source": notes.source,
        "target": notes.target,
        "layers": summary.layers,
        "size": summary.size,
        "vocabulary": summary.vocabulary,
        "shortlist": shortlist,
        "licence": notes.licence,
        "refused": refused,
        **compared,
    }


def read_notes(folder: Path, files: ModelFiles) -> Notes:
    """Return the languages and the licence of a model as far as its files tell them.

    Raises:
        InputError: a file of notes can't be read.
    """
    if files.kind in (HUGGING_FACE, HUGGING_FACE_MORE):
        return _of_hugging_face(folder, files)
    if files.kind in (MARIAN_BINARY, CTRANSLATE2):
        return _of_a_student(folder, files)
    return Notes()


def _of_a_student(folder: Path, files: ModelFiles) -> Notes:
    """Return what the notes beside a student or in an Argos package say, or names of files."""
    source = target = licence = None
    for name in files.about:
        notes = _object(folder / name) if name.endswith(".json") else {}
        short = str(notes.get("shortName", "")).split("-")
        declared = short if len(short) > 1 else (notes.get("from_code"), notes.get("to_code"))
        source = source or _text(notes.get("sourceLanguage")) or _text(declared[0])
        target = target or _text(notes.get("targetLanguage")) or _text(declared[1])
        licence = licence or _text(notes.get("license"))
    names = filter(None, (files.weights, files.shortlist, files.source_spm))
    pairs = [pair for name in names if (pair := re.search(r"\.([a-z]{2})([a-z]{2})\.", name))]
    if pairs:
        source, target = source or pairs[0][1], target or pairs[0][2]
    return Notes(source, target, licence)


def _of_hugging_face(folder: Path, files: ModelFiles) -> Notes:
    """Return the languages of the tokenizer, and what stands first in the README."""
    source = target = licence = None
    if "tokenizer_config.json" in files.configs:
        settings = _object(folder / "tokenizer_config.json")
        source, target = _text(settings.get("source_lang")), _text(settings.get("target_lang"))
    if "README.md" in files.about:
        front = _front_matter(folder / "README.md")
        licence = _text(front.get("license"))
        languages = front.get("language")
        if source is None and isinstance(languages, list) and len(languages) == 2:
            source, target = map(_text, languages)
    return Notes(source, target, licence)


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


def _lines(path: Path) -> list[str]:
    try:
        with path.open(encoding="utf-8") as file:
            return [line.strip() for line in islice(file, _COMPARED)]
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: cannot be read: {error}") from error


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value else None


def main(argv: list[str] | None = None) -> int:
    """Print what is known of a model's folder; return 1 if the model is refused."""
    parser = CommandParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="of the model")
    parser.add_argument(
        "--compare",
        type=Path,
        metavar="FILE",
        help=f"sentences in the model's source language, the first {_COMPARED} lines",
    )
    args = parser.parse_args(argv)
    sentences = None if args.compare is None else _lines(args.compare)
    description = inspect(args.folder, sentences)
    print(json.dumps(description, ensure_ascii=False))
    return 1 if description["refused"] else 0


if __name__ == "__main__":
    run(main)
