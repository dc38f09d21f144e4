"""A selection of the faults that `make test-faults` tries: a kill in each stage, and others."""

import random

import pytest

from tests.e2e.faults import damage, disk, kills, memory, power
from tests.e2e.faults.__main__ import table
from tests.e2e.faults.undisturbed import STAGES, Event, Undisturbed
from tests.e2e.faults.volume import CRASHES

pytestmark = pytest.mark.e2e

BEFORE = STAGES[: STAGES.index("evaluate")]


@pytest.fixture(scope="module")
def undisturbed(finished) -> Undisturbed:
    return Undisturbed(finished)


def check(events: list[Event], least: int) -> None:
    assert len(events) >= least
    assert all(event.right for event in events), table(events)


@pytest.mark.rest
def test_run_that_is_killed_at_random_in_each_stage_ends_with_the_same_bytes(undisturbed, tmp_path):
    check(list(kills.series(undisturbed, tmp_path / "run", STAGES, "1")), len(STAGES))


def test_planned_kills_are_enough_and_spread():
    planned = [
        kill for stages in kills.SERIES for seed in "12" for kill in kills.planned(stages, seed)
    ]
    assert len(planned) >= 2 * 30
    assert {kill.stage for kill in planned} == set(STAGES)
    assert {kill.victim for kill in planned} == set(kills.VICTIMS)


@pytest.mark.rest
def test_full_disk_is_explained_and_the_same_command_goes_on(undisturbed, tmp_path):
    if disk.obstacle():
        pytest.skip(disk.obstacle())
    check(list(disk.fill(undisturbed, tmp_path / "run", "1", BEFORE, disk.ALL, most=4)), 4)


@pytest.mark.rest
def test_half_the_device_memory_changes_next_to_nothing(undisturbed, tmp_path):
    target = ("score",)
    check(list(memory.run_out(undisturbed, tmp_path / "run", beam=False, target=target)), 2)


@pytest.mark.rest
def test_damaged_files_are_found_and_what_is_said_to_do_helps(undisturbed, tmp_path):
    events = list(damage.ruin(undisturbed, tmp_path / "run", "1", ("score", "evaluate")))
    check(events, 4)  # data and a record of each stage
    assert {event.outcome for event in events} == {"found, same bytes"}


@pytest.fixture
def logger_runs():
    if power.obstacle():
        pytest.skip(power.obstacle())


@pytest.mark.rest
@pytest.mark.usefixtures("logger_runs")
def test_run_goes_on_after_power_cuts_with_the_same_bytes(undisturbed, tmp_path):
    events = list(power.cut(undisturbed, tmp_path / "run", "1", BEFORE, cuts=12, runs=2))
    check(events, 12 * len(CRASHES) + 2)


@pytest.mark.rest
@pytest.mark.usefixtures("logger_runs")
def test_power_cuts_find_what_is_not_synced(undisturbed, tmp_path):
    _, recording = power.logged(undisturbed, tmp_path / "run", BEFORE)
    moments = power.spread(len(recording.operations), 50, random.Random(1))

    def faults(left_out):
        operations = [each for each in recording.operations if not left_out(each)]
        changed = recording._replace(operations=operations)
        found = power.checked(changed, [each for each in moments if each < len(operations)], "1")
        return {fault.rpartition(" ")[2] for *_, broken in found for fault in broken}

    assert not faults(lambda operation: False)
    # Data that is renamed before it is on disk.
    assert "bytes" in faults(lambda operation: operation.kind == "s" and "tmp" in operation.path)
