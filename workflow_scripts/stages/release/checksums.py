"""SHA256SUMS, which `sha256sum -c SHA256SUMS` checks inside a released folder."""

from pathlib import Path

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_text
from workflow_scripts.core.files.manifest import verify


def checksums(records: list[Path], folder: Path) -> str:
    """Return one line per file that the records speak for, sorted by name.

    The sums are those of the records, made when the files were written: a file that was damaged
    since must not get a sum of its own. Names are relative to `folder`.

    Raises:
        InputError: a record or a file of it is missing, damaged or not below `folder`.
    """
    lines = []
    for path in records:
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{path} is not below {folder}, where SHA256SUMS is to be checked")
        parent = path.resolve().parent.relative_to(folder.resolve())
        for file, digest in verify(path)["files"].items():
            name = (parent / file).as_posix()
            lines.append((name, f"{digest}  {name}\n"))
    return "".join(line for _, line in sorted(lines))


def write_checksums(records: list[Path], output: Path) -> None:
    """Write SHA256SUMS beside the released files. The hashes come from their records."""
    write_text(output, checksums(records, output.parent))


main = command(write_checksums, __name__)
