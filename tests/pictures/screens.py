"""Make the pictures of both pages in docs/ anew, in Debian's Chromium.

python -m tests.pictures.screens

Look at them: no test compares pixels.
"""

import shutil
import tempfile
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import sync_playwright

import paraloom
from tests.pictures.__main__ import DOCS
from tests.unit.serving import serving
from workflow_scripts.apps.annotate import server
from workflow_scripts.apps.annotate.items import of_file
from workflow_scripts.apps.annotate.store import Store, create
from workflow_scripts.apps.rewriter import app
from workflow_scripts.apps.rewriter.there_and_back import ThereAndBack
from workflow_scripts.apps.web.guard import LOOPBACK

# The pictures by their names: width and height of the screen, and its colours.
SCREENS = {"desktop": (1000, 880, "light"), "phone": (390, 844, "light")}
PAIRS = [
    ("The old man left his umbrella on the train.", 94, ""),
    ("On the train, the old man forgot his umbrella.", 98, ""),
    ("The old man have forgot his umbrella on the train.", 96, "ungrammatical"),
    ("The old man lost his train.", None, ""),
]


@contextmanager
def annotation():
    """Serve a campaign of some pairs."""
    with tempfile.TemporaryDirectory() as folder:
        pairs, database = Path(folder, "pairs.tsv"), Path(folder, "campaign.sqlite")
        rows = [f"1\tThe old man forgot his umbrella on the train.\t{text}" for text, *_ in PAIRS]
        lines = ["id\treference\tparaphrase", *rows]
        pairs.write_text("\n".join(lines) + "\n", encoding="utf-8")
        create(database, {"mode": "similarity", "seed": 1}, of_file(pairs, None, 1))
        campaign = server.Campaign(
            Store(database), "similarity", "Rate paraphrases", "en", 3, 0, 1, by_name=True
        )
        with serving(server.application(campaign)) as address:
            yield address


def annotate(page):
    """Rate some of the pairs."""
    page.fill("input[name=name]", "Ana")
    page.click("button")
    page.click("summary")
    for card in page.locator("fieldset").all():
        said = {text: (score, box) for text, score, box in PAIRS}
        score, box = said[card.locator(".paraphrase").inner_text()]
        if score is not None:
            card.locator("input[type=number]").fill(str(score))
        if box:
            card.locator(f"[name^={box}]").check()
    page.locator("h1").click()


def rewrite(page):
    """Paraphrase a sentence, without a word and with another."""
    page.fill("#text", "Please turn the lights off when you leave.")
    page.locator(".chip", has_text="leave").click()
    for _ in range(2):
        page.locator(".chip", has_text="lights").click()
    page.click("summary")
    page.fill("#number", "3")
    page.click("summary")
    page.click("button.main")
    page.wait_for_selector("#results:not([aria-busy]) h2", timeout=120_000)


def main():
    """Make the pictures."""
    call = 'paraloom.Paraphraser("en")'
    engine = ThereAndBack(paraloom.Paraphraser("en"))
    service = app.Service(engine, app.Limits(seconds=120), "Paraphrases", None, call)
    with (
        sync_playwright() as playwright,
        annotation() as rating,
        serving(app.application(service, LOOPBACK)) as rewriting,
    ):
        chromium = playwright.chromium.launch(
            executable_path=shutil.which("chromium"), args=["--no-sandbox"]
        )
        for screen, (width, height, scheme) in SCREENS.items():
            for name, address, act in (
                ("annotate", rating, annotate),
                ("rewriter", rewriting, rewrite),
            ):
                size = {"width": width, "height": height}
                page = chromium.new_context(viewport=size, color_scheme=scheme).new_page()
                page.goto(address)
                act(page)
                page.evaluate("scrollTo(0, 0)")
                page.screenshot(path=DOCS / f"{name}-{screen}.png", full_page=name == "rewriter")
        chromium.close()


if __name__ == "__main__":
    main()
