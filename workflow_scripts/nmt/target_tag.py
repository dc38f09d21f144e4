"""What a user chooses of a model with several languages, in `paraloom.json` in its folder.

Multi-target models of OPUS-MT know pieces such as `>>por<<`, one of which stands first in every
source: {"tag": ">>por<<"}, or {"tag": null} for none. Others have codes for both sides:
{"source": "por_Latn", "target": "eng_Latn"}.
"""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.files.model_folder import SETTINGS, ModelFiles
from workflow_scripts.core.text.language_codes import named, nearest
from workflow_scripts.nmt.vocabulary import Vocabulary

_TAG = re.compile(">>.+<<")
_SHOWN = 8


def read_tag(folder: Path, files: ModelFiles, source: Vocabulary) -> int | None:
    """Return the id of the tag, None if there is none.

    Raises:
        InputError: the file is no such object, or the model does not know the tag, or knows tags
            and none is chosen.
    """
    known = sorted(piece for piece in source if _TAG.fullmatch(piece))
    shown = _shown(known)
    if SETTINGS not in files.configs:
        if known:
            raise InputError(
                f"{folder} translates into several languages ({shown}): write the file {SETTINGS} "
                f'there, such as {{"tag": {json.dumps(known[0])}}}, or {{"tag": null}} for none'
            )
        return None
    path = folder / SETTINGS
    tag = _settings(path, "tag")["tag"]
    if tag is None:
        return None
    if not isinstance(tag, str) or tag not in source:
        raise InputError(
            f"{path}: the model has no source piece {tag!r}"
            + (f"; it has {shown}" if known else "")
        )
    return source.ids([tag])[0]


def read_languages(folder: Path, files: ModelFiles, known: Sequence[str]) -> tuple[str, str]:
    """Return the codes of the source and the target language, as the model has them.

    A code may be written without what the model adds to it (`__pt__`, `pt_XX`), if that tells one.

    Raises:
        InputError: the file is missing or is no such object, or the model does not know a code, or
            knows none at all.
    """
    path = folder / SETTINGS
    if not known:
        raise InputError(
            f"{folder}: no file of its tokenizer names the languages; write tokenizer_config.json "
            "with AutoTokenizer.from_pretrained(…).save_pretrained(…)"
        )
    if SETTINGS not in files.configs:
        example = json.dumps({"source": known[0], "target": known[-1]})
        raise InputError(
            f"{folder} has several languages ({_shown(known)}): write the file {SETTINGS} there, "
            f"such as {example}"
        )
    settings = _settings(path, "source", "target")
    return _code(path, settings, "source", known), _code(path, settings, "target", known)


def _code(path: Path, settings: dict[str, Any], side: str, known: Sequence[str]) -> str:
    code = str(settings[side])
    found = named(code, known)
    if len(found) != 1:
        near = found or nearest(code, known)
        raise InputError(
            f"{path}: {side} is {settings[side]!r}, which is no language of the model; the nearest "
            f"of its {len(known)} are {_shown(near)}"
        )
    return found[0]


def _settings(path: Path, *keys: str) -> dict[str, Any]:
    """Return the object of a file, which must have these keys."""
    try:
        settings = parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error
    if not isinstance(settings, dict) or set(settings) != set(keys):
        found = set(settings) if isinstance(settings, dict) else set()
        shown = " and ".join(f'"{key}"' for key in keys)
        others = ", ".join(sorted(found.difference(keys)))
        missing = ", ".join(key for key in keys if key not in found)
        raise InputError(
            f"{path}: must be an object with the key{'s' * (len(keys) > 1)} {shown} and no other"
            + (f", so without {others}" if others else "")
            + (f"; {missing} is missing" if missing else "")
        )
    return settings


def _shown(known: Sequence[str]) -> str:
    return ", ".join(known[:_SHOWN]) + (f" and {len(known) - _SHOWN} more" * (len(known) > _SHOWN))
