"""Download of one file. It goes on where it was cut off; only the right SHA-256 is kept.

A server may be slow or hostile. So no answer leads to another scheme than http and https, no answer
fills the disk, and a file that comes too slowly is given up.
"""

import fcntl
import http.client
import os
import re
import shutil
import socket
import sys
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, BinaryIO

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError, printable
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import sha256
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.core.progress import INTERVAL_SECONDS, progress_line

_CHUNK_BYTES = 1 << 20
# How many tries in a row may bring nothing; the pauses between them are 1, 2, 4, 8 seconds.
_TRIES = 5
# How many connections in a row may bring less than `_LITTLE_BYTES` each.
_DRIPS = 50
_LITTLE_BYTES = 1 << 16
# A connection that brings less than `_LITTLE_BYTES` in this time is cut.
_TIMEOUT_SECONDS = 60
# No bitext of one file is larger: CCMatrix and others like it come in parts of some gigabytes.
_MOST_BYTES = 1 << 40
# The bytes that a download leaves free on its disk.
_SPARED_BYTES = 1 << 28
_SCHEMES = ("http", "https")
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_BEYOND_THE_END = 416
_PART = re.compile(r"bytes (\d+)-\d+/(\d+|\*)")
# What a server sends that asks for a login, or does not know the file.
_PAGE = re.compile(rb"(?:\xef\xbb\xbf)?\s*<(?:!doctype html|html)", re.IGNORECASE)
_PAGE_BYTES = 4096
_NETWORK_ERRORS = (OSError, http.client.HTTPException)


class _RestartError(Exception):
    """The server can't go on where the file was cut off."""


def _check_scheme(url: str, origin: str = "") -> None:
    """Refuse a URL that is not http or https; `origin` is what led to it."""
    if url.partition(":")[0].lower() not in _SCHEMES:
        raise InputError(
            f"{origin or url}: {'it leads to ' + url + ', and ' if origin else ''}only http and "
            "https are followed; give another url in corpora, or download the file yourself "
            "(docs/corpus.md)"
        )


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows redirects to http and https only; the library would also follow them to ftp."""

    def http_error_302(
        self,
        req: urllib.request.Request,
        fp: IO[bytes],
        code: int,
        msg: str,
        headers: http.client.HTTPMessage,
    ) -> http.client.HTTPResponse | None:
        """Follow the redirect of an answer."""
        place = headers.get("Location") or headers.get("URI") or ""
        _check_scheme(urllib.parse.urljoin(req.full_url, place), origin=req.full_url)
        return super().http_error_302(req, fp, code, msg, headers)

    http_error_301 = http_error_303 = http_error_307 = http_error_308 = http_error_302


class _Connection(http.client.HTTPConnection):
    """Gives a server the time of a silent connection for all of its answer's head.

    The library begins to count anew at each byte of the head, and at each "100 Continue".
    """

    def getresponse(self) -> http.client.HTTPResponse:
        """Return the answer, whose head has come."""
        late = threading.Event()
        connected = self.sock

        def cut() -> None:
            late.set()
            with suppress(OSError):
                connected.shutdown(socket.SHUT_RDWR)

        timer = threading.Timer(_TIMEOUT_SECONDS, cut)
        timer.start()
        try:
            return super().getresponse()
        finally:
            timer.cancel()
            if late.is_set():
                raise ConnectionError(f"its answer's head did not come in {_TIMEOUT_SECONDS} s")


class _SafeConnection(_Connection, http.client.HTTPSConnection):
    """The same for https."""


class _Handler(urllib.request.HTTPHandler):
    def http_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_Connection, req)


class _SafeHandler(urllib.request.HTTPSHandler):
    def https_open(self, req: urllib.request.Request) -> http.client.HTTPResponse:
        return self.do_open(_SafeConnection, req)


def _opener() -> urllib.request.OpenerDirector:
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler,
        _Handler,
        _SafeHandler,
        urllib.request.HTTPDefaultErrorHandler,
        urllib.request.HTTPErrorProcessor,
        _Redirects,
    ):
        opener.add_handler(handler())
    return opener


def _total(response: http.client.HTTPResponse, offset: int) -> int | None:
    """Return the bytes of the whole file, if the answer tells them."""
    part = _PART.match(response.headers.get("Content-Range", ""))
    if response.status == http.client.PARTIAL_CONTENT and part and part[2] != "*":
        return int(part[2][:20])
    # In chunks the length counts for nothing (RFC 9112, 6.3).
    length = "" if response.chunked else response.headers.get("Content-Length", "")
    return offset + int(length[:20]) if length.isascii() and length.isdigit() else None


def _check_size(url: str, size: int, more: int, part: Path) -> None:
    """Refuse a file that is too large.

    Args:
        url: for messages.
        size: bytes of the whole file, or those that have come.
        more: bytes that are still to be written.
        part: the unfinished file.

    Raises:
        InputError: the file is larger than any bitext, or the disk would be full.
    """
    if size > _MOST_BYTES:
        raise InputError(
            f"{url}: the file is larger than {_MOST_BYTES:,} bytes, which no bitext is; correct "
            "the url in corpora, or download the file yourself (docs/corpus.md)"
        )
    free = shutil.disk_usage(part.parent).free
    if free - more < _SPARED_BYTES:
        raise InputError(
            f"{url}: {size:,} bytes, and {more:,} of them still to come; {part.parent} has "
            f"{free:,} free, of which {_SPARED_BYTES:,} are kept. Free some space there, or set "
            "`downloads` to a folder on a larger disk"
        )


def _transfer(url: str, stream: BinaryIO, part: Path) -> None:
    """Append what is missing of `url` to `stream`, which writes `part`.

    Raises:
        OSError, http.client.HTTPException: it was cut off; the stream has all bytes that came.
        _RestartError: the bytes in the stream can't be used.
        InputError: the file is too large, or its URL is not http or https.
    """
    offset = stream.seek(0, os.SEEK_END)
    # Identity: hashes and offsets are those of the file, not of a compression on the way.
    headers = {"Accept-Encoding": "identity", "User-Agent": "paraloom"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
    request = urllib.request.Request(url, headers=headers)
    with _opener().open(request, timeout=_TIMEOUT_SECONDS) as response:
        if response.status == http.client.PARTIAL_CONTENT:  # of some servers, also unasked
            part_sent = _PART.match(response.headers.get("Content-Range", ""))
            if not part_sent or int(part_sent[1][:20]) != offset:
                raise _RestartError
        elif offset:
            stream.truncate(0)
            offset = stream.seek(0)
        total = _total(response, offset)
        if total is not None:
            _check_size(url, total, total - offset, part)
        done = _copy(response, stream, url, part, offset, total)
        if total is not None and done < total:
            raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")


def _copy(
    response: http.client.HTTPResponse,
    stream: BinaryIO,
    url: str,
    part: Path,
    offset: int,
    total: int | None,
) -> int:
    """Write all bytes that come, and return how many bytes of the file there are then.

    Args:
        response: the answer.
        stream: where to write.
        url: for messages.
        part: the stream's file.
        offset: bytes of the file that were there before.
        total: of the whole file, if that is known.
    """
    name = printable(Path(urllib.request.url2pathname(response.url)).name)
    done, start = offset, time.monotonic()
    reported = watched = start
    watched_done = done
    # Not `read`: it would wait for the last byte of a chunk, even from a very slow server.
    while chunk := response.read1(_CHUNK_BYTES):
        stream.write(chunk)
        done += len(chunk)
        now = time.monotonic()
        if now - watched >= _TIMEOUT_SECONDS:
            if done - watched_done < _LITTLE_BYTES:
                stream.flush()
                raise ConnectionError(
                    f"only {done - watched_done:,} bytes came in {_TIMEOUT_SECONDS} s"
                )
            watched, watched_done = now, done
        if now - reported >= INTERVAL_SECONDS:
            size = total // 10**6 if total else None
            # As if all of it had come at the speed of this connection.
            seconds = (now - start) * done / (done - offset)
            line = progress_line(f"download {name}", done // 10**6, size, seconds, "MB")
            print(line, file=sys.stderr, flush=True)
            reported = now
        if total is None and done // _CHUNK_BYTES != (done - len(chunk)) // _CHUNK_BYTES:
            try:
                _check_size(url, done, 0, part)
            except InputError:
                stream.truncate(0)
                raise
    stream.flush()
    return done


@contextmanager
def _alone(part: Path) -> Iterator[None]:
    """Make a second download of the same file wait until the first one has ended."""
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.with_suffix(".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _explain(url: str, error: Exception) -> str:
    reason = getattr(error, "reason", None) or str(error) or type(error).__name__
    if isinstance(error, urllib.error.HTTPError):
        reason = f"the server answers {error.code} {error.reason}"
    return printable(f"{url}: {reason}")


def download(url: str, part: Path, pause: float = 1.0) -> bool:
    """Download a whole file into `part`, and go on from where an earlier try stopped.

    If the server does not tell the length and the disk gets full, the file is deleted.

    Args:
        url: http or https.
        part: the unfinished file.
        pause: seconds before the second try in a row; doubled before each further try.

    Returns:
        Whether the file may be of several answers, which may be of different files.

    Raises:
        InputError: the server refuses, redirects to another scheme than http or https, or sends too
            much; or too many tries in a row bring nothing, or nearly nothing.
    """
    failures = drips = 0
    with part.open("ab") as stream:
        _check_scheme(url)
        # The most bytes there ever were: a server without ranges begins anew in each try.
        reached = stream.tell()
        joined = False
        while True:
            before = part.stat().st_size
            joined = joined or before > 0
            try:
                _transfer(url, stream, part)
                return joined
            except _RestartError:
                stream.truncate(0)
                error: Exception = ConnectionError("the server sends another part than asked for")
            except urllib.error.HTTPError as answer:
                if answer.code == _BEYOND_THE_END and before:
                    if answer.headers.get("Content-Range", "").strip() == f"bytes */{before}":
                        return joined  # the connection was cut behind the last byte
                    stream.truncate(0)  # of another file, or more than there is: start over
                elif answer.code not in _TRY_AGAIN:
                    raise InputError(
                        f"{_explain(url, answer)}; correct the url in corpora, or download the "
                        "file yourself (docs/corpus.md)"
                    ) from answer
                error = answer
            except _NETWORK_ERRORS as cut:
                stream.flush()
                error = cut
            except ValueError as wrong:  # of its characters, or its port
                raise InputError(f"{url}: no url ({wrong}); correct it in corpora") from wrong
            came = max(0, part.stat().st_size - reached)
            reached += came
            failures = 0 if came > 0 else failures + 1
            drips = 0 if came >= _LITTLE_BYTES else drips + 1
            if failures == _TRIES or drips == _DRIPS:
                tries = f"{_TRIES} tries that brought nothing"
                if failures < _TRIES:
                    tries = f"{_DRIPS} tries that brought less than {_LITTLE_BYTES:,} bytes each"
                raise InputError(f"{_explain(url, error)}; gave up after {tries}") from error
            print(f"{_explain(url, error)}; trying again", file=sys.stderr, flush=True)
            time.sleep(pause * 2 ** max(0, failures - 1))


def publish(part: Path, output: Path, url: str, digest: str) -> None:
    """Move a whole file to its place, and write its record: hash, bytes, URL."""
    with part.open("rb") as stream:
        os.fsync(stream.fileno())
    output.parent.mkdir(parents=True, exist_ok=True)
    part.replace(output)
    _write_record(output, url, digest)


def _write_record(output: Path, url: str, digest: str) -> None:
    record = {"files": {output.name: digest}, "bytes": output.stat().st_size, "url": url}
    write_json(output.with_name(f"{output.name}.json"), sealed(record))


def fetch(url: str, expected: str, output: Path, pause: float = 1.0) -> None:
    """Download `url` to `output`; the file appears only if its SHA-256 is the expected one.

    Raises:
        InputError: see `download`; or the file has another hash; the message has both.
    """
    part = output.with_name(f".{output.name}.part")
    with _alone(part):
        if output.is_file() and sha256(output) == expected:
            _write_record(output, url, expected)
            return
        try:
            joined = download(url, part, pause)
        except InputError as error:
            if not (size := part.stat().st_size):
                raise
            raise InputError(
                f"{error}. The {size:,} bytes that came are kept: the same command goes on from "
                "there"
            ) from error
        if joined and sha256(part) != expected:
            # An earlier part may be of another file, or damaged: once more from the start.
            part.unlink()
            download(url, part, pause)
        _check(part, url, expected)
        publish(part, output, url, expected)


def _check(part: Path, url: str, expected: str) -> None:
    digest = sha256(part)
    if digest != expected:
        size = part.stat().st_size
        advice = "Look whether the file has changed at its source before you change the sha256"
        with part.open("rb") as stream:
            if _PAGE.match(stream.read(_PAGE_BYTES)):
                advice = "It is a page for people (HTML): open the url in a browser, and correct it"
        part.unlink()
        raise InputError(
            f"{url}: what came ({size:,} bytes) has the SHA-256 {digest}, but the configuration "
            f"says {expected}. It was thrown away. {advice}"
        )


def download_file(url: str, sha256: str, output: Path) -> None:
    """Download one file and verify its SHA-256."""
    fetch(url, sha256, output)


main = command(download_file, __name__)
