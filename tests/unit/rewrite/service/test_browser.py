"""The pages in a real browser: chips, keys, a narrow screen, contrasts, nothing from elsewhere.

Debian's Chromium (apt-get install chromium), driven by playwright; without it they are skipped.
"""

import re
import signal
import socket
import threading
from contextlib import contextmanager, suppress
from types import SimpleNamespace

import pytest

from tests.unit.browser import opened, started

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
        sync_api.expect(page.locator("#results li")).to_have_count(5, timeout=60_000)
        assert page.input_value("#avoid") == "bike"
        page.goto(f"{address}/batch")
        page.set_input_files("#file", path)
        page.click("button.main")
        page.wait_for_selector("text=Download the results", timeout=60_000)  # it reloads itself


# --- what happens to people's machines, and to the service ---------------------------------------


def test_a_text_that_is_too_long_is_told_and_not_cut(chromium, address):
    """A browser would cut what is pasted to the length of the field, without a word."""
    context = chromium.new_context()
    page = context.new_page()
    page.goto(address)
    for lines, said in ((300, "longer than 2000 characters"), (10_000, "larger than 65,536 bytes")):
        page.fill("#text", "")
        page.keyboard.insert_text("kolo dum ten " * 200)
        assert len(page.input_value("#text")) == 2600
        text = "kolo dum\n" * lines
        page.locator("#text").evaluate("(field, text) => { field.value = text; }", text)
        page.click("button.main")
        page.wait_for_selector(f"#results:not([aria-busy]) [role=alert]:has-text('{said}')")
        assert page.locator("h1, nav").count() == 2  # no page within the page
    context.close()


def test_files_that_are_too_large_are_told_on_the_page(chromium, address, tmp_path):
    context = chromium.new_context()
    page = context.new_page()
    for content, said in (
        (f"{SENTENCE}\n".encode() * 10_000, "10,000 lines, at most 5,000"),
        (f"{SENTENCE}\n".encode() * 100_000, "larger than 1,048,576 bytes"),
        (SENTENCE.encode("utf-16"), "the file is not UTF-8"),
    ):
        path = tmp_path / "lines.txt"
        path.write_bytes(content)
        page.goto(f"{address}/batch")
        page.set_input_files("#file", path)
        page.click("button.main")
        assert said in page.inner_text("[role=alert]")
        assert page.locator("nav").count() == 1
    context.close()


def test_who_comes_back_finds_what_they_wrote(chromium, address):
    with opened(chromium, address) as page:
        page.fill("#text", SENTENCE)
        page.fill("#use", "old")
        page.click(".chip >> nth=0")
        page.click("button.main")
        results(page)
        page.click("text=File")
        page.wait_for_selector("#file")
        page.go_back()
        page.wait_for_selector(".chip")
        assert page.input_value("#text") == SENTENCE
        assert page.input_value("#use") == "old"
        assert page.input_value("#avoid") == "Muž"
        assert page.locator(".chip").first.get_attribute("data-state") == "avoid"
        assert page.locator(".chip").count() == 3


@contextmanager
def line_to(address):
    """Stand between a browser and a service; `cut` says after how many bytes an answer ends."""
    host, port = address.removeprefix("http://").split(":")
    line = SimpleNamespace(cut=None)

    def carry(source, sink, answers):
        with suppress(OSError):
            while part := source.recv(1 << 16):
                sink.sendall(part[: line.cut] if answers else part)
                if answers and line.cut is not None:
                    break
        for end in (source, sink):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def take(listening):
        with suppress(OSError):
            while True:
                browser, _ = listening.accept()
                service = socket.create_connection((host, int(port)))
                for ends in ((browser, service, False), (service, browser, True)):
                    threading.Thread(target=carry, args=ends, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=take, args=(listening,), daemon=True).start()
        line.address = f"http://127.0.0.1:{listening.getsockname()[1]}"
        yield line
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize("cut", [0, 40, 1500])
def test_an_answer_that_is_cut_off_is_told_and_asked_for_again(chromium, address, cut):
    context = chromium.new_context()
    page = context.new_page()
    with line_to(address) as line:
        page.goto(line.address)
        page.fill("#text", SENTENCE)
        page.click("button.main")
        whole = results(page)
        line.cut = cut
        page.click("button.main")
        shown(page, "#results", "The service can't be reached; try again later.")
        line.cut = None
        page.click("button.main")
        assert results(page) == whole
        context.close()


def test_markup_that_a_rewriter_writes_is_text(chromium, serve, held):
    text = "<img src=x onerror=alert(1)> <script>alert(2)</script> \"'&amp; {{ 7 * 7 }}"
    held.text = text
    held.may.set()
    permissions = ["clipboard-read", "clipboard-write"]
    with serve(held) as address, opened(chromium, address, permissions=permissions) as page:
        page.fill("#text", "a")
        page.click("button.main")
        assert results(page) == [text]
        assert page.locator("#results img, #results script").count() == 0
        page.click(".copy")
        shown(page, "#status", "Copied")
        assert page.evaluate("navigator.clipboard.readText()") == text


def test_a_service_that_is_killed_while_it_answers_and_started_again(chromium, folder, tmp_path):
    path = tmp_path / "sentences.txt"
    path.write_text(f"{SENTENCE}\n" * 5000, encoding="utf-8")
    options = ("--language", "en", "--no-meaning", "--threads", 1)
    serve = ("serve", "--model", folder, *options)
    service, port = started(*serve, "--port", 0)
    context = chromium.new_context()
    page, watching = context.new_page(), context.new_page()
    try:
        watching.goto(f"http://127.0.0.1:{port}/batch")
        watching.set_input_files("#file", path)
        watching.click("button.main")
        watching.wait_for_selector("text=running")
        page.goto(f"http://127.0.0.1:{port}")
        page.fill("#text", SENTENCE)
        service.send_signal(signal.SIGSTOP)  # so that it does not answer before it dies
        page.click("button.main")
        shown(page, "#status", "Searching")
        service.kill()
        service.wait()
        shown(page, "#results", "The service can't be reached; try again later.")
        service, _ = started(*serve, "--port", port)
        page.click("button.main")
        assert len(results(page)) == 5
        # The file is gone, and who waits for it is told.
        shown(watching, "h1", "That did not work")
        assert "there is no such file" in watching.inner_text("[role=alert]")
    finally:
        service.kill()
        service.wait()
        context.close()
