"""Requests to both pages: whatever comes, a sensible status, and the next request works."""

import json
import re
import select
import socket
from urllib.parse import quote, urlencode

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from tests import oracles
from tests.fuzz.cases import fuzz, request_fields
from tests.unit.judge.annotation import campaign
from tests.unit.judge.test_server import Browser, serving
from tests.unit.rewrite.service.conftest import Letters
from workflow_scripts.apps.rewriter.app import Limits, Service, application
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.raw import coders
from workflow_scripts.stages.rewrite.rewriter import Rewriter

# --- the annotation page, by raw bytes ---------------------------------------------------------

FORM = b"&".join(b"score_%d=80" % n for n in range(1, 6))
_bytes = st.binary(max_size=12)
_methods = st.sampled_from([b"GET", b"POST", b"POST", b"HEAD", b"PUT", b"get", b"", b"\xff"])
_targets = st.one_of(
    st.sampled_from(
        [
            *(b"/", b"/page/1", b"/page/2", b"/page/1", b"/page/-1", b"/page/\xd9\xa1", b"/leave"),
            *(b"/annotate.css", b"/?token=x", b"/?token=%ff", b"//[", b"http://[::1", b"/a b"),
            *(b"/page/" + b"9" * 5000, b"/" + b"x" * 70_000, b"/?" + b"a&" * 200),
        ]
    ),
    _bytes,
)
_versions = st.sampled_from(
    [b" HTTP/1.1", b" HTTP/1.1", b" HTTP/1.0", b" HTTP/9.9", b" HTTP/x", b""]
)
_headers = st.one_of(
    st.sampled_from(
        [
            *(b"Host: localhost", b"Host: evil.example", b"Host: [", b"Host: localhost:1"),
            *(b"Host:", b"Expect: 100-continue", b"no header", b": y", b" folded"),
            *(b"Origin: http://evil.example", b"Transfer-Encoding: chunked", b'Cookie: a="\\377"'),
            *(b"Cookie: annotator_1=x; =; ;\x00", b"Content-Length: 0", b"Content-Length: -1"),
            *(b"Content-Length: \xd9\xa1", b"Content-Length: " + b"9" * 5000),
            *(b"Content-Length: 99999", b"X: " + b"x" * 70_000),
        ]
    ),
    st.tuples(st.sampled_from([b"Host: ", b"Cookie: ", b"Origin: "]), _bytes).map(b"".join),
)
_marks = st.sampled_from(["0", "80", "100", "100.5", "-1", "nan", "", "\ud800", "1e999", "%"])
_fields = st.dictionaries(
    st.sampled_from([*(f"score_{n}" for n in range(1, 7)), "nonsensical_1", "label_1", "x"]), _marks
)
_forms = st.one_of(
    _fields.map(lambda form: "&".join(f"{name}={mark}" for name, mark in form.items())).map(
        lambda form: form.encode("utf-8", "replace")
    ),
    st.sampled_from([FORM, b"score_1=1&score_1=2"]),
    _bytes,
)


def send(port, request):
    """Send bytes, and return all that comes back; None if it is cut off.

    Where nothing comes the sending ends: who ends it before has gone, and gets no answer.
    """
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        answer = b""
        try:
            connection.sendall(request)
            select.select([connection], [], [], 0.2)
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(1 << 16):
                answer += part
        except OSError:  # it was refused before its end, and what was sent beyond is not read
            return answer or None
    return answer


def statuses(answer):
    """Return the statuses of the answers of a connection."""
    return [int(each) for each in re.findall(rb"(?:^|\n|>)HTTP/1\.[01] (\d{3}) ", answer)]


SENSIBLE = {100, 200, 303, 400, 403, 404, 405, 408, 422}


class People:
    """A campaign that is served, and a person who has a page of it."""

    def __init__(self, store, port):
        self.store, self.port = store, port
        self.browser = Browser(port, "Ana")
        self.cookie = f"Cookie: {self.browser.cookie}".encode()
        self.slots = len(self.browser.texts)

    def complete(self, form):
        """Tell whether a form, as it was sent, answers the page."""
        fields = [each.split("=") for each in form.decode("utf-8", "replace").split("&")]
        given = {each[0]: each[1] for each in fields if len(each) == 2}
        scores = [given.get(f"score_{n}", "") for n in range(1, self.slots + 1)]
        right = [each in ("0", "80", "100") for each in scores]
        return (right[0] or bool(given.get("nonsensical_1"))) and all(right[1:])


@pytest.fixture(scope="module")
def people(tmp_path_factory):
    store = campaign(tmp_path_factory.mktemp("campaign"))
    with serving(store, controls=0) as port:
        yield People(store, port)


POST = b"POST /page/1 HTTP/1.1"


@fuzz()
@given(
    st.tuples(_methods, st.just(b" "), _targets, _versions).map(b"".join),
    st.lists(_headers, max_size=3),
    _forms,
    st.sampled_from([None, 0, 0, -7, 3]),
    st.booleans(),
)
@example(POST, [b"Content-Length: " + b"9" * 5000], b"", None, True)
# A form that is cut off: of 80 only the 8 came.
@example(POST, [], FORM[:-1], -1, True)
def test_requests_to_the_annotation_page(people, capfd, line, headers, form, beyond, known):
    headers = [b"Host: localhost", *headers] if known else headers
    headers = [people.cookie, *headers] if known else headers
    if beyond is not None:  # how many bytes fewer than it says
        headers = [*headers, b"Content-Length: %d" % max(0, len(form) - beyond)]
    before = people.store.judged()
    capfd.readouterr()
    answer = send(people.port, b"\r\n".join([line, *headers, b"", form]))
    assert set(statuses(answer or b"")) <= SENSIBLE
    assert answer != b"" or not line.endswith(b" HTTP/1.1")
    assert not capfd.readouterr().err
    after = people.store.judged()
    if after != before:
        assert line.startswith(b"POST /page/1")
        assert known
        assert beyond in (0, 3)
        assert people.complete(form[: len(form) - beyond])
    people.browser.get("/")
    assert people.browser.status == 200


# --- the rewriter's service ----------------------------------------------------------------------

ANSWERED = {200, 202, 303, 307, 400, 403, 404, 405, 409, 413, 415, 429}
_paths = st.one_of(
    st.sampled_from(
        [
            *("/", "/results", "/batch", "/batch", "/api", "/rewriter.css", "/batch/x/cancel"),
            *("/api/paraphrase", "/api/paraphrase", "/api/batch", "/api/batch", "/api/batch/x"),
            *("/api/batch/x/results", "/api/rewriter", "/api/openapi.json", "/api/nothing"),
        ]
    ),
    _bytes.map(lambda path: "/" + quote(path)),
)
_kinds = st.sampled_from(
    [
        *("application/json", "application/json", "application/x-www-form-urlencoded"),
        *("multipart/form-data; boundary=b", "multipart/form-data", "text/plain", "\xff", ""),
        *("text/tab-separated-values", "application/jsonl", "multipart/mixed; boundary*=x"),
    ]
)
_more = st.dictionaries(
    st.sampled_from(["host", "origin", "sec-fetch-site", "content-length", "accept"]),
    st.sampled_from(["evil.example", "[", "testserver", "null", "\xff", "3", "9" * 5000, "*"]),
    max_size=1,
)
_part_heads = st.sampled_from(
    [
        *(b'form-data; name="text"', b'form-data; name="file"; filename="a.txt"', b"form-data"),
        *(b'form-data; name="file"; filename="a.tsv"', b"form-data; name*=x'y", b""),
        *(b'form-data; name="\xff"', b'form-data; name="number"', b'form-data; name="'),
        *(b"form-data; name*0*=a", b";;="),
    ]
)
_part = st.tuples(
    st.just(b"--b\r\nContent-Disposition: "),
    _part_heads,
    st.sampled_from(
        [
            *(b"", b"\r\nContent-Transfer-Encoding: base64", b"\r\nContent-Type: =?x?q?"),
            *(
                b"\r\nContent-Type: multipart/mixed; boundary=b",
                b"\r\nContent-Type: t/x; charset=x",
            ),
        ]
    ),
    st.just(b"\r\n\r\n"),
    st.one_of(st.sampled_from([b"Mu\xc5\xbe", b"1", b"text\nMu\xc5\xbe"]), _bytes),
    st.just(b"\r\n"),
).map(b"".join)
_bodies = st.one_of(
    request_fields.map(lambda fields: json.dumps(fields).encode()),
    request_fields.map(lambda some: urlencode(some, True, errors="replace").encode()),
    st.lists(_part, max_size=3).map(lambda parts: b"".join(parts) + b"--b--\r\n"),
    st.sampled_from(["text\tavoid\nMuž spí.\tman\n".encode(), b"[" * 60_000, b"", b"\xff", b"{"]),
    _bytes,
)


@pytest.fixture(scope="module")
def service(tmp_path_factory):
    torch.set_num_threads(1)
    folder = oracles.small().copy_model(tmp_path_factory.mktemp("rewriter"))
    model = load_model(folder, "cpu")
    parts = model, *coders(model, folder, True, folder / "source.model", folder / "reference.model")
    served = Service(Rewriter(*parts, "en", encoder=Letters()), Limits(), "A & B")
    with TestClient(application(served, ["testserver"]), raise_server_exceptions=False) as web:
        yield web


def no_constant(text):
    raise AssertionError(f"{text} is no JSON")


@fuzz()
@given(
    st.sampled_from(["GET", "POST", "POST", "POST", "DELETE", "HEAD", "X"]),
    _paths,
    _kinds,
    _more,
    _bodies,
)
@example("POST", "/", "text/plain", {"content-length": "9" * 5000}, b"")
def test_requests_to_the_rewriter(service, method, path, kind, more, body):
    headers = {"content-type": kind.encode("latin-1")}
    headers |= {name: value.encode("latin-1") for name, value in more.items()}
    answer = service.request(method, path, content=body, headers=headers, follow_redirects=False)
    assert answer.status_code in ANSWERED
    if path.startswith("/api/") and method != "HEAD" and answer.status_code != 307:
        told = json.loads(answer.text, parse_constant=no_constant)
        assert (answer.status_code < 400) == ("error" not in told or "state" in told)
    # No search is needed where no word is known.
    assert service.post("/api/paraphrase", json={"text": "漢"}).json()["why"]
