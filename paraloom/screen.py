"""The screen of `paraloom run --brief`: a line for each stage in place of Snakemake's lines.

Snakemake's own lines are in the log that it always writes, those of its jobs in theirs.
"""

import re
import signal
import subprocess
import sys
import time
from collections import Counter, deque
from collections.abc import Iterable

from tqdm import tqdm

from workflow_scripts.core.progress import duration, parse_line

# What Snakemake prints: how many jobs of a rule there are, one that begins, and one that is done.
_COUNT = re.compile(r"(\w+) +(\d+)$")
# Jobs of a group stand indented.
_BEGUN = re.compile(r" *(?:local)?rule (\w+):$")
_DONE = re.compile(r"Finished jobid: \d+ \(Rule: (\w+)\)$")
# The stage of a rule, in front of the rest of its name.
_STAGE = re.compile(r"(dual_filter|[^_]+)\w*")
# Jobs that ask a model take some ten times as long as the others.
_LONG = re.compile("train_|dual_filter_s|generate_s|score_|judge_|embed_train|rewrite_|encoder_")
# Of what Snakemake and its jobs say, what is for the user at once; errors are told at the end.
_FOR_USER = ("note: ", "warning: ")
_FAILED = re.compile(r"[\d,]+ jobs? failed:$")
# Of the jobs that failed, ten are told of by two lines each (status.run_jobs).
_SHOWN = 40
_BAR = "{desc:22}{percentage:3.0f}% |{bar:20}| {elapsed} gone, {remaining} left{postfix}"


def watch(command: list[str]) -> int:
    """Start Snakemake, show how far it is, and return its status.

    Where it fails the end of what it said is shown, from the jobs that failed.
    """
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    # Ctrl-C reaches it as well; a signal to this process alone does not.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    last = deque[str](maxlen=_SHOWN)
    assert process.stdout is not None
    shown = show(process.stdout, last)
    status = process.wait()
    if status or not shown:
        print("\n".join(last), file=sys.stderr)
    return status if status >= 0 else 128 - status


def show(lines: Iterable[str], last: deque[str]) -> bool:
    """Show how far a run is by Snakemake's lines; return whether a job was done.

    On a terminal there is a bar, with the job that began last and the time left. A stage has a line
    when the last of its jobs that were planned is done. The last lines come into `last`.
    """
    begun = time.monotonic()
    waiting, done = Counter[str](), Counter[str]()
    planned = False
    with tqdm(bar_format=_BAR, smoothing=0, disable=None, leave=False) as bar:
        for line in map(str.rstrip, lines):
            if line.startswith(_FOR_USER):
                bar.write(line, file=sys.stderr)
                continue
            if _FAILED.match(line):
                last.clear()
            if line:
                last.append(line)
            if line == "Job stats:":
                planned = True
            elif planned and (found := _COUNT.match(line)):
                if planned := found[1] != "total":
                    waiting[_STAGE.sub(r"\1", found[1])] += int(found[2])
                    bar.total = (bar.total or 0) + int(found[2]) * _weight(found[1])
            elif found := _BEGUN.match(line):
                bar.set_description_str(found[1].replace("_", " "))
            elif found := _DONE.match(line):
                stage = _STAGE.sub(r"\1", found[1])
                done[stage] += 1
                bar.update(_weight(found[1]))
                if done[stage] == waiting[stage] and stage not in ("manifest", "all"):
                    jobs = "job" if done[stage] == 1 else "jobs"
                    after = duration(time.monotonic() - begun)
                    bar.write(f"{stage:12}{done[stage]:4} {jobs}, after {after}", file=sys.stderr)
            elif parse_line(line):
                bar.set_postfix_str(line)
    return bool(done)


def _weight(rule: str) -> int:
    return 10 if _LONG.match(rule) else 1
