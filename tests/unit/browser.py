"""A real browser: Debian's Chromium, driven by playwright. Without it the tests are skipped."""

import shutil
from contextlib import contextmanager

import pytest


def launched():
    """Yield Chromium; for a fixture."""
    sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright here")
    path = shutil.which("chromium")
    if path is None:
        pytest.skip("no chromium here: apt-get install chromium")
    with sync_api.sync_playwright() as playwright:
        # The tests may run as root, in a container.
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield browser
        browser.close()


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
