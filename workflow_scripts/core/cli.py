import argparse
import hashlib
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
from workflow_scripts.core.files.json_text import given, parse_json
from workflow_scripts.core.statistics.numbers import finite

# The folder, below the results, of arguments that are too long for a command line.
ARGUMENTS = ".arguments"


class CommandParser(argparse.ArgumentParser):
    """A parser that refuses what argparse would lose or misread without a word.

    That is an option that is given twice, an empty path (which would be the working directory), and
    a number that is not finite.
    """

    def __init__(self, *names: Any, **settings: Any):
        """Make a parser as argparse does."""
        super().__init__(*names, **settings)
        for action in (None, "store"):
            self.register("action", action, StoreOnce)
        self.register("type", Path, path_argument)
        self.register("type", float, finite)


class StoreOnce(argparse.Action):
    """Stores a value, unless another one of its option stands before it."""

    _option: str | None = None

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store the value."""
        if option_string and self._option:
            parser.error(
                f"argument {option_string}: it stands there twice, and what comes first would be "
                "lost; give all of it behind one, or leave one out"
            )
        self._option = option_string
        setattr(namespace, self.dest, values)


def path_argument(text: str) -> Path:
    """Return the path of an argument.

    Raises:
        ArgumentTypeError: it is empty.
    """
    if not text:
        raise argparse.ArgumentTypeError("an empty path; is a variable of the shell not set?")
    return Path(text)


def above_zero(text: str) -> float:
    """Return the number of an argument that is a time, above 0.

    Raises:
        ArgumentTypeError: it is no such number.
    """
    try:
        number = finite(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    if number <= 0:
        raise argparse.ArgumentTypeError(f"{text} is not above 0")
    return number


def run(main: Callable[[], int | None], fault: int = 2) -> None:
    """Run a stage's `main` and exit: 0, or `fault` with the bare message of what the user can mend.

    These are an `InputError` and a full disk. A reader of the output that has gone, as `head` has
    after its lines, and Ctrl-C end the command without a message, as a shell expects it.
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
    except KeyboardInterrupt:
        sys.exit(128 + signal.SIGINT)
    except InputError as error:
        message = str(error)
    except Exception as error:
        if not space.is_full(error):
            raise
        message = space.message(getattr(error, "filename", None))
    print(f"error: {message}", file=sys.stderr)
    sys.exit(fault)


def _reader_gone() -> bool:
    """Return whether the standard output is a pipe that nobody reads any more."""
    poll = select.poll()
    poll.register(sys.stdout, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def json_argument(text: str) -> Any:
    """Return the value of a JSON argument, or that in the file of `@FILE`.

    One argument of a command holds 128 KiB at most, and a corpus may have thousands of files. A key
    that is asked of an object and missing is an `InputError`.

    Raises:
        InputError: the file can't be read. Or the rules wrote it, under the hash of its content,
            and it is damaged.
        ArgumentTypeError: the text is no JSON, or has a key twice.
    """
    if text[:1] != "@":
        try:
            return given(parse_json(text), f"{text:.60}")
        except ValueError as error:
            raise argparse.ArgumentTypeError(f"invalid JSON: {error}") from error
    path = Path(text[1:])
    try:
        content = path.read_bytes()
        if path.parent.name == ARGUMENTS and hashlib.sha256(content).hexdigest() != path.stem:
            raise InputError(f"{path} is damaged; delete it and run again")
        return given(parse_json(content), str(path))
    except (OSError, ValueError) as error:
        why = getattr(error, "strerror", None) or error
        raise InputError(f"{text}: the file can't be read as JSON: {why}") from error


def count(text: str, least: int = 0) -> int:
    """Return the number of an argument that is a count, `least` at the lowest.

    Raises:
        ArgumentTypeError: it is below that.
    """
    number = int(text)
    if number < least:
        raise argparse.ArgumentTypeError(f"{text} is below {least}")
    return number


def positive(text: str) -> int:
    """Return a count, from 1 (see `count`)."""
    return count(text, 1)


def words(argv: list[str] | None = None) -> list[str]:
    """Return the words of a command line, this process's by default.

    `@@FILE` stands for those in a file, a JSON list: a whole command holds 128 KiB at most where
    a shell is given it, and a run may have thousands of units.
    """
    arguments = sys.argv[1:] if argv is None else argv
    expanded: list[str] = []
    for word in arguments:
        more = json_argument(word[1:]) if word.startswith("@@") else [word]
        if not (isinstance(more, list) and all(isinstance(one, str) for one in more)):
            raise InputError(f"{word}: the file holds no JSON list of words")
        expanded += more
    return expanded
