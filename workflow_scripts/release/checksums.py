"""SHA256SUMS, which `sha256sum -c SHA256SUMS` checks inside a released folder."""

import argparse
from pathlib import Path

from workflow_scripts.core.atomic import write_text
from workflow_scripts.core.cli import run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import sha256


def checksums(files: list[Path], folder: Path) -> str:
    """Return one line per file, sorted by name, with names relative to `folder`.

    Raises:
        InputError: a file is missing or not below `folder`.
    """
    lines = []
    for path in files:
        if not path.is_file():
            raise InputError(f"{path} is missing; run the release again")
        if not path.resolve().is_relative_to(folder.resolve()):
            raise InputError(f"{path} is not below {folder}, where SHA256SUMS is to be checked")
        name = path.resolve().relative_to(folder.resolve()).as_posix()
        lines.append((name, f"{sha256(path)}  {name}\n"))
    return "".join(line for _, line in sorted(lines))


def main(argv: list[str] | None = None) -> None:
    """Write the SHA-256 of released files beside them."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--files", type=Path, nargs="+", required=True)
    parser.add_argument("--output", type=Path, required=True, help="SHA256SUMS")
    arguments = parser.parse_args(argv)
    write_text(arguments.output, checksums(arguments.files, arguments.output.parent))


if __name__ == "__main__":
    run(main)
