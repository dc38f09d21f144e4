"""A check that input files are regular files.

The reader of a FIFO waits for a writer, and a device may have no end.

The Snakefile imports this module: only the standard library.
"""

import stat
from pathlib import Path

from workflow_scripts.core.errors import InputError

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFDIR: "a folder",
}


def regular_file(path: str | Path, key: str | None = None) -> Path:
    """Return the path of an input, which must be a regular file or a link to one.

    Args:
        path: of the input.
        key: the configuration key that names it, for messages.

    Raises:
        InputError: the path is missing, or is not a regular file.
    """
    path = Path(path)
    where = f"{key}: {path}" if key else str(path)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: NUL, or half a surrogate pair
        reason = getattr(error, "strerror", None) or error
        raise InputError(f"{where}: {reason}; correct the path") from error
    if not stat.S_ISREG(mode):
        kind = _KINDS.get(stat.S_IFMT(mode), "no regular file")
        raise InputError(f"{where} is not a file but {kind}; copy what it gives into a file")
    return path
