"""The pages of a campaign over HTTP. Nothing on them comes from elsewhere, and no script is needed.

A person is known by a secret in a cookie. On this machine alone it is given for a name; where
annotators are named beforehand, each gets a link that holds it, and nobody else sees anything.
"""

import sqlite3
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.requests import Request as Http
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

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
from workflow_scripts.apps.web.form_fields import URL_ENCODED, fields_of
from workflow_scripts.apps.web.guard import HEADERS, LOOPBACK, guarded
from workflow_scripts.apps.web.look import assets, templates
from workflow_scripts.stages.rewrite.requests import RequestError

TEMPLATES = Path(__file__).with_name("templates")
# Bytes of a form at most; a page's takes less than one thousand.
MAX_FORM = 1 << 16
MAX_NAME = 60
# Seconds in which a form must have come.
SECONDS = 30
NO_PAGE = "There is no such page."
NO_FORM = "That is no form of this page."


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


class Pages:
    """Answers requests about one campaign; each in a thread, as the database waits for the disk."""

    def __init__(self, campaign: Campaign):
        self._campaign = campaign
        self._templates = templates(TEMPLATES)

    # --- requests ----------------------------------------------------------------------------

    def start(self, http: Http) -> Response:
        """Lead a person to the next page; let one in who has a link."""
        if token := http.query_params.get("token"):
            return self._enter(http, token)
        person = self._person(http)
        return self._stranger() if person is None else self._next(*person)

    def leave(self, http: Http) -> Response:
        """Forget who asks."""
        if not self._campaign.by_name:
            return self._stranger()
        return _redirect("/", _cookie(http, "", 0))

    def own_page(self, http: Http, form: Mapping[str, str] | None = None) -> Response:
        """Show a page that the person was given, or take its answers."""
        person = self._person(http)
        if person is None:
            return self._stranger()
        annotator, name = person
        number = http.path_params["number"]
        campaign, page = self._campaign, None
        if number.isascii() and number.isdigit() and len(number) < 16:
            page = campaign.store.page(annotator, int(number), campaign.wanted)
        if page is None:
            return self._message(404, NO_PAGE, name=name)
        if form is None:
            return self._show(annotator, name, page, {})
        return self._take(annotator, name, page, form)

    # --- people ------------------------------------------------------------------------------

    def _person(self, http: Http) -> tuple[int, str] | None:
        """Return number and name of who asks, None if nobody knows."""
        token = http.cookies.get(_cookie_name(http))
        return self._campaign.store.annotator(token) if token else None

    def _enter(self, http: Http, token: str) -> Response:
        """Let a person in who has a link, and take the secret out of the address."""
        if self._campaign.store.annotator(token) is None:
            return self._stranger()
        return _redirect("/", _cookie(http, token))

    def introduce(self, http: Http, form: Mapping[str, str]) -> Response:
        """Let a person in who says a name, where that is enough."""
        if not self._campaign.by_name:
            return self._stranger()
        name = " ".join(form.get("name", "").split())
        if not name.isprintable() or not 0 < len(name) <= MAX_NAME:
            return self._html(422, "start", error=f"A name has 1 to {MAX_NAME} letters.")
        return _redirect("/", _cookie(http, self._campaign.store.token(name)))

    def _stranger(self) -> Response:
        if self._campaign.by_name:
            return self._html(200, "start", error=None)
        return self._message(403, "Open the link that you were given; it says who you are.")

    # --- pages -------------------------------------------------------------------------------

    def _next(self, annotator: int, name: str) -> Response:
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
            return self._message(200, text, name=name, before=before)
        # An address of its own: a browser's way back leads to the page before.
        return _redirect(f"/page/{page.number}")

    def _take(self, annotator: int, name: str, page: Page, form: Mapping[str, str]) -> Response:
        answers: list[Answer] = []
        faults = {}
        for position in range(1, len(page.slots) + 1):
            try:
                answers.append(read_answer(self._campaign.mode, form, position))
            except UnansweredError as error:
                faults[position] = str(error)
        if faults:
            return self._show(annotator, name, page, faults, form)
        # They are on disk before the browser hears of it.
        self._campaign.store.answer(annotator, page.number, answers)
        return _redirect("/")

    def _show(
        self,
        annotator: int,
        name: str,
        page: Page,
        faults: Mapping[int, str],
        form: Mapping[str, str] | None = None,
    ) -> Response:
        campaign = self._campaign
        return self._html(
            422 if faults else 200,
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

    def _message(self, status: int, text: str, **more: Any) -> Response:
        return self._html(status, "message", text=text, **{"before": None} | more)

    def _html(self, status: int, template: str, **context: Any) -> Response:
        campaign = self._campaign
        text = self._templates.get_template(f"{template}.html.j2").render(
            application="annotate",
            title=campaign.title,
            campaign=campaign,
            name=context.pop("name", None),
            **context,
        )
        return Response(text, status, media_type="text/html")

    async def fault(self, http: Http, error: Exception) -> Response:
        """Say what is wrong. Where the database fails, nothing was taken."""
        if isinstance(error, sqlite3.Error):
            print(f"{self._campaign.store.path}: {error}", file=sys.stderr)
            status = 503
            text = "Nothing was stored, as the database fails. Go back and send it again later."
        elif isinstance(error, HTTPException):
            status, text = error.status_code, error.detail
            if status in (400, 413):  # no browser sends it from a page of ours
                status, text = 400, NO_FORM
            elif status == 404:
                text = NO_PAGE
        else:
            status, text = 500, "The page failed; what its server prints tells more."
        response = self._message(status, text)
        response.headers.update({**HEADERS, **(getattr(error, "headers", None) or {})})
        return response


def _taking(page: Callable[[Http, Mapping[str, str]], Response]) -> Any:
    """Return what reads a form and hands it to a page."""

    async def take(http: Http) -> Response:
        # Without a stated length nothing tells that the form is whole.
        if "content-length" not in http.headers:
            raise HTTPException(400)
        try:
            form = fields_of(await http.body(), URL_ENCODED)
        except RequestError as error:
            raise HTTPException(400) from error
        return await run_in_threadpool(page, http, form)

    return take


def application(campaign: Campaign) -> Starlette:
    """Return the application that serves a campaign."""
    pages = Pages(campaign)
    return guarded(
        [
            Route("/", pages.start),
            Route("/", _taking(pages.introduce), methods=["POST"]),
            Route("/leave", pages.leave),
            Route("/page/{number:path}", pages.own_page),
            Route("/page/{number:path}", _taking(pages.own_page), methods=["POST"]),
            *assets(TEMPLATES, "annotate"),
        ],
        pages.fault,
        [sqlite3.Error],
        # Whoever has a link may reach this machine under any name.
        hosts=LOOPBACK if campaign.by_name else None,
        largest=lambda path: MAX_FORM,
        seconds=SECONDS,
    )


def _cookie_name(http: Http) -> str:
    # Cookies don't know ports: two campaigns may be served by one machine.
    return f"annotator_{http.scope['server'][1]}"


def _cookie(http: Http, token: str, seconds: int = 365 * 24 * 60 * 60) -> str:
    return f"{_cookie_name(http)}={token}; Path=/; HttpOnly; SameSite=Lax; Max-Age={seconds}"


def _redirect(where: str, cookie: str | None = None) -> Response:
    return RedirectResponse(where, 303, {"Set-Cookie": cookie} if cookie else None)


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
