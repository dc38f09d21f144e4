import gzip
import io
import tarfile
import zipfile

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.corpus.archive import expand, names, split
from workflow_scripts.corpus.lines import read_lines
from workflow_scripts.corpus.pairs import Pair, read_pairs

FILES = {
    "data/00train.gz": gzip.compress(b"prvni\tfirst\n"),
    "data/01train.gz": gzip.compress(b"druhy\tsecond\n"),
    "data/98dtest.gz": gzip.compress(b"treti\tthird\n"),
    "a.cs": b"Ahoj.\nNazdar.\n",
    "a.en": b"Hello.\nHi.\n",
}


def tar(path, mode):
    with tarfile.open(path, mode) as archive:
        for name, content in FILES.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
        for name, kind, target in (
            ("link", tarfile.SYMTYPE, "/etc/passwd"),
            ("hard", tarfile.LNKTYPE, "a.cs"),
            ("device", tarfile.CHRTYPE, ""),
            ("../escape", tarfile.SYMTYPE, "../../etc/passwd"),
            ("data", tarfile.DIRTYPE, ""),
        ):
            member = tarfile.TarInfo(name)
            member.type, member.linkname = kind, target
            archive.addfile(member)
    return path


@pytest.fixture(params=["a.zip", "a.tar", "a.tgz", "a.tar.gz", "a.tar.bz2", "a.tar.xz"])
def archive(request, tmp_path):
    path = tmp_path / request.param
    if path.suffix != ".zip":
        return tar(path, {".tar": "w", ".bz2": "w:bz2", ".xz": "w:xz"}.get(path.suffix, "w:gz"))
    with zipfile.ZipFile(path, "w") as opened:
        opened.mkdir("data")
        for name, content in FILES.items():
            opened.writestr(name, content)
    return path


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
    with tarfile.open(tmp_path / "a.tgz", "w:gz") as tar_file:
        member = tarfile.TarInfo("./data/a.cs")
        member.size = 5
        tar_file.addfile(member, io.BytesIO(b"Ahoj\n"))
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as zip_file:
        zip_file.writestr("./data/a.cs", b"Ahoj\n")
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


@pytest.mark.parametrize("name", ["nothing", "data", "../escape", "link", "hard", "device"])
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
        with tarfile.open(path, "w:gz") as opened:
            member = tarfile.TarInfo("big")
            member.size = len(big)
            opened.addfile(member, io.BytesIO(big))
        path.write_bytes(path.read_bytes()[:-1000])
    else:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as opened:
            opened.writestr("big", big)
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
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as opened:
        opened.writestr("a.cs", "Ahoj.\n")
    content = bytearray(path.read_bytes())
    content[content.index(b"PK\x01\x02") + 8] |= 1  # the flag in the central directory
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"a\.cs is encrypted"):
        lines(path / "a.cs")
