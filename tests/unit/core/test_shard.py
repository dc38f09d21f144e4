import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.tables import write_table
from workflow_scripts.core import progress
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import TrainingPairRow
from workflow_scripts.core.files.shard_frame import Input, Stream, Tally, write_shard

ROW = TrainingPairRow


def row(number):
    return {"id": f"t:{number}", "reference": f"r{number}", "paraphrase": f"p{number}"}


def shard(path, numbers):
    return write_table(path, ROW, (row(number) for number in numbers))


@pytest.fixture
def pairs(tmp_path):
    numbers = {"a": range(5), "b": range(5, 7)}
    return Input([shard(tmp_path / f"{name}.parquet", numbers[name]) for name in "ab"], ROW)


@pytest.fixture
def output(tmp_path):
    return tmp_path / "out" / "0000.parquet"


def record(path):
    return json.loads(path.with_suffix(".json").read_text(encoding="utf-8"))


def test_rows_go_through_the_work_into_a_file_with_its_record(pairs, output, capsys):
    tally = Tally(extra={"given": True})

    def even(rows):
        for each in rows:
            if int(each["id"][2:]) % 2:
                tally.rejected["odd"] += 1
            else:
                yield each
        tally.extra["seen"] = 7

    write_shard(pairs.rows(), even, output, ROW, "even", tally)
    assert list(read_rows(output, ROW)) == [row(number) for number in (0, 2, 4, 6)]
    found = record(output)
    assert (found["rows_in"], found["rows_out"], found["rejected"]) == (7, 4, {"odd": 3})
    assert found["extra"] == {"given": True, "seen": 7}
    assert capsys.readouterr().err == "even: 7 rows done in 0:00:00\n"


def test_batches_and_single_rows_make_the_same_file(pairs, output, tmp_path):
    write_shard(pairs.rows(), lambda rows: rows, output, ROW, "rows")
    other = tmp_path / "batches.parquet"
    write_shard(pairs.batches(batch_size=2), lambda batches: batches, other, ROW, "batches")
    assert other.read_bytes() == output.read_bytes()
    assert record(other)["rows_in"] == 7


def test_columns_and_row_groups_are_those_asked_for(pairs, output):
    def filled(rows):
        for each in rows:
            assert each.keys() == {"id"}
            yield row(int(each["id"][2:]))

    write_shard(pairs.rows(["id"]), filled, output, ROW, "groups", group_rows=3)
    groups = pq.ParquetFile(output).metadata
    assert [groups.row_group(number).num_rows for number in range(3)] == [3, 3, 1]


def test_progress_counts_what_is_read_or_what_is_written(pairs, output, capsys, monkeypatch):
    monkeypatch.setattr(progress, "INTERVAL_SECONDS", 0.0)
    tally = Tally()

    def all_at_once(rows):
        first, *others = list(rows)
        tally.rejected["others"] = len(others)
        yield first

    write_shard(pairs.rows(), all_at_once, output, ROW, "read", tally)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("read: 1 of 7 rows") and len(lines) == 8
    write_shard(pairs.rows(), all_at_once, output, ROW, "written", tally, shown="written")
    lines = capsys.readouterr().err.splitlines()
    assert lines[0].startswith("written: 1 of 7 rows")
    assert lines[1:] == ["written: 1 rows done in 0:00:00"]


def test_items_of_any_kind_have_the_size_that_the_stream_gives(output, capsys):
    stream = Stream([[0, 1, 2], [3]], size=len)

    def as_batches(items):
        for numbers in items:
            yield pa.RecordBatch.from_pylist([row(number) for number in numbers])

    write_shard(stream, as_batches, output, ROW, "lists")
    assert record(output)["rows_in"] == record(output)["rows_out"] == 4
    assert capsys.readouterr().err == "lists: 4 rows done in 0:00:00\n"


def test_where_a_row_leads_to_several_the_record_counts_those_read(pairs, output):
    tally = Tally()

    def doubled(rows):
        for number, each in enumerate(rows):
            if number == 0:
                tally.rejected["first"] += 1
            else:
                yield each
                yield each
        tally.used = 6

    write_shard(pairs.rows(), doubled, output, ROW, "doubled", tally)
    assert len(list(read_rows(output, ROW))) == 12
    assert (record(output)["rows_in"], record(output)["rows_out"]) == (7, 6)


def test_a_damaged_input_is_refused_before_anything_is_read(pairs):
    pairs.paths[1].write_bytes(b"PAR1")
    with pytest.raises(InputError, match=r"b\.parquet differs from what its stage wrote"):
        Input(pairs.paths, ROW)
    assert Input(pairs.paths[0], ROW).count() == 5


def test_an_error_of_the_work_leaves_neither_file_nor_record(pairs, output):
    def fails(rows):
        yield next(rows)
        raise InputError("row 2 is bad")

    with pytest.raises(InputError, match="row 2 is bad"):
        write_shard(pairs.rows(), fails, output, ROW, "fails")
    assert not list(output.parent.iterdir())


@pytest.mark.parametrize("lost", [1, 7])
def test_a_row_that_is_lost_is_an_error(pairs, output, lost):
    def forgetful(rows):
        for number, each in enumerate(rows, start=1):
            if number != lost:
                yield each

    with pytest.raises(ValueError, match="7 rows in, 6 out"):
        write_shard(pairs.rows(), forgetful, output, ROW, "forgetful")
    assert not output.with_suffix(".json").exists()


def test_work_that_ends_before_its_stream_is_an_error(pairs, output):
    with pytest.raises(RuntimeError, match="short: rows were left unread"):
        write_shard(pairs.rows(), lambda rows: [next(rows)], output, ROW, "short")
    assert not output.exists()
