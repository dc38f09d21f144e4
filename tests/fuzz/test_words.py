"""Word vectors, PPDB and plain lists of paraphrases."""

import re

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.cases import decoded, file, fuzz, lines_of, number, outcome, texts
from workflow_scripts.core.files.vectors import read_vectors
from workflow_scripts.stages.generate.parts_of_speech import coarse
from workflow_scripts.stages.generate.ppdb import list_rules, ppdb_rules

_numbers = st.sampled_from(["1", "-2.5", "3e-2", "0", "nan", "inf", "1e39", "1_0", "x", "", "٣"])
_words = st.sampled_from(["a", "b", "ž", "a\u00a0b", "7", "", "\x0b"])
_good = st.sampled_from(["1", "-2.5", "3e-2", "0"])


def _lines(of):
    return st.lists(of, max_size=6).map(lambda rows: "".join(f"{r}\n" for r in rows).encode())


def _vector(numbers, least=1, most=3):
    return st.tuples(_words, st.lists(numbers, min_size=least, max_size=most)).map(
        lambda row: " ".join([row[0], *row[1]])
    )


_header = st.tuples(st.integers(0, 4), st.integers(0, 4)).map(lambda two: b"%d %d\n" % two)
_same = st.integers(1, 3).flatmap(lambda n: _lines(_vector(_good, n, n)))
_vectors = st.one_of(
    _same,
    _lines(_vector(_numbers)),
    st.tuples(_header, st.one_of(_same, _lines(_vector(_good)))).map(b"".join),
    texts,
)


def vector(line):
    """Return the word and the numbers of a line; None if it is bad."""
    try:
        word, *numbers = line.decode("utf-8").strip(" \r").split(" ")
    except UnicodeDecodeError:
        return None
    values = [number(each) for each in numbers]
    if not values or None in values or max(map(abs, values)) > np.finfo(np.float32).max:
        return None
    return word, values


def simple_vectors(content):
    """Return the vectors by word, None where the file is wrong."""
    lines = lines_of(content)
    announced = re.fullmatch(rb"[ \r]*(\d+) (\d+)[ \r]*", lines[0]) if lines else None
    rows = [vector(line) for line in lines[1 if announced else 0 :]]
    good = [row for row in rows if row]
    sizes = [len(values) for _, values in good]
    size = int(announced[2]) if announced else max(sizes, key=sizes.count, default=None)
    found = {}
    for word, values in good:
        if len(values) == size:
            found.setdefault(word, values)
    if not found or (announced and int(announced[1]) != len(rows)):
        return None
    return found


@fuzz()
@given(_vectors)
def test_vectors(tmp_path_factory, content):
    with file(tmp_path_factory.getbasetemp(), "v.txt", content) as path:
        found = outcome(path, lambda: dict(read_vectors(path)))
    wanted = simple_vectors(content)
    assert (found is None) == (wanted is None)
    if wanted is not None:
        assert list(found) == list(wanted)
        for word, values in wanted.items():
            assert found[word].tolist() == np.array(values, np.float32).tolist()


_scores = st.sampled_from(["1.5", "-2", "nan", "inf", "1e999", "1_0", "", "x", "3e2"])
_features = st.tuples(st.sampled_from(["PPDB2.0Score=", "PPDB1.0Score="]), _scores).map("".join)
_fields = st.tuples(
    st.just("[NN]"), _words, _words, _features, st.just("0-0"), st.sampled_from(["Equivalence", ""])
).map(" ||| ".join)
_rules = st.one_of(_lines(_fields), _lines(st.one_of(_fields, _words)), texts)


def simple_rules(lines):
    rules = []
    for line in lines:
        fields = line.split(" ||| ")
        if len(fields) != 6:
            return None
        scores = [each[13:] for each in fields[3].split() if each.startswith("PPDB2.0Score=")]
        if not scores or (score := number(scores[0])) is None:
            return None
        rules.append((fields[1], fields[2], score, fields[5].strip(), coarse(fields[0].strip())))
    return rules


@fuzz()
@given(_rules)
def test_ppdb(tmp_path_factory, content):
    with file(tmp_path_factory.getbasetemp(), "ppdb", content) as path:
        found = outcome(path, lambda: [tuple(rule) for rule in ppdb_rules(path)])
    lines = decoded(lines_of(content))
    assert found == (None if lines is None else simple_rules(lines))


@fuzz(0.5)
@given(st.one_of(_lines(_words), texts))
def test_plain_lists(tmp_path_factory, content):
    with file(tmp_path_factory.getbasetemp(), "list", content) as path:
        found = outcome(path, lambda: [tuple(rule) for rule in list_rules(path)])
    lines = decoded(lines_of(content))
    if lines is None or any("|||" in line for line in lines):
        assert found is None
    else:
        assert found == [
            (words[0], word, -float(rank), None, None)
            for line in lines
            if (words := line.split())
            for rank, word in enumerate(words[1:])
        ]
