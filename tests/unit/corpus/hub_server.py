"""A stand-in for the Hugging Face hub: one repository, one commit, the answers of the hub."""

import hashlib
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler
from urllib.parse import urlsplit

from tests.unit.corpus.server import running


class Hub:
    """What the hub has and how it behaves.

    Attributes:
        repository: OWNER/NAME.
        commit: the only one.
        files: content by path; those above 100 bytes are large files, whose SHA-256 it tells.
        sent: content that comes in place of a file's own.
        cut_after: bytes after which the coming downloads end.
        ranges: what parts of files were asked for.
        stalled: set when a large file waits for `go_on`, if that is not set.
        go_on: whether large files are sent.
        gated: whether files are for those alone who have accepted terms.
    """

    def __init__(self, repository: str, commit: str, files: dict[str, bytes]):
        self.repository = repository
        self.commit = commit
        self.files = files
        self.sent: dict[str, bytes] = {}
        self.cut_after: list[int] = []
        self.ranges: list[str | None] = []
        self.url = ""
        self.gated = False
        self.stalled = threading.Event()
        self.go_on = threading.Event()
        self.go_on.set()

    def info(self) -> dict[str, object]:
        siblings = []
        for path, content in self.files.items():
            sibling = {"rfilename": path, "size": len(content), "blobId": "0" * 40}
            if len(content) > 100:
                digest = hashlib.sha256(content).hexdigest()
                sibling["lfs"] = {"sha256": digest, "size": len(content), "pointerSize": 130}
            siblings.append(sibling)
        return {"id": self.repository, "sha": self.commit, "siblings": siblings, "tags": []}


def handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def answer(self, body: bool) -> None:
            path = urlsplit(self.path).path
            api = f"/api/models/{hub.repository}"
            if path in (api, f"{api}/revision/{hub.commit}"):
                return self.send(json.dumps(hub.info()).encode(), body)
            prefix = f"/{hub.repository}/resolve/{hub.commit}/"
            name = path.removeprefix(prefix)
            if not path.startswith(prefix) or name not in hub.files or hub.gated:
                known = path.startswith(f"{api}/revision/")
                code = "RevisionNotFound" if known else "RepoNotFound"
                self.send_response(403 if hub.gated else 404)
                self.send_header("X-Error-Code", "GatedRepo" if hub.gated else code)
                self.send_header("Content-Length", "0")
                return self.end_headers()
            return self.send(hub.sent.get(name, hub.files[name]), body, name)

        def send(self, content: bytes, body: bool, name: str | None = None) -> None:
            asked = self.headers.get("Range")
            start = int(asked.removeprefix("bytes=").split("-")[0]) if asked else 0
            self.send_response(206 if asked else 200)
            if asked:
                self.send_header(
                    "Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}"
                )
            self.send_header("Content-Length", str(len(content) - start))
            if name is not None:
                self.send_header("ETag", f'"{hashlib.sha256(hub.files[name]).hexdigest()}"')
                self.send_header("X-Repo-Commit", hub.commit)
            self.end_headers()
            if not body:
                return
            rest = content[start:]
            if name is not None:
                hub.ranges.append(asked)
                if len(hub.files[name]) > 100 and not hub.go_on.is_set():
                    hub.stalled.set()
                    hub.go_on.wait(60)
                if len(hub.files[name]) > 100 and hub.cut_after:
                    rest = rest[: hub.cut_after.pop(0)]
                    self.close_connection = True
            self.wfile.write(rest)

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def log_message(self, *_: object) -> None:
            pass

    return Handler


@contextmanager
def hub_serving(hub: Hub) -> Iterator[Hub]:
    with running(handler(hub)) as hub.url:
        yield hub
