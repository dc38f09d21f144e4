import json
import multiprocessing
import os
import re
import time
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files import manifest
from workflow_scripts.core.files.atomic import atomic_path, temporary_path, write_json, write_text
from workflow_scripts.core.files.parquet import TableWriter, count_rows, read_rows
from workflow_scripts.core.files.rows import PairRow, ScoredRow

ROWS = [
    {"id": f"c:{line}", "source": "Ahoj.", "reference": "Hello.", "corpus": "c"}
    for line in range(5)
]


def write_pairs(path: Path, rows=ROWS):
    with TableWriter(path, PairRow, group_rows=2) as table:
        for row in rows:
            table.write(row)


def test_file_appears_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "old")
    with pytest.raises(RuntimeError), atomic_path(path) as temporary:
        temporary.write_text("half", encoding="utf-8")
        raise RuntimeError
    assert path.read_text(encoding="utf-8") == "old"
    assert list(tmp_path.iterdir()) == [path]


def _write_and_hang(path):
    with atomic_path(path) as temporary:
        temporary.write_text("half", encoding="utf-8")
        time.sleep(60)


def test_what_a_killed_writer_left_is_removed_and_a_living_one_spared(tmp_path):
    path = tmp_path / "a.txt"
    writer = multiprocessing.Process(target=_write_and_hang, args=(path,))
    writer.start()
    while not list(tmp_path.iterdir()):
        time.sleep(0.01)
    write_text(path, "whole")
    assert len(list(tmp_path.iterdir())) == 2
    writer.kill()
    os.waitid(os.P_PID, writer.pid, os.WEXITED | os.WNOWAIT)  # it stays as a zombie
    write_text(path, "whole")
    assert list(tmp_path.iterdir()) == [path]
    writer.join()


def test_a_later_process_of_the_same_number_is_no_writer(tmp_path):
    path = tmp_path / "a.txt"
    mine = temporary_path(path)
    mine.touch()
    mark = f".{os.getpid()}-"
    mine.with_name(mine.name.replace(mark, f"{mark}1")).touch()
    write_text(path, "whole")
    assert sorted(tmp_path.iterdir()) == [mine, path]


def _write_many(path, letter):
    for _ in range(50):
        write_text(path, letter * 10_000)


@pytest.mark.slow
def test_two_writers_do_not_corrupt_each_other(tmp_path):
    path = tmp_path / "a.txt"
    write_text(path, "a" * 10_000)
    writers = [multiprocessing.Process(target=_write_many, args=(path, each)) for each in "ab"]
    for writer in writers:
        writer.start()
    while any(writer.is_alive() for writer in writers):
        assert path.read_text(encoding="utf-8") in ("a" * 10_000, "b" * 10_000)
    for writer in writers:
        writer.join()
    assert list(tmp_path.iterdir()) == [path]


def test_json_refuses_what_is_no_json(tmp_path):
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json(tmp_path / "a.json", {"nll": float("nan")})
    assert not list(tmp_path.iterdir())


def test_table_round_trip_and_determinism(tmp_path):
    write_pairs(tmp_path / "a.parquet")
    write_pairs(tmp_path / "b.parquet")
    assert list(read_rows(tmp_path / "a.parquet", PairRow)) == ROWS
    assert count_rows(tmp_path / "a.parquet") == len(ROWS)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert pq.ParquetFile(tmp_path / "a.parquet").num_row_groups == 3


def test_failed_table_leaves_nothing(tmp_path):
    with (
        pytest.raises(RuntimeError, match="stop"),
        TableWriter(tmp_path / "a.parquet", PairRow) as table,
    ):
        table.write(ROWS[0])
        raise RuntimeError("stop")
    with pytest.raises(ValueError, match="columns"), TableWriter(tmp_path / "a", PairRow) as table:
        table.write({"id": "c:1"})
    assert not list(tmp_path.iterdir())


def test_wrong_schema_and_damaged_file_are_named(tmp_path):
    write_pairs(tmp_path / "a.parquet")
    with pytest.raises(InputError, match=r"a\.parquet: its columns are not those of 'scored'"):
        next(read_rows(tmp_path / "a.parquet", ScoredRow))
    (tmp_path / "b.parquet").write_bytes(b"PAR1 and no more")
    with pytest.raises(InputError, match=r"b\.parquet: can't be read as Parquet"):
        next(read_rows(tmp_path / "b.parquet", PairRow))


def test_one_flipped_byte_is_found(tmp_path):
    path = tmp_path / "0000.parquet"
    write_pairs(path)
    manifest.write_record(path, 7, 5, {"empty": 2, "nul": 0})
    assert manifest.verify(path)["rejected"] == {"empty": 2}
    content = bytearray(path.read_bytes())
    content[40] ^= 1
    path.write_bytes(content)
    with pytest.raises(InputError, match=r"0000\.parquet differs from what its stage wrote"):
        manifest.verify(path)
    path.unlink()
    with pytest.raises(InputError, match=r"0000\.parquet is missing"):
        manifest.verify(path)


def test_rows_must_add_up(tmp_path):
    write_pairs(tmp_path / "0000.parquet")
    with pytest.raises(ValueError, match="7 rows in, 5 out"):
        manifest.write_record(tmp_path / "0000.parquet", 7, 5, {"empty": 1})


@pytest.fixture
def readers(tmp_path):
    """A record and the manifest that holds it, each with what reads it."""
    path, output = tmp_path / "0000.parquet", tmp_path / "manifest.json"
    write_pairs(path)
    extra = {"share": 0.25, "text": "žák", "by": {1: [8, 9]}}
    manifest.write_record(path, 7, 5, {"empty": 2}, extra)
    unit = {"name": "clean/v1-0", "config": {"seed": 1, "bounds": [0.5, None]}}
    arguments = ["--unit", json.dumps(unit), "--folder", str(tmp_path), "--shards", "1"]
    manifest.main([*arguments, "--output", str(output)])
    return {
        tmp_path / "0000.json": lambda: manifest.verify(path),
        output: lambda: manifest.read_manifest(output),
    }


@pytest.mark.slow
def test_a_changed_digit_anywhere_is_found(readers):
    for file, read in readers.items():
        read()
        content = file.read_text("utf-8")
        digits = [match.start() for match in re.finditer(r"\d", content)]
        assert len(digits) > 50
        for at in digits:
            other = str((int(content[at]) + 1) % 10)
            file.write_text(content[:at] + other + content[at + 1 :], "utf-8")
            with pytest.raises(InputError, match=rf"{file.name} is .*delete it"):
                read()
        file.write_text(content, "utf-8")


def test_records_and_manifests_without_a_hash_of_themselves_are_read(readers):
    for file, read in readers.items():
        expected = read()
        content = json.loads(file.read_text("utf-8"))
        assert content.pop("sha256")
        write_json(file, content)
        assert read() == content == {key: expected[key] for key in content}


@pytest.mark.parametrize("digit", ["7", "5", "2"])
def test_a_changed_count_is_found_without_a_hash(readers, digit):
    for file, read in readers.items():
        content = json.loads(file.read_text("utf-8"))
        for each in (content, *content.get("parts", {}).values()):
            del each["sha256"]
        write_json(file, content)
        read()
        content = file.read_text("utf-8")
        for match in re.finditer(rf": {digit}\b", content):
            file.write_text(f"{content[: match.start()]}: 3{content[match.end() :]}")
            with pytest.raises(InputError, match=rf"{file.name} is .*rows in"):
                read()


def test_manifest_merges_records_and_hashes_upstream(tmp_path):
    folder = tmp_path / "clean" / "v1-0"
    for shard, reason in (("0000", "empty"), ("0001", "ratio")):
        write_pairs(folder / f"{shard}.parquet")
        manifest.write_record(folder / f"{shard}.parquet", 6, 5, {reason: 1})
    upstream = manifest.merge({"name": "corpus/c/v1-1"}, {}, {})
    write_json(tmp_path / "up.json", upstream)
    unit = {"name": "clean/v1-0", "stage": "clean", "instance": None, "version": 1, "config": {}}
    arguments = ["--unit", json.dumps(unit), "--folder", str(folder), "--shards", "2"]
    arguments += ["--upstream", str(tmp_path / "up.json")]
    outputs = [folder / "manifest.json", tmp_path / "again.json"]
    for output in outputs:
        manifest.main([*arguments, "--output", str(output)])
    merged = manifest.read_manifest(outputs[0])
    assert (merged["rows_in"], merged["rows_out"]) == (12, 10)
    assert merged["rejected"] == {"empty": 1, "ratio": 1}
    assert merged["upstream"] == {"corpus/c/v1-1": manifest.sha256(tmp_path / "up.json")}
    assert "pyarrow" in merged["tools"]
    assert outputs[0].read_bytes() == outputs[1].read_bytes()


@pytest.mark.parametrize(
    ("gone", "remedy"),
    [
        ((), "delete it, a.json and manifest.json beside it and run again"),
        (("manifest.json",), "delete it and a.json beside it and run again"),
        (("a.parquet",), "delete a.json and manifest.json beside it and run again"),
        (("a.json",), "delete it and manifest.json beside it and run again"),
        (("a.json", "a.parquet"), "delete manifest.json beside it and run again"),
    ],
)
def test_what_vouches_for_a_damaged_file_is_to_be_deleted_with_it(tmp_path, gone, remedy):
    path = tmp_path / "a.parquet"
    write_pairs(path)
    manifest.write_record(path, 5, 5, {})
    write_text(tmp_path / "manifest.json", "{}")
    path.write_bytes(path.read_bytes()[:-1])
    for name in gone:
        (tmp_path / name).unlink()
    with pytest.raises(InputError, match=f"; {remedy}$"):
        manifest.verify(path)


@pytest.mark.parametrize("asked", [-1, 0, 1])
def test_fewer_shards_than_there_are_lose_none_without_a_word(tmp_path, asked):
    for shard in ("0000", "0001"):
        (tmp_path / f"{shard}.parquet").touch()
    with pytest.raises(InputError, match=f"{asked} shards were asked for, and it has more"):
        manifest.shard_paths(tmp_path, asked)
    assert len(manifest.shard_paths(tmp_path, 2)) == 2


def test_a_damaged_manifest_is_named_once(tmp_path):
    path = tmp_path / "manifest.json"
    path.touch()
    assert manifest.remedy(path) == "delete it and run again"
