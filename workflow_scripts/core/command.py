"""The command line of a job, which follows from the signature of the function that it starts.

The parameter `folder: Path` is the option `--folder FOLDER`; one with a default may be left out. So
the interface of a job is written once, as a signature: rules, people and tests give it by the same
names, and a wrong or missing one is an error before the work begins.
"""

import argparse
import inspect
import types
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Literal, Protocol, Union, get_args, get_origin, get_type_hints

from workflow_scripts.core.cli import (
    CommandParser,
    StoreOnce,
    json_argument,
    path_argument,
    positive,
    run,
    words,
)

_WORDS = (Path, str, int, float)
# What many jobs are told. Docstrings of their functions have the rest, and what differs.
_COMMON = {
    "config": "settings of the unit",
    "shards": "their number, the same in each folder of shards",
    "inputs": "hashes of the user's files that the job reads, by path",
    "work": "folder that outlives a kill, from which the work goes on",
    "output": "file or folder that is written; the record of a file stands beside it",
    "checkpoint_seconds": "between two checkpoints",
    "batch_tokens": "target tokens that are scored at once",
    "device": "that computes",
    "threads": "that compute",
}


class Main(Protocol):
    """The `main` of a module."""

    def __call__(self, argv: list[str] | None = None) -> None:
        """Do what a command line says, by default that of the process."""


def command(function: Callable[..., None], name: str) -> Main:
    """Return the `main` of a module: it parses a command line, and calls `function`.

    As the last line of the module: where that is what was started, its `name` is `__main__`, and
    the command begins.

    A parameter's type says what its option takes: Path, str, int or float one word; Literal one of
    these; bool none; a sequence of them several words; dict[str, Path] several NAME=PATH; anything
    else is JSON, or `@` and the file that holds it. `@@FILE` stands for words in a file. Of several
    words there must be one at least where the parameter has no default. `threads` are one at least.

    Raises:
        SystemExit: of the function that is returned: an option is wrong or missing; it says which.
    """

    def main(argv: list[str] | None = None) -> None:
        function(**vars(_parser(function).parse_args(words(argv))))

    main.__doc__ = function.__doc__
    if name == "__main__":
        run(main)
    return main


def _parser(function: Callable[..., None]) -> argparse.ArgumentParser:
    lines = (inspect.getdoc(function) or "").splitlines()
    parser = CommandParser(description=lines[0] if lines else None, allow_abbrev=False)
    kinds = get_type_hints(function)
    for name, parameter in inspect.signature(function).parameters.items():
        required = parameter.default is parameter.empty
        takes = {"type": positive} if name == "threads" else _takes(kinds[name])
        settings: dict[str, Any] = {"required": required, "help": _COMMON.get(name), **takes}
        if not required:
            settings["default"] = parameter.default
        if settings.get("action") == "store_true":
            del settings["required"]
        if required and "nargs" in settings:
            settings["nargs"] = "+"
        parser.add_argument(f"--{name.replace('_', '-')}", dest=name, **settings)
    return parser


def _takes(kind: Any) -> dict[str, Any]:
    """Return what argparse must know of an option whose parameter has this type."""
    if get_origin(kind) in (Union, types.UnionType):
        kinds = [argument for argument in get_args(kind) if argument is not type(None)]
        return _takes(kinds[0]) if len(kinds) == 1 else {"type": json_argument}
    if kind in _WORDS:
        return {"type": kind}
    if kind is bool:
        return {"action": "store_true"}
    if get_origin(kind) is Literal:
        return {"choices": get_args(kind)}
    if kind == dict[str, Path]:
        return {"nargs": "*", "action": _Named}
    if get_origin(kind) in (list, Sequence) and get_args(kind)[0] in _WORDS:
        return {"nargs": "*", "type": get_args(kind)[0]}
    is_object = kind is dict or get_origin(kind) is dict
    return {"type": _json_object if is_object else json_argument, "metavar": "JSON"}


def _json_object(text: str) -> dict[str, Any]:
    value = json_argument(text)
    if not isinstance(value, dict):
        raise argparse.ArgumentTypeError("invalid JSON: it must be an object, in { and }")
    return value


class _Named(StoreOnce):
    """Collects NAME=PATH, several of them, as a dict."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: Any,
        option_string: str | None = None,
    ) -> None:
        """Store the paths by their names."""
        named = {}
        for value in values:
            name, sign, path = value.partition("=")
            if not sign:
                parser.error(f"argument {option_string}: {value!r} is no NAME=PATH")
            if name in named:
                parser.error(f"argument {option_string}: {name} stands there twice")
            try:
                named[name] = path_argument(path)
            except argparse.ArgumentTypeError as error:
                parser.error(f"argument {option_string}: {name}: {error}")
        super().__call__(parser, namespace, named, option_string)
