import bz2
import gzip
import io
import lzma
import random
import shutil
import subprocess
import sys
import zlib
from pathlib import Path

import pytest
import zstandard

from workflow_scripts.core.files.packed import SUFFIXES, PackedError, suffix_of, unpacked

PACK = {
    ".gz": gzip.compress,
    ".bz2": bz2.compress,
    ".xz": lzma.compress,
    ".zst": zstandard.ZstdCompressor(write_checksum=True).compress,
}
PARTS = [b"".join(b"line %d %d\n" % (part, row) for row in range(70)) for part in range(6)]
ROOT = Path(__file__).resolve().parents[3]


def read(packed, suffix):
    return unpacked(io.BytesIO(packed), suffix).read()


@pytest.fixture(params=sorted(SUFFIXES))
def suffix(request):
    return request.param


def test_all_streams_are_read(suffix):
    packed = list(map(PACK[suffix], PARTS))
    assert read(b"".join(packed), suffix) == b"".join(PARTS)
    assert suffix_of(packed[0]) == suffix
    assert suffix_of(b"plain text") is None


def test_streams_without_content_are_read(suffix):
    nothing = PACK[suffix](b"")
    assert read(nothing, suffix) == b""
    assert read(nothing + PACK[suffix](b"a") + nothing + nothing, suffix) == b"a"


def test_every_flipped_bit_of_a_middle_stream_is_found_or_harmless(suffix):
    packed = list(map(PACK[suffix], PARTS))
    begin = len(packed[0])
    for place in range(len(packed[1])):
        damaged = bytearray(b"".join(packed))
        damaged[begin + place] ^= 1 << place % 8
        try:
            content = read(bytes(damaged), suffix)
        except PackedError as error:
            assert "byte" in str(error)
        else:  # a time stamp, the name of a system: what is no content
            assert content == b"".join(PARTS)


def test_the_place_of_damage_is_told(suffix):
    packed = list(map(PACK[suffix], PARTS))
    damaged = bytearray(packed[1])
    damaged[0] ^= 1
    with pytest.raises(PackedError, match=rf"byte.? {len(packed[0])}"):
        read(b"".join([packed[0], bytes(damaged), *packed[2:]]), suffix)


def test_every_cut_is_found(suffix):
    packed = b"".join(map(PACK[suffix], PARTS[:2]))
    whole = len(PACK[suffix](PARTS[0]))
    for length in set(range(len(packed))) - {whole}:
        with pytest.raises(PackedError):
            read(packed[:length], suffix)
    assert read(packed[:whole], suffix) == PARTS[0]


@pytest.mark.parametrize("garbage", [b"g", b"garbage\n" * 9, b"\0\0\0\0garbage", b"\xff" * 600])
def test_garbage_behind_the_last_stream_is_no_end(suffix, garbage):
    with pytest.raises(PackedError):
        read(PACK[suffix](b"text\n") + garbage, suffix)


@pytest.mark.parametrize("zeros", [1, 2, 3, 4, 512, 10240, 1 << 20])
def test_zeros_behind_and_between_streams_where_the_format_has_padding(suffix, zeros):
    padded = PACK[suffix](b"a\n") + bytes(zeros)
    allowed = suffix == ".gz" or (suffix == ".xz" and zeros % 4 == 0)
    for packed, content in ((padded, b"a\n"), (padded + PACK[suffix](b"b\n"), b"a\nb\n")):
        if allowed:
            assert read(packed, suffix) == content
        else:
            with pytest.raises(PackedError):
                read(packed, suffix)


@pytest.mark.slow
def test_files_of_the_usual_programs(suffix, tmp_path):
    program = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}[suffix]
    text = random.Random(1).randbytes(300_000) + bytes(3_000_000)
    for level in ("-1", "-9"):
        assert read(packed_by(program, text, level) * 2, suffix) == text * 2


@pytest.mark.rest
@pytest.mark.parametrize(
    "options", [["--long=31"], ["-19"], ["--no-check"], ["-T2"], ["--ultra", "-22"], ["--fast=9"]]
)
def test_zstandard_frames_of_all_kinds(options):
    text = b"".join(b"%d %d\n" % (row, row * 7919 % 1013) for row in range(100_000))
    packed = packed_by("zstd", text, "-q", *options)
    skippable = b"\x5a\x2a\x4d\x18\x03\0\0\0abc"
    assert read(packed + skippable + packed + skippable, ".zst") == text * 2


@pytest.mark.parametrize(
    ("head", "problem"),
    [
        (b"\x20\x01", "it has 0 bytes, and says 1"),  # one segment, the size of its content
        (b"\x00\xf8", "its window is wider than any"),
    ],
)
def test_head_of_a_zstandard_frame_that_can_not_be_is_named(head, problem):
    with pytest.raises(PackedError, match=problem):
        read(b"\x28\xb5\x2f\xfd" + head + b"\x01\x00\x00", ".zst")  # an empty last block


def test_zstandard_frame_of_a_dictionary_is_named():
    # One segment, an id of one byte, a size of one byte, one raw block.
    packed = b"\x28\xb5\x2f\xfd\x21\x07\x01" + b"\x09\x00\x00a"
    with pytest.raises(PackedError, match="packed with a dictionary"):
        read(packed, ".zst")


def packed_by(program, text, *options):
    if shutil.which(program) is None:
        pytest.skip(f"no {program} here")
    return subprocess.run(
        [program, "-c", *options], input=text, capture_output=True, check=True
    ).stdout


def limited(code, *arguments, megabytes):
    """Run code with a bound on memory, and return its output."""
    program = (
        "import resource, sys\n"
        "import pyarrow, zstandard\n"
        f"resource.setrlimit(resource.RLIMIT_AS, ({megabytes << 20}, {megabytes << 20}))\n"
    )
    return subprocess.run(
        [sys.executable, "-c", program + code, *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=ROOT,
    )


@pytest.mark.slow
def test_a_window_for_which_there_is_no_memory_has_a_message_of_its_own(tmp_path):
    path = tmp_path / "long.zst"
    parameters = zstandard.ZstdCompressionParameters(window_log=31, enable_ldm=True)
    packer = zstandard.ZstdCompressor(compression_params=parameters).compressobj()
    path.write_bytes(packer.compress(b"text\n" * 9) + packer.flush())
    code = (
        "from workflow_scripts.core.cli import run\n"
        "from workflow_scripts.core.files.packed_lines import read_lines\n"
        "run(lambda: print(len(list(read_lines(sys.argv[1], 99)))))\n"
    )
    assert limited(code, path, megabytes=8000).stdout == "9\n"
    ended = limited(code, path, megabytes=1500)
    assert ended.returncode == 2
    assert f"error: {path}: there is not enough memory to unpack it" in ended.stderr
    assert "zstd -d --long=31" in ended.stderr


@pytest.mark.rest
def test_what_is_packed_a_thousandfold_needs_no_memory(suffix, tmp_path):
    path = tmp_path / f"zeros{suffix}"
    packer = {
        ".gz": lambda: zlib.compressobj(wbits=31),
        ".bz2": lambda: bz2.BZ2Compressor(1),
        ".xz": lambda: lzma.LZMACompressor(preset=0),
        ".zst": lambda: zstandard.ZstdCompressor().compressobj(),
    }[suffix]()
    with path.open("wb") as stream:
        for _ in range(200):
            stream.write(packer.compress(bytes(10**6)))
        stream.write(packer.flush())
    code = (
        "from workflow_scripts.core.files.packed import unpacked\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "with open(sys.argv[1], 'rb', buffering=0) as raw:\n"
        "    stream = unpacked(raw, sys.argv[2])\n"
        "    total = 0\n"
        "    while data := stream.read(1 << 20):\n"
        "        total += len(data)\n"
        "print(total, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    total, kilobytes = map(int, limited(code, path, suffix, megabytes=8000).stdout.split())
    assert total == 200_000_000
    assert kilobytes < 25_000
