import pytest

from workflow_scripts.commands.status.run_jobs import INTERRUPTED, Job
from workflow_scripts.commands.status.units import run_status, unit_status
from workflow_scripts.stages.catalogue import linked_layout

GENERATE = ("generate", "parabank2")
CLEAN = ("clean", None)
LINE = "generate: 100 of 400 rows (25%), 5.0/s, 0:01:00 left\n"


def state_of(run, unit, jobs):
    return unit_status(linked_layout(run.folder), unit, jobs)


def counts(state):
    return state.done, state.running, state.failed, state.waiting


def test_all_wait_at_first(run):
    states = {state.name: state for state in run_status(run.folder, {})}
    assert list(states)[:2] == ["corpus.testbed_test", "corpus.testbed_dev"]
    assert counts(states["generate.parabank2"]) == (0, 0, 0, 2)
    assert counts(states["select.parabank2"]) == (0, 0, 0, 3)
    assert states["release"].seconds_left is None
    assert not any(state.finished for state in states.values())


def test_rows_of_what_is_done_are_summed(run):
    run.write_record(CLEAN, "0000", 100, 90, duplicate=7, ratio=3)
    run.write_record(CLEAN, "0001", 50, 49, duplicate=1)
    run.write_benchmark(CLEAN, "0000", 2.0)
    run.write_benchmark(CLEAN, "0001", 1.0)
    run.write_benchmark(CLEAN, "manifest", 100.0)
    state = state_of(run, CLEAN, {})
    assert counts(state) == (2, 0, 0, 0)
    assert (state.rows_in, state.rows_out) == (150, 139)
    assert state.rejected == {"duplicate": 8, "ratio": 3}
    assert (state.rate, state.seconds_left, state.share) == (50.0, 0.0, 1.0)
    assert state.finished


def test_time_left_of_a_job_at_work_and_one_that_waits(run):
    log = run.write_log(GENERATE, "0000", LINE)
    jobs = {run.part(GENERATE, "0000"): Job("running", "generate_shard", log, 1.0)}
    state = state_of(run, GENERATE, jobs)
    assert counts(state) == (0, 1, 0, 1)
    # 300 rows of its own and 400 of the other, at 5 a second.
    assert state.seconds_left == pytest.approx(140.0)
    assert (state.rate, state.unit) == (5.0, "rows")
    assert state.share == pytest.approx(0.125)


def test_two_jobs_at_work_share_the_time(run):
    jobs = {
        run.part(GENERATE, name): Job("running", "r", run.write_log(GENERATE, name, LINE), 1.0)
        for name in ("0000", "0001")
    }
    state = state_of(run, GENERATE, jobs)
    assert state.seconds_left == pytest.approx(60.0)
    assert state.rate == 10.0


def test_without_a_progress_line_no_time_is_guessed(run):
    log = run.write_log(GENERATE, "0000", "")
    state = state_of(run, GENERATE, {run.part(GENERATE, "0000"): Job("running", "r", log, 1.0)})
    assert (state.rate, state.seconds_left, state.share) == (None, None, 0.0)


def test_finished_shards_tell_how_long_the_others_take(run):
    run.write_record(GENERATE, "0000", 10, 10)
    run.write_benchmark(GENERATE, "0000", 30.0)
    assert state_of(run, GENERATE, {}).seconds_left == 30.0


@pytest.mark.parametrize("table", [b"s\th:m:s\n\0\0\n", b"h:m:s\n0:00:01\n", b"s\n\xff\n"])
def test_damaged_table_of_seconds_tells_no_speed(run, table):
    run.write_record(GENERATE, "0000", 10, 10)
    run.write_benchmark(GENERATE, "0000", 30.0)
    (path,) = (run.root / "results" / "benchmarks").rglob("0000.tsv")
    path.write_bytes(table)
    assert state_of(run, GENERATE, {}).seconds_left is None


def test_failed_job_with_its_message_and_log(run):
    log = run.write_log(GENERATE, "0001", "error: no memory; lower batch_rows\n")
    state = state_of(run, GENERATE, {run.part(GENERATE, "0001"): Job("failed", "r", log, 5.0)})
    assert counts(state) == (0, 0, 1, 1)
    (error,) = state.errors
    assert error["message"] == "no memory; lower batch_rows"
    assert error["log"] == log


def test_what_is_done_is_done_whatever_happened_before_and_what_was_interrupted_waits(run):
    jobs = {run.part(GENERATE, "0000"): Job(INTERRUPTED, "r", None, 5.0)}
    assert counts(state_of(run, GENERATE, jobs)) == (0, 0, 0, 2)
    run.write_record(GENERATE, "0000", 10, 10)
    jobs = {run.part(GENERATE, "0000"): Job("failed", "r", None, 5.0)}
    state = state_of(run, GENERATE, jobs)
    assert (counts(state), state.errors) == ((1, 0, 0, 1), [])


def test_one_job_that_makes_all_parts_is_one_error(run):
    unit = ("corpus", "testbed")
    log = run.write_log(unit, "job", "error: empty\n")
    jobs = {run.part(unit, name): Job("failed", "r", log, 1.0) for name in ("0000", "0001")}
    state = state_of(run, unit, jobs)
    assert counts(state) == (0, 0, 2, 1)
    assert len(state.errors) == 1


def test_unit_that_the_run_does_not_link_is_left_out(run):
    (run.folder / "evaluate.parabank2").unlink()
    assert "evaluate.parabank2" not in [state.name for state in run_status(run.folder, {})]
