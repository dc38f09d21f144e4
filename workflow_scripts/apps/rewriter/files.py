"""Files that are paraphrased line by line, in the background; their results stand on disk."""

import asyncio
import json
import secrets
import sys
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from workflow_scripts.stages.rewrite.requests import Answer, Request, RequestError

# Lines of a file that wait for the search at once.
_AHEAD = 16
Ask = Callable[[Request, str], Coroutine[Any, Any, Answer]]


class TooManyFilesError(Exception):
    """All places for files are taken by files at work."""


@dataclass
class File:
    """A file at work: its requests by line, and how far it is.

    `state`: running, done, cancelled or failed; `finished`: when it ended, of `time.monotonic`;
    `stored`: whether there are results; a full disk takes none.
    """

    identity: str
    results: Path
    requests: list[tuple[int, Request]]
    total: int
    done: int = 0
    without: int = 0
    state: str = "running"
    error: str | None = None
    stored: bool = True
    finished: float | None = None
    task: "asyncio.Task[None] | None" = field(default=None, repr=False)

    def fields(self) -> dict[str, Any]:
        """Return how far it is, as JSON."""
        return {
            "id": self.identity,
            "state": self.state,
            "total": self.total,
            "done": self.done,
            "without_paraphrase": self.without,
            "error": self.error,
        }


class Files:
    """The files of all clients; who has a file's identity, which nobody can guess, may see it.

    Args:
        folder: of the results.
        ask: answers a request of a client.
        most: files that are kept at once; those that ended longest ago make room.
        keep: seconds after which a file that has ended is deleted.
    """

    def __init__(self, folder: Path, ask: Ask, most: int = 8, keep: float = 3600.0):
        self._folder = folder
        self._ask = ask
        self._most = most
        self._keep = keep
        self._files: dict[str, File] = {}

    def start(self, requests: list[tuple[int, Request]]) -> File:
        """Begin with a file.

        Raises:
            TooManyFilesError: too many are at work.
        """
        self._make_room()
        identity = secrets.token_urlsafe(16)
        file = File(identity, self._folder / f"{identity}.jsonl", requests, len(requests))
        self._files[identity] = file
        file.task = asyncio.create_task(self._work(file))
        return file

    def get(self, identity: str) -> File | None:
        """Return the file of this identity, None where there is none."""
        self._forget_old()
        return self._files.get(identity)

    async def cancel(self, file: File) -> None:
        """End the work on a file; what is done stays."""
        if file.task and not file.task.done():
            file.task.cancel()
            await asyncio.wait([file.task])

    async def close(self) -> None:
        """End the work on all files, and delete them."""
        for file in list(self._files.values()):
            await self.cancel(file)
            self._delete(file)

    def _forget_old(self) -> None:
        now = time.monotonic()
        for file in list(self._files.values()):
            if file.finished is not None and now - file.finished > self._keep:
                self._delete(file)

    def _make_room(self) -> None:
        self._forget_old()
        ended = [file for file in self._files.values() if file.finished is not None]
        for file in sorted(ended, key=lambda file: file.finished or 0.0):
            if len(self._files) >= self._most:
                self._delete(file)
        if len(self._files) >= self._most:
            raise TooManyFilesError

    def _delete(self, file: File) -> None:
        file.results.unlink(missing_ok=True)
        self._files.pop(file.identity, None)

    async def _work(self, file: File) -> None:
        try:
            with file.results.open("w", encoding="utf-8") as output:
                await self._write(file, output)
            file.state = "done"
        except asyncio.CancelledError:
            file.state = "cancelled"
        except OSError as error:
            print(f"{file.results}: {error.strerror}", file=sys.stderr)
            file.state, file.stored = "failed", False
            file.error = f"the results can't be stored: {error.strerror}; send the file again later"
            # Half of them would look whole, and keep a full disk full.
            file.results.unlink(missing_ok=True)
        except Exception as error:
            file.state, file.error = "failed", f"the search failed: {type(error).__name__}"
        finally:
            file.requests = []
            file.finished = time.monotonic()

    async def _write(self, file: File, output: Any) -> None:
        running: list[tuple[int, Request, asyncio.Task[Answer]]] = []
        lines = iter(file.requests)
        try:
            while True:
                while len(running) < _AHEAD and (line := next(lines, None)):
                    task = asyncio.ensure_future(self._ask(line[1], file.identity))
                    running.append((*line, task))
                if not running:
                    return
                number, request, task = running.pop(0)
                try:
                    answer = await task
                except RequestError as error:
                    answer = Answer(request, [], why=f"refused: {error}")
                fields = {"line": number, **answer.fields()}
                output.write(json.dumps(fields, ensure_ascii=False) + "\n")
                output.flush()
                file.done += 1
                file.without += not answer.paraphrases
        finally:
            for _, _, task in running:
                task.cancel()
