"""Full disks: how to recognise one, whichever library fails, and what to tell the user.

When a full disk cuts a write short, Python and pyarrow give the number of the error, safetensors
and shutil only its text, torch and NumPy neither.
"""

from __future__ import annotations

import errno
import re
import shutil
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from workflow_scripts.core.errors import InputError

REASON = "no space left on device"
ADVICE = "free some space there and run the same command again, which goes on"

_CODES = (errno.ENOSPC, errno.EDQUOT)
_TEXT = re.compile(f"{REASON}|disk quota exceeded", re.IGNORECASE)
_CUT_SHORT = re.compile(
    r"iostream error|unexpected pos|file write failed|requested and \d+ written"
)
# A disk with less counts as full. The file that could not be finished is still there.
_NEXT_TO_NOTHING = 1 << 20
# What Snakemake writes into a working directory before its first job, and some more.
_TO_BEGIN = 1 << 15


def says_full(text: str) -> bool:
    """Tell whether a message, e.g. of another program, is about a full disk."""
    return _TEXT.search(text) is not None


def is_cut_short(text: str, folder: Path) -> bool:
    """Tell whether a message is about a write that failed, and `folder` has no space left."""
    return bool(_CUT_SHORT.search(text)) and folder.is_dir() and not has_space(folder)


def is_full(error: BaseException | None, folder: Path | None = None) -> bool:
    """Tell whether an exception, or one behind it, is about a full disk.

    Args:
        error: the exception.
        folder: the folder that was written to, if it is known.
    """
    while error is not None:
        if getattr(error, "errno", None) in _CODES or says_full(str(error)):
            return True
        if folder is not None and is_cut_short(str(error), folder):
            return True
        error = error.__cause__ or error.__context__
    return False


def message(path: str | Path | None) -> str:
    """Say what is full and what to do; `path` is what was written, None if it is not known."""
    where = path if path is not None else "the results or the temporary files (TMPDIR)"
    return f"{where}: {REASON}; {ADVICE}"


def advise_on_full_disks(logs: Iterable[str], folders: Iterable[str]) -> None:
    """Say at the end of a run that failed what to do, if it met a full disk.

    Args:
        logs: of Snakemake; the messages of jobs are not in it.
        folders: where the run writes, beside the folder for temporary files.
    """
    with suppress(OSError):
        full = [folder for folder in (*folders, tempfile.gettempdir()) if not has_space(folder)]
        texts = (Path(log).read_text(encoding="utf-8", errors="replace") for log in logs)
        if full or any(map(says_full, texts)):
            print(f"error: {message(', '.join(map(str, full)) or None)}", file=sys.stderr)


def has_space(folder: str | Path) -> bool:
    """Tell whether a folder's disk has space left, if only some."""
    return shutil.disk_usage(folder).free >= _NEXT_TO_NOTHING


def require(folder: Path) -> None:
    """Check that Snakemake can write its own files, for which it has no message.

    Raises:
        InputError: there is no space left for them.
    """
    if shutil.disk_usage(folder).free < _TO_BEGIN:
        raise InputError(message(folder.resolve()))


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Turn a full disk into an error that names `path`, a file or folder written in the block.

    Raises:
        InputError: there was no space left.
    """
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if is_full(error, path if path.is_dir() else path.parent):
            raise InputError(message(path)) from error
        raise
