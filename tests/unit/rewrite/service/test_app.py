"""The pages and the API: answers, bounds, foreign hosts and pages, hostile texts."""

import asyncio
import html
import json
import re
import socket
import tempfile
import threading
import time

import httpx
import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

from tests.e2e.faults import disk
from tests.unit.pages import Reader
from workflow_scripts.apps.rewriter.app import Limits, Service, application
from workflow_scripts.apps.rewriter.differences import Change, differences
from workflow_scripts.apps.rewriter.forms import request_fields
from workflow_scripts.apps.web.form_fields import fields_of
from workflow_scripts.stages.rewrite.requests import RequestError
from workflow_scripts.stages.rewrite.rewriter import Rewriter

SENTENCE = "Muž opravuje kolo."
HOSTILE = [
    "<script>alert('x')</script> & \"quoted\" 'text'",
    "a\x00b\x1b[31mc\x7f",
    "\U0001f600\U0001f468\u200d\U0001f469\u200d\U0001f467 \ufeff\u202e",
    "\u05e9\u05dc\u05d5\u05dd \u05e2\u05d5\u05dc\u05dd",
    "{{ 7 * 7 }} {% raw %} ${x}",
    "' OR 1=1; --",
    "." * 2000,
]


def client(rewriter, limits=None, log=None, **more):
    app = application(Service(rewriter, limits or Limits(), "A & B", log), ["testserver"], **more)
    return TestClient(app, raise_server_exceptions=False)


@pytest.fixture(scope="module")
def web(rewriter):
    with client(rewriter) as browser:
        yield browser


def ask(web, path="/api/paraphrase", **fields):
    return web.post(path, json=fields)


def whole(page):
    """Return what a test reads of a page, which must be well formed and load nothing."""
    reader = Reader(page)
    assert not reader.faults
    assert not reader.open
    assert len(set(reader.ids)) == len(reader.ids)
    own = [address for address in reader.references if address]
    assert all(re.match(r"(/(?!/)|#|data:,)", address) for address in own), own
    return reader


# --- the API -------------------------------------------------------------------------------------


def test_an_answer_is_as_the_document_says(web):
    api = web.get("/api/openapi.json").json()
    answer = ask(web, text=SENTENCE, number=3, avoid=["bike"], id=7)
    assert answer.status_code == 200
    schema = {"$ref": "#/components/schemas/Answer", "components": api["components"]}
    Draft202012Validator(schema).validate(answer.json())
    assert answer.json()["id"] == 7
    assert len(answer.json()["paraphrases"]) == 3


def test_the_document_names_every_path(web):
    api = web.get("/api/openapi.json").json()
    assert api["openapi"].startswith("3.1")
    for schema in api["components"]["schemas"].values():
        Draft202012Validator.check_schema(schema)
    served = {
        re.sub("identity", "id", route.path): route.methods - {"HEAD"}
        for route in web.app.routes
        if route.path.startswith("/api/") and route.path != "/api/openapi.json"
    }
    described = {
        path: {method.upper() for method in operations if method != "parameters"}
        for path, operations in api["paths"].items()
    }
    assert described == served


def test_what_the_rewriter_can_do(web):
    said = web.get("/api/rewriter").json()
    assert said == {"language": "en", "templates": [], "meaning": True, "most_results": 5}


@pytest.mark.parametrize(
    ("content", "status", "message"),
    [
        (b"{", 400, "no JSON"),
        (b"[]", 400, "must be of the type object"),
        (b'{"text": 1}', 400, "'text' must be of the type string"),
        (b"\xff", 400, "no JSON"),
        (b"[" * 60_000, 400, "no JSON"),
        (b'{"text": "\\ud800"}', 400, "half of a surrogate pair"),
        (b'{"text": "a", "avoid": ["b"], "avoid": []}', 400, "a key stands there twice"),
        (b'{"text": "a", "use": ["b"], "samples": 1}', 400, "can't have words to use"),
        (b'{"text": "' + b"a" * 5000 + b'"}', 400, "longer than 2000"),
        (b'{"text": "' + b"a" * (1 << 20) + b'"}', 413, "larger than 65,536 bytes"),
    ],
)
def test_bad_requests_are_told(web, content, status, message):
    headers = {"content-type": "application/json"}
    answer = web.post("/api/paraphrase", content=content, headers=headers)
    assert answer.status_code == status
    assert message in answer.json()["error"]
    assert len(answer.content) < 500


def test_a_body_without_stated_length_is_bounded(web):
    chunks = (b"a" * 4096 for _ in range(64))
    headers = {"content-type": "application/json"}
    answer = web.post("/api/paraphrase", content=chunks, headers=headers)
    assert answer.status_code == 413


def test_other_types_and_paths_are_refused(web):
    assert web.post("/api/paraphrase", content=b"{}").status_code == 415
    assert web.post("/api/batch", json={}).status_code == 415
    for path in ("/api/paraphrase", "/results"):
        other = web.get(path)
        assert (other.status_code, other.headers["allow"]) == (405, "POST")
    assert web.get("/api/nothing").json() == {"error": "Not Found"}
    assert "did not work" in web.get("/nothing").text
    assert web.get("/../rewriter.js.bak").status_code == 404


@pytest.mark.slow
@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_texts_come_back_as_texts(web, text):
    answer = ask(web, text=text, avoid=["x"])
    assert answer.status_code == 200
    page = web.post("/", data={"text": text, "avoid": text[:90], "number": "2"})
    assert page.status_code in (200, 400)
    assert "<script>alert" not in page.text
    assert "49" not in page.text.split("</form>")[0].replace("49%", "")
    whole(page.text)


# --- who may ask ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"host": "evil.example"}, 403),
        ({"host": "testserver:80"}, 200),
        ({"host": ""}, 403),
        ({"host": "[::1"}, 403),
        ({"origin": "http://evil.example"}, 403),
        ({"origin": "null"}, 403),
        ({"origin": "http://testserver"}, 200),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin"}, 200),
    ],
)
def test_foreign_names_and_pages_are_refused(web, headers, status):
    answer = web.post("/api/paraphrase", json={"text": SENTENCE}, headers=headers)
    assert answer.status_code == status
    form = {"text": SENTENCE}
    assert web.post("/results", data=form, headers=headers).status_code == status


@pytest.mark.parametrize(
    "path", ["/", "/batch", "/api", "/rewriter.js", "/nothing", "/api/rewriter"]
)
def test_every_answer_tells_browsers_to_load_nothing_else(web, path):
    headers = web.get(path).headers
    assert "default-src 'none'" in headers["content-security-policy"]
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["x-content-type-options"] == "nosniff"


# --- pages ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["/", "/batch", "/api"])
def test_pages_are_whole(web, path):
    page = web.get(path).text
    reader = whole(page)
    assert "h1" in reader.tags
    assert web.head(path).status_code == 200
    labelled = set(re.findall(r'<label for="(\w+)"', page))
    fields = re.findall(r'<(?:input type="(?!checkbox)\w+"|textarea|select)[^>]*? id="(\w+)"', page)
    assert set(fields) == labelled
    assert "A &amp; B" in page


def test_a_form_works_without_a_script(web):
    page = web.post("/", data={"text": SENTENCE, "avoid": "bike, boy", "use": "old", "number": "3"})
    reader = whole(page.text)
    assert reader.tags.count("li") == 3
    assert 'value="bike, boy"' in page.text
    assert f">{SENTENCE}</textarea>" in page.text
    assert "<ins>" in page.text
    assert "<del" in page.text
    assert "without" in page.text


def test_the_page_tells_what_the_model_can_not_read(web):
    page = web.post("/", data={"text": f"{SENTENCE} \u4e2d"}).text
    assert "This rewriter can't read" in page
    assert "\u4e2d</span>: what it says of that is made up" in page
    assert "can't read" not in web.post("/", data={"text": SENTENCE}).text


def test_the_page_offers_what_the_rewriter_can_do(parts):
    with client(Rewriter(*parts, "cs", templates=[f"(S (X{n}))" for n in range(30)])) as web:
        page = web.get("/").text
        said = web.get("/api/rewriter").json()
    assert "avoid_forms" not in page  # inflections are English
    assert page.count("<option") == 21  # none, and the twenty most frequent ones
    assert len(said["templates"]) == 20
    assert 'lang="cs"' in page
    whole(page)


def test_a_form_with_a_fault_keeps_what_was_written(web):
    page = web.post("/", data={"text": SENTENCE, "use": "old", "samples": "3"})
    assert page.status_code == 400
    assert 'role="alert"' in page.text
    assert f">{SENTENCE}</textarea>" in page.text
    assert (
        web.post(
            "/", content=b"text=%ff", headers={"content-type": "application/x-www-form-urlencoded"}
        ).status_code
        == 400
    )
    assert web.post("/", json={}).status_code == 400


@pytest.mark.slow
def test_parts_within_parts_are_no_form(web):
    parts = "".join(
        f"--b{n}\r\nContent-Type: multipart/mixed; boundary=b{n + 1}\r\n\r\n" for n in range(3000)
    )
    headers = {"content-type": "multipart/form-data; boundary=b0"}
    page = web.post("/batch", content=parts.encode(), headers=headers)
    assert page.status_code == 400
    assert "this is no form of the page" in page.text


@pytest.mark.parametrize("name", [b"", b"; filename=a.txt"])
def test_a_part_without_a_plain_name_is_refused(web, name):
    body = b"--b\r\nContent-Disposition: form-data%b\r\n\r\nkolo\r\n--b--\r\n" % name
    headers = {"content-type": "multipart/form-data; boundary=b"}
    with pytest.raises(RequestError, match="this is no form of the page"):
        fields_of(body, headers["content-type"])
    assert web.post("/batch", content=body, headers=headers).status_code == 400


def test_a_field_twice_is_refused(web):
    sent = {"content-type": "application/x-www-form-urlencoded"}
    page = web.post("/", content="text=a&use=b&use=c", headers=sent)
    assert page.status_code == 400
    assert "the field &#39;use&#39; stands there twice" in page.text
    two = [("file", ("a.txt", SENTENCE.encode())), ("file", ("b.txt", b"x"))]
    page = web.post("/batch", files=two)
    assert page.status_code == 400
    assert "stands there twice" in page.text


def test_the_comma_of_a_number_is_part_of_it():
    fields = request_fields({"text": "a", "avoid": "1,000, b;c\nd,e", "use": " 2,5 "})
    assert fields["avoid"] == ["1,000", "b", "c", "d", "e"]
    assert fields["use"] == ["2,5"]


def test_the_script_gets_the_results_alone(web):
    part = web.post("/results", data={"text": "kolo " * 300, "number": "2"})
    assert part.text.startswith("<h2>No paraphrase</h2>")
    assert "too long" in part.text


@pytest.mark.parametrize(
    ("old", "new", "changes"),
    [
        ("A man runs.", "A man runs", [("same", "A man runs")]),
        (
            "A man runs.",
            "A boy runs!",
            [("same", "A"), ("gone", "man"), ("new", "boy"), ("same", "runs!")],
        ),
        ("a b", "b", [("gone", "a"), ("same", "b")]),
        ("", "b ...", [("new", "b ...")]),
    ],
)
def test_differences_are_of_words(old, new, changes):
    assert differences(old, new) == [Change(*change) for change in changes]


# --- files ---------------------------------------------------------------------------------------


def ended(web, identity):
    for _ in range(600):
        file = web.get(f"/api/batch/{identity}").json()
        if file["state"] != "running":
            return file
        time.sleep(0.05)
    raise AssertionError("the file does not end")


@pytest.mark.slow
def test_a_file_is_paraphrased_in_order(web):
    lines = [{"text": SENTENCE, "id": n, "avoid": ["bike"]} for n in range(30)]
    lines[3] = {"text": SENTENCE, "id": 3, "use": ["woman"], "samples": 0}
    lines[5] = {"text": "kolo " * 300, "id": 5}
    lines[7] = {"text": SENTENCE, "id": 7, "number": 20}
    body = "".join(json.dumps(line) + "\r\n" for line in lines)
    headers = {"content-type": "application/jsonl"}
    started = web.post("/api/batch", content=body, headers=headers)
    assert started.status_code == 202
    file = ended(web, started.json()["id"])
    assert (file["state"], file["done"], file["total"]) == ("done", 30, 30)
    assert file["without_paraphrase"] == 2
    results = web.get(f"{started.headers['location']}/results")
    answers = [json.loads(line) for line in results.text.splitlines()]
    assert [answer["id"] for answer in answers] == list(range(30))
    assert "woman" in answers[3]["paraphrases"][0]["text"]
    assert answers[5]["why"].startswith("too long")
    assert answers[7]["why"].startswith("refused: 'number' is 20")


def test_a_file_goes_through_the_page(web):
    table = f"text\tuse\r\n{SENTENCE}\twoman\r\n{SENTENCE}\t\r\n"
    sent = {"file": ("a.TSV", table.encode(), "text/plain")}
    page = web.post("/batch", data={"avoid": "the", "number": "1"}, files=sent)
    assert page.status_code == 200
    whole(page.text)
    identity = re.search(r'data-id="([\w-]+)"', page.text)[1]
    ended(web, identity)
    page = web.get(f"/batch/{identity}").text
    assert "Download the results" in page
    whole(page)
    answers = [json.loads(line) for line in web.get(f"/batch/{identity}/results").text.splitlines()]
    assert [answer["line"] for answer in answers] == [2, 3]
    assert answers[0]["avoided"] == ["the"]
    assert answers[0]["used"] == ["woman"]


def test_bad_files_are_told(web):
    for content, status, message in [
        (b"", 400, "the file is empty"),
        (b"\n \n", 400, "the file is empty"),
        (b"\xff", 400, "not UTF-8"),
        (b"a\n\nb", 400, "line 2: 'text' is empty"),
        (b"a\n" * 5001, 413, "at most 5,000"),
        (b"a" * ((1 << 20) + 1), 413, "larger than 1,048,576 bytes"),
    ]:
        headers = {"content-type": "text/plain"}
        answer = web.post("/api/batch", content=content, headers=headers)
        assert answer.status_code == status
        assert message in answer.json()["error"]
    headers = {"content-type": "text/tab-separated-values"}
    answer = web.post("/api/batch", content=b"text\tavoid\n\n \n", headers=headers)
    assert answer.status_code == 400
    assert "no line below its header" in answer.json()["error"]
    page = web.post("/batch", files={"file": ("a.jsonl", b"{", "text/plain")})
    assert page.status_code == 400
    assert "line 1: no JSON" in page.text
    assert web.get("/api/batch/unknown").status_code == 404
    assert web.get("/batch/unknown").status_code == 404
    assert web.get("/api/batch/unknown/results").status_code == 404


def test_a_file_is_cancelled(held):
    with client(held) as web:
        try:
            headers = {"content-type": "text/plain"}
            body = "a\n" * 40
            identity = web.post("/api/batch", content=body, headers=headers).json()["id"]
            assert web.get(f"/api/batch/{identity}/results").status_code == 409
            file = web.delete(f"/api/batch/{identity}").json()
            assert file["state"] == "cancelled"
            assert web.get(f"/api/batch/{identity}/results").status_code == 200
            page = web.post("/batch", files={"file": ("a.txt", body.encode(), "text/plain")})
            identity = re.search(r'data-id="([\w-]+)"', page.text)[1]
            assert "<noscript><meta http-equiv" in page.text
            assert 'role="status"' not in page.text  # nothing reads out each line that is done
            assert "cancelled" in web.post(f"/batch/{identity}/cancel").text
            for _ in range(8):
                assert web.post("/api/batch", content="a", headers=headers).status_code == 202
            full = web.post("/api/batch", content="a", headers=headers)
            assert full.status_code == 429
            assert "Retry-After" in full.headers
        finally:
            held.may.set()
    assert sum(map(len, held.batches)) < 40  # of the first file; the rest was never searched


@pytest.mark.skipif(disk.obstacle() is not None, reason=str(disk.obstacle()))
def test_a_full_disk_is_told_and_no_half_file_stays(held, tmp_path, monkeypatch, capsys):
    (tmp_path / "small").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "small"))
    held.text = "word " * 2000
    held.may.set()
    body, headers = "a\n" * 40, {"content-type": "text/plain"}
    with disk.small_disk(tmp_path / "small") as small, client(held) as web:
        small.free(64)
        file = ended(web, web.post("/api/batch", content=body, headers=headers).json()["id"])
        assert file["state"] == "failed"
        assert 0 < file["done"] < 40
        said = "the results can't be stored: No space left on device; send the file again later"
        assert file["error"] == said
        results = web.get(f"/api/batch/{file['id']}/results")
        assert (results.status_code, results.json()) == (507, {"error": said})
        page = web.get(f"/batch/{file['id']}").text
        whole(page)
        assert said in html.unescape(page)
        assert "Download" not in page
        assert list((tmp_path / "small").rglob("*.jsonl")) == []
        small.free(disk.ENOUGH)
        file = ended(web, web.post("/api/batch", content=body, headers=headers).json()["id"])
        assert (file["state"], file["done"]) == ("done", 40)
        assert len(web.get(f"/api/batch/{file['id']}/results").text.splitlines()) == 40
    assert ".jsonl: No space left on device" in capsys.readouterr().err


def test_too_long_and_too_many_are_told(held):
    with client(held, Limits(seconds=1, waiting=2)) as web:
        try:
            assert ask(web, text="a").status_code == 504
            assert ask(web, text="b").status_code == 504
            assert "no answer within 1 s" in web.post("/", data={"text": "c"}).text
            # Those that were given up are forgotten: there is room.
            assert ask(web, text="d").status_code == 504
        finally:
            held.may.set()


def test_more_than_may_wait_are_refused(held, serve):
    async def many(address):
        async with httpx.AsyncClient(timeout=20) as http:

            async def one():
                return await http.post(f"{address}/api/paraphrase", json={"text": "a"})

            # One is at work, and three may wait: of eight, four are refused.
            asking = [asyncio.create_task(one())]
            while not held.batches:
                await asyncio.sleep(0.01)
            asking += [asyncio.create_task(one()) for _ in range(7)]
            while sum(task.done() for task in asking) < 4:
                await asyncio.sleep(0.01)
            refused = [task.result() for task in asking if task.done()]
            held.may.set()
            return refused, await asyncio.gather(*asking)

    with serve(held, Limits(waiting=3)) as address:
        refused, every = asyncio.run(many(address))
    assert [response.status_code for response in refused] == [429] * 4
    assert all("Retry-After" in response.headers for response in refused)
    assert sorted(response.status_code for response in every) == [200] * 4 + [429] * 4


@pytest.mark.slow
def test_a_client_that_goes_away_is_not_searched_for(held, serve):
    with serve(held) as address:
        first = threading.Thread(
            target=httpx.post,
            args=(f"{address}/api/paraphrase",),
            kwargs={"json": {"text": "first"}, "timeout": 20},
        )
        first.start()
        while not held.batches:
            time.sleep(0.01)
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as sending:
            sending.sendall(
                f"POST /api/paraphrase HTTP/1.1\r\nHost: {host}\r\nContent-Length: 16\r\n"
                'Content-Type: application/json\r\n\r\n{"text": "gone"}'.encode()
            )
            # What comes later is answered later: the service has read the request by then.
            httpx.get(f"{address}/api/rewriter", timeout=20)
        for _ in range(3):  # and by then it has seen that the client went
            httpx.get(f"{address}/api/rewriter", timeout=20)
        held.may.set()
        last = httpx.post(f"{address}/api/paraphrase", json={"text": "last"}, timeout=20)
        first.join()
    assert last.status_code == 200
    assert [text for batch in held.batches for text in batch] == ["first", "last"]


@pytest.mark.slow
def test_fifty_clients_lose_nothing(rewriter, serve):
    async def everyone(address):
        limits = httpx.Limits(max_connections=50)
        async with httpx.AsyncClient(timeout=60, limits=limits) as http:

            async def one(number):
                fields = {"text": SENTENCE, "seed": number, "samples": 2, "id": number}
                answer = await http.post(f"{address}/api/paraphrase", json=fields)
                return answer.status_code, answer.json()

            return await asyncio.gather(*(one(number) for number in range(50)))

    with serve(rewriter) as address:
        answers = asyncio.run(everyone(address))
        alone = httpx.post(
            f"{address}/api/paraphrase",
            json={"text": SENTENCE, "seed": 17, "samples": 2, "id": 17},
            timeout=60,
        ).json()
    assert [status for status, _ in answers] == [200] * 50
    assert [body["id"] for _, body in answers] == list(range(50))
    texts = [paraphrase["text"] for paraphrase in answers[17][1]["paraphrases"]]
    assert texts == [paraphrase["text"] for paraphrase in alone["paraphrases"]]


def test_a_body_that_does_not_come_is_not_waited_for(held, serve):
    with serve(held, Limits(seconds=1)) as address:
        host, port = address.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=20) as sending:
            sending.sendall(
                f"POST /api/paraphrase HTTP/1.1\r\nHost: {host}\r\nContent-Length: 9\r\n"
                'Content-Type: application/json\r\n\r\n{"text"'.encode()
            )
            answer = sending.recv(4096)
    assert answer.startswith(b"HTTP/1.1 408")
    assert not held.batches


def test_a_fault_of_the_service_is_told_as_others_are(web, monkeypatch):
    def broken(self):
        raise ValueError("inside")

    monkeypatch.setattr(Service, "_document", broken)
    answer = web.get("/api/openapi.json")
    assert answer.status_code == 500
    assert answer.json() == {"error": "the service failed; its log tells more"}
    page = web.get("/api")
    assert page.status_code == 500
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "did not work" in page.text
    assert "inside" not in page.text


def test_a_search_that_fails_is_told_without_its_text(held, capsys):
    def broken(plans):
        raise ValueError("inside")

    held.answers = broken
    with client(held) as web:
        answer = ask(web, text="a")
        assert answer.status_code == 500
        assert "inside" not in answer.text
        assert ask(web, text="a").status_code == 500  # it goes on


def test_logs_have_no_sentences_unless_asked(rewriter, capsys):
    with client(rewriter, log=None) as web:
        pass
    app = application(Service(rewriter, Limits(), "x"), ["testserver"], log=True)
    with TestClient(app) as web:
        ask(web, text=SENTENCE)
        web.get("/a%1b[31m%0Ab")
    out = capsys.readouterr()
    assert "GET /a%1B%5B31m%0Ab 404" in out.out
    assert "POST /api/paraphrase 200" in out.out
    assert "opravuje" not in out.out + out.err
    logged = []
    with client(rewriter, log=logged.append) as web:
        ask(web, text=SENTENCE)
    assert [answer.request.text for answer in logged] == [SENTENCE]
