"""Serve a page on which people paraphrase sentences, and an API for programs.

paraloom serve --run NAME

See docs/rewriter-service.md.
"""

import os
import socket
import sys
from contextlib import suppress

import torch
import uvicorn

from workflow_scripts.apps.rewriter.app import Limits, Service, application
from workflow_scripts.apps.rewriter.guard import LOOPBACK
from workflow_scripts.core.cli import CommandParser, count, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.rewrite.opening import add_options, open_rewriter
from workflow_scripts.stages.rewrite.requests import Answer

# Seconds that requests at work get when the service is told to end.
_PATIENCE = 10
# Seconds without a request after which a connection is closed. Where it is short, a busy machine
# closes one on which a client has just sent its next request.
_IDLE = 75


def listen(host: str, port: int) -> socket.socket:
    """Return a socket at an address.

    Raises:
        InputError: it can't be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((host, port))
        listener.listen(256)
    except (OSError, OverflowError) as error:
        listener.close()
        raise InputError(
            f"no page at {host}, port {port}: {error}; choose another --port"
        ) from error
    return listener


def print_answer(answer: Answer) -> None:
    """Print a sentence and its paraphrases."""
    texts = [paraphrase.text for paraphrase in answer.paraphrases]
    print(repr(answer.request.text), texts, flush=True)


def main(argv: list[str] | None = None) -> None:
    """Serve a page on which people paraphrase sentences, and an API for programs."""
    parser = CommandParser(prog="paraloom serve", description=main.__doc__)
    add = parser.add_argument
    add_options(parser)
    add("--host", default=LOOPBACK[0], help=f"address to serve at ({LOOPBACK[0]})")
    add("--port", type=count, default=8009, help="to serve at; 0: any that is free (8009)")
    add(
        "--name",
        action="append",
        default=[],
        help="by which others reach this machine; needed where --host lets them in",
    )
    add("--title", default="Paraphrases", help="of the pages")
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
    listening = listen(arguments.host, arguments.port)
    port = listening.getsockname()[1]
    shown = arguments.name[0] if outside else arguments.host
    print(f"http://{f'[{shown}]' if ':' in shown else shown}:{port}/")
    print("End with Ctrl-C.", flush=True)
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=_PATIENCE,
        timeout_keep_alive=_IDLE,
        limit_concurrency=4 * limits.waiting,
        h11_max_incomplete_event_size=1 << 16,
    )
    # uvicorn sends itself the signal once more when all is done.
    with listening, suppress(KeyboardInterrupt):
        uvicorn.Server(config).run([listening])


if __name__ == "__main__":
    run(main)
