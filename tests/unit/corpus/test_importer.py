import hashlib
import json
from collections import Counter
from pathlib import Path

import pytest
import zstandard

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.stages.corpus import importer
from workflow_scripts.stages.corpus.importer import main, shard_of
from workflow_scripts.stages.corpus.pairs import read_pairs

GOOD = [(f"věta číslo {number}", f"Sentence number {number}.") for number in range(200)]
# One of every kind of line; the reason, or None where the pair is good.
HOSTILE = [
    (b"\xef\xbb\xbfa", b"a", None),
    (b"", b"a", "empty"),
    (b"a", b" \t", "empty"),
    (b"\r", b"a", "empty"),
    (b"a\0", b"a", "nul"),
    (b"a", b"\xff\xfe", "not_utf8"),
    (b"\xed\xb3\xbf", b"a", "not_utf8"),
    (b"a", "kůň".encode("latin2"), "not_utf8"),
    (b"\xc0\xaf", b"overlong", "not_utf8"),
    ("kůň".encode("utf-16")[:4], b"a", "nul"),
    (b" \t \xc2\xa0 \xe2\x80\xa8", b"a", "empty"),
    (b"\0" * 2001, b"a", "too_long"),
    (b"x" * 1_000_001, b"a", "too_long"),
    (b"a", b"y" * 2001, "too_long"),
    (b"y" * 2000, b"exactly as long as allowed", None),
    ("\u202eright to left\u202c \u200b".encode(), "\U0001f600".encode(), None),
    (b"...", b"!!!", None),
    (b"crlf\r", b"crlf\r", None),
    ("a\u2028b\x85c\x0cd\x1de".encode(), b"line breaks of others", None),
    (b"<s> </s> <unk>", "\u2581piece \u2581marks".encode(), None),
    (b'{"a": [1, "b', b"a: &b !!python/object *c", None),
    (b"$(touch pwned) `touch pwned`; touch pwned", b"'\"\\ && | > pwned", None),
    (b'"quotes""', b"'", None),
]


def run_import(folder, block, shards=4, name="c", inputs=None, **more):
    config = {"name": name, "block": block, "shards": shards, "max_line_bytes": 2000, "seed": 1}
    config |= more
    options = ["--config", json.dumps(config), "--inputs", json.dumps(inputs or {})]
    main([*options, "--output", str(folder)])


def hashes_of(block):
    paths = (block["source"], block["reference"])
    return {path: hashlib.sha256(Path(path).read_bytes()).hexdigest() for path in paths}


def rows_of(folder):
    return [row for path in sorted(folder.glob("*.parquet")) for row in read_rows(path, PairRow)]


def rejected_of(folder):
    data = (
        zstandard.ZstdDecompressor()
        .decompressobj()
        .decompress((folder / "rejected.tsv.zst").read_bytes())
    )
    return [line.split("\t") for line in data.decode().splitlines()]


@pytest.fixture
def bitext(tmp_path):
    (tmp_path / "s").write_text("".join(f"{source}\n" for source, _ in GOOD))
    (tmp_path / "r").write_text("".join(f"{reference}\n" for _, reference in GOOD))
    return {"source": str(tmp_path / "s"), "reference": str(tmp_path / "r"), "trusted": True}


def test_files_of_other_content_than_was_planned_are_not_imported(tmp_path, bitext):
    inputs = hashes_of(bitext)
    source = Path(bitext["source"])
    content = source.read_bytes()
    source.write_bytes(content.replace(b"1", b"7"))
    with pytest.raises(InputError, match=f"{source} changed since the run was planned"):
        run_import(tmp_path / "out", bitext, inputs=inputs)
    assert not list((tmp_path / "out").glob("[!.]*"))
    source.write_bytes(content)
    run_import(tmp_path / "out", bitext, inputs=inputs)
    assert len(rows_of(tmp_path / "out")) == len(GOOD)


def test_a_damaged_download_is_found(tmp_path, bitext):
    block = bitext | {"sha256": hashes_of(bitext)}
    Path(bitext["reference"]).write_bytes(b"?")
    with pytest.raises(InputError, match=r"/r is not the file whose SHA-256 is \w+; delete it"):
        run_import(tmp_path / "out", block)


def test_of_files_that_change_while_they_are_read_nothing_is_published(
    tmp_path, bitext, monkeypatch
):
    inputs = hashes_of(bitext)
    reference = Path(bitext["reference"])

    def read_and_changed(*arguments):
        yield from read_pairs(*arguments)
        reference.write_bytes(reference.read_bytes())

    monkeypatch.setattr(importer, "read_pairs", read_and_changed)
    with pytest.raises(InputError, match=f"{reference} changed while it was read"):
        run_import(tmp_path / "out", bitext, inputs=inputs)
    assert not list((tmp_path / "out").glob("[!.]*"))


def test_every_pair_is_in_its_shard_and_verified(tmp_path, bitext):
    run_import(tmp_path / "out", bitext)
    paths = sorted((tmp_path / "out").glob("*.parquet"))
    assert [path.name for path in paths] == [f"000{shard}.parquet" for shard in range(4)]
    for shard, path in enumerate(paths):
        rows = list(read_rows(path, PairRow))
        assert verify(path)["rows_out"] == len(rows) > 0
        assert all(shard_of(row["source"], row["reference"], 4) == shard for row in rows)
        numbers = [int(row["id"].removeprefix("c:")) for row in rows]
        assert numbers == sorted(numbers)
    got = {
        row["id"]: (row["source"], row["reference"], row["corpus"])
        for row in rows_of(tmp_path / "out")
    }
    assert got == {f"c:{number}": (*pair, "c") for number, pair in enumerate(GOOD, 1)}


def test_no_spill_is_left_when_the_last_file_is_written(tmp_path, bitext, monkeypatch):
    """A power cut then leaves all that there should be, or a job that is done again."""
    left = []

    def write(path, *rest):
        left.append((path.name, [each.name for each in path.parent.glob(".spill*")]))
        write_record(path, *rest)

    monkeypatch.setattr(importer, "write_record", write)
    run_import(tmp_path / "out", bitext)
    assert left[-1] == ("rejected.tsv.zst", []) and all(spill for _, spill in left[:-1])


def test_pairs_that_count_as_duplicates_share_a_shard(tmp_path):
    variants = [
        ("Ahoj, světe!", "Hello, world!"),
        ("AHOJ  světe", "hello world"),
        ("\u201eAhoj\u201c sv\u011bte\u2026", "hello\u2014world\u200b"),
        ("Ahoj sve\u030cte", "\uff48ello world"),
    ]
    for shards in (2, 7, 512):
        assert len({shard_of(*pair, shards) for pair in variants}) == 1


def test_pairs_that_are_the_same_once_they_are_unescaped_share_a_shard(tmp_path):
    lines = ["caf&eacute; noir\tIt&amp;#39;s ours", "caf\u00e9 noir\tIt's ours"]
    (tmp_path / "t.tsv").write_text("\n".join(lines), encoding="utf-8")
    block = {"tsv": str(tmp_path / "t.tsv"), "columns": {"source": 0, "reference": 1}}
    for unescapes, together in ((False, [1, 1]), (True, [2])):
        out = tmp_path / str(unescapes)
        run_import(out, block, shards=16, unescapes=unescapes)
        rows = (len(list(read_rows(path, PairRow))) for path in out.glob("*.parquet"))
        assert sorted(filter(None, rows)) == together


def test_hostile_lines_are_all_accounted_for(tmp_path, capsys):
    (tmp_path / "s").write_bytes(b"\n".join(source for source, _, _ in HOSTILE))
    (tmp_path / "r").write_bytes(b"\n".join(reference for _, reference, _ in HOSTILE))
    out = tmp_path / "out"
    run_import(out, {"source": str(tmp_path / "s"), "reference": str(tmp_path / "r")})
    reasons = {number: reason for number, (_, _, reason) in enumerate(HOSTILE, 1)}
    assert {int(row["id"][2:]) for row in rows_of(out)} == {n for n, r in reasons.items() if not r}
    rejected = rejected_of(out)
    assert {int(line): reason for _, line, reason, _ in rejected} == {
        n: r for n, r in reasons.items() if r
    }
    assert all(text.isprintable() and len(text) < 2000 for _, _, _, text in rejected)
    record = verify(out / "rejected.tsv.zst")
    assert record["rejected"] == Counter(reason for reason in reasons.values() if reason)
    rows = sum(verify(path)["rows_out"] for path in out.glob("*.parquet"))
    assert rows + sum(record["rejected"].values()) == len(HOSTILE)


def test_the_rejected_file_says_where_and_what(tmp_path):
    (tmp_path / "s").write_bytes(b"a\nk\xf9\xe5\t\\n\nb\n")
    (tmp_path / "r").write_bytes("a\nž\n\n".encode())
    out = tmp_path / "out"
    run_import(out, {"source": str(tmp_path / "s"), "reference": str(tmp_path / "r")})
    assert rejected_of(out) == [
        [str(tmp_path / "s"), "2", "not_utf8", r"k\udcf9\udce5\t\\n"],
        [str(tmp_path / "r"), "3", "empty", ""],
    ]


@pytest.mark.slow
def test_the_number_of_shards_changes_nothing_else(tmp_path, bitext):
    run_import(tmp_path / "many", bitext, shards=100)
    run_import(tmp_path / "one", bitext, shards=1)
    by_id = [
        sorted(rows_of(tmp_path / name), key=lambda row: row["id"]) for name in ("many", "one")
    ]
    assert by_id[0] == by_id[1]
    assert len(list((tmp_path / "many").glob("*.parquet"))) == 100


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"corpora\.c: no pair in it \(the files are empty\)"),
        (b"\xff\n\xff\n\n", r"corpora\.c: no pair in it \(2 not_utf8, 1 empty\)"),
    ],
)
def test_a_corpus_without_pairs_is_an_error_and_leaves_nothing(tmp_path, data, message):
    (tmp_path / "s").write_bytes(data)
    with pytest.raises(InputError, match=message):
        run_import(
            tmp_path / "out", {"source": str(tmp_path / "s"), "reference": str(tmp_path / "s")}
        )
    assert list((tmp_path / "out").iterdir()) == []


def test_unequal_sides_leave_nothing(tmp_path, bitext):
    with Path(bitext["source"]).open("a") as stream:
        stream.write("one more\n")
    with pytest.raises(InputError, match=r"has 201 lines, .* has 200"):
        run_import(tmp_path / "out", bitext)
    assert list((tmp_path / "out").iterdir()) == []
