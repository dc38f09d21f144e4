"""Packed text: gzip, bzip2, xz, Zstandard; whole, in several streams, padded, damaged."""

import bz2
import gzip
import lzma
import shutil
import subprocess
import zlib

import pytest
import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.cases import damaged, damages, file, fuzz, lines_of, outcome, texts
from workflow_scripts.core.files.packed_lines import read_lines

PACK = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
PROGRAM = {".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}


def by_another(suffix, content):
    """Unpack with the format's own program; None where it finds a fault.

    With the standard library for gzip, whose program leaves out what stands behind padding.
    """
    if suffix == ".gz":
        try:
            return gzip.decompress(content)
        except (OSError, EOFError, zlib.error):
            return None
    if shutil.which(PROGRAM[suffix]) is None:
        pytest.skip(f"no {PROGRAM[suffix]} here")
    options = ["--long=31"] if suffix == ".zst" else []
    ended = subprocess.run(
        [PROGRAM[suffix], "-dc", *options], input=content, capture_output=True, check=False
    )
    return None if ended.returncode else ended.stdout


@pytest.mark.parametrize("suffix", PACK)
def test_packed_lines(suffix, tmp_path):
    @fuzz()
    @given(
        st.lists(st.tuples(texts, st.integers(1, 60)), min_size=1, max_size=3),
        st.sampled_from([0, 0, 0, 1, 4, 512]),
        damages,
    )
    @example([(b"", 1)], 0, [("flip", 384616, 0)])
    def check(parts, padding, many):
        streams = [PACK[suffix](text * times) for text, times in parts]
        whole = b"".join(streams) + bytes(padding)
        packed = damaged(whole, many)
        with file(tmp_path, f"text{suffix}", packed) as path:
            found = outcome(path, lambda: list(read_lines(path, 10**6)))
        if packed == b"".join(streams):
            assert found == lines_of(b"".join(text * times for text, times in parts))
        elif found is not None:
            content = by_another(suffix, packed)
            assert content is not None
            assert found == lines_of(content)

    check()
