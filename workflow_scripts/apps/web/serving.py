"""How an application is served: its address, its connections, its end."""

import argparse
import signal
import socket
import sys
from types import FrameType

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.h11_impl import H11Protocol, RequestResponseCycle

from workflow_scripts.apps.web.guard import LOOPBACK
from workflow_scripts.core.cli import count
from workflow_scripts.core.errors import InputError

# Seconds that requests at work get when the service is told to end.
_PATIENCE = 10
# Seconds in which a connection's next request must have begun, its head whole; then it is closed.
# Where it is short, a busy machine closes one on which a client has just sent its next request.
IDLE = 75
# Connections at once; whoever comes then is told to come again.
_CONNECTIONS = 1024


class _Connection(H11Protocol):
    """A connection that is also closed where a client never says what it wants.

    uvicorn waits for the first request of a connection, and for the end of a head, for ever.
    """

    def connection_made(self, transport: object) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)  # type: ignore[arg-type]
        self.timeout_keep_alive_task = self.loop.call_later(
            self.timeout_keep_alive, self.timeout_keep_alive_handler
        )

    def data_received(self, data: bytes) -> None:
        """Read on; not these bytes, but a whole head ends the waiting."""
        self.conn.receive_data(data)
        self.handle_events()

    def eof_received(self) -> None:
        """Refuse a body that is cut off, before the connection is closed."""
        cycle: RequestResponseCycle | None = self.cycle
        if cycle and cycle.more_body and not cycle.response_started:
            self.conn.receive_data(b"")
            self.handle_events()


def add_address(parser: argparse.ArgumentParser, port: int, title: str) -> None:
    """Add the options that say where pages are served, and what they are called."""
    add = parser.add_argument
    add("--host", default=LOOPBACK[0], help=f"address to serve at ({LOOPBACK[0]})")
    add("--port", type=count, default=port, help=f"to serve at; 0: any that is free ({port})")
    add("--title", default=title, help="of the pages")


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


def address(host: str, listening: socket.socket) -> str:
    """Return the address of the first page, for whoever reaches the socket under a host's name."""
    port = listening.getsockname()[1]
    return f"http://{f'[{host}]' if ':' in host else host}:{port}/"


def server(app: ASGIApp) -> uvicorn.Server:
    """Return what serves an application."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=_Connection,
            ws="none",
            log_level="error",
            access_log=False,
            server_header=False,
            timeout_graceful_shutdown=_PATIENCE,
            timeout_keep_alive=IDLE,
            limit_concurrency=_CONNECTIONS,
            h11_max_incomplete_event_size=1 << 16,
        )
    )


def serve(app: ASGIApp, listening: socket.socket) -> None:
    """Serve an application at a socket until the process is told to end; that is no failure."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _end)  # uvicorn sends itself the signal once more when all is done
    with listening:
        server(app).run([listening])


def _end(number: int, frame: FrameType | None) -> None:
    sys.exit(0)
