"""Lines that ask for paraphrases or translations: each is answered, or refused by its number."""

import json
from dataclasses import asdict

import pytest
import torch
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.cases import (
    decoded,
    file,
    fuzz,
    json_values,
    lines_of,
    outcome,
    request_fields,
    single,
)
from tests.unit.nmt.folders import write_model
from workflow_scripts.nmt.beam import translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.pieces import TextCoder
from workflow_scripts.nmt.positive import MOST_PHRASES
from workflow_scripts.nmt.translate import ADDED_KEYS, KEYS, LineReader, beam_lines, write_lines
from workflow_scripts.nmt.vocabulary import BOS
from workflow_scripts.stages.rewrite.request_lines import requests_of
from workflow_scripts.stages.rewrite.requests import RequestError, request_of

odd_lines = st.sampled_from(
    [b"", b"\xff", b"{", b"[" * 9000, b"9" * 5000, b"null", b'{"a":1,"a":1}']
)
TWICE = '{"text": "▁4", "text": "▁5"}'.encode()
cells = st.sampled_from(["Muž spí.", "a|b", "true", "1", "9" * 30, "", " ", "\0", "nan"])


def joined(lines):
    return b"\n".join(line.replace(b"\n", b"") for line in lines)


def as_cells(rows):
    return ["\t".join(row).encode() for row in rows]


tsv = st.lists(st.sampled_from(["text", "avoid", "id", "number", "x"]), max_size=3).flatmap(
    lambda names: st.lists(
        st.lists(cells, min_size=max(1, len(names)), max_size=1 + len(names))
    ).map(lambda rows: as_cells([["text", *names], *rows]))
)
jsonl = st.lists(
    st.one_of(*[request_fields.map(lambda fields: json.dumps(fields).encode())] * 3, odd_lines)
)


def requests(lines, form):
    """Return what is read until a line is refused, and the message about that."""
    found = []
    try:
        for each in requests_of(lines, form, {"number": 2}):
            found.append(each)
    except RequestError as error:
        return found, str(error)
    return found, None


@fuzz()
@given(st.one_of(st.tuples(st.just("tsv"), tsv), st.tuples(st.just("jsonl"), jsonl)))
def test_requests(case):
    form, lines = case
    lines = decoded(lines_of(joined(lines))) or []
    found, fault = requests(lines, form)
    head = lines[:1] if form == "tsv" else []
    wanted = []
    for number, line in enumerate(lines, start=1):
        # Each line is read as it would be alone.
        alone, why = requests([line] if number == 1 or not head else [*head, line], form)
        if why:
            assert fault.startswith(f"line {number}: ")
            assert why.partition(": ")[2] == fault.partition(": ")[2]
            break
        wanted += [(number, request) for _, request in alone]
    else:
        assert fault is None
    assert found == wanted
    for _, request in found:
        # What is said again means the same.
        assert request_of(json.loads(json.dumps(asdict(request), allow_nan=False))) == request


pieces = ["▁4", "▁5", "x", "<s>", "</s>", "<unk>", "▁", "\u2028", "\ud800"]
sentences = st.lists(st.sampled_from(pieces), max_size=7).map(" ".join)
phrases = st.one_of(st.lists(sentences, max_size=3), json_values)
inputs = st.fixed_dictionaries(
    {"text": st.one_of(sentences, sentences, json_values)},
    optional={
        **{"constraints": phrases, "avoid": phrases, "translation": json_values},
        **{"id": json_values, "set": st.one_of(st.integers(0, 9), json_values)},
    },
)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A model that reads up to five pieces."""
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("short") / "model"
    return load_model(write_model(folder, vocabulary=9, size=4, hidden=4, longest=6), "cpu")


def simple_input(line):
    """Return the fields of a line and its pieces, None where it is wrong."""
    try:
        fields = json.loads(line, object_pairs_hook=single)
        json.dumps(fields, ensure_ascii=False).encode()
        pieces = fields["text"].split()
        asked = [fields.get(name, []) for name in ("constraints", "avoid")]
        right = all(set(each.split()) - {"<s>"} for phrases in asked for each in phrases)
    except (ValueError, AssertionError, RecursionError, AttributeError, TypeError, KeyError):
        return None
    right &= set(fields) <= {*KEYS, *ADDED_KEYS} and 0 < len(pieces) <= 5
    right &= isinstance(fields.get("id", ""), str | int) and type(fields.get("set", 0)) is int
    right &= all(isinstance(each, list) for each in asked) and len(asked[0]) <= MOST_PHRASES
    return {name: fields[name] for name in fields if name in KEYS}, pieces if right else None


@fuzz()
@given(
    st.lists(
        st.one_of(*[inputs.map(lambda fields: json.dumps(fields).encode())] * 4, odd_lines),
        max_size=3,
    )
)
@example([TWICE])
def test_lines_to_translate(tmp_path_factory, short, lines):
    content = joined(lines)
    coder = TextCoder(short.target_vocab)
    with file(tmp_path_factory.getbasetemp(), "in.jsonl", content) as path:
        found = outcome(path, lambda: [*LineReader(short, coder, coder).read(path)])
    wanted = [simple_input(line) for line in decoded(lines_of(content)) or [""]]
    if content and any(each is None or each[1] is None for each in wanted):
        assert found is None
        return
    wanted = wanted if content else []
    assert [(line.fields, line.source) for line in found] == [
        (fields, short.source_vocab.ids(pieces)) for fields, pieces in wanted
    ]
    for line in found:
        assert all(set(phrase) - {BOS} for phrase in (*line.constraints, *line.avoid))
    with file(tmp_path_factory.getbasetemp(), "out.jsonl", b"") as output:
        answers = beam_lines(
            iter(found),
            lambda requests: translate(short, requests, beam_size=2, nbest=1, batch_rows=8),
            coder,
            with_list=False,
        )
        write_lines(output, answers)
        assert len(output.read_bytes().splitlines()) == len(found)
