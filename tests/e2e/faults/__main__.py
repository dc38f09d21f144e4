"""All faults, one after another, on the micro run; prints a table of their outcomes.

python -m tests.e2e.faults [--seed N]

The moments of kills, the sizes of disks and the damaged files are drawn from the seed, and printed.
The exit status is 1 if any outcome is not what it should be.
"""

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from tests.e2e import micro
from tests.e2e.faults import damage, disk, kills, memory, power
from tests.e2e.faults.undisturbed import STAGES, TRAINED, Event, Undisturbed
from tests.e2e.pipeline import Pipeline


def all_faults(undisturbed: Undisturbed, folder: Path, seed: str) -> Iterator[Event]:
    """Yield the outcome of every fault.

    Args:
        undisturbed: the finished run.
        folder: for the disturbed runs.
        seed: of all draws.
    """
    for number, stages in enumerate(kills.SERIES):
        name = f"kills{number}"
        yield from guarded(
            name, kills.series(undisturbed, folder / name, stages, f"{seed}.{number}")
        )
    if disk.obstacle() is None:
        for place, done in ((disk.RESULTS, ()), (disk.ALL, TRAINED)):
            name = f"disk full ({place})"
            yield from guarded(name, disk.fill(undisturbed, folder / name, seed, done, place))
    yield from guarded("memory", memory.run_out(undisturbed, folder / "memory"))
    if power.obstacle() is None:
        yield from guarded("power cuts", power.cut(undisturbed, folder / "power", seed))
    yield from guarded("damage", damage.ruin(undisturbed, folder / "damage", seed))


def guarded(name: str, events: Iterator[Event]) -> Iterator[Event]:
    """Yield the events; if the run fails, yield that as an event, so that the others go on."""
    start = time.monotonic()
    try:
        yield from events
    except Exception:
        traceback.print_exc()
        yield Event(name, "unknown", "THE RUN FAILED", time.monotonic() - start, False)


def table(events: list[Event]) -> str:
    """Return one line per fault and outcome: how often it hit which stage, and the mean seconds."""
    lines = ["| fault | stages hit | times | outcome | seconds each |", "|---|---|---|---|---|"]
    for key in dict.fromkeys((event.fault, event.outcome) for event in events):
        same = [event for event in events if (event.fault, event.outcome) == key]
        stages = Counter(event.stage for event in same)
        order = sorted(stages, key=lambda stage: (stage in STAGES, (*STAGES, stage).index(stage)))
        where = ", ".join(f"{stage} {stages[stage]}" for stage in order)
        seconds = sum(event.seconds for event in same) / len(same)
        lines.append(f"| {key[0]} | {where} | {len(same)} | {key[1]} | {seconds:.0f} |")
    return "\n".join(lines)


def main() -> int:
    """Run all faults, print the table, and return the exit status."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seed", default="1")
    seed = parser.parse_args().seed
    start = time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        config = micro.config(micro.write_bitext(folder / "bitext"))
        pipeline = Pipeline(folder / "undisturbed", config)
        pipeline.run()
        print(f"the undisturbed run took {time.monotonic() - start:.0f} s", flush=True)
        events = []
        for event in all_faults(Undisturbed(pipeline), folder, seed):
            if not event.right or event.outcome != power.SOUND:  # of which there are thousands
                print(f"{event.fault} in {event.stage}: {event.outcome}", flush=True)
            events.append(event)
    print(table(events))
    if disk.obstacle():
        print(f"NO FULL DISK WAS TRIED: {disk.obstacle()}")
    if power.obstacle():
        print(f"NO POWER CUT WAS TRIED: {power.obstacle()}")
    wrong = [event for event in events if not event.right]
    killed = sum(event.fault.startswith("`kill") for event in events)
    print(
        f"{len(events)} faults, {killed} of them kills, seed {seed}, "
        f"{time.monotonic() - start:.0f} s: {len(wrong)} wrong"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
