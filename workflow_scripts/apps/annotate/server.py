"""The pages of a campaign over HTTP. Nothing on them comes from elsewhere, and no script is needed.

A person is known by a secret in a cookie. On this machine alone it is given for a name; where
annotators are named beforehand, each gets a link that holds it, and nobody else sees anything.
"""

import sqlite3
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from http.cookies import CookieError, SimpleCookie
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

from workflow_scripts.apps.annotate.modes import (
    FLUENCY,
    LABELS,
    SLOTS,
    STRENGTH,
    Answer,
    Mode,
    UnansweredError,
    read_answer,
)
from workflow_scripts.apps.annotate.store import Page, Store
from workflow_scripts.core.report.rendering import environment

TEMPLATES = Path(__file__).with_name("templates")
ASSETS = {
    "/annotate.css": "text/css; charset=utf-8",
    "/annotate.js": "text/javascript; charset=utf-8",
}
# Bytes of a form at most; a page's takes less than one thousand.
MAX_FORM = 1 << 16
# Of a length that is read.
_MOST_DIGITS = 18
MAX_NAME = 60
# Seconds without a byte after which a connection is closed.
IDLE = 60.0
NO_PAGE = "There is no such page."
LOOPBACK = ("127.0.0.1", "localhost")
_HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src data:; "
        "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
    ),
    "Cache-Control": "no-store",
    "Referrer-Policy": "same-origin",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class Campaign:
    """What the pages are made from."""

    store: Store
    mode: Mode
    title: str
    language: str | None
    """Code of the paraphrases' language; None where nobody said it."""
    wanted: int
    """People who shall judge each paraphrase."""
    controls: int
    """For each person one page in this many has a control; 0: none has."""
    seed: int
    by_name: bool
    """Whether a name is enough to take part; else a link with a secret is needed."""


class Server(ThreadingHTTPServer):
    """Serves one campaign, a thread for each connection."""

    daemon_threads = True
    # A lab of annotators may open the page in the same second.
    request_queue_size = 128

    def __init__(self, address: tuple[str, int], campaign: Campaign):
        """Bind to the address; `server_port` then is the port.

        Raises:
            OSError: the address can't be had.
        """
        self.campaign = campaign
        self.templates = environment(TEMPLATES)
        self.assets = {path: (TEMPLATES / path[1:]).read_bytes() for path in ASSETS}
        super().__init__(address, Handler)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Print an error in one line. A browser that hung up is no error."""
        error = sys.exception()
        if not isinstance(error, ConnectionError | TimeoutError):
            print(f"a request failed: {error!r}", file=sys.stderr)


class Handler(BaseHTTPRequestHandler):
    """Answers the requests of one connection."""

    protocol_version = "HTTP/1.1"
    server: Server
    timeout = IDLE

    # --- requests ----------------------------------------------------------------------------

    def do_GET(self) -> None:
        """Show a page."""
        self._guarded(self._get)

    def do_POST(self) -> None:
        """Take a form."""
        self._guarded(self._post)

    def _guarded(self, work: Callable[[], None]) -> None:
        """Answer a request; where the database fails, say that nothing was taken."""
        try:
            work()
        except sqlite3.Error as error:
            print(f"{self._campaign.store.path}: {error}", file=sys.stderr)
            text = "Nothing was stored, as the database fails. Go back and send it again later."
            self._message(HTTPStatus.SERVICE_UNAVAILABLE, text)

    def _get(self) -> None:
        # A body would be read as the next request of the connection.
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True
        path, query = self._target()
        if path in ASSETS:
            self._send(HTTPStatus.OK, self.server.assets[path], ASSETS[path])
        elif not self._known_host():
            self._message(HTTPStatus.FORBIDDEN, "This page is served under another name.")
        elif not _is_page(path):
            self._message(HTTPStatus.NOT_FOUND, NO_PAGE)
        elif path == "/" and "token" in query:
            self._enter(query["token"])
        elif path == "/leave" and self._campaign.by_name:
            self._redirect("/", self._cookie("", "Max-Age=0"))
        elif (person := self._person()) is None:
            self._stranger()
        elif path == "/":
            self._next(*person)
        else:
            self._own_page(person, path, {})

    def _post(self) -> None:
        path, _ = self._target()
        form = self._form()
        if form is None:
            self.close_connection = True
            self._message(HTTPStatus.BAD_REQUEST, "That is no form of this page.")
        elif not self._known_host() or not self._same_origin():
            self._message(HTTPStatus.FORBIDDEN, "The form comes from another page.")
        elif not _is_page(path):
            self._message(HTTPStatus.NOT_FOUND, NO_PAGE)
        elif path == "/" and self._campaign.by_name:
            self._introduce(form.get("name", ""))
        elif (person := self._person()) is None:
            self._stranger()
        else:
            self._own_page(person, path, form)

    # --- people ------------------------------------------------------------------------------

    @property
    def _campaign(self) -> Campaign:
        return self.server.campaign

    def _cookie_name(self) -> str:
        # Cookies don't know ports: two campaigns may be served by one machine.
        return f"annotator_{self.server.server_port}"

    def _cookie(self, token: str, *more: str) -> str:
        return "; ".join(
            [f"{self._cookie_name()}={token}", "Path=/", "HttpOnly", "SameSite=Lax", *more]
        )

    def _person(self) -> tuple[int, str] | None:
        """Return number and name of who asks, None if nobody knows."""
        try:
            cookie = SimpleCookie(self.headers.get("Cookie", "")).get(self._cookie_name())
        except CookieError:
            return None
        return self._campaign.store.annotator(cookie.value) if cookie else None

    def _enter(self, token: str) -> None:
        """Let a person in who has a link, and take the secret out of the address."""
        if self._campaign.store.annotator(token) is None:
            self._stranger()
        else:
            self._redirect("/", self._cookie(token, "Max-Age=31536000"))

    def _introduce(self, name: str) -> None:
        name = " ".join(name.split())
        if not name.isprintable() or not 0 < len(name) <= MAX_NAME:
            text = f"A name has 1 to {MAX_NAME} letters."
            self._html(HTTPStatus.UNPROCESSABLE_ENTITY, "start", error=text)
        else:
            token = self._campaign.store.token(name)
            self._redirect("/", self._cookie(token, "Max-Age=31536000"))

    def _stranger(self) -> None:
        if self._campaign.by_name:
            self._html(HTTPStatus.OK, "start", error=None)
        else:
            text = "Open the link that you were given; it says who you are."
            self._message(HTTPStatus.FORBIDDEN, text)

    # --- pages -------------------------------------------------------------------------------

    def _next(self, annotator: int, name: str) -> None:
        campaign = self._campaign
        page = campaign.store.next_page(
            annotator,
            campaign.wanted,
            SLOTS[campaign.mode],
            campaign.controls,
            campaign.seed,
        )
        if page is None:
            before = campaign.store.page_before(annotator, 1 << 62)
            text = "You have judged everything there is. Thank you!"
            self._message(HTTPStatus.OK, text, name=name, before=before)
        else:
            # An address of its own: a browser's way back leads to the page before.
            self._redirect(f"/page/{page.number}")

    def _own_page(self, person: tuple[int, str], path: str, form: Mapping[str, str]) -> None:
        """Show a page that the person was given, or take its answers."""
        annotator, name = person
        number = path.removeprefix("/page/")
        campaign, page = self._campaign, None
        if number.isascii() and number.isdigit() and len(number) < 16:
            page = campaign.store.page(annotator, int(number), campaign.wanted)
        if page is None:
            self._message(HTTPStatus.NOT_FOUND, NO_PAGE, name=name)
        elif self.command == "GET":
            self._show(annotator, name, page, {})
        else:
            self._take(annotator, name, page, form)

    def _take(self, annotator: int, name: str, page: Page, form: Mapping[str, str]) -> None:
        answers: list[Answer] = []
        faults = {}
        for position in range(1, len(page.slots) + 1):
            try:
                answers.append(read_answer(self._campaign.mode, form, position))
            except UnansweredError as error:
                faults[position] = str(error)
        if faults:
            self._show(annotator, name, page, faults, form)
        else:
            # They are on disk before the browser hears of it.
            self._campaign.store.answer(annotator, page.number, answers)
            self._redirect("/")

    def _show(
        self,
        annotator: int,
        name: str,
        page: Page,
        faults: Mapping[int, str],
        form: Mapping[str, str] | None = None,
    ) -> None:
        campaign = self._campaign
        self._html(
            HTTPStatus.UNPROCESSABLE_ENTITY if faults else HTTPStatus.OK,
            campaign.mode,
            name=name,
            page=page,
            filled=_filled(page) if form is None else form,
            faults=faults,
            before=campaign.store.page_before(annotator, page.number),
            progress=campaign.store.progress(annotator, campaign.wanted),
            labels=LABELS,
            marks={"strength": STRENGTH, "fluency": FLUENCY},
        )

    def _message(self, status: HTTPStatus, text: str, **more: Any) -> None:
        self._html(status, "message", text=text, **{"name": None, "before": None} | more)

    # --- HTTP --------------------------------------------------------------------------------

    def _target(self) -> tuple[str, dict[str, str]]:
        try:
            parts = urlsplit(self.path)
            return parts.path, _fields(parts.query)
        except ValueError:  # no address of ours
            return "", {}

    def _known_host(self) -> bool:
        """Tell whether the address is this machine's, where a name is enough to take part.

        A page from elsewhere could otherwise give its own name this machine's address.
        """
        try:
            host = urlsplit(f"//{self.headers.get('Host', '')}").hostname
        except ValueError:
            host = None
        return not self._campaign.by_name or host in LOOPBACK

    def _same_origin(self) -> bool:
        origin, host = self.headers.get("Origin"), self.headers.get("Host", "")
        return origin is None or origin in (f"http://{host}", f"https://{host}")

    def _form(self) -> dict[str, str] | None:
        """Return the fields of the form that was sent, None if no form was."""
        lengths = self.headers.get_all("Content-Length", [])
        # With both headers, or two lengths, a server in between may see another end of the form.
        if len(lengths) != 1 or "Transfer-Encoding" in self.headers:
            return None
        said = lengths[0]
        if not (said.isascii() and said.isdigit()) or len(said) > _MOST_DIGITS:
            return None
        length = int(said)
        if length > MAX_FORM:
            return None
        form = self.rfile.read(length)
        if len(form) < length:  # cut off: of the score 80 only the 8 may have come
            return None
        try:
            return _fields(form.decode("utf-8"))
        except (UnicodeDecodeError, ValueError):
            return None

    def _html(self, status: HTTPStatus, template: str, **context: Any) -> None:
        campaign = self._campaign
        text = self.server.templates.get_template(f"{template}.html.j2").render(
            campaign=campaign, mode=campaign.mode, **context
        )
        self._send(status, text.encode(), "text/html; charset=utf-8")

    def _send(self, status: HTTPStatus, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self._finish(body)

    def _redirect(self, where: str, cookie: str | None = None) -> None:
        self.send_response(HTTPStatus.SEE_OTHER)
        self.send_header("Location", where)
        if cookie:
            self.send_header("Set-Cookie", cookie)
        self._finish(b"")

    def _finish(self, body: bytes) -> None:
        self.send_header("Content-Length", str(len(body)))
        for name, value in _HEADERS.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing of a request: who judged what is nobody else's business."""


def _fields(text: str) -> dict[str, str]:
    """Return the fields of a query or a form.

    Raises:
        ValueError: there are too many, or one stands there twice.
    """
    fields = parse_qs(text, keep_blank_values=True, max_num_fields=100)
    return {name: value for name, [value] in fields.items()}


def _is_page(path: str) -> bool:
    return path in ("/", "/leave") or path.startswith("/page/")


def _filled(page: Page) -> dict[str, str]:
    """Return the fields of a page as its annotator filled them; empty if it is new."""
    filled: dict[str, str] = {}
    for position, slot in enumerate(page.slots, start=1):
        said = slot.answer
        values = {
            "score": None if said.score is None else f"{said.score:g}",
            "nonsensical": "1" if said.grammar == 0 else None,
            "ungrammatical": "1" if said.grammar == 1 else None,
            "label": said.label,
            "strength": said.strength,
            "fluency": said.fluency,
        }
        filled |= {f"{k}_{position}": str(v) for k, v in values.items() if v is not None}
    return filled


def link(host: str, port: int, token: str | None = None) -> str:
    """Return the address of the page, for the annotator with this secret."""
    return f"http://{host}:{port}/" + (f"?{urlencode({'token': token})}" if token else "")
