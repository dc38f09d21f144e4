"""A real browser: Debian's Chromium, driven by playwright. Without it the tests are skipped."""

import re
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def started(command, *words):
    """Serve a page by a subcommand in a process of its own; return it and its port."""
    line = [sys.executable, "-m", "paraloom", command, *map(str, words)]
    server = subprocess.Popen(line, cwd=ROOT, stdout=subprocess.PIPE, text=True)
    for said in server.stdout:
        if found := re.search(r"127\.0\.0\.1:(\d+)", said):
            return server, int(found[1])
    raise AssertionError(f"{command} told no address")


@contextmanager
def opened(chromium, address, path="/", **more):
    """Open a page; it must say nothing on the console and ask nobody else."""
    context = chromium.new_context(**{"viewport": {"width": 1000, "height": 800}, **more})
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    page.goto(f"{address}{path}")
    yield page
    assert said == []
    assert all(url.startswith((address, "data:")) for url in asked)
    context.close()
