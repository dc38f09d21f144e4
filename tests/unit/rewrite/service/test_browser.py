"""The pages in a real browser: chips, keys, a narrow screen, contrasts, nothing from elsewhere.

Debian's Chromium (apt-get install chromium), driven by playwright; without it they are skipped.
"""

import re

import pytest

from tests.unit.browser import launched, opened

pytestmark = pytest.mark.slow

sync_api = pytest.importorskip("playwright.sync_api", reason="no playwright here")
SENTENCE = "Muž opravuje kolo."
# What hits the eye of whoever sees little: text against what stands behind it (WCAG 2.2, 1.4.3).
CONTRASTS = """() => {
  const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
  const light = (rgb) => {
    const one = (v) => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4;
    const [r, g, b] = rgb.map((v) => one(v / 255));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    for (; node; node = node.parentElement) {
      const found = numbers(getComputedStyle(node).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const poor = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const parent = walker.currentNode.parentElement;
    const style = getComputedStyle(parent);
    if (!walker.currentNode.data.trim() || !parent.checkVisibility()) continue;
    if (style.clipPath !== "none") continue;
    const both = [light(numbers(style.color).slice(0, 3)), light(behind(parent))];
    const [a, b] = both.sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    const large = parseFloat(style.fontSize) >= 24;
    if (ratio < (large ? 3 : 4.5)) poor.push([walker.currentNode.data.trim(), ratio]);
  }
  return poor;
}"""
# Elements that can be used, without a name that can be read out.
NAMELESS = """() => [...document.querySelectorAll(
    "a, button, input, select, textarea, meter, progress")]
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.getAttribute("aria-label") || each.textContent.trim() ||
    (each.labels && [...each.labels].some((label) => label.textContent.trim()))))
  .map((each) => each.outerHTML)"""
# Targets that fingers miss (WCAG 2.2, 2.5.8), besides links in text.
SMALL = """() => [...document.querySelectorAll(
    "button, nav a, select, summary, input:not([type=checkbox])")]
  .filter((each) => each.checkVisibility())
  .map((each) => [each.outerHTML, each.getBoundingClientRect().height])
  .filter(([, height]) => height < 24)"""


@pytest.fixture(scope="module")
def chromium():
    yield from launched()


def results(page):
    page.wait_for_selector("#results:not([aria-busy]) h2", timeout=60_000)
    return [element.inner_text() for element in page.query_selector_all("#results .text")]


def shown(page, selector, text):
    """Wait for a text; wait_for_function evaluates strings, which the page's policy forbids."""
    sync_api.expect(page.locator(selector)).to_have_text(text, timeout=60_000)


def words(text):
    return set(re.findall(r"\w+", text.lower()))


def test_chips_avoid_demand_and_clear(chromium, address):
    with opened(chromium, address) as page:
        assert page.is_hidden("#chips")
        page.fill("#text", "The old man, and the Dog.")
        chips = page.locator(".chip")
        assert chips.all_inner_texts() == ["The", "old", "man", "and", "Dog"]
        old = chips.nth(1)
        old.click()
        assert old.get_attribute("aria-pressed") == "true"
        assert old.get_attribute("aria-label") == "old, to avoid"
        assert page.input_value("#avoid") == "old"
        chips.nth(4).click()
        old.click()
        assert page.input_value("#avoid") == "Dog"
        assert page.input_value("#use") == "old"
        assert old.get_attribute("aria-label") == "old, to use"
        old.click()
        assert page.input_value("#use") == ""
        assert old.get_attribute("aria-pressed") == "false"
        page.fill("#use", "man, woman")  # what is written shows in the chips
        assert chips.nth(2).get_attribute("data-state") == "use"
        page.fill("#text", "It costs 1,000 euros;cash,now.")
        assert chips.all_inner_texts() == ["It", "costs", "1,000", "euros", "cash", "now"]
        chips.nth(2).click()
        chips.nth(4).click()
        assert page.input_value("#avoid") == "Dog, 1,000, cash"
        assert chips.nth(2).get_attribute("data-state") == "avoid"


def test_a_sentence_is_paraphrased_and_copied(chromium, address):
    with opened(chromium, address, permissions=["clipboard-read", "clipboard-write"]) as page:
        page.fill("#text", SENTENCE)
        page.fill("#avoid", "bike")
        page.fill("#use", "old")
        page.click("button.main")
        shown_texts = results(page)
        assert 2 <= len(shown_texts) <= 5
        assert all("old" in words(text) and "bike" not in words(text) for text in shown_texts)
        assert page.url == f"{address}/"  # no new page
        assert f"{len(shown_texts)} paraphrases" in page.inner_text("#status")
        page.click(".copy >> nth=1")
        shown(page, "#status", "Copied")
        assert page.evaluate("navigator.clipboard.readText()") == shown_texts[1]
        page.fill("#use", "")
        page.fill("#text", "kolo " * 300)
        page.click("button.main")
        shown(page, "#results h2", "No paraphrase")
        assert "too long" in page.inner_text("#results")


def test_a_fault_is_an_alert(chromium, address):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address)
    page.fill("#text", SENTENCE)
    page.fill("#use", "old")
    page.click("summary")
    page.fill("#samples", "3")
    page.click("button.main")
    page.wait_for_selector("[role=alert]")
    assert "can't have words to use" in page.inner_text("[role=alert]")
    context.close()


def test_all_goes_by_keys(chromium, address):
    with opened(chromium, address) as page:
        focused = "document.activeElement.id || document.activeElement.textContent.trim()"
        order = []
        page.keyboard.press("Tab")
        assert page.evaluate(focused) == "To the content"
        assert page.evaluate("document.activeElement.getBoundingClientRect().left") >= 0
        page.keyboard.press("Enter")
        page.keyboard.press("Tab")
        assert page.evaluate(focused) == "text"
        page.keyboard.type("Muž opravuje")
        for _ in range(6):
            page.keyboard.press("Tab")
            order.append(page.evaluate(focused))
        assert order == ["Muž", "opravuje", "avoid", "use", "More wishes", "Paraphrase"]
        for _ in range(4):
            page.keyboard.press("Shift+Tab")
        assert page.evaluate(focused) == "opravuje"
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
        page.keyboard.press("Space")
        assert page.input_value("#avoid") == "opravuje"
        page.keyboard.press("Enter")
        assert page.input_value("#use") == "opravuje"
        page.keyboard.press("Space")
        for _ in range(4):
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        assert results(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [375, 1000])
def test_everybody_can_use_it(chromium, address, scheme, width):
    size = {"width": width, "height": 800}
    with opened(chromium, address, viewport=size, color_scheme=scheme) as page:
        page.fill("#text", "A man, " + "averylongwordwithoutanyblank" * 8)
        page.click(".chip >> nth=0")
        for _ in range(2):
            page.click(".chip >> nth=1")
        page.fill("#use", "")
        page.click("summary")
        page.click("button.main")
        results(page)
        for path in (None, "/batch", "/api"):
            if path:
                page.goto(f"{address}{path}")
            assert page.evaluate(CONTRASTS) == []
            assert page.evaluate(NAMELESS) == []
            assert page.evaluate(SMALL) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= width
            assert page.evaluate("document.documentElement.lang") == "en"
            levels = [
                int(heading.evaluate("each => each.tagName[1]"))
                for heading in page.query_selector_all("h1, h2, h3")
            ]
            assert levels.count(1) == 1
            assert levels[0] == 1
            for landmark in ("header", "nav", "main"):
                assert page.locator(landmark).count() == 1


@pytest.mark.parametrize(
    "text",
    [
        "<img src=x onerror=alert(1)> <b>kolo</b>",
        "\u05d4\u05d0\u05d9\u05e9 \u05de\u05ea\u05e7\u05df",
        "\U0001f600 kolo \U0001f468\u200d\U0001f469",
        "'\"]),.chip[data-word=x] kolo",
    ],
)
def test_hostile_texts_do_nothing(chromium, address, text):
    with opened(chromium, address) as page:
        page.fill("#text", text)
        page.locator(".chip").last.click()
        page.click("button.main")
        results(page)
        assert page.locator("#results img, #results b b, #chips img, #chips b").count() == 0


def test_a_file_is_watched_to_its_end(chromium, address, tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text(f"{SENTENCE}\n" * 12, encoding="utf-8")
    with opened(chromium, address, "/batch") as page:
        page.set_input_files("#file", path)
        page.fill("#avoid", "bike")
        page.click("button.main")
        page.wait_for_selector("text=Download the results", timeout=60_000)
        assert "12 of 12" in page.inner_text("[role=status]")
        with page.expect_download() as download:
            page.click("text=Download the results")
        lines = download.value.path().read_text("utf-8").splitlines()
        assert len(lines) == 12
        assert all("bike" not in line.split('"avoided"')[0].lower() for line in lines)


def test_it_works_without_a_script(chromium, address, tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text(SENTENCE, encoding="utf-8")
    with opened(chromium, address, java_script_enabled=False) as page:
        page.fill("#text", SENTENCE)
        page.fill("#avoid", "bike")
        page.click("button.main")
        assert page.locator("#results li").count() == 5
        assert page.input_value("#avoid") == "bike"
        page.goto(f"{address}/batch")
        page.set_input_files("#file", path)
        page.click("button.main")
        page.wait_for_selector("text=Download the results", timeout=60_000)  # it reloads itself
