import argparse
import hashlib
import json
import os
import select
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from workflow_scripts.core.environment import require_utf8
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files import space

# The folder, below the results, of arguments that are too long for a command line.
ARGUMENTS = ".arguments"


def run(main: Callable[[], int | None]) -> None:
    """Run a stage's `main` and exit: 0, or 2 with the bare message of what the user can mend.

    These are an `InputError` and a full disk. A reader of the output that has gone, as `head` has
    after its lines, ends the command without a message.
    """
    try:
        require_utf8()
        code = main()
        sys.stdout.flush()
        sys.exit(code)
    except BrokenPipeError:
        if not _reader_gone():  # of the output; a program that this one feeds is another matter
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # for the flush at the exit
        sys.exit(128 + signal.SIGPIPE)
    except InputError as error:
        message = str(error)
    except Exception as error:
        if not space.is_full(error):
            raise
        message = space.message(getattr(error, "filename", None))
    print(f"error: {message}", file=sys.stderr)
    sys.exit(2)


def _reader_gone() -> bool:
    """Return whether the standard output is a pipe that nobody reads any more."""
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def json_argument(text: str) -> Any:
    """Return the value of a JSON argument, or that in the file of `@FILE`.

    One argument of a command holds 128 KiB at most, and a corpus may have thousands of files.

    Raises:
        InputError: the rules wrote the file, under the hash of its content, and it is damaged.
    """
    if text[:1] != "@":
        return json.loads(text)
    path = Path(text[1:])
    content = path.read_bytes()
    if path.parent.name == ARGUMENTS and hashlib.sha256(content).hexdigest() != path.stem:
        raise InputError(f"{path} is damaged; delete it and run again")
    return json.loads(content)


def count(text: str) -> int:
    """Return the number of an argument that is a count, from 0.

    Raises:
        ArgumentTypeError: it is below 0.
    """
    number = int(text)
    if number < 0:
        raise argparse.ArgumentTypeError(f"{text} is below 0")
    return number


def words(argv: list[str] | None = None) -> list[str]:
    """Return the words of a command line, this process's by default.

    `@@FILE` stands for those in a file, a JSON list: a whole command holds 128 KiB at most where
    a shell is given it, and a run may have thousands of units.
    """
    arguments = sys.argv[1:] if argv is None else argv
    expanded: list[str] = []
    for word in arguments:
        expanded += json_argument(word[1:]) if word.startswith("@@") else [word]
    return expanded


def add_inputs(parser: argparse.ArgumentParser) -> None:
    """Add the option `--inputs`: the user's files that the command reads, with their hashes."""
    parser.add_argument(
        "--inputs",
        type=json_argument,
        default={},
        help="SHA-256 by path (JSON); a file of other content is refused",
    )
