import gzip
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.core.test_packed import PACK
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.packed_lines import read_lines

COMPRESS = {".txt": bytes, ".GZ": PACK[".gz"], **PACK}
# What str.splitlines, or Python's text mode, would end a line at.
LINE_BREAKS_OF_OTHERS = "a\rb\vc\fd\x1ce\x1df\x1eg\x85h\u2028i\u2029j".encode()


def lines(path, max_bytes=1000):
    return list(read_lines(path, max_bytes))


@pytest.mark.parametrize("suffix", COMPRESS)
def test_only_line_feeds_end_lines_whatever_the_compression(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    path.write_bytes(COMPRESS[suffix](LINE_BREAKS_OF_OTHERS + b"\r\n\nlast"))
    assert lines(path) == [LINE_BREAKS_OF_OTHERS, b"", b"last"]


@pytest.mark.parametrize("suffix", PACK)
@pytest.mark.parametrize("cut", [1, 100])
def test_a_file_that_is_cut_off_is_named(tmp_path, suffix, cut):
    path = tmp_path / f"text{suffix}"
    text = b"".join(b"%d is a line\n" % number for number in range(1000))
    path.write_bytes(COMPRESS[suffix](text)[:-cut])
    with pytest.raises(InputError, match=rf"text\{suffix}: can't be read .*cut off"):
        lines(path)


@pytest.mark.parametrize("suffix", PACK)
def test_a_file_that_is_not_compressed_is_named(tmp_path, suffix):
    path = tmp_path / f"text{suffix}"
    path.write_bytes(b"this is plain text\n" * 10)
    with pytest.raises(InputError, match=rf"text\{suffix}: can't be read"):
        lines(path)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("a.cs.lz4", r"\.lz4 files can't be read; unpack it"),
        ("a.7z", r"\.7z files can't be read; unpack it"),
        ("a.RAR", r"\.RAR files can't be read; unpack it"),
        ("a.zip", r"a\.zip is an archive; name the file in it .*a\.zip/MEMBER"),
        ("a.tar.gz", r"a\.tar\.gz is an archive"),
        ("a.tar", r"a\.tar is an archive"),
    ],
)
def test_what_is_packed_in_another_way_is_not_read_as_text(tmp_path, name, message):
    (tmp_path / name).write_bytes(b"text\n")
    with pytest.raises(InputError, match=message):
        lines(tmp_path / name)


def test_a_missing_file_and_a_folder_are_named(tmp_path):
    for path in (tmp_path / "absent.txt", tmp_path):
        with pytest.raises(InputError, match=f"{path} is not a file"):
            lines(path)


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_the_bound_counts_neither_mark_nor_line_end(tmp_path, mark, end):
    path = tmp_path / "text.txt"
    path.write_bytes(mark + b"x" * 10 + end)
    assert lines(path, 10) == [b"x" * 10]
    path.write_bytes(mark + b"x" * 11 + end)
    assert lines(path, 10) == [b"x" * 11]


def reference_lines(data, max_bytes):
    pieces = data.split(b"\n")
    if pieces[-1] == b"":
        pieces.pop()
    if pieces:
        pieces[0] = pieces[0].removeprefix(b"\xef\xbb\xbf")
    return [piece.removesuffix(b"\r")[: max_bytes + 1] for piece in pieces]


chunks = st.sampled_from([b"\n", b"\r", b"\r\n", b"\xef\xbb\xbf", b"abc", b"\0", b"x" * 9])


@given(data=st.lists(chunks).map(b"".join), max_bytes=st.integers(1, 12))
def test_lines_are_those_of_a_plain_split(tmp_path_factory, data, max_bytes):
    path = tmp_path_factory.getbasetemp() / "fuzz.txt"
    path.write_bytes(data)
    got = lines(path, max_bytes)
    expected = reference_lines(data, max_bytes)
    # Of lines beyond the bound only the beginning, and that they are beyond it, counts.
    assert [line[:max_bytes] for line in got] == [line[:max_bytes] for line in expected]
    assert [len(line) > max_bytes for line in got] == [len(line) > max_bytes for line in expected]


@pytest.mark.slow
def test_long_lines_need_no_memory(tmp_path):
    path = tmp_path / "long.gz"
    with gzip.open(path, "wb", compresslevel=1) as stream:
        for _ in range(64):
            stream.write(b"x" * (1 << 20))
        stream.write(b"\nshort\n")
    program = (
        "import resource, sys\n"
        "from workflow_scripts.core.files.packed_lines import read_lines\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "print([len(line) for line in read_lines(sys.argv[1], 100)])\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    run = subprocess.run(
        [sys.executable, "-c", program, path], capture_output=True, text=True, check=True
    )
    lengths, kilobytes = run.stdout.splitlines()
    assert lengths == "[101, 5]"
    assert int(kilobytes) < 20_000
