"""What stands before both pages: slow clients, heads that drip, bodies beyond a bound."""

import itertools
import socket
import time
from contextlib import ExitStack, suppress

import httpx
import pytest
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from tests.unit.serving import serving
from workflow_scripts.apps.web import serving as web
from workflow_scripts.apps.web.guard import guarded

HEAD = b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n"


async def length(http):
    return PlainTextResponse(str(len(await http.body())))


async def refusal(http, error):
    return PlainTextResponse(str(error), getattr(error, "status_code", 500))


def bounded(hosts):
    """Return a page that says how much was sent: at most 1,000 bytes, within a second."""
    route = Route("/", length, methods=["GET", "POST"])
    return guarded([route], refusal, hosts=hosts, largest=lambda path: 1000, seconds=1)


@pytest.fixture
def page(monkeypatch):
    monkeypatch.setattr(web, "IDLE", 1)
    with serving(bounded(["127.0.0.1"])) as address:
        yield address


def connect(page):
    return socket.create_connection(("127.0.0.1", int(page.rpartition(":")[2])), timeout=20)


def told(connection):
    """Return all that comes until the connection is closed."""
    answer = b""
    with suppress(ConnectionResetError):
        while part := connection.recv(1 << 16):
            answer += part
    return answer


def drip(connection, text, most):
    """Send a text byte by byte, again and again, until the other side has enough of it.

    Return whether that was within so many seconds.
    """
    end = time.monotonic() + most
    connection.settimeout(0.1)
    for byte in itertools.cycle(text):
        if time.monotonic() > end:
            return False
        with suppress(TimeoutError):
            try:
                connection.sendall(bytes([byte]))
                if not connection.recv(1):
                    return True
            except (ConnectionResetError, BrokenPipeError):
                return True


@pytest.mark.parametrize("begun", [b"", HEAD])
def test_a_head_that_does_not_come_ends_its_connection(page, begun):
    with connect(page) as connection:
        connection.sendall(begun)
        assert told(connection) == b""


@pytest.mark.slow
def test_a_head_that_drips_is_not_waited_for(page):
    with connect(page) as connection:
        assert drip(connection, HEAD[:-2] + b"x", most=10)


@pytest.mark.parametrize("sent", [b"", b"abc"])
def test_a_body_that_does_not_come_is_told(page, sent):
    with connect(page) as connection:
        connection.sendall(HEAD + b"Content-Length: 10\r\n\r\n" + sent)
        assert told(connection).startswith(b"HTTP/1.1 408")


def test_a_body_that_is_cut_off_is_refused(page):
    with connect(page) as connection:
        connection.sendall(HEAD + b"Content-Length: 10\r\n\r\nabc")
        connection.shutdown(socket.SHUT_WR)
        assert told(connection).startswith(b"HTTP/1.1 400")


@pytest.mark.parametrize(
    ("headers", "body", "status"),
    [
        (b"Content-Length: 1000", b"x" * 1000, 200),
        (b"Content-Length: 1001", b"x" * 1001, 413),
        (b"Content-Length: " + b"9" * 5000, b"", 400),
        (b"Content-Length: " + b"9" * 19, b"", 413),
        (b"Content-Length: -1", b"", 400),
        (b"Content-Length: 3\r\nContent-Length: 4", b"abc", 400),
        (b"Transfer-Encoding: chunked", b"3\r\nabc\r\n0\r\n\r\n", 200),
        (b"Transfer-Encoding: chunked", b"400\r\n" + b"x" * 1024 + b"\r\n0\r\n\r\n", 413),
        (b"Transfer-Encoding: chunked", b"3\r\nabcdef", 400),
        (b"Transfer-Encoding: chunked\r\nContent-Length: 3", b"3\r\nabc\r\n0\r\n\r\n", 400),
        (b"Origin: http://elsewhere.example\r\nContent-Length: 0", b"", 403),
        (b"Sec-Fetch-Site: cross-site\r\nContent-Length: 0", b"", 403),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_body_is_bounded_however_it_is_sent(page, headers, body, status):
    with connect(page) as connection:
        connection.sendall(HEAD + headers + b"\r\n\r\n" + body)
        assert told(connection).startswith(b"HTTP/1.1 %d" % status)
    assert httpx.post(page, content=b"abc").text == "3"


def test_many_slow_connections_harm_nobody(page):
    with ExitStack() as stack:
        many = [stack.enter_context(connect(page)) for _ in range(200)]
        for connection in many:
            connection.sendall(HEAD)
        assert httpx.post(page, content=b"abc").text == "3"
        # And they do not stay.
        assert {told(connection) for connection in many} == {b""}


def test_a_connection_serves_one_request_after_the_other(page):
    with httpx.Client() as client:
        for number in range(3):
            assert client.post(page, content=b"x" * number).text == str(number)
            time.sleep(0.5)  # shorter than a connection may be idle


@pytest.mark.parametrize("known", [True, False])
def test_a_page_may_be_reached_under_any_name_where_links_let_people_in(known):
    elsewhere = {"Host": "machine.example"}
    with serving(bounded(["127.0.0.1"] if known else None)) as page:
        assert httpx.get(page, headers=elsewhere).status_code == (403 if known else 200)
        foreign = {**elsewhere, "Origin": "http://elsewhere.example"}
        assert httpx.post(page, headers=foreign).status_code == 403
