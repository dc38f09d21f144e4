"""The annotation page over real HTTP: one person, strangers, and twenty people at once."""

import http.client
import re
import sqlite3
import threading
from collections import Counter
from contextlib import contextmanager
from html import unescape
from urllib.parse import urlencode

import pytest

from tests.unit.judge.annotation import campaign
from tests.unit.pages import Reader
from tests.unit.serving import serving as served
from workflow_scripts.apps.annotate.server import Campaign, application

HOSTILE = "<script>alert('x')</script> & \"quoted\" 'text'"


@contextmanager
def serving(store, mode="similarity", **more):
    """Serve a campaign at a free port; give the port."""
    default = {"title": "A & B", "language": "en", "wanted": 3, "controls": 4, "seed": 1}
    everything = {**default, "by_name": True, **more}
    with served(application(Campaign(store=store, mode=mode, **everything))) as address:
        yield int(address.rpartition(":")[2])


class Browser:
    """One person's browser: it keeps cookies, follows redirects and fills forms."""

    def __init__(self, port, name=None):
        self.port, self.cookie, self.status = port, None, None
        self.headers, self.page = {}, ""
        if name:
            self.post("/", name=name)

    def get(self, path="/", **headers):
        return self._request("GET", path, None, headers)

    def post(self, path, headers=None, **fields):
        return self._request("POST", path, urlencode(fields), headers or {})

    def _request(self, method, path, body, headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        if self.cookie:
            headers = {"Cookie": self.cookie, **headers}
        connection.request(method, path, body, headers)
        response = connection.getresponse()
        self.status, self.headers = response.status, response.headers
        self.page = response.read().decode()
        connection.close()
        if "Set-Cookie" in self.headers:
            self.cookie = self.headers["Set-Cookie"].split(";")[0]
        if self.status == 303:
            return self.get(self.headers["Location"])
        return self.page

    @property
    def number(self):
        match = re.search(r'action="/page/(\d+)"', self.page)
        return int(match[1]) if match else None

    @property
    def texts(self):
        paraphrases = re.findall(r'<p class="paraphrase"[^>]*>(.*?)</p>', self.page)
        return [unescape(text) for text in paraphrases]

    def rate(self, score=80):
        """Fill the page and send it in."""
        scores = {f"score_{n}": score for n in range(1, len(self.texts) + 1)}
        return self.post(f"/page/{self.number}", **scores)


@pytest.fixture
def store(tmp_path):
    return campaign(tmp_path)


def test_a_name_is_enough_on_this_machine(store):
    with serving(store) as port:
        browser = Browser(port)
        assert "Under which name" in browser.get()
        browser.post("/", name="  Ana   Silva ")
        assert browser.status == 200
        assert "Ana Silva" in browser.page
        assert len(browser.texts) == 5


@pytest.mark.parametrize("name", ["", "   ", "x" * 61, "a\x07b", "a\0b"])
def test_a_name_has_letters(store, name):
    with serving(store) as port:
        browser = Browser(port)
        assert "A name has 1 to 60 letters" in browser.post("/", name=name)
        assert browser.status == 422
        assert browser.cookie is None


def test_answers_are_stored_and_the_next_page_comes(store):
    with serving(store, controls=0) as port:
        browser = Browser(port, "Ana")
        first, texts = browser.number, browser.texts
        fields = {f"score_{n}": 10 * n for n in range(1, 6)}
        browser.post(f"/page/{first}", **fields, ungrammatical_2="1", nonsensical_3="1")
        assert browser.status == 200
        assert browser.number not in (None, first)
    said = {judgment.item.paraphrase: judgment.answer for judgment in store.judged()}
    assert [(said[text].score, said[text].grammar) for text in texts] == [
        *((10, 2), (20, 1), (None, 0), (40, 2), (50, 2))
    ]


def test_a_page_that_is_not_complete_is_shown_again_as_it_was_filled(store):
    with serving(store, controls=0) as port:
        browser = Browser(port, "Ana")
        number, texts = browser.number, browser.texts
        browser.post(f"/page/{number}", score_1="42", ungrammatical_3="1", score_4="900")
        assert browser.status == 422
        assert (browser.number, browser.texts) == (number, texts)
        assert browser.page.count('class="fault" id="fault_') == 4
        assert 'value="42"' in browser.page
        assert 'name="ungrammatical_3" value="1" checked' in browser.page
        assert 'role="alert"' in browser.page
    assert store.judged() == []


def test_who_comes_back_goes_on_where_they_were(store):
    with serving(store) as port:
        browser = Browser(port, "Ana")
        browser.rate()
        number, texts = browser.number, browser.texts
        again = Browser(port, "Ana")
        assert (again.number, again.texts) == (number, texts)
        assert "You judged 5." in again.page
    with serving(store) as port:  # another port, so another cookie: the name is enough
        assert Browser(port, "Ana").texts == texts


def test_a_page_before_can_be_changed(store):
    with serving(store, controls=0) as port:
        browser = Browser(port, "Ana")
        first = browser.number
        Browser(port, "Bob").rate()  # the page before is one's own
        browser.rate(30)
        second = browser.number
        assert f'href="/page/{first}"' in browser.page
        browser.get(f"/page/{first}")
        assert 'href="/page/' not in browser.page
        assert browser.page.count('value="30"') == 5
        browser.rate(70)
        assert browser.number == second
    scores = [said.answer.score for said in store.judged() if said.annotator == 1]
    assert scores == [70] * 5


def test_people_do_not_see_each_other(store):
    with serving(store, controls=0) as port:
        ana, bob = Browser(port, "Ana"), Browser(port, "Bob")
        mine = ana.number
        ana.rate(33)
        for method in ("get", "post"):
            getattr(bob, method)(f"/page/{mine}")
            assert bob.status == 404
            assert "33" not in bob.page
        assert "Ana" not in Browser(port, "Bob").page
        assert "You judged 0." in Browser(port, "Bob").page
        stranger = Browser(port)
        assert "Under which name" in stranger.get(f"/page/{mine}")
        stranger.cookie = f"annotator_{port}=guess"
        assert "Under which name" in stranger.get(f"/page/{mine}")


def test_a_page_tells_neither_systems_nor_scores_nor_controls(tmp_path):
    store = campaign(
        tmp_path,
        system=lambda r, n: "secretsystem",
        forward_nll=lambda r, n: 0.4321,
        paraphrase_score=lambda r, n: 0.8765,
    )
    with serving(store, controls=1) as port:
        page = Browser(port, "Ana").page
    for secret in ("secretsystem", "4321", "8765", "control", "r0", "r1"):
        assert secret not in page
    # Of the control nothing but its text is different: all numbers are those of places.
    ids = Reader(page).ids
    assert sum(identifier.startswith("text_") for identifier in ids) == 5


@pytest.mark.parametrize("mode", ["similarity", "labels", "strength"])
def test_pages_are_sound_and_ask_for_nothing_from_elsewhere(tmp_path, mode):
    store = campaign(
        tmp_path, mode=mode, references=1, reference=lambda r, n: HOSTILE,
        paraphrase=lambda r, n: f"{HOSTILE} {n}",
    )  # fmt: skip
    with serving(store, mode) as port:
        browser = Browser(port, HOSTILE[:40])
        reader = Reader(browser.page)
        assert reader.faults == []
        assert len(reader.ids) == len(set(reader.ids))
        assert reader.tags.count("script") == 1
        assert HOSTILE in "".join(reader.text)
        assert "<script>alert" not in browser.page
        own = {"/annotate.css", "/annotate.js", "/leave", "data:,"}
        assert {
            reference for reference in reader.references if not reference.startswith("/page/")
        } == own
        labelled = set(re.findall(r' for="(\w+)"', browser.page))
        assert labelled <= set(reader.ids)
        fields = re.findall(r'<input type="(?:number|radio|checkbox)"', browser.page)
        assert len(fields) + 1 == browser.page.count("<label")  # that of the progress
        assert 'lang="en" dir="auto"' in browser.page
        policy = browser.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
        for path in ("/annotate.css", "/annotate.js"):
            assert browser.get(path)
            assert browser.status == 200
            assert "http" not in browser.page


@pytest.mark.parametrize("answer", ["G", "A", "B"])
def test_one_key_is_a_label(tmp_path, answer):
    store = campaign(tmp_path, mode="labels")
    with serving(store, "labels", wanted=1) as port:
        browser = Browser(port, "Ana")
        assert browser.texts and len(browser.texts) == 1
        browser.post(f"/page/{browser.number}", label_1=answer)
        assert "You judged 1. Of all 30 paraphrases 1 are done." in browser.page
        browser.post(f"/page/{browser.number}")
        assert browser.status == 422
    assert [judgment.answer.label for judgment in store.judged()] == [answer]


def test_marks_are_stored(tmp_path):
    store = campaign(tmp_path, mode="strength")
    with serving(store, "strength", wanted=1) as port:
        browser = Browser(port, "Ana")
        browser.post(f"/page/{browser.number}", strength_1="2", fluency_1="3")
        browser.post(f"/page/{browser.number}", strength_1="2")
        assert "Give both marks" in browser.page
    (judged,) = store.judged()
    assert (judged.answer.strength, judged.answer.fluency) == (2, 3)


def test_the_page_says_when_enough_people_judged_and_when_nothing_is_left(tmp_path):
    store = campaign(tmp_path, references=1)
    with serving(store, wanted=1, controls=0) as port:
        ana = Browser(port, "Ana")
        assert "Enough people" not in ana.page
        ana.rate()
        assert "You have judged everything" in ana.page
        assert "Enough people" in Browser(port, "Bob").page


def test_a_link_lets_its_annotator_in_and_nobody_else(store):
    with serving(store, by_name=False) as port:
        token = store.token("Ana")
        stranger = Browser(port)
        for path in ("/", "/page/1", "/leave", "/?token=guess"):
            assert "Open the link" in stranger.get(path)
            assert stranger.status == 403
        stranger.post("/", name="Ana")
        assert stranger.status == 403
        ana = Browser(port)
        ana.get(f"/?token={token}")
        assert len(ana.texts) >= 4
        assert "HttpOnly" not in ana.page
        assert token not in ana.page
        ana.rate()
        assert ana.status == 200


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(store):
    with serving(store) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.request("POST", "/", "name=Ana")
        cookie = connection.getresponse().getheader("Set-Cookie")
    assert cookie.startswith(f"annotator_{port}=")
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie


def test_forms_and_names_from_elsewhere_are_refused(store):
    with serving(store) as port:
        browser = Browser(port, "Ana")
        number = browser.number
        for origin in ("http://elsewhere.example", "null"):
            browser.post(f"/page/{number}", {"Origin": origin}, score_1="1")
            assert browser.status == 403
        browser.get("/", Host="elsewhere.example")
        assert browser.status == 403
        browser.post(
            f"/page/{number}", {"Origin": f"http://localhost:{port}", "Host": f"localhost:{port}"}
        )
        assert browser.status == 422
    assert store.judged() == []


@pytest.mark.parametrize(
    "path", ["/page/0", "/page/x", f"/page/{10**20 - 1}", "/etc", "/../annotate.css", "//[", "/%00"]
)
def test_other_addresses_are_no_pages(store, path):
    with serving(store) as port:
        browser = Browser(port, "Ana")
        browser.get(path)
        assert browser.status == 404
        # Whoever has no name yet is asked for it where there may be a page.
        stranger = Browser(port)
        for ask in (stranger.get, stranger.post):
            ask(path)
            assert stranger.status == (200 if path.startswith("/page/") else 404)


@pytest.mark.parametrize(
    ("body", "headers"),
    [
        (b"x" * 70_000, {}),
        (b"score_1=%zz\xff", {}),
        (b"&".join(b"a%d=1" % n for n in range(200)), {}),
        (b"a=1&a=2", {}),
        (b"", {"Content-Length": "x"}),
        (b"0\r\n\r\n", {"Content-Length": "5", "Transfer-Encoding": "chunked"}),
    ],
)
def test_what_is_no_form_is_refused_and_the_server_goes_on(store, body, headers):
    with serving(store) as port:
        browser = Browser(port, "Ana")
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.putrequest("POST", f"/page/{browser.number}")
        for name, value in {"Content-Length": str(len(body)), **headers}.items():
            connection.putheader(name, value)
        connection.endheaders()
        connection.send(body)
        assert connection.getresponse().status == 400
        assert len(browser.get()) > 1000


def test_an_answer_that_could_not_be_stored_is_not_acknowledged(store, monkeypatch, capsys):
    def full(*_):
        raise sqlite3.OperationalError("database or disk is full")

    with serving(store, controls=0) as port:
        browser = Browser(port, "Ana")
        number = browser.number
        with monkeypatch.context() as patched:
            patched.setattr(store, "answer", full)
            assert "Nothing was stored" in browser.rate()
            assert browser.status == 503
        assert "database or disk is full" in capsys.readouterr().err
        browser.get()
        assert browser.number == number
        browser.rate()
    assert len(store.judged()) == 5


@pytest.mark.slow
def test_twenty_people_at_once_lose_nothing_and_double_nothing(tmp_path):
    people, wanted = 20, 3
    store = campaign(tmp_path, references=40)
    acknowledged = Counter()
    faults = []
    lock = threading.Lock()

    def annotate(port, name):
        try:
            browser = Browser(port, name)
            while (number := browser.number) and "Enough people" not in browser.page:
                texts = browser.texts
                browser.rate(100)
                assert browser.status == 200, browser.page
                with lock:
                    acknowledged.update((name, text) for text in texts)
                # A press too many sends the same page once more.
                if number % 7 == 0:
                    browser.post(f"/page/{number}", **{f"score_{n}": 100 for n in range(1, 6)})
        except BaseException as error:
            faults.append(error)
            raise

    with serving(store, wanted=wanted) as port:
        threads = [threading.Thread(target=annotate, args=(port, f"p{n}")) for n in range(people)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert faults == []
        names = {store.annotator(store.token(f"p{n}")) for n in range(people)}
    judged = store.judged()
    stored = Counter()
    by_item = {}
    name_of = dict(names)
    for judgment in judged:
        text = judgment.item.paraphrase if judgment.item else judgment.reference.text
        stored[name_of[judgment.annotator], text] += 1
        if judgment.item:
            by_item.setdefault(judgment.item, []).append(judgment.annotator)
    assert stored == acknowledged
    assert set(stored.values()) == {1}
    assert len(by_item) == 200
    for annotators in by_item.values():
        assert len(annotators) == len(set(annotators)) >= wanted
    # Little more than is wanted, as nobody is sent to what others have on their page: at the end
    # each person may still fill one that proves to be one too many.
    assert sum(map(len, by_item.values())) <= 200 * wanted + 5 * people
