"""Serve a page on which people paraphrase sentences, and an API for programs.

paraloom serve [--run NAME]

See docs/rewriter-service.md.
"""

import argparse
import sys

import torch

import paraloom
from workflow_scripts.apps.rewriter.app import Limits, Service, application
from workflow_scripts.apps.rewriter.engine import Engine
from workflow_scripts.apps.rewriter.there_and_back import ThereAndBack
from workflow_scripts.apps.web import serving
from workflow_scripts.apps.web.guard import LOOPBACK
from workflow_scripts.core.cli import CommandParser, count, positive, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.catalogues.judges import DEFAULT
from workflow_scripts.stages.rewrite.opening import add_options, open_rewriter
from workflow_scripts.stages.rewrite.requests import Answer
from workflow_scripts.stages.rewrite.rewriter import Settings


def print_answer(answer: Answer) -> None:
    """Print a sentence and its paraphrases."""
    texts = [paraphrase.text for paraphrase in answer.paraphrases]
    print(repr(answer.request.text), texts, flush=True)


# Options that mean something with a trained rewriter alone, and without one alone.
_OF_REWRITERS = ("rewriter", "idf", "sample", "batch_rows", "copies", "no_meaning")
_THERE_AND_BACK = ("there", "back", "judge")


def open_engine(
    parser: argparse.ArgumentParser, arguments: argparse.Namespace
) -> tuple[Engine, str | None]:
    """Return what the options name, and the call of the library that makes the same.

    Raises:
        InputError: it can't be opened, or an option does not go with it.
    """
    trained = bool(arguments.run or arguments.model)
    for name in _THERE_AND_BACK if trained else _OF_REWRITERS:
        if getattr(arguments, name) != parser.get_default(name):
            option = f"--{name.replace('_', '-')}"
            raise InputError(
                f"{option} is for models that translate there and back; leave it out, or --run "
                "and --model"
                if trained
                else f"{option} goes with a trained rewriter; name one with --run or --model"
            )
    if trained:
        if arguments.beam_size is None:
            arguments.beam_size = Settings.beam_size
        arguments.precision = arguments.precision or "fp32"
        return open_rewriter(arguments), None
    language = arguments.language or "en"
    named = {name: getattr(arguments, name) for name in ("there", "back", "precision")}
    if arguments.judge != DEFAULT:
        named["judge"] = None if arguments.judge == "none" else arguments.judge
    if arguments.device != "auto":
        named["device"] = arguments.device
    if arguments.threads != 1:
        named["threads"] = arguments.threads
    given = {name: value for name, value in named.items() if value is not None or name == "judge"}
    shown = [repr(language), *(f"{name}={value!r}" for name, value in given.items())]
    if arguments.beam_size is not None:
        given["search"] = paraloom.Search(beam=arguments.beam_size)
        shown.append(f"search=paraloom.Search(beam={arguments.beam_size})")
    engine = ThereAndBack(paraloom.Paraphraser(language, **given))
    return engine, f"paraloom.Paraphraser({', '.join(shown)})"


def make_parser() -> CommandParser:
    """Return the parser of the command."""
    parser = CommandParser(prog="paraloom serve", description=main.__doc__)
    add = parser.add_argument
    add_options(parser, required=False)
    parser.set_defaults(beam_size=None, precision=None)
    add("--there", metavar="MODEL", help="without --run: translates from the language (by name)")
    add("--back", metavar="MODEL", help="without --run: translates back to it")
    add("--judge", default=DEFAULT, help="without --run: folder of a judge, or none")
    serving.add_address(parser, 8009, "Paraphrases")
    add(
        "--name",
        action="append",
        default=[],
        help="by which others reach this machine; needed where --host lets them in",
    )
    add("--threads", type=positive, default=1, help="that search, each for other requests (1)")
    add("--seconds", type=count, default=Limits.seconds, help="until an answer must be there (30)")
    add("--log-sentences", action="store_true", help="print what is asked for and answered")
    add("--quiet", action="store_true", help="print nothing for each request")
    return parser


def main(argv: list[str] | None = None) -> None:
    """Serve a page on which people paraphrase sentences, and an API for programs."""
    parser = make_parser()
    arguments = parser.parse_args(argv)
    outside = arguments.host not in LOOPBACK
    if outside and not arguments.name:
        raise InputError(
            f"--host {arguments.host} lets others in: say by which name they reach this machine "
            "(--name HOST, as in their browser's address); requests under other names are refused"
        )
    if outside:
        print(
            "warning: whoever reaches this address can use the service, without a password, and "
            "sentences are sent unencrypted; put a server with both before it",
            file=sys.stderr,
        )
    if arguments.seconds < 1:
        raise InputError("--seconds must be above zero")
    torch.set_num_threads(1)  # of each thread that searches
    engine, python = open_engine(parser, arguments)
    limits = Limits(seconds=arguments.seconds)
    log = print_answer if arguments.log_sentences else None
    service = Service(engine, limits, arguments.title, log, python, arguments.threads)
    hosts = {*LOOPBACK, *arguments.name}
    app = application(service, hosts, log=not arguments.quiet)
    listening = serving.listen(arguments.host, arguments.port)
    print(serving.address(arguments.name[0] if outside else arguments.host, listening))
    print("End with Ctrl-C.", flush=True)
    serving.serve(app, listening)


if __name__ == "__main__":
    run(main)
