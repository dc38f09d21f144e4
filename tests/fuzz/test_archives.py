"""Archives: whole and damaged, with links, updates, long names, inside packed files."""

import bz2
import gzip
import io
import lzma
import posixpath
import stat
import tarfile
import zipfile

import zstandard
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.cases import damaged, damages, file, fuzz, lines_of, outcome
from workflow_scripts.core.files.archive import names
from workflow_scripts.core.files.packed_lines import read_lines

PACK = [bytes, bytes, gzip.compress, bz2.compress, lzma.compress, zstandard.compress]
_names = st.sampled_from(
    [
        "a",
        "b",
        "./a",
        "d/a",
        "d/../b",
        "ž",
        "n" * 150,
        "p/" * 60 + "x",
        "\x1b[31m",
        "a.gz.txt",
        "..",
    ]
)
_contents = st.sampled_from([b"", b"old\n", b"new\n", b"x\ny", b"z" * 700, bytes(1500), b"\xff"])
_kinds = st.sampled_from(["file"] * 6 + ["link", "hard", "folder", "device"])
_members = st.lists(st.tuples(_names, _contents, _kinds), max_size=5)


def tar(members, form):
    written = io.BytesIO()
    kinds = {
        "link": tarfile.SYMTYPE,
        "hard": tarfile.LNKTYPE,
        "folder": tarfile.DIRTYPE,
        "device": tarfile.CHRTYPE,
    }
    with tarfile.open(fileobj=written, mode="w", format=form) as archive:
        for name, content, kind in members:
            member = tarfile.TarInfo(name)
            if kind in kinds:
                member.type, member.linkname, content = kinds[kind], "a", b""
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return written.getvalue()


def zipped(members, method):
    written = io.BytesIO()
    modes = {"link": 0o120777, "hard": 0o120777, "device": 0o020644}
    with zipfile.ZipFile(written, "w", method) as archive:
        for name, content, kind in members:
            member = zipfile.ZipInfo(f"{name}/" if kind == "folder" else name)
            member.create_system, member.compress_type = 3, method
            member.external_attr = modes.get(kind, 0o100644) << 16
            archive.writestr(member, b"" if kind == "folder" else content)
    return written.getvalue()


def from_tar(content):
    """Return the last member of each name with the standard library, all in memory."""
    found = {}
    with tarfile.open(fileobj=io.BytesIO(content)) as archive:
        for member in archive.getmembers():
            name = posixpath.normpath(member.name)
            found.pop(name, None)
            if member.isreg():
                found[name] = archive.extractfile(member).read()
    return found


def from_zip(content):
    found = {}
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for member in archive.infolist():
            name = posixpath.normpath(member.filename)
            found.pop(name, None)
            mode = member.external_attr >> 16 if member.create_system == 3 else 0
            if member.filename and not member.is_dir() and stat.S_IFMT(mode) in (0, stat.S_IFREG):
                found[name] = member
        return {name: content_of(archive, member) for name, member in found.items()}


def content_of(archive, member):
    """Return a member's content, None where the library finds it damaged, in whatever way."""
    try:
        return archive.read(member)
    except Exception:
        return None


def read(folder, content, suffix, simple):
    """Compare our reader with a simple one on every member; return ours."""
    with file(folder, suffix, content) as path:
        found = outcome(path, lambda: names(path))
        if found is None:
            return None
        texts = {}
        for name in found:
            # What begins with a slash or climbs is no path below the archive.
            if not name.startswith(("/", "..")) and "\0" not in name and name != ".":
                texts[name] = outcome(path, lambda name=name: list(read_lines(path / name, 10**6)))
    if any(text is not None for text in texts.values()):
        wanted = simple(content)
        assert set(wanted) == set(found)
        for name, text in texts.items():
            if text is not None:
                assert wanted[name] is not None
                assert text == lines_of(wanted[name])
    return texts


@fuzz()
@given(
    _members,
    st.sampled_from([tarfile.USTAR_FORMAT, tarfile.GNU_FORMAT, tarfile.PAX_FORMAT]),
    st.sampled_from(PACK),
    damages,
    damages,
)
def test_tar(tmp_path_factory, members, form, pack, inner, outer):
    try:
        whole = tar(members, form)
    except ValueError:  # a name too long for the form
        return
    content = damaged(pack(damaged(whole, inner)), outer)

    def simple(content):
        for unpack in (bytes, gzip.decompress, bz2.decompress, lzma.decompress):
            try:
                return from_tar(unpack(content))
            except (tarfile.ReadError, OSError, EOFError, lzma.LZMAError):
                continue
        return from_tar(zstandard.ZstdDecompressor().stream_reader(io.BytesIO(content)).read())

    texts = read(tmp_path_factory.getbasetemp(), content, ".tar", simple)
    if not inner and not outer:
        wanted = from_tar(whole)
        assert texts is not None
        assert texts == {name: lines_of(wanted[name]) for name in texts}


@fuzz()
@given(
    _members,
    st.sampled_from(
        [zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]
    ),
    damages,
)
@example([("a", b"", "file")] * 3, zipfile.ZIP_STORED, [("zero", 843751, 18)])
def test_zip(tmp_path_factory, members, method, many):
    whole = zipped(members, method)
    texts = read(tmp_path_factory.getbasetemp(), damaged(whole, many), ".zip", from_zip)
    if not many:
        wanted = from_zip(whole)
        assert texts == {name: lines_of(wanted[name]) for name in texts}
