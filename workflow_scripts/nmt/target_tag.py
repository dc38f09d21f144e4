"""The tag that stands first in every source of a model with several target languages.

Multi-target models of OPUS-MT know pieces such as `>>por<<`. Which one is wanted stands in the file
`paraloom.json` in the model's folder: {"tag": ">>por<<"}, or {"tag": null} for none.
"""

import json
import re
from pathlib import Path
from typing import Any

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.json_text import parse_json
from workflow_scripts.core.files.model_folder import SETTINGS, ModelFiles
from workflow_scripts.core.suggestion import suggestion
from workflow_scripts.nmt.vocabulary import Vocabulary

_TAG = re.compile(">>.+<<")
_SHOWN = 8


def read_tag(folder: Path, files: ModelFiles, source: Vocabulary) -> int | None:
    """Return the id of the tag, None if there is none.

    Raises:
        InputError: the file is no such object, or the model does not know the tag, or knows tags
            and none is chosen.
    """
    path = folder / SETTINGS
    known = sorted(piece for piece in source if _TAG.fullmatch(piece))
    shown = ", ".join(known[:_SHOWN]) + (f" and {len(known) - _SHOWN} more" * (len(known) > _SHOWN))
    if SETTINGS not in files.configs:
        if known:
            raise InputError(
                f"{folder} translates into several languages ({shown}): write the file {SETTINGS} "
                f'there, such as {{"tag": {json.dumps(known[0])}}}, or {{"tag": null}} for none'
            )
        return None
    settings = _settings(path)
    if not isinstance(settings, dict) or set(settings) != {"tag"}:
        raise InputError(f'{path}: must be an object with the key "tag" and no other')
    tag = settings["tag"]
    if tag is None:
        return None
    if not isinstance(tag, str) or tag not in source:
        raise InputError(
            f"{path}: the model has no source piece {tag!r}"
            + (f"; it has {shown}" if known else "")
        )
    return source.ids([tag])[0]


def read_languages(folder: Path, files: ModelFiles, codes: list[str]) -> tuple[str, str]:
    """Return the codes of source and target that the settings choose.

    Raises:
        InputError: they choose none, or one that the model lacks.
    """
    path = folder / SETTINGS
    example = f'such as {{"source": {json.dumps(codes[0])}, "target": {json.dumps(codes[-1])}}}'
    if SETTINGS not in files.configs:
        raise InputError(f"{folder} has several languages: write the file {SETTINGS}, {example}")
    settings = _settings(path)
    if not isinstance(settings, dict) or set(settings) != {"source", "target"}:
        raise InputError(f"{path}: must be an object with the languages, {example}")
    for key, code in settings.items():
        if code not in codes:
            raise InputError(
                f"{path}: {key}: the model has no language {code!r}{suggestion(str(code), codes)}"
            )
    return settings["source"], settings["target"]


def _settings(path: Path) -> Any:
    try:
        return parse_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InputError(f"{path}: cannot be read as JSON: {error}") from error
