"""Download one file: resumed where it was cut off, kept only if its SHA-256 is the right one."""

import argparse
import fcntl
import http.client
import os
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from workflow_scripts.core.atomic import write_json
from workflow_scripts.core.cli import run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import sha256
from workflow_scripts.core.progress import INTERVAL_SECONDS, progress_line

_CHUNK_BYTES = 1 << 20
# Tries in a row that bring nothing; the pauses between them are 1, 2, 4, 8 seconds.
_TRIES = 5
_TIMEOUT_SECONDS = 60
_TRY_AGAIN = {408, 425, 429, 500, 502, 503, 504}
_BEYOND_THE_END = 416
_NETWORK_ERRORS = (OSError, http.client.HTTPException)


class _RestartError(Exception):
    """The server can't go on from where the file was cut off."""


def _total(response: http.client.HTTPResponse, offset: int) -> int | None:
    length = response.headers.get("Content-Length")
    return offset + int(length) if length and length.isdigit() else None


def _transfer(url: str, stream: BinaryIO) -> None:
    """Append what is missing of `url` to `stream`.

    Raises:
        OSError, http.client.HTTPException: it was cut off; what came is in the stream.
        _RestartError: what is in the stream is of no use.
    """
    offset = stream.seek(0, os.SEEK_END)
    # Identity: hashes and offsets are those of the file, not of a compression on the way.
    headers = {"Accept-Encoding": "identity", "User-Agent": "paraloom"}
    if offset:
        headers["Range"] = f"bytes={offset}-"
    request = urllib.request.Request(url, headers=headers)
    with urllib.request.urlopen(request, timeout=_TIMEOUT_SECONDS) as response:
        if offset and response.status != http.client.PARTIAL_CONTENT:
            stream.truncate(0)
            offset = stream.seek(0)
        elif offset and not response.headers.get("Content-Range", "").startswith(
            f"bytes {offset}-"
        ):
            raise _RestartError
        total = _total(response, offset)
        name = Path(urllib.request.url2pathname(response.url)).name
        done, start = offset, time.monotonic()
        reported = start
        while chunk := response.read(_CHUNK_BYTES):
            stream.write(chunk)
            done += len(chunk)
            now = time.monotonic()
            if now - reported >= INTERVAL_SECONDS:
                size = total // 10**6 if total else None
                # As if all of it had come at the speed of this connection.
                seconds = (now - start) * done / (done - offset)
                line = progress_line(f"download {name}", done // 10**6, size, seconds, "MB")
                print(line, file=sys.stderr, flush=True)
                reported = now
        stream.flush()
        if total is not None and done < total:
            raise ConnectionError(f"the connection ended after {done:,} of {total:,} bytes")


@contextmanager
def _alone(part: Path) -> Iterator[None]:
    """Let a second download of the same file wait until the first has ended."""
    part.parent.mkdir(parents=True, exist_ok=True)
    with part.with_suffix(".lock").open("ab") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _explain(url: str, error: Exception) -> str:
    reason = getattr(error, "reason", None) or error or type(error).__name__
    if isinstance(error, urllib.error.HTTPError):
        reason = f"the server answers {error.code} {error.reason}"
    return f"{url}: {reason}"


def download(url: str, part: Path, pause: float = 1.0) -> None:
    """Bring a file whole into `part`, from wherever an earlier try left it.

    Args:
        url: http or https.
        part: the unfinished file.
        pause: seconds before the second try in a row; doubled for each that follows.

    Raises:
        InputError: the server refuses, or try after try brings nothing.
    """
    failures = 0
    with part.open("ab") as stream:
        while True:
            before = part.stat().st_size
            try:
                _transfer(url, stream)
                return
            except _RestartError:
                stream.truncate(0)
                error: Exception = ConnectionError("the server sends another part than asked for")
            except urllib.error.HTTPError as answer:
                if answer.code == _BEYOND_THE_END and before:
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
            failures = 0 if part.stat().st_size > before else failures + 1
            if failures == _TRIES:
                raise InputError(
                    f"{_explain(url, error)}; gave up after {_TRIES} tries that brought nothing"
                ) from error
            print(f"{_explain(url, error)}; trying again", file=sys.stderr, flush=True)
            time.sleep(pause * 2 ** max(0, failures - 1))


def publish(part: Path, output: Path, url: str, digest: str) -> None:
    """Move a whole file to where it is kept, and write its record: hash, bytes, origin."""
    with part.open("rb") as stream:
        os.fsync(stream.fileno())
    output.parent.mkdir(parents=True, exist_ok=True)
    part.replace(output)
    _write_record(output, url, digest)


def _write_record(output: Path, url: str, digest: str) -> None:
    record = {"files": {output.name: digest}, "bytes": output.stat().st_size, "url": url}
    write_json(output.with_name(f"{output.name}.json"), record)


def fetch(url: str, expected: str, output: Path, pause: float = 1.0) -> None:
    """Download `url` to `output`, which appears only when its SHA-256 is the expected one.

    Raises:
        InputError: see `download`; or the file is another one, and both hashes are told.
    """
    part = output.with_name(f".{output.name}.part")
    with _alone(part):
        if output.is_file() and sha256(output) == expected:
            _write_record(output, url, expected)
            return
        resumed = part.exists() and part.stat().st_size > 0
        try:
            download(url, part, pause)
        except InputError as error:
            if not (size := part.stat().st_size):
                raise
            raise InputError(
                f"{error}. The {size:,} bytes that came are kept: the same command goes on from "
                "there"
            ) from error
        if resumed and sha256(part) != expected:
            # The old part may be of another file, or damaged: once more from the start.
            part.unlink()
            download(url, part, pause)
        _check(part, url, expected)
        publish(part, output, url, expected)


def _check(part: Path, url: str, expected: str) -> None:
    found = sha256(part)
    if found != expected:
        size = part.stat().st_size
        part.unlink()
        raise InputError(
            f"{url}: what came ({size:,} bytes) has the SHA-256 {found}, but the configuration "
            f"says {expected}. It was thrown away. Look whether the file has changed at its "
            "source before you change the sha256"
        )


def main(argv: list[str] | None = None) -> None:
    """Download one file and verify its SHA-256."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--sha256", required=True)
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    fetch(arguments.url, arguments.sha256, arguments.output)


if __name__ == "__main__":
    run(main)
