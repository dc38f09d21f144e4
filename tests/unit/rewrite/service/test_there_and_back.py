"""The pages and the API without a trained rewriter: models that translate there and back."""

import html
import json
import math
import re
import subprocess
from functools import partial
from types import SimpleNamespace

import httpx
import pytest
from jsonschema import Draft202012Validator
from starlette.testclient import TestClient

import paraloom
from tests.packages import ENCODER, STUDENTS, require_packages
from tests.unit.browser import started
from tests.unit.pages import Reader
from tests.unit.serving import serving
from workflow_scripts.apps.rewriter import serve
from workflow_scripts.apps.rewriter.app import Limits, Service, application
from workflow_scripts.apps.rewriter.there_and_back import ThereAndBack
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.rewrite.requests import Request, RequestError

TEXT = "Will you do me a favor?"
CALL = 'paraloom.Paraphraser("en")'


class Paraphraser:
    """Stands for the library's: it finds two paraphrases, but nothing in another script."""

    language = "en"
    at_least = 0.25
    judged = True

    def __call__(self, requests, n=5, keep=(), avoid=(), at_least=None):
        single = isinstance(requests, str)
        if single:
            requests = [paraloom.Request(requests, None, n, keep, avoid, at_least)]
        answers = map(self.answer, requests)
        return next(answers) if single else answers

    def answer(self, request):
        if not request.text[0].isascii():
            return paraloom.Paraphrases(request.text, [], "unreadable: most characters are unknown")
        words = f"{' '.join(request.keep)} without {' '.join(request.avoid)}"
        probability = 0.75 if self.judged else None
        found = [
            paraloom.Paraphrase(f"{words} {number}?", probability, 0.5, "Fará <b>?")
            for number in range(2)
        ]
        if request.at_least == 0.9:
            return paraloom.Paraphrases(request.text, [], "improbable: 0 of 2 found have")
        why = None if request.n <= 2 else f"fewer: 2 of {request.n} different ones were found"
        unknown = [word for word in request.text.split() if "王" in word]
        return paraloom.Paraphrases(request.text, found[: request.n], why, unknown)


def service():
    return Service(ThereAndBack(Paraphraser()), Limits(), "A & B", None, CALL)


@pytest.fixture
def app():
    return application(service(), ["testserver", "127.0.0.1"])


@pytest.fixture
def web(app):
    with TestClient(app) as browser:
        yield browser


FORM = {"text": TEXT, "use": "favor", "avoid": "do, will", "number": "2"}


def test_an_answer_is_as_the_document_says(web):
    api = web.get("/api/openapi.json").json()
    fields = {"text": TEXT, "number": 3, "use": ["favor"], "avoid": ["do"]}
    answer = web.post("/api/paraphrase", json=fields).json()
    schema = {"$ref": "#/components/schemas/Answer", "components": api["components"]}
    Draft202012Validator(schema).validate(answer)
    assert [each["text"] for each in answer["paraphrases"]] == [
        "favor without do 0?",
        "favor without do 1?",
    ]
    assert answer["paraphrases"][0]["probability"] == 0.75
    assert answer["paraphrases"][0]["source"] == "Fará <b>?"
    assert answer["why"] == "fewer: 2 of 3 different ones were found"


def test_the_page_shows_probability_differences_and_source(web):
    page = web.post("/", data=FORM).text
    reader = Reader(page)
    assert not reader.faults
    assert reader.tags.count("li") == 2
    assert "<span>Probability</span>" in page
    assert "<b>75</b>" in page
    assert "Likelihood" not in page
    assert "<ins>" in page and "<del" in page
    assert "By way of" in page and "Fará &lt;b&gt;?" in page
    assert "Words to keep" in page and 'value="favor"' in page
    # What only a trained rewriter knows is not offered.
    for name in ("samples", "avoid_pieces", "avoid_forms", "use_forms", "template", "seed"):
        assert f'name="{name}"' not in page


def test_without_a_judge_the_page_shows_the_likelihood(app, monkeypatch):
    monkeypatch.setattr(Paraphraser, "judged", False)
    with TestClient(app) as web:
        page = web.post("/", data=FORM).text
    assert "<span>Likelihood</span>" in page
    assert "Probability" not in page


def test_a_text_that_can_not_be_read_has_a_why(web):
    for page in (web.post("/", data={"text": "Мама мыла раму"}).text, web.get("/").text):
        assert ("unreadable: most characters" in page) == ("No paraphrase" in page)
    assert web.post("/api/paraphrase", json={"text": "漢"}).json()["paraphrases"] == []


def test_how_probable_answers_must_be_is_asked_by_api_form_and_file(web):
    asked = {"text": TEXT, "at_least": 0.9}
    answer = web.post("/api/paraphrase", json=asked).json()
    assert (answer["paraphrases"], answer["why"]) == ([], "improbable: 0 of 2 found have")
    page = web.post("/", data=asked).text
    assert "improbable: 0 of 2" in page and 'value="0.9" placeholder="0.25"' in page
    command, lines = calls(page)
    assert '"at_least": 0.9' in command and "at_least=0.9" in lines
    for wrong in ("much", "1.5", "nan"):
        answer = web.post("/", data={**asked, "at_least": wrong})
        assert answer.status_code == 400
        assert "&#39;at_least&#39;" in answer.text
    wrong = web.post(
        "/api/paraphrase",
        content=json.dumps({**asked, "at_least": math.nan}),
        headers={"Content-Type": "application/json"},
    )
    assert (wrong.status_code, "at_least is nan" in wrong.text) == (400, True)
    assert web.post("/api/paraphrase", json={**asked, "at_least": 0}).json()["paraphrases"]


def test_words_that_no_model_reads_are_told(web):
    fields = {"text": "Ask Dr. 王 tomorrow."}
    assert web.post("/api/paraphrase", json=fields).json()["unknown"] == ["王"]
    assert "can't read" in web.post("/", data=fields).text


def calls(page):
    return [html.unescape(call) for call in re.findall(r"<pre><code>(.*?)</code>", page, re.DOTALL)]


@pytest.mark.parametrize("text", [TEXT, 'It\'s "5 $" & \\n `x` $(y)?'])
def test_the_request_as_a_command_is_the_request(app, text):
    with serving(app) as address:
        page = httpx.post(f"{address}/results", data={**FORM, "text": text}, timeout=30).text
        command, _ = calls(page)
        said = subprocess.run(["bash", "-c", command], capture_output=True, text=True, check=True)
    answer = json.loads(said.stdout)
    assert answer["text"] == text
    assert (answer["used"], answer["avoided"]) == (["favor"], ["do", "will"])
    assert len(answer["paraphrases"]) == 2


@pytest.mark.parametrize("text", [TEXT, 'It\'s "5 $" & \\n {x}?'])
def test_the_request_in_python_is_the_request(web, text, monkeypatch, capsys):
    _, lines = calls(web.post("/results", data={**FORM, "text": text}).text)
    assert len(lines.splitlines()) == 5
    monkeypatch.setattr(paraloom, "Paraphraser", lambda language: Paraphraser())
    exec(lines, {})
    assert capsys.readouterr().out == (
        "0.75 favor without do will 0?\n0.75 favor without do will 1?\n"
    )


@pytest.mark.parametrize(
    "wish",
    [
        {"samples": 3},
        {"seed": 2},
        {"avoid_forms": True},
        {"avoid_pieces": True},
        {"use_forms": True},
        {"system": "parabank"},
        {"template": "(S (NP))"},
    ],
)
def test_what_a_trained_rewriter_alone_can_is_refused(web, wish):
    (name,) = wish
    answer = web.post("/api/paraphrase", json={"text": TEXT, **wish})
    assert answer.status_code == 400
    assert f"'{name}' is for trained rewriters" in answer.json()["error"]


def test_what_the_library_refuses_is_told():
    with pytest.raises(RequestError, match="no letter or digit"):
        ThereAndBack(Paraphraser()).plan(Request(TEXT, avoid=("!",)))


def opened(monkeypatch, *options):
    """Return how the command opens what it serves."""
    made = []
    monkeypatch.setattr(
        paraloom,
        "Paraphraser",
        lambda *words, **more: (
            made.append((words, more)) or SimpleNamespace(language=words[0], at_least=0.25)
        ),
    )
    parser = serve.make_parser()
    engine, call = serve.open_engine(parser, parser.parse_args(options))
    assert isinstance(engine, ThereAndBack)
    exec(call, {"paraloom": paraloom})
    assert made[0] == made[1]  # what the page shows is what is served
    return made[0]


def test_without_a_run_it_goes_there_and_back(monkeypatch):
    assert opened(monkeypatch) == (("en",), {})
    words, more = opened(
        monkeypatch, "--language", "de", "--there", "a", "--back", "b", "--judge", "none"
    )
    assert (words, more) == (("de",), {"there": "a", "back": "b", "judge": None})
    options = ("--beam-size", "7", "--precision", "fp32", "--device", "cpu", "--threads", "2")
    _, more = opened(monkeypatch, *options)
    assert more == {
        "threads": 2,
        "search": paraloom.Search(beam=7),
        "precision": "fp32",
        "device": "cpu",
    }


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--rewriter", "x"], "--rewriter goes with a trained rewriter"),
        (["--no-meaning"], "--no-meaning goes with a trained rewriter"),
        (["--model", "x", "--there", "y"], "--there is for models that translate there and back"),
        (["--run", "x", "--judge", "none"], "--judge is for models"),
        (["--language", "xx"], "no models for the language 'xx'"),
        (["--beam-size", "0"], "beam is 0"),
        (["--model", "x", "--beam-size", "0"], "--beam-size, .* must be above zero"),
    ],
)
def test_options_that_do_not_go_together_are_told(options, message):
    with pytest.raises(InputError, match=message):
        serve.main(options)


@pytest.mark.rest
def test_after_the_set_up_a_sentence_is_paraphrased():
    """The command, the models that come with the set-up, and the judge."""
    require_packages(STUDENTS, ENCODER)
    service, port = started("serve", "--port", 0)
    try:
        ask = partial(httpx.post, f"http://127.0.0.1:{port}/api/paraphrase", timeout=60)
        wishes = {"number": 3, "use": ["lights"], "avoid": ["leave"]}
        text = "Please turn the lights off when you leave."
        answer = ask(json={"text": text, **wishes}).json()
        assert len(answer["paraphrases"]) == 3
        for each in answer["paraphrases"]:
            said = set(re.findall(r"\w+", each["text"].lower()))
            assert "lights" in said and "leave" not in said
            assert 0 < each["probability"] < 1
        strange = ask(json={"text": "Мама мыла раму"}).json()
        assert (strange["paraphrases"], strange["why"][:10]) == ([], "unreadable")
    finally:
        service.kill()
        service.wait()
        service.stdout.close()
