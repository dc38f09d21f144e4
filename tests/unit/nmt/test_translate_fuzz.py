"""Whatever stands in a line of the JSON interface: it is read, or an InputError says why not."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.beam import translate
from workflow_scripts.nmt.pieces import TextCoder
from workflow_scripts.nmt.translate import LineReader, beam_lines, write_lines

PIECES = [
    *(f"▁{number}" for number in range(4, 9)),
    "<s>",
    "</s>",
    "<unk>",
    "<pad>",
    "▁",
    " ",
    "😀",
]
texts = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=4).map(" ".join),
    st.text(max_size=8),
    st.text(st.characters(categories=["Cs", "Cc"]), max_size=3),
)
anything = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=5,
)
fields = st.fixed_dictionaries(
    {"text": texts},
    optional={
        "id": st.one_of(texts, st.integers(), anything),
        "set": st.one_of(st.integers(), anything),
        "constraints": st.one_of(st.lists(texts, max_size=3), anything),
        "avoid": st.one_of(st.lists(texts, max_size=3), anything),
        "translation": anything,
    },
)
lines = st.one_of(
    fields.map(lambda value: json.dumps(value).encode()),
    anything.map(lambda value: json.dumps(value).encode()),
    st.binary(max_size=20),
    st.sampled_from([b"[" * 100_000, b'{"a":' * 100_000, b"1" * 5000, b"\xef\xbb\xbf{}", b""]),
)


@pytest.mark.slow
@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(st.lists(lines, min_size=1, max_size=3))
def test_line_is_translated_or_refused_with_its_number(tiny, tmp_path, content):
    path, output = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    path.write_bytes(b"\n".join(line.replace(b"\n", b"") for line in content))
    coder = TextCoder(tiny.target_vocab)
    reader = LineReader(tiny, TextCoder(tiny.source_vocab), coder)
    try:
        read = list(reader.read(path))
    except InputError as error:
        assert f"{path}, line " in str(error)
        return
    found = beam_lines(
        iter(read),
        lambda requests: translate(tiny, requests, beam_size=2, nbest=1, batch_rows=8),
        coder,
        with_list=False,
    )
    write_lines(output, found)
    assert len(output.read_bytes().splitlines()) == len(read)
