import pytest

from workflow_scripts.core.progress import Progress, parse_line, progress, progress_line


@pytest.mark.parametrize(
    ("done", "total", "rate"), [(1200, 3000, 40.0), (7, None, 0.2), (1234567, 2000000, 41152.2)]
)
def test_what_is_written_is_read_again(done, total, rate):
    line = progress_line("corpus web: lines read", done, total, done / rate)
    found = parse_line(line)
    assert found[:3] == (done, total, "rows")
    assert found.rate == pytest.approx(rate, abs=0.06)


def test_the_rows_of_batches_are_counted(monkeypatch, capsys):
    monkeypatch.setattr("workflow_scripts.core.progress.INTERVAL_SECONDS", -1)
    batches = [[1, 2, 3], [4]]
    assert list(progress(batches, 4, "read", len)) == batches
    *lines, last = capsys.readouterr().err.splitlines()
    assert [parse_line(line)[:2] for line in lines] == [(3, 4), (4, 4)]
    assert last.startswith("read: 4 rows done in ")


def test_the_time_left_is_told_once_it_has_a_base(monkeypatch, capsys):
    """The first row waits 30 seconds for a model; each of the others takes a second."""
    clock = iter([0, 30, *range(31, 60)])
    monkeypatch.setattr("workflow_scripts.core.progress.time.monotonic", lambda: next(clock))
    rows = progress(range(20), 103, "judge")
    for _ in range(13):
        next(rows)
    first, second = capsys.readouterr().err.splitlines()
    assert first == "judge: 1 of 103 rows (1%)"
    assert parse_line(first) == Progress(1, 103, "rows", 0.0)
    assert second == "judge: 11 of 103 rows (11%), 1.0/s, 0:01:32 left"


def test_a_slow_rate_is_no_zero_and_what_was_done_before_has_none():
    slow = progress_line("judge", 3, 103, 80.0)
    assert slow == "judge: 3 of 103 rows (3%), 0.037/s, 0:44:27 left"
    goes_on = progress_line("train", 60, 100, 10.0, "updates", before=50)
    assert goes_on == "train: 60 of 100 updates (60%), 1.0/s, 0:00:40 left"


def test_line_of_the_training_is_read():
    line = (
        "train forward: 1,250 of 4,500 updates (28%), 1.60/s, 33.9 min left at most, "
        "perplexity 21.28, validation 29.46"
    )
    assert parse_line(line) == Progress(1250, 4500, "updates", 1.6)


@pytest.mark.parametrize(
    "line", ["clean 0000: 16,050 rows done in 0:00:00", "error: x: 3 rows", "", "segments: many"]
)
def test_other_lines_are_none(line):
    assert parse_line(line) is None
