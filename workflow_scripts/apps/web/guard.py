"""What stands before all pages: who may ask, how much, and what browsers may do with the answer."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Any
from urllib.parse import quote, urlsplit

from starlette.applications import Starlette
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import BaseRoute
from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_MOST_DIGITS = 18
_SAFE = ("GET", "HEAD")
# The state of a client that went away before its answer; nobody sees it.
GONE = 499
Refusal = Callable[[Request, Exception], Awaitable[Response]]
HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; connect-src 'self'; "
        "img-src data:; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Guard:
    """Refuses requests under foreign names or from foreign pages, and those that are too large.

    A page from elsewhere could give its own name this machine's address; so only known names of
    the host are answered. What changes something must come from a page of this service, or from no
    page at all.

    Args:
        app: answers the others.
        hosts: the names by which the service is reached, without port; None: any.
        largest: bytes of a body at most, of a path.
        seconds: in which a body must have come.
        refusal: makes the answer to what is refused, as the application does with other errors.
        log: whether each request is printed to stdout, without what was sent.
    """

    def __init__(
        self,
        app: ASGIApp,
        hosts: Collection[str] | None,
        largest: Callable[[str], int],
        seconds: float,
        refusal: Refusal,
        log: bool = False,
    ):
        self._app = app
        self._hosts = None if hosts is None else {host.lower() for host in hosts}
        self._largest = largest
        self._seconds = seconds
        self._refusal = refusal
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or let the application do it."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started, status = time.monotonic(), 0

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers[name] = value
            await send(message)

        headers = Headers(scope=scope)
        problem = self._problem(scope["method"], headers, scope["path"])
        if problem:
            await self._refuse(scope, receive, answer, *problem)
        else:
            await self._bounded(scope, receive, answer)
        if self._log:
            seconds = time.monotonic() - started
            # A path may hold any character, also those that make a terminal write elsewhere.
            print(f"{scope['method']} {quote(scope['path'])} {status} {seconds:.3f} s", flush=True)

    async def _refuse(
        self, scope: Scope, receive: Receive, send: Send, status: int, why: str
    ) -> None:
        response = await self._refusal(Request(scope), HTTPException(status, why))
        await response(scope, receive, send)

    def _problem(self, method: str, headers: Headers, path: str) -> tuple[int, str] | None:
        host = headers.get("host", "")
        if self._hosts is not None and _name(host) not in self._hosts:
            return 403, "this service is reached under another name"
        if method in _SAFE:
            return None
        origin = headers.get("origin")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("same-origin", "none") or (
            origin is not None and origin not in (f"http://{host}", f"https://{host}")
        ):
            return 403, "the request comes from a page of another site"
        # A server in between may see another end of such a body.
        if "content-length" in headers and "transfer-encoding" in headers:
            return 400, "the request has both Content-Length and Transfer-Encoding"
        length = headers.get("content-length", "0")
        if not (length.isascii() and length.isdigit()):
            return 400, "Content-Length is no number"
        # int() refuses some thousand digits.
        if len(length) > _MOST_DIGITS or int(length) > self._largest(path):
            return 413, self._too_large(path)
        return None

    def _too_large(self, path: str) -> str:
        return f"the request is larger than {self._largest(path):,} bytes; send less at a time"

    async def _bounded(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let the application answer; a body is bounded as it comes, in size and in time."""
        limit, read, whole, begun = self._largest(scope["path"]), 0, False, False
        end = asyncio.get_running_loop().time() + self._seconds

        async def bounded() -> Message:
            nonlocal read, whole
            try:
                async with asyncio.timeout_at(None if whole else end):
                    message = await receive()
            except TimeoutError as error:
                raise _TooSlowError from error
            if message["type"] == "http.request":
                read += len(message.get("body", b""))
                whole = not message.get("more_body", False)
                if read > limit:
                    raise _TooLargeError
            return message

        async def watched(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self._app(scope, bounded, watched)
        except _TooLargeError:
            if begun:
                raise
            await self._refuse(scope, receive, send, 413, self._too_large(scope["path"]))
        except _TooSlowError:
            if begun:
                raise
            why = f"the request did not come within {self._seconds:g} s"
            await self._refuse(scope, receive, send, 408, why)


class _TooLargeError(Exception):
    """More was sent than is taken."""


class _TooSlowError(Exception):
    """A body did not come in time."""


def _name(host: str) -> str | None:
    try:
        return urlsplit(f"//{host}").hostname
    except ValueError:
        return None


async def _hung_up(http: Request, error: Exception) -> Response:
    return Response(status_code=GONE)


def guarded(
    routes: Sequence[BaseRoute],
    refusal: Refusal,
    errors: Sequence[type[Exception]] = (),
    lifespan: Any = None,
    **guard: Any,
) -> Starlette:
    """Return an application behind its guard.

    Args:
        routes: its pages.
        refusal: makes the answer to what is refused, and to what fails.
        errors: of the application's own, which `refusal` knows.
        lifespan: of what lives as long as the application.
        guard: what else `Guard` takes.
    """
    app = Starlette(
        routes=routes,
        middleware=[Middleware(Guard, refusal=refusal, **guard)],
        exception_handlers={
            **dict.fromkeys([HTTPException, *errors, Exception], refusal),
            ClientDisconnect: _hung_up,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False
    return app
