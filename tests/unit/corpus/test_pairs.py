import gzip

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.corpus.pairs import Pair, Rejected, read_pairs
from workflow_scripts.testbed import generate


def bitext(folder, source, reference, max_bytes=1000):
    (folder / "s").write_bytes(source)
    (folder / "r").write_bytes(reference)
    block = {"source": str(folder / "s"), "reference": str(folder / "r")}
    return list(read_pairs("c", block, max_bytes, 1))


def tsv(folder, data, source=0, reference=1, header=False, max_bytes=1000):
    (folder / "t").write_bytes(data)
    columns = {"source": source, "reference": reference}
    block = {"tsv": str(folder / "t"), "columns": columns, "header": header}
    return list(read_pairs("c", block, max_bytes, 1))


def test_either_side_rejects_the_line_once(tmp_path):
    source, reference = str(tmp_path / "s"), str(tmp_path / "r")
    assert bitext(tmp_path, b"a\n\n\xff\nd\n", b"A\n\nC\nD\0\n") == [
        Pair("1", "a", "A"),
        Rejected(source, 2, "empty", b""),
        Rejected(source, 3, "not_utf8", b"\xff"),
        Rejected(reference, 4, "nul", b"D\0"),
    ]


@pytest.mark.parametrize(
    ("source", "reference", "counts"),
    [
        (b"a\nb\nc\n", b"A\n", (3, 1)),
        (b"a\n", b"A\nB\nC", (1, 3)),
        (b"", b"A\n", (0, 1)),
        (b"a\n", b"", (1, 0)),
        (b"a\nb", b"A\n", (2, 1)),
    ],
)
def test_unequal_sides_stop_with_both_counts_and_files(tmp_path, source, reference, counts):
    with pytest.raises(InputError) as error:
        bitext(tmp_path, source, reference)
    message = f"{tmp_path}/s has {counts[0]} lines, {tmp_path}/r has {counts[1]}: "
    assert str(error.value).startswith(message)


def test_several_files_number_their_lines_each(tmp_path):
    for name in ("s1", "s2", "r1", "r2"):
        (tmp_path / name).write_text(f"{name}\n")
    block = {
        "source": [str(tmp_path / "s1"), str(tmp_path / "s2")],
        "reference": [str(tmp_path / "r1"), str(tmp_path / "r2")],
    }
    assert list(read_pairs("c", block, 100, 1)) == [
        Pair("1:1", "s1", "r1"),
        Pair("2:1", "s2", "r2"),
    ]
    with pytest.raises(InputError, match=r"corpora\.c: 2 source files, but 1 reference files"):
        list(read_pairs("c", {**block, "reference": block["reference"][:1]}, 100, 1))


def test_tsv_columns_quotes_and_header(tmp_path):
    data = b'en\tid\tcs\n"A\t1\ta"\n"B ""C""\t2\tb\textra\nshort\t3\nD\t4\t \n'
    path = str(tmp_path / "t")
    assert tsv(tmp_path, data, source=2, reference=0, header=True) == [
        Pair("2", 'a"', '"A'),
        Pair("3", "b", '"B ""C""'),
        Rejected(path, 4, "columns", b"short\t3"),
        Rejected(path, 5, "empty", b" "),
    ]


def test_a_long_tsv_line_is_too_long_even_if_its_columns_are_cut(tmp_path):
    path = str(tmp_path / "t")
    rows = tsv(tmp_path, b"x" * 500 + b"\ty\na\tb\n", max_bytes=100)
    assert rows == [Rejected(path, 1, "too_long", b"x" * 101), Pair("2", "a", "b")]


def test_compressed_sides_may_differ_in_kind(tmp_path):
    (tmp_path / "s.gz").write_bytes(gzip.compress(b"a\r\n"))
    (tmp_path / "r").write_bytes(b"A\n")
    block = {"source": str(tmp_path / "s.gz"), "reference": str(tmp_path / "r")}
    assert list(read_pairs("c", block, 100, 1)) == [Pair("1", "a", "A")]


def test_the_testbed_is_a_corpus():
    block = {"testbed": {"first": 5, "count": 20, "seed": 3, "noise": {"copied": 0.5}}}
    rows = list(read_pairs("c", block, 1000, 1))
    expected = generate.pairs(seed=3, first=5, count=20, noise={"copied": 0.5})
    assert rows == [
        Pair(str(number), source, reference)
        for number, (source, reference, _) in enumerate(expected, 1)
    ]


def test_the_seed_of_the_run_is_that_of_a_testbed_without_one():
    one, again, other = (
        list(read_pairs("c", {"testbed": {"count": 5, **own}}, 1000, seed))
        for own, seed in (({}, 3), ({"seed": 3, "first": 0}, 4), ({}, 4))
    )
    assert one == again != other


sides = st.lists(st.binary(max_size=12).map(lambda line: line.replace(b"\n", b"")), max_size=8)


@pytest.mark.slow
@given(sides, st.data())
def test_every_line_is_a_pair_or_rejected(tmp_path_factory, source, data):
    reference = data.draw(st.lists(st.binary(max_size=12), min_size=len(source)))[: len(source)]
    reference = [line.replace(b"\n", b"") for line in reference]
    folder = tmp_path_factory.getbasetemp()
    rows = bitext(
        folder,
        b"".join(line + b"\n" for line in source),
        b"".join(line + b"\n" for line in reference),
        max_bytes=10,
    )
    assert len(rows) == len(source)
    for number, row in enumerate(rows, 1):
        if isinstance(row, Pair):
            assert row.place == str(number)
            assert row.source.strip() and row.reference.strip()
            assert "\n" not in row.source + row.reference
        else:
            assert row.line == number


@pytest.mark.slow
@given(st.lists(st.binary(max_size=30).map(lambda line: line.replace(b"\n", b""))))
def test_every_tsv_line_is_a_pair_or_rejected(tmp_path_factory, rows):
    data = b"".join(line + b"\n" for line in rows)
    assert len(tsv(tmp_path_factory.getbasetemp(), data, max_bytes=20)) == len(rows)
