"""Files of STS data sets in every form, whole and damaged."""

import re

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.cases import decoded, fuzz, lines_of, number, outcome, texts
from workflow_scripts.stages.embed.sts_readers import read_data_sets

# Of each form: a file name, the columns of score and sentences, and how many there must be.
FORMS = {
    "benchmark": ("sts-dev.csv", (4, 5, 6), 7),
    "twitter": ("x.data", (4, 2, 3), 5),
    "plain": ("mine.tsv", (0, 1, 2), 3),
}
SICK = b"sentence_A\tsentence_B\trelatedness_score\n"
_words = st.sampled_from(["a b", "ž", "", " ", "x" * 30, "1", "\u2028", "(3, 2)"])
_scores = st.sampled_from(
    ["1", "2.5", "-1e2", "", " ", "nan", "inf", "1e999", "1_0", "٣", "(3, 2)"]
)


def table(columns, header=b""):
    """Generate tables of that many columns, in which scores may stand anywhere."""
    cell = st.one_of(_words, _scores, st.sampled_from(["1", "2"]))
    row = st.lists(cell, min_size=columns, max_size=columns).map("\t".join)
    rows = st.lists(row, min_size=1, max_size=5)
    return rows.map(lambda rows: header + "".join(f"{row}\n" for row in rows).encode())


def rows_of(lines, least):
    rows = [[cell.strip() for cell in line.split("\t")] for line in lines]
    return rows if all(len(row) >= least for row in rows) else None


def scored(rows, columns, votes=False):
    """Return scores, pairs, and how many pairs have no score; None if a score is none."""
    kept, unscored = [], 0
    for row in rows:
        text, *pair = (row[column] for column in columns)
        if votes and re.fullmatch(r"\(\d+, *\d+\)", text, re.ASCII):
            text = text[1 : text.index(",")]
        if not text.strip():
            unscored += 1
        elif (value := number(text)) is None:
            return None
        else:
            kept.append((value, tuple(pair)))
    if not kept:
        return None
    return tuple(s for s, _ in kept), tuple(pair for _, pair in kept), unscored


def read(path):
    (found,) = read_data_sets([path])
    return found.scores, found.pairs, found.unscored


def check(folder, name, content, wanted):
    path = folder / name
    path.write_bytes(content)
    lines = decoded(lines_of(content))
    assert outcome(path, lambda: read(path)) == (None if lines is None else wanted(lines))


@fuzz()
@given(st.sampled_from(sorted(FORMS)), st.data())
def test_single_files(tmp_path_factory, form, data):
    name, columns, least = FORMS[form]
    content = data.draw(st.one_of(table(least), texts))

    def wanted(lines):
        rows = rows_of(lines, least)
        return None if rows is None else scored(rows, columns, form == "twitter")

    check(tmp_path_factory.getbasetemp(), name, content, wanted)


@fuzz(0.5)
@given(st.one_of(table(3, SICK), texts.map(SICK.__add__), texts))
def test_sick(tmp_path_factory, content):
    def wanted(lines):
        if not lines:
            return None
        header, *rows = rows_of(lines, 1)
        needed = ("relatedness_score", "sentence_A", "sentence_B")
        if not set(needed) <= set(header) or any(len(row) != len(header) for row in rows):
            return None
        return scored(rows, [header.index(name) for name in needed])

    check(tmp_path_factory.getbasetemp(), "SICK.txt", content, wanted)


@fuzz(0.5)
@given(st.one_of(table(2), texts), st.one_of(table(1), texts))
def test_semeval(tmp_path_factory, pairs, gold):
    folder = tmp_path_factory.getbasetemp() / "semeval12"
    folder.mkdir(exist_ok=True)
    (folder / "STS.input.a.txt").write_bytes(pairs)
    (folder / "STS.gs.a.txt").write_bytes(gold)
    wanted = None
    inputs, scores = decoded(lines_of(pairs)), decoded(lines_of(gold))
    if inputs is not None and scores is not None and len(inputs) == len(scores):
        rows = rows_of(inputs, 2)
        if rows is not None:
            scores = [line.split("\t")[0] for line in scores]
            rows = [[score, *row[:2]] for score, row in zip(scores, rows, strict=True)]
            wanted = scored(rows, (0, 1, 2))
    # The folder stands for either of its files.
    assert outcome(folder, lambda: read(folder)) == wanted
