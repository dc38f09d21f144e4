"""The page without a trained rewriter in a real browser: words to keep and to avoid, and a why."""

import pytest

from tests.unit.browser import opened
from tests.unit.rewrite.service.test_browser import CONTRASTS, NAMELESS, SMALL, results
from tests.unit.rewrite.service.test_there_and_back import TEXT, service
from tests.unit.serving import serving
from workflow_scripts.apps.rewriter.app import application

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def address():
    with serving(application(service(), ["127.0.0.1"])) as url:
        yield url


def test_words_are_kept_and_avoided_by_presses(chromium, address):
    with opened(chromium, address) as page:
        page.fill("#text", TEXT)
        favor = page.locator(".chip", has_text="favor")
        favor.click()
        assert favor.get_attribute("aria-label") == "favor, to avoid"
        favor.click()
        assert favor.get_attribute("aria-label") == "favor, to keep"
        page.locator(".chip", has_text="do").click()
        page.click("button.main")
        assert results(page) == ["favor without do 0?", "favor without do 1?"]
        said = page.inner_text("#results")
        assert "Probability" in said and "By way of: Fará <b>?" in said
        assert "fewer: 2 of 5" in said
        assert page.locator("#results pre").count() == 2
        favor.click()
        assert favor.get_attribute("aria-pressed") == "false"


def test_the_lines_are_copied_as_they_stand(chromium, address):
    with opened(chromium, address, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.fill("#text", TEXT)
        page.click("button.main")
        results(page)
        page.locator("details .copy").last.click()
        page.wait_for_selector("#status:has-text('Copied')", state="attached")
        copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.startswith('import paraloom\n\nparaphraser = paraloom.Paraphraser("en")\n')


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1000])
def test_everybody_can_use_it(chromium, address, scheme, width):
    size = {"width": width, "height": 800}
    with opened(chromium, address, viewport=size, color_scheme=scheme) as page:
        page.fill("#text", f"{TEXT} {'averylongwordwithoutanyblank' * 8}")
        page.click("button.main")
        results(page)
        for check in (CONTRASTS, NAMELESS, SMALL):
            assert page.evaluate(check) == []
        assert page.evaluate("document.documentElement.scrollWidth") <= width
