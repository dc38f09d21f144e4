"""Requests from lines of text, tables and JSON."""

import pytest

from workflow_scripts.stages.rewrite.request_lines import form_of, requests_of
from workflow_scripts.stages.rewrite.requests import Request, RequestError

DEFAULTS = {"avoid": ["x"], "number": 2}


def read(form, *lines):
    return list(requests_of(lines, form, DEFAULTS))


@pytest.mark.parametrize(
    ("name", "form"), [("a.txt", "text"), ("A.TSV", "tsv"), ("a.jsonl", "jsonl"), ("a.en", "text")]
)
def test_the_name_of_a_file_says_its_form(name, form):
    assert form_of(name) == form


@pytest.mark.parametrize(("name", "instead"), [("a.json", r"\.jsonl"), ("A.CSV", r"\.tsv")])
def test_files_whose_lines_are_no_sentences_are_refused(name, instead):
    with pytest.raises(RequestError, match=instead):
        form_of(name)


def test_text_has_a_sentence_on_each_line():
    assert read("text", "One.", "Two.") == [
        (1, Request("One.", ("x",), number=2)),
        (2, Request("Two.", ("x",), number=2)),
    ]


def test_a_table_has_the_keys_of_requests():
    head = "id\ttext\tavoid\tuse_forms\tsamples"
    assert read("tsv", head, "7\tOne.\ta|b c\tTRUE\t3", "", "8\tTwo.\t\t\t") == [
        (2, Request("One.", ("a", "b c"), use_forms=True, number=2, samples=3, id="7")),
        (4, Request("Two.", ("x",), number=2, id="8")),
    ]


def test_a_number_of_a_table_may_have_a_point():
    found = read("tsv", "text\tat_least", "One.\t.25", "Two.\t1")
    assert [request.at_least for _, request in found] == [0.25, 1]


def test_json_lines_are_requests():
    assert read("jsonl", '{"text": "One.", "avoid": []}') == [(1, Request("One.", number=2))]


@pytest.mark.parametrize(
    ("form", "lines", "message"),
    [
        ("text", ["One.", ""], "line 2: 'text' is empty"),
        ("tsv", ["a\tb"], "line 1: the header has a column 'a'"),
        ("tsv", ["avoid"], "line 1: the header needs a column text"),
        ("tsv", ["text\ttext"], "line 1: the header needs a column text, and no column twice"),
        ("tsv", ["text\tavoid", "One."], "line 2: 1 columns, but the header has 2"),
        ("tsv", ["text\tuse_forms", "One.\tperhaps"], "line 2: use_forms must be true or false"),
        ("tsv", ["text\tnumber", "One.\t-1"], "line 2: number must be a whole number"),
        ("tsv", ["text\tseed", f"One.\t{'9' * 5000}"], "line 2: seed must be a whole number"),
        ("tsv", ["text\tat_least", "One.\tx"], "line 2: 'at_least' must be of the type number"),
        ("jsonl", ["{"], "line 1: no JSON"),
        ("jsonl", ["[" * 100_000], "line 1: no JSON"),
        ("jsonl", ["[]"], "line 1: must be an object"),
        ("jsonl", ['{"text": "a", "text": "b"}'], "line 1: a key stands there twice"),
    ],
)
def test_an_error_names_the_line(form, lines, message):
    with pytest.raises(RequestError) as caught:
        read(form, *lines)
    assert str(caught.value).startswith(message)
