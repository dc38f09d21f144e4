"""Text without bitext: how it is read, and how it becomes pairs with its written sources."""

import json
import zlib
from collections import Counter

import pytest
import zstandard

from tests.tables import write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record, write_manifest, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow, WrittenRow
from workflow_scripts.stages.corpus.importer import shard_of
from workflow_scripts.stages.corpus.pair_sources import main, pairs
from workflow_scripts.stages.corpus.pairs import Pair, read_pairs
from workflow_scripts.stages.corpus.report import written

CONFIG = {"name": "c", "source": "written by back", "max_nll": 2.0, "shards": 2}


def reference(number, *nlls):
    """A reference with a source of each of these NLLs."""
    sources = [
        {"text": f"fonte {number} {nll}", "backward_nll": 0.5, "forward_nll": nll} for nll in nlls
    ]
    return {
        "id": f"c:{number}",
        "reference": f"Sentence {number}.",
        "corpus": "c",
        "sources": sources,
    }


def test_a_text_is_read_like_a_side_of_a_bitext(tmp_path):
    (tmp_path / "a.en").write_bytes(
        b"\xef\xbb\xbfFirst.\r\n\n \t\nA\0B\n\xff\xfe\nA long line of too many bytes.\nLast.\n"
    )
    (tmp_path / "b.en.zst").write_bytes(zstandard.compress("Příští.\n".encode()))
    block = {"text": [str(tmp_path / "a.en"), str(tmp_path / "b.en.zst")]}
    read = list(read_pairs("c", block, 20, 1))
    assert [each for each in read if isinstance(each, Pair)] == [
        Pair("1:1", "", "First."),
        Pair("1:7", "", "Last."),
        Pair("2:1", "", "Příští."),
    ]
    assert [(each.line, each.reason) for each in read if not isinstance(each, Pair)] == [
        (2, "empty"),
        (3, "empty"),
        (4, "nul"),
        (5, "not_utf8"),
        (6, "too_long"),
    ]


def test_sources_above_the_bound_are_left_out_and_references_counted():
    counts = Counter()
    rows = [
        reference(1, 1.0),
        reference(2, 2.5),
        reference(3, 2.0),
        reference(4, 9.0, 1.5, float("inf"), 0.5),
        reference(5, 3.0, 3.5),
    ]
    found = list(pairs(rows, "c", 2.0, counts))
    assert [(each.place, each.source) for each in found if isinstance(each, Pair)] == [
        ("1", "fonte 1 1.0"),
        ("3", "fonte 3 2.0"),
        ("4:2", "fonte 4 1.5"),
        ("4:4", "fonte 4 0.5"),
    ]
    left = [(each.file, each.line) for each in found if not isinstance(each, Pair)]
    assert left == [("c:2", 1), ("c:4", 1), ("c:4", 3), ("c:5", 1), ("c:5", 2)]
    assert counts == {"written": 3, "left_out": 2}


def run(tmp_path, rows):
    # Not in the shard that their pairs belong to.
    for shard in range(2):
        part = [row for row in rows if zlib.crc32(row["id"].encode()) % 2 == shard]
        write_table(tmp_path / "sources" / f"000{shard}.parquet", WrittenRow, part)
    return pair(tmp_path)


def pair(tmp_path):
    options = ["--sources", tmp_path / "sources", "--shards", 2, "--output", tmp_path / "out"]
    main(["--config", json.dumps(CONFIG), *map(str, options)])
    return tmp_path / "out"


def test_pairs_stand_in_the_shard_of_both_sides_and_all_rows_add_up(tmp_path):
    rows = [reference(number, number / 10) for number in range(1, 31)]
    folder = run(tmp_path, rows)
    found = []
    for shard in range(2):
        for row in read_rows(folder / f"000{shard}.parquet", PairRow):
            assert shard_of(row["source"], row["reference"], 2) == shard
            assert row["corpus"] == "c"
            found.append(row["id"])
    assert sorted(found) == sorted(f"c:{number}" for number in range(1, 21))
    record = read_record(folder / "rejected.tsv.zst")
    assert record["rejected"] == {"not_brought_back": 10}
    assert record["extra"] == {"written": 20, "left_out": 10}
    with (folder / "rejected.tsv.zst").open("rb") as raw:
        lines = zstandard.ZstdDecompressor().stream_reader(raw).read().decode().splitlines()
    listed = {line.split("\t")[0]: line.split("\t")[1:] for line in lines}
    assert listed["c:21"] == ["1", "not_brought_back", "2.10 fonte 21 2.1 | Sentence 21."]


def test_a_text_that_never_comes_back_is_an_error_that_says_what_to_do(tmp_path):
    said = r"corpora\.c: no pair in it \(2 not_brought_back\).*raise max_nll"
    with pytest.raises(InputError, match=said):
        run(tmp_path, [reference(1, 5.0), reference(2, 6.0)])
    assert not list((tmp_path / "out").glob("*.parquet"))


def test_a_text_without_letters_says_what_was_left_out(tmp_path):
    for shard in range(2):
        path = write_table(tmp_path / "sources" / f"000{shard}.parquet", WrittenRow, [])
        write_record(path, 1 + shard, 0, {"no_letters": 1 + shard})
    with pytest.raises(InputError, match=r"corpora\.c: no pair in it \(3 no_letters\)"):
        pair(tmp_path)


def unit(folder, rejected, extra=None):
    """The manifest of a unit of one record, which rejects so many rows."""
    path = folder / "rejected.tsv.zst"
    folder.mkdir()
    path.touch()
    write_record(path, sum(rejected.values()), 0, rejected, extra)
    block = {"name": folder.name, "config": CONFIG}
    write_manifest(block, folder, folder / "manifest.json", records=["rejected.tsv"])
    return folder


def test_lines_that_were_not_read_are_left_out_too(tmp_path):
    text = unit(tmp_path / "text", {"empty": 4, "nul": 1})
    counts = {"written": 20, "left_out": 3}
    of_pairs = unit(tmp_path / "pairs", {"not_brought_back": 3}, counts)
    sources = unit(tmp_path / "sources", {"no_letters": 2})
    found = written("c", text, of_pairs, sources)
    assert (found.written, found.left_out) == (20, 10)
    reasons = {"empty": 4, "not_brought_back": 3, "no_letters": 2, "nul": 1}
    assert found.reasons == reasons
