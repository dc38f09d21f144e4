"""Bitext in two files and as TSV: every line is a pair or rejected for the right reason."""

from itertools import zip_longest

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.cases import file, fuzz, lines_of, outcome, texts
from workflow_scripts.stages.corpus.pairs import Pair, read_pairs

bounds = st.sampled_from([3, 20, 100])


def reason(line, most):
    if len(line) > most:
        return "too_long"
    if 0 in line:
        return "nul"
    try:
        return None if line.decode("utf-8").strip() else "empty"
    except UnicodeDecodeError:
        return "not_utf8"


def expected(number, sides, most):
    faults = [found for side in sides if (found := reason(side, most))]
    if faults:
        return number, faults[0]
    return (str(number), *(side.decode("utf-8") for side in sides))


def plain(rows):
    return [tuple(row) if isinstance(row, Pair) else (row.line, row.reason) for row in rows]


@fuzz()
@given(texts, texts, st.booleans(), bounds)
def test_two_files(tmp_path_factory, source, reference, same, most):
    folder = tmp_path_factory.getbasetemp()
    if same:  # as many lines on both sides
        reference = b"\n".join(b"x" * len(line) for line in source.split(b"\n"))
    with file(folder, "side.cs", source) as one, file(folder, "side.en", reference) as other:
        block = {"source": str(one), "reference": str(other)}
        found = outcome(one, lambda: plain(read_pairs("a", block, most, 1)))
    rows = list(zip_longest(lines_of(source), lines_of(reference)))
    if any(None in row for row in rows):
        assert found is None
    else:
        assert found == [expected(n, row, most) for n, row in enumerate(rows, 1)]


@fuzz()
@given(texts, st.permutations([0, 1, 2]), st.booleans(), bounds)
def test_table(tmp_path_factory, content, columns, header, most):
    columns = columns[:2]
    block = {"columns": {"source": columns[0], "reference": columns[1]}, "header": header}
    with file(tmp_path_factory.getbasetemp(), "t.tsv", content) as path:
        rows = read_pairs("a", {**block, "tsv": str(path)}, most, 1)
        found = outcome(path, lambda: plain(rows))
    wanted = []
    for n, line in enumerate(lines_of(content), 1):
        cells = line.split(b"\t")
        if len(line) > most:
            wanted.append((n, "too_long"))
        elif len(cells) <= max(columns):
            wanted.append((n, "columns"))
        else:
            wanted.append(expected(n, [cells[column] for column in columns], most))
    assert found == wanted[header:]
