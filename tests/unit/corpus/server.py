"""A web server as bad as real ones: it cuts connections, ignores ranges, and sends wrong bytes."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import BaseRequestHandler


class Site:
    """What the server has and how it behaves; `requests` is what it was asked for.

    Attributes:
        files: content by path.
        cut_after: for each coming answer, after how many bytes the connection ends.
        failures: statuses of the coming answers.
        ranges: whether parts of files can be asked for.
        shift: bytes by which a part begins elsewhere than asked for.
        most: bytes of an answer at most; more are sent as a part of the file, also unasked.
        redirects: where to, by path.
        length: what it says how long files are, if not the truth; "" says nothing.
        endless: whether it sends files in chunks and cuts the connection before their end is told.
        sizes: whether it tells the size of a file to who asks for a part beyond the end.
    """

    def __init__(self, files: dict[str, bytes]):
        self.files = files
        self.cut_after: list[int] = []
        self.failures: list[int] = []
        self.ranges = True
        self.shift = 0
        self.most: int | None = None
        self.redirects: dict[str, str] = {}
        self.length: str | None = None
        self.endless = False
        self.sizes = True
        self.requests: list[tuple[str, str | None]] = []
        self.url = ""


def handler(site: Site) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            asked = self.headers.get("Range")
            site.requests.append((self.path, asked))
            if site.failures:
                return self.send_error(site.failures.pop(0))
            if self.path in site.redirects:
                self.send_response(302)
                self.send_header("Location", site.redirects[self.path])
                self.send_header("Content-Length", "0")
                return self.end_headers()
            if self.path not in site.files:
                return self.send_error(404)
            content = site.files[self.path]
            start = 0
            if site.most or (asked and site.ranges):
                start = int((asked or "bytes=0-").removeprefix("bytes=").rstrip("-"))
                if start >= len(content):
                    self.send_response(416)
                    if site.sizes:
                        self.send_header("Content-Range", f"bytes */{len(content)}")
                    self.send_header("Content-Length", "0")
                    return self.end_headers()
                start += site.shift
                whole, content = len(content), content[: start + (site.most or len(content))]
                self.send_response(206)
                self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{whole}")
            else:
                self.send_response(200)
            length = str(len(content) - start) if site.length is None else site.length
            if site.endless:
                self.send_header("Transfer-Encoding", "chunked")
            elif length:
                self.send_header("Content-Length", length)
            self.end_headers()
            body = content[start:]
            if site.cut_after:
                body = body[: site.cut_after.pop(0)]
                self.close_connection = True
            if site.endless:
                body = b"%x\r\n%b\r\n" % (len(body), body)
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    return Handler


def dripping(piece: bytes) -> type[BaseRequestHandler]:
    """Of a server whose answer begins with one piece again and again."""

    class Handler(BaseRequestHandler):
        def handle(self):
            with suppress(OSError):
                while True:
                    self.request.sendall(piece)
                    time.sleep(0.01)

    return Handler


@contextmanager
def serving(files: dict[str, bytes], own: type[BaseRequestHandler] | None = None) -> Iterator[Site]:
    site = Site(files)
    with running(own or handler(site)) as site.url:
        yield site


@contextmanager
def running(handler: type[BaseRequestHandler]) -> Iterator[str]:
    """Answer at a free port of this machine; give the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
