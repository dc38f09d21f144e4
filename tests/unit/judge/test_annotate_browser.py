"""The annotation page in a real browser: what people do, and what happens to their machines."""

import sqlite3

import pytest

from tests.unit.browser import opened
from tests.unit.judge.annotation import campaign
from tests.unit.judge.test_server import serving

pytestmark = pytest.mark.rest
SUBMIT = "button.main"


def enter(page, name):
    page.fill("input[name=name]", name)
    page.click("button")
    page.wait_for_selector("p.paraphrase")


def rate(page, score):
    for number in page.locator("input[type=number]").all():
        number.fill(str(score))
    page.click(SUBMIT)


def scores(store):
    """What each person said, by the paraphrase."""
    return {(said.annotator, said.item.paraphrase): said.answer.score for said in store.judged()}


def address(port):
    return f"http://127.0.0.1:{port}"


def test_a_name_that_is_too_long_is_told_and_not_cut(chromium, tmp_path):
    store = campaign(tmp_path, references=1)
    with serving(store, controls=0) as port:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(address(port))
        page.focus("input[name=name]")
        page.keyboard.insert_text("Ana " * 20)
        assert page.input_value("input[name=name]") == "Ana " * 20
        page.click("button")
        assert page.inner_text("[role=alert]") == "A name has 1 to 60 letters."
        enter(page, "Ana")
        context.close()


def test_who_goes_back_changes_an_answer_and_adds_none(chromium, tmp_path):
    store = campaign(tmp_path)
    with serving(store, controls=0) as port, opened(chromium, address(port)) as page:
        enter(page, "Ana")
        first = page.locator("form").get_attribute("action")
        rate(page, 10)
        page.wait_for_selector(f"form:not([action='{first}'])")
        page.go_back()
        page.wait_for_selector(f"form[action='{first}']")
        rate(page, 20)
        page.wait_for_selector(f"form:not([action='{first}'])")
    assert list(scores(store).values()) == [20] * 5


def test_an_answer_that_does_not_arrive_is_sent_again(chromium, tmp_path, monkeypatch):
    store = campaign(tmp_path, references=1)
    with serving(store, controls=0) as port:
        context = chromium.new_context()
        page = context.new_page()
        page.goto(address(port))
        enter(page, "Ana")
        # The connection is lost while the answer is on its way, then the disk is full.
        page.route("**/page/*", lambda route: route.abort())
        rate(page, 30)
        page.unroute("**/page/*")
        assert store.judged() == []
        page.goto(address(port))
        with monkeypatch.context() as patched:
            patched.setattr(store, "answer", full)
            rate(page, 40)
            page.wait_for_selector("text=Nothing was stored")
        page.go_back()
        page.wait_for_selector("p.paraphrase")
        rate(page, 40)
        page.wait_for_selector("text=Thank you")
        context.close()
    assert list(scores(store).values()) == [40] * 5


def full(*_):
    raise sqlite3.OperationalError("database or disk is full")
