"""Serve a page on which people paraphrase sentences, and an API for programs.

paraloom serve --run NAME

See docs/rewriter-service.md.
"""

import os
import sys

import torch

from workflow_scripts.apps.rewriter.app import Limits, Service, application
from workflow_scripts.apps.web import serving
from workflow_scripts.apps.web.guard import LOOPBACK
from workflow_scripts.core.cli import CommandParser, count, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.rewrite.opening import add_options, open_rewriter
from workflow_scripts.stages.rewrite.requests import Answer


def print_answer(answer: Answer) -> None:
    """Print a sentence and its paraphrases."""
    texts = [paraphrase.text for paraphrase in answer.paraphrases]
    print(repr(answer.request.text), texts, flush=True)


def main(argv: list[str] | None = None) -> None:
    """Serve a page on which people paraphrase sentences, and an API for programs."""
    parser = CommandParser(prog="paraloom serve", description=main.__doc__)
    add = parser.add_argument
    add_options(parser)
    serving.add_address(parser, 8009, "Paraphrases")
    add(
        "--name",
        action="append",
        default=[],
        help="by which others reach this machine; needed where --host lets them in",
    )
    add("--threads", type=count, default=0, help="of the search; 0: one for each core (0)")
    add("--seconds", type=count, default=Limits.seconds, help="until an answer must be there (30)")
    add("--log-sentences", action="store_true", help="print what is asked for and answered")
    add("--quiet", action="store_true", help="print nothing for each request")
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
    torch.set_num_threads(arguments.threads or len(os.sched_getaffinity(0)))
    rewriter = open_rewriter(arguments)
    limits = Limits(seconds=arguments.seconds)
    log = print_answer if arguments.log_sentences else None
    service = Service(rewriter, limits, arguments.title, log)
    hosts = {*LOOPBACK, *arguments.name}
    app = application(service, hosts, log=not arguments.quiet)
    listening = serving.listen(arguments.host, arguments.port)
    print(serving.address(arguments.name[0] if outside else arguments.host, listening))
    print("End with Ctrl-C.", flush=True)
    serving.serve(app, listening)


if __name__ == "__main__":
    run(main)
