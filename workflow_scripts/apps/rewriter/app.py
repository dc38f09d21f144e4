"""The pages and the API of one paraphraser. Nothing on the pages comes from elsewhere."""

import asyncio
import itertools
import math
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Collection
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request as Http
from starlette.responses import FileResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from workflow_scripts.apps.rewriter import calls
from workflow_scripts.apps.rewriter.differences import differences
from workflow_scripts.apps.rewriter.engine import Engine
from workflow_scripts.apps.rewriter.files import File, Files, TooManyFilesError
from workflow_scripts.apps.rewriter.forms import request_fields
from workflow_scripts.apps.rewriter.openapi import document
from workflow_scripts.apps.rewriter.there_and_back import Judged, ThereAndBack
from workflow_scripts.apps.rewriter.worker import ClosedError, FullError, Worker
from workflow_scripts.apps.web.form_fields import fields_of
from workflow_scripts.apps.web.guard import GONE, HEADERS, guarded
from workflow_scripts.apps.web.look import assets, templates
from workflow_scripts.stages.rewrite.request_lines import form_of, json_value, requests_of
from workflow_scripts.stages.rewrite.requests import (
    MOST_RESULTS,
    Answer,
    Paraphrase,
    Request,
    RequestError,
    request_of,
)

TEMPLATES = Path(__file__).with_name("templates")
# The forms of files by the types that the API takes.
TYPES = {
    "text/plain": "text",
    "text/tab-separated-values": "tsv",
    "application/jsonl": "jsonl",
    "application/x-ndjson": "jsonl",
}
_NO_FILE = (
    "there is no such file; its results are kept for an hour, and until the service ends; "
    "send it again"
)
# The page in the navigation that a template belongs to.
_HERE = {"page": "/", "batch": "/batch", "progress": "/batch", "api": "/api"}
# Of the rewriter's templates, in the page's list and in what the API says about it.
_TEMPLATES_SHOWN = 20
_SHOWN = 5  # paraphrases of a sentence, where the page says nothing else


@dataclass(frozen=True)
class Limits:
    """Bounds of what is asked.

    `body`, `file`: bytes of a request, and of one with a file; `lines`: of a file; `waiting`:
    requests that wait for the search; `seconds`: until an answer must be there.
    """

    body: int = 1 << 16
    file: int = 1 << 20
    lines: int = 5000
    waiting: int = 256
    seconds: int = 30


class Service:
    """What the pages are made from.

    Args:
        rewriter: paraphrases.
        limits: of what is asked.
        title: of the pages.
        log: called with each sentence that is asked for and its answer; None: nothing is logged.
        python: the call of the library that makes the same paraphraser, if there is one.
        threads: that search.
    """

    def __init__(
        self,
        rewriter: Engine,
        limits: Limits,
        title: str,
        log: Callable[[Answer], None] | None = None,
        python: str | None = None,
        threads: int = 1,
    ):
        self.rewriter = rewriter
        self.limits = limits
        self.title = title
        self.worker = Worker(rewriter, limits.waiting, threads)
        self.files: Files | None = None
        self._log = log
        self._python = python
        self._numbers = itertools.count()
        self._templates = templates(TEMPLATES)

    @asynccontextmanager
    async def life(self, app: Starlette) -> AsyncIterator[None]:
        """Let the search and the files live as long as the application does."""
        with tempfile.TemporaryDirectory(prefix="paraloom-rewriter-") as folder:
            self.files = Files(Path(folder), self._ask_patiently)
            self.worker.start()
            try:
                yield
            finally:
                await self.files.close()
                await asyncio.to_thread(self.worker.close)

    # --- asking ------------------------------------------------------------------------------

    async def ask(self, request: Request, http: Http) -> Answer:
        """Return the answer to a request of a client, in time.

        Raises:
            RequestError: it can't be answered.
            HTTPException: too many wait, it takes too long, or the client has gone.
        """
        try:
            asking = asyncio.ensure_future(
                asyncio.wrap_future(self.worker.submit(request, f"request {next(self._numbers)}"))
            )
        except FullError as error:
            raise HTTPException(
                429, "too many requests wait; ask again in a few seconds"
            ) from error
        except ClosedError as error:
            raise HTTPException(503, "the service ends") from error
        gone = asyncio.ensure_future(_gone(http))
        both: set[asyncio.Future[Any]] = {asking, gone}
        try:
            await asyncio.wait(
                both, timeout=self.limits.seconds, return_when=asyncio.FIRST_COMPLETED
            )
            if asking.done():
                answer = self._result(asking)
            elif gone.done():
                raise HTTPException(GONE, "the client has gone")
            else:
                seconds = self.limits.seconds
                raise HTTPException(504, f"no answer within {seconds} s; ask for less, or later")
        finally:
            asking.cancel()
            gone.cancel()
        if self._log:
            self._log(answer)
        return answer

    def _result(self, asking: "asyncio.Future[Answer]") -> Answer:
        if asking.cancelled():
            raise HTTPException(503, "the service ends")
        error = asking.exception()
        if error is None or isinstance(error, RequestError):
            return asking.result()
        raise HTTPException(500, "the search failed; the log of the service tells more") from error

    async def _ask_patiently(self, request: Request, client: str) -> Answer:
        """Return the answer to a line of a file; where too many wait, it waits longer."""
        result = None
        while result is None:
            try:
                result = self.worker.submit(request, client)
            except FullError:
                await asyncio.sleep(0.1)
        answer = await asyncio.wrap_future(result)
        if self._log:
            self._log(answer)
        return answer

    # --- pages -------------------------------------------------------------------------------

    async def page(self, http: Http) -> Response:
        """Show the page for a sentence, with its paraphrases if a form was sent."""
        if http.method != "POST":
            return self._page("page", form={})
        form, answer, error, status = await self._answer_form(http)
        return self._page("page", status, form=form, **self._shown(http, answer), error=error)

    async def results(self, http: Http) -> Response:
        """Return the part of the page that holds the paraphrases, for its script."""
        _, answer, error, status = await self._answer_form(http)
        return self._page("results", status, **self._shown(http, answer), error=error)

    async def _answer_form(
        self, http: Http
    ) -> tuple[dict[str, str], Answer | None, str | None, int]:
        form: dict[str, str] = {}
        try:
            form = fields_of(await http.body(), http.headers.get("content-type", ""))
            return form, await self.ask(request_of(request_fields(form)), http), None, 200
        except RequestError as error:
            return form, None, str(error), 400
        except HTTPException as error:
            return form, None, error.detail, error.status_code

    async def batch(self, http: Http) -> Response:
        """Show the page for files, or begin with one that was sent."""
        if http.method != "POST":
            return self._page("batch", form={})
        form: dict[str, str] = {}
        try:
            form = fields_of(await http.body(), http.headers.get("content-type", ""))
            text = form.pop("file", "")
            kind = form_of(form.pop("file.name", ""))
            defaults = request_fields({"text": "", **form})
            del defaults["text"]
            file = self._start(text, kind, defaults)
        except RequestError as error:
            return self._page("batch", 400, form=form, error=str(error))
        except HTTPException as error:
            return self._page("batch", error.status_code, form=form, error=error.detail)
        return RedirectResponse(f"/batch/{file.identity}", 303)

    async def progress(self, http: Http) -> Response:
        """Show how far a file is."""
        return self._page("progress", file=self._file(http))

    async def cancel(self, http: Http) -> Response:
        """End the work on a file, from its page."""
        file = self._file(http)
        assert self.files is not None
        await self.files.cancel(file)
        return RedirectResponse(f"/batch/{file.identity}", 303)

    async def api_page(self, http: Http) -> Response:
        """Show what the API is."""
        return self._page("api", api=self._document())

    def _page(
        self,
        template: str,
        status: int = 200,
        headers: dict[str, str] | None = None,
        **context: Any,
    ) -> Response:
        text = self._templates.get_template(f"{template}.html.j2").render(
            **{
                "application": "rewriter",
                "title": self.title,
                "here": _HERE.get(template),
                "rewriter": self.rewriter,
                "there_and_back": isinstance(self.rewriter, ThereAndBack),
                "limits": self.limits,
                "most_number": min(MOST_RESULTS, self.rewriter.settings.beam_size),
                "shown": min(_SHOWN, self.rewriter.settings.beam_size),
                "most_samples": MOST_RESULTS,
                "most_templates": _TEMPLATES_SHOWN,
                "error": None,
                "answer": None,
                "results": [],
            }
            | context
        )
        retry = {"Retry-After": "2"} if status == 429 else {}
        return Response(text, status, retry | (headers or {}), "text/html; charset=utf-8")

    def _shown(self, http: Http, answer: Answer | None) -> dict[str, Any]:
        """Return what the page shows of an answer."""
        if answer is None:
            return {"answer": None, "results": []}
        request = answer.request
        made = [calls.curl(str(http.base_url), request)]
        if self._python:
            made.append(calls.python(self._python, request))
        results = [_result(request.text, paraphrase) for paraphrase in answer.paraphrases]
        return {"answer": answer, "results": results, "calls": made}

    # --- the API -----------------------------------------------------------------------------

    async def paraphrase(self, http: Http) -> Response:
        """Answer a request."""
        if _type(http) != "application/json":
            raise HTTPException(415, "send application/json")
        answer = await self.ask(request_of(json_value(await http.body())), http)
        return JSONResponse(answer.fields())

    async def start_batch(self, http: Http) -> Response:
        """Begin with a file."""
        kind = TYPES.get(_type(http))
        if kind is None:
            raise HTTPException(415, f"send one of {', '.join(TYPES)}")
        try:
            text = (await http.body()).decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise HTTPException(400, "the file is not UTF-8; convert it") from error
        file = self._start(text, kind, {})
        return JSONResponse(file.fields(), 202, {"Location": f"/api/batch/{file.identity}"})

    async def batch_state(self, http: Http) -> Response:
        """Say how far a file is, or end the work on it."""
        file = self._file(http)
        if http.method == "DELETE":
            assert self.files is not None
            await self.files.cancel(file)
        return JSONResponse(file.fields())

    async def batch_results(self, http: Http) -> Response:
        """Return the answers of a file that has ended."""
        file = self._file(http)
        if file.state == "running":
            raise HTTPException(409, "the file is still at work; ask later, or cancel it")
        if not file.stored:
            raise HTTPException(507, file.error)
        return FileResponse(
            file.results, media_type="application/jsonl", filename="paraphrases.jsonl"
        )

    async def about(self, http: Http) -> Response:
        """Say what the rewriter can do."""
        return JSONResponse(
            {
                "language": self.rewriter.language,
                "templates": self.rewriter.templates[:_TEMPLATES_SHOWN],
                "meaning": self.rewriter.has_meaning,
                "most_results": min(MOST_RESULTS, self.rewriter.settings.beam_size),
            }
        )

    async def openapi(self, http: Http) -> Response:
        """Return the document that describes the API."""
        return JSONResponse(self._document())

    def _document(self) -> dict[str, Any]:
        limits = self.limits
        names = ("body", "file", "lines", "seconds")
        return document({name: getattr(limits, name) for name in names})

    def _start(self, text: str, kind: str, defaults: dict[str, Any]) -> File:
        lines = [line.removesuffix("\r") for line in text.split("\n")]
        while lines and not lines[-1].strip():
            lines.pop()
        if not lines:
            raise RequestError("the file is empty; choose one with a sentence on each line")
        if len(lines) > self.limits.lines:
            raise HTTPException(
                413, f"the file has {len(lines):,} lines, at most {self.limits.lines:,} are taken"
            )
        requests = list(requests_of(lines, kind, defaults))
        if not requests:
            raise RequestError("the table has no line below its header; write one for a sentence")
        assert self.files is not None
        try:
            return self.files.start(requests)
        except TooManyFilesError as error:
            raise HTTPException(429, "too many files are at work; try again later") from error

    def _file(self, http: Http) -> File:
        assert self.files is not None
        file = self.files.get(http.path_params["identity"])
        if file is None:
            raise HTTPException(404, _NO_FILE)
        return file


async def _gone(http: Http) -> None:
    """Return when the client has gone."""
    while (await http.receive())["type"] != "http.disconnect":
        pass


def _type(http: Http) -> str:
    return http.headers.get("content-type", "").partition(";")[0].strip().lower()


def _result(sentence: str, paraphrase: Paraphrase) -> dict[str, Any]:
    probability = paraphrase.probability if isinstance(paraphrase, Judged) else None
    return {
        "paraphrase": paraphrase,
        "changes": differences(sentence, paraphrase.text),
        "probability": None if probability is None else 100 * probability,
        "likelihood": 100 * math.exp(-paraphrase.score) if probability is None else None,
        "source": paraphrase.source if isinstance(paraphrase, Judged) else None,
    }


async def _error(http: Http, error: Exception) -> Response:
    """Return what is wrong: as JSON to programs, as a page to people."""
    if isinstance(error, HTTPException):
        status, said = error.status_code, error.detail
    elif isinstance(error, RequestError):
        status, said = 400, str(error)
    else:
        status, said = 500, "the service failed; its log tells more"
    # What the service did not expect is answered beyond the guard, which sets them on all else.
    headers = {**HEADERS, **(getattr(error, "headers", None) or {})}  # as a path's methods
    if status == 429:
        headers["Retry-After"] = "2"
    if http.url.path.startswith("/api/"):
        return JSONResponse({"error": said}, status, headers)
    service: Service = http.app.state.service
    if http.url.path == "/results":  # the script puts it into the page that it has
        return service._page("results", status, headers, error=said)
    return service._page("message", status, headers, message=said)


def application(service: Service, hosts: Collection[str], *, log: bool = False) -> Starlette:
    """Return the application.

    Args:
        service: makes the answers.
        hosts: the names by which it is reached.
        log: whether requests are printed to stdout, without what was sent.
    """
    pages: list[tuple[str, str, Callable[[Http], Awaitable[Response]]]] = [
        ("/", "GET POST", service.page),
        ("/results", "POST", service.results),
        ("/batch", "GET POST", service.batch),
        ("/batch/{identity}", "GET", service.progress),
        ("/batch/{identity}/cancel", "POST", service.cancel),
        ("/batch/{identity}/results", "GET", service.batch_results),
        ("/api", "GET", service.api_page),
        ("/api/paraphrase", "POST", service.paraphrase),
        ("/api/batch", "POST", service.start_batch),
        ("/api/batch/{identity}", "GET DELETE", service.batch_state),
        ("/api/batch/{identity}/results", "GET", service.batch_results),
        ("/api/rewriter", "GET", service.about),
        ("/api/openapi.json", "GET", service.openapi),
    ]
    limits = service.limits
    app = guarded(
        [
            *(Route(path, page, methods=methods.split()) for path, methods, page in pages),
            *assets(TEMPLATES, "rewriter"),
        ],
        _error,
        [RequestError],
        hosts=hosts,
        largest=lambda path: (
            limits.file if path.startswith(("/batch", "/api/batch")) else limits.body
        ),
        seconds=limits.seconds,
        log=log,
        lifespan=service.life,
    )
    app.state.service = service
    return app
