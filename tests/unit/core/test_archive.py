import bz2
import gzip
import io
import lzma
import os
import resource
import subprocess
import tarfile
import zipfile

import pytest

from tests.unit.core.test_packed import PACK
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.archive import expand, names, split
from workflow_scripts.core.files.packed_lines import read_lines
from workflow_scripts.stages.corpus.pairs import Pair, read_pairs

FILES = {
    "data/00train.gz": gzip.compress(b"prvni\tfirst\n"),
    "data/01train.gz": gzip.compress(b"druhy\tsecond\n"),
    "data/98dtest.gz": gzip.compress(b"treti\tthird\n"),
    "a.cs": b"Ahoj.\nNazdar.\n",
    "a.en": b"Hello.\nHi.\n",
}


def packed_tar(path, members, mode="w", form=tarfile.GNU_FORMAT):
    """Write a tar file of (name, content); content may be a function that changes the header."""
    with tarfile.open(path, mode, format=form) as archive:
        for name, content in members:
            member = tarfile.TarInfo(name)
            if callable(content):
                content(member)
                content = b""
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def header(kind, target=""):
    def change(member):
        member.type, member.linkname = kind, target

    return change


def link_to(target):
    return header(tarfile.SYMTYPE, target)


def zipped(path, files, **options):
    with zipfile.ZipFile(path, "w", **options) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


NO_FILES = {
    "link": link_to("/etc/passwd"),
    "hard": header(tarfile.LNKTYPE, "a.cs"),
    "device": header(tarfile.CHRTYPE),
    "../escape": link_to("../../etc/passwd"),
    "data": header(tarfile.DIRTYPE),
}


@pytest.fixture(params=["a.zip", "a.tar", "a.tgz", "a.tar.gz", "a.tar.bz2", "a.tar.xz"])
def archive(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix == ".zip":
        return zipped(path, {"data/": b"", **FILES})
    mode = {".tar": "w", ".bz2": "w:bz2", ".xz": "w:xz"}.get(path.suffix, "w:gz")
    return packed_tar(path, [*FILES.items(), *NO_FILES.items()], mode)


def lines(path):
    return list(read_lines(path, 1000))


def test_names_are_those_of_regular_files(archive):
    assert names(archive) == sorted(FILES)


def test_members_are_read_in_place_decompressed_by_their_suffix(archive):
    assert lines(archive / "a.en") == [b"Hello.", b"Hi."]
    assert lines(archive / "data/01train.gz") == [b"druhy\tsecond"]
    assert {path.name for path in archive.parent.iterdir()} == {archive.name}


def test_patterns_mean_members_in_order(archive):
    assert expand(f"{archive}/data/*train.gz") == [
        f"{archive}/data/00train.gz",
        f"{archive}/data/01train.gz",
    ]
    assert expand(f"{archive}/a.cs") == [f"{archive}/a.cs"]
    with pytest.raises(InputError, match=r"no file \*\.de in it; there are a\.cs, a\.en, data/00"):
        expand(f"{archive}/*.de")


def test_members_that_begin_with_a_dot_are_read_by_their_plain_names(tmp_path):
    packed_tar(tmp_path / "a.tgz", [("./data/a.cs", b"Ahoj\n")], "w:gz")
    zipped(tmp_path / "a.zip", {"./data/a.cs": b"Ahoj\n"})
    for archive in (tmp_path / "a.tgz", tmp_path / "a.zip"):
        assert names(archive) == ["data/a.cs"]
        assert lines(f"{archive}/data/a.cs") == lines(f"{archive}/./data/a.cs") == [b"Ahoj"]
        assert expand(f"{archive}/*/a.*") == [f"{archive}/data/a.cs"]


def test_pairs_of_two_members_and_of_a_table(archive):
    block = {"source": f"{archive}/a.cs", "reference": f"{archive}/a.en"}
    pairs = list(read_pairs("x", block, 1000, 1))
    assert pairs == [Pair("1", "Ahoj.", "Hello."), Pair("2", "Nazdar.", "Hi.")]
    block = {"tsv": f"{archive}/data/*train.gz", "columns": {"source": 0, "reference": 1}}
    pairs = list(read_pairs("x", block, 1000, 1))
    assert pairs == [Pair("1:1", "prvni", "first"), Pair("2:1", "druhy", "second")]


@pytest.mark.parametrize("name", ["nothing", *NO_FILES])
def test_what_is_no_file_in_the_archive_is_none(archive, name):
    with pytest.raises(InputError, match=r"no file .* in it"):
        lines(f"{archive}/{name}")


def test_member_of_what_is_no_archive(tmp_path):
    (tmp_path / "a.txt").write_text("text", encoding="utf-8")
    with pytest.raises(InputError, match=r"a\.txt: can't be read as an archive"):
        lines(tmp_path / "a.txt" / "b")
    with pytest.raises(InputError, match="can't be read as an archive"):
        expand(f"{tmp_path}/a.txt/*")


@pytest.mark.parametrize("suffix", ["tgz", "zip"])
def test_archive_cut_off(tmp_path, suffix):
    path = tmp_path / f"a.{suffix}"
    big = b"".join(str(number).encode() + b"\n" for number in range(100_000))
    if suffix == "tgz":
        packed_tar(path, [("big", big)], "w:gz")
        path.write_bytes(path.read_bytes()[:-1000])
    else:
        zipped(path, {"big": big}, compression=zipfile.ZIP_DEFLATED)
        content = bytearray(path.read_bytes())
        content[len(content) // 2] ^= 1
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"big: can't be read beyond line \d+"):
        lines(path / "big")


def test_path_is_split_where_the_file_ends(archive):
    assert split(archive) == (archive, None)
    assert split(archive / "data/00train.gz") == (archive, "data/00train.gz")
    missing = archive.parent / "none" / "x"
    assert split(missing) == (missing, None)


def test_encrypted_member_is_refused(tmp_path):
    path = zipped(tmp_path / "a.zip", {"a.cs": "Ahoj.\n"})
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag in the central directory
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.cs is encrypted"):
        lines(path / "a.cs")


def test_tar_that_ends_with_a_zip_file_is_a_tar(tmp_path):
    inner = io.BytesIO()
    zipped(inner, {"a.cs": "of the zip\n"})
    path = packed_tar(tmp_path / "x.tar", [("a.cs", b"of the tar\n"), ("b.zip", inner.getvalue())])
    assert names(path) == ["a.cs", "b.zip"]
    assert lines(path / "a.cs") == [b"of the tar"]


def test_zip_with_something_before_it_is_a_zip(tmp_path):
    path = zipped(tmp_path / "a.zip", {"a": "text\n"})
    path.write_bytes(b"#!/bin/sh\nexec unzip\n" * 40 + path.read_bytes())
    assert lines(path / "a") == [b"text"]


@pytest.mark.parametrize("suffix", ["tar", "tar.gz", "tar.bz2", "tar.xz", "tar.zst"])
def test_of_a_name_the_last_member_counts_as_for_tar(tmp_path, suffix):
    for version in (b"old\n", b"new\n"):
        (tmp_path / "a").write_bytes(version)
        subprocess.run(["tar", "rf", "x.tar", "a"], cwd=tmp_path, check=True)
    path = tmp_path / f"x.{suffix}"
    pack = PACK.get(suffix.removeprefix("tar"), bytes)
    path.write_bytes(pack((tmp_path / "x.tar").read_bytes()))
    assert lines(path / "a") == [b"new"]
    assert names(path) == ["a"]


def test_file_that_a_link_replaced_is_none(tmp_path):
    path = packed_tar(tmp_path / "x.tar", [("a", b"old\n"), ("a", link_to("/etc/passwd"))])
    with pytest.raises(InputError, match=r"no file a in it; there are none \(links are no files\)"):
        lines(path / "a")
    path = packed_tar(tmp_path / "y.tar", [("a", link_to("/etc/passwd")), ("a", b"new\n")])
    assert lines(path / "a") == [b"new"]


@pytest.mark.parametrize("kind", [0o120777, 0o010644, 0o060644])
def test_link_and_device_in_a_zip_are_no_text(tmp_path, kind):
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as opened:
        for name, mode in (("link", kind), ("file", 0o100644), ("plain", 0o644)):
            member = zipfile.ZipInfo(name)
            member.create_system, member.external_attr = 3, mode << 16
            opened.writestr(member, "/etc/passwd\n")
    assert names(path) == ["file", "plain"]
    with pytest.raises(InputError, match="no file link in it"):
        lines(path / "link")


def test_members_with_holes_are_read_whole(tmp_path):
    with (tmp_path / "holes").open("wb") as stream:
        stream.write(b"first\n")
        stream.seek(1 << 20)
        stream.write(b"\nlast\n")
    subprocess.run(["tar", "cSzf", "x.tgz", "holes"], cwd=tmp_path, check=True)
    lengths = [len(line) for line in read_lines(tmp_path / "x.tgz/holes", 1 << 21)]
    assert lengths == [5, (1 << 20) - 6, 4]


def gigabytes_of_zeros(path, header, zeros, chunk=1 << 24):
    """Write a tar.gz whose first header is followed by so many zeros."""
    with gzip.open(path, "wb", compresslevel=1) as stream:
        stream.write(header)
        for _ in range(zeros // chunk):
            stream.write(bytes(chunk))
    return path


def header_of(kind, size):
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = kind, size
    return member.tobuf(tarfile.GNU_FORMAT)


@pytest.mark.slow
@pytest.mark.parametrize("kind", [tarfile.GNUTYPE_LONGNAME, tarfile.XHDTYPE, tarfile.XGLTYPE])
def test_header_that_claims_gigabytes_is_refused(tmp_path, kind):
    path = gigabytes_of_zeros(tmp_path / "x.tgz", header_of(kind, 3 << 30), 1 << 28)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(InputError, match=r"x\.tgz.*takes more than 1,048,576 bytes"):
        lines(path / "a")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 50_000


def backwards():
    """A header with a size of -256."""
    content = bytearray(tarfile.TarInfo("a").tobuf(tarfile.GNU_FORMAT))
    content[124:136] = b"\xff" * 11 + b"\x00"
    content[148:156] = b" " * 8
    content[148:156] = b"%06o\0 " % sum(content)
    return bytes(content)


@pytest.mark.parametrize(
    ("damaged", "message"),
    [
        (
            lambda _: (header_of(tarfile.GNUTYPE_LONGNAME, 2) + b"a\0" + bytes(510)) * 5000,
            r"x\.tar",
        ),
        (lambda _: backwards() * 4, r"x\.tar"),
        (lambda content: content[:1024], "no end mark at byte 1024"),
        (lambda content: content * 2, "something follows its end mark"),
    ],
    ids=["endless chain of headers", "size that points back", "cut at a border", "two behind"],
)
def test_damaged_tar_is_refused(tmp_path, damaged, message):
    path = packed_tar(tmp_path / "x.tar", [("a", b"old\n"), ("a", b"new\n")])
    path.write_bytes(damaged(path.read_bytes()))
    with pytest.raises(InputError, match=message):
        lines(path / "a")


def test_list_of_members_is_bounded(tmp_path, monkeypatch):
    monkeypatch.setattr("workflow_scripts.core.files.archive._INDEX_BYTES", 100_000)
    path = packed_tar(tmp_path / "x.tar", [(f"{number}", b"") for number in range(200)])
    with pytest.raises(InputError, match="list of members takes more than 100,000 bytes"):
        names(path)


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_damaged_header_is_not_the_end(tmp_path, mode):
    path = packed_tar(tmp_path / "x.tar", [("a", b"old\n"), ("b", b""), ("a", b"new\n")], mode)
    opened = {"w": bytes, "w:gz": gzip, "w:bz2": bz2, "w:xz": lzma}[mode]
    content = bytearray(path.read_bytes() if mode == "w" else opened.decompress(path.read_bytes()))
    content[1536 + 3] ^= 1  # the header of the last member
    path.write_bytes(bytes(content) if mode == "w" else opened.compress(bytes(content)))
    with pytest.raises(InputError, match="bad checksum at byte 1536"):
        lines(path / "a")


@pytest.mark.parametrize("suffix", ["bz2", "xz"])
def test_damage_in_a_later_stream_of_a_packed_tar_is_found(tmp_path, suffix):
    pack = PACK[f".{suffix}"]
    content = packed_tar(tmp_path / "x", [("a", b"old\n"), ("a", b"new\n")]).read_bytes()
    parts = [pack(content[:1024]), bytearray(pack(content[1024:1536])), pack(content[1536:])]
    path = tmp_path / f"x.tar.{suffix}"
    path.write_bytes(b"".join(parts))
    assert lines(path / "a") == [b"new"]
    parts[1][0] ^= 1
    path.write_bytes(b"".join(parts))
    with pytest.raises(InputError, match=r"a: can't be read beyond line 0"):
        lines(path / "a")


def test_escapes_in_names_do_not_reach_the_terminal(tmp_path):
    path = packed_tar(tmp_path / "x.tar", [("\x1b[31mred\x07\u202e", b"")])
    with pytest.raises(InputError) as error:
        lines(path / "a")
    assert r"there are \x1b[31mred\x07\u202e (links" in str(error.value)


def test_archive_that_changed_is_read_anew(tmp_path):
    path = packed_tar(tmp_path / "x.tar", [("a", b"old\n")])
    assert lines(path / "a") == [b"old"]
    packed_tar(path, [("b", b""), ("a", b"new one\n")])
    assert lines(path / "a") == [b"new one"]


def test_fifo_is_no_archive_and_no_text(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", "/dev/zero"):
        with pytest.raises(InputError, match=r"is not a file but a (FIFO|device)"):
            lines(path)
