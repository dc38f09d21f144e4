"""Peak memory of loading a large model, and of the command lines by the number of sentences.

Usage: python -m benchmarks.bench_memory [--only loading sentences] [--small N] [--large N]

Loading: random weights in the shape of NLLB-200-distilled-600M, in a process of its own, from the
files of Hugging Face and of CTranslate2. The most anonymous memory that it ever has (RssAnon in
/proc) may be LOADING times the weights in fp32 if the file is in fp32, else the program fails.
Pages of the model's file are no such memory: the system may forget them.

Sentences: every row is a run of a command line in a process of its own, on a tiny random model
(1 layer of 16 units), so that what could grow with the sentences would show, and the weights don't.
The input is written to files first. A run with the larger number of sentences may need no more than
TOLERANCE beyond the smaller one, else the program fails.
"""

import argparse
import json
import multiprocessing
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.peers import in_ctranslate2
from tests.unit.nmt.folders import write_model
from tests.unit.nmt.random_m2m100 import NLLB_600M, loading, write_m2m100
from workflow_scripts.nmt.precision import PRECISIONS

ROOT = Path(__file__).resolve().parents[1]
PIECES = 24
TOLERANCE = 0.05
LOADING = 1.3
# Runs a module with the arguments that follow it; then prints its peak memory in kilobytes.
_WRAPPER = """
import resource, runpy, sys
sys.argv = sys.argv[1:]
try:
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)
finally:
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, file=sys.stderr)
"""


def write_inputs(folder: Path, count: int) -> None:
    """Write sentences of 1 to 6 pieces: JSON lines for translation, two files for scoring."""
    chance = random.Random(count)

    def text() -> str:
        return " ".join(f"▁{chance.randrange(4, PIECES)}" for _ in range(chance.randint(1, 6)))

    with (
        (folder / "input.jsonl").open("w", encoding="utf-8") as lines,
        (folder / "source").open("w", encoding="utf-8") as source,
        (folder / "target").open("w", encoding="utf-8") as target,
    ):
        for _ in range(count):
            sentence = text()
            lines.write(json.dumps({"text": sentence, "avoid": [text()]}) + "\n")
            source.write(sentence + "\n")
            target.write(text() + "\n")


def peak(arguments: list[str]) -> tuple[float, float]:
    """Run a module; return its peak memory in megabytes and the seconds it took."""
    start = time.monotonic()
    result = subprocess.run(
        [sys.executable, "-c", _WRAPPER, *arguments],
        cwd=ROOT,
        env=os.environ | {"OMP_NUM_THREADS": "1", "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    if result.returncode:
        raise SystemExit(f"{' '.join(arguments)}:\n{result.stderr}")
    return int(result.stderr.split()[-1]) / 1024, time.monotonic() - start


def load_a_large_model() -> None:
    """Print what memory it takes to load one.

    Raises:
        SystemExit: it is more than LOADING times the weights.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = write_m2m100(Path(name) / "model", **NLLB_600M)
        weights = (folder / "model.safetensors").stat().st_size
        print(f"weights {weights / 2**20:,.0f} MB\n{'peak MB of loading':<26}anonymous     of all")
        found = {(precision, ""): loading(folder, precision) for precision in PRECISIONS}
        for kind in ("float32", "float16", "int8"):
            target = Path(name) / kind
            # In a process of its own, which gives its memory back.
            process = multiprocessing.get_context("spawn").Process(
                target=in_ctranslate2.convert_m2m100, args=(folder, target, kind)
            )
            process.start()
            process.join()
            shutil.copy(folder / "paraloom.json", target)
            for precision in ("fp32", "int8"):
                found[precision, f", CTranslate2 {kind}"] = loading(target, precision)
            shutil.rmtree(target)
    for (precision, of), (_, anonymous, resident) in found.items():
        shares = (anonymous / weights, resident / weights)
        print(f"{precision + of:<26}{anonymous / 2**20:>9,.0f} {resident / 2**20:>10,.0f}", end="")
        print("  {:.2f} and {:.2f} times the weights".format(*shares))
    whole = [each.anonymous for (_, of), each in found.items() if not of.endswith(("16", "int8"))]
    if max(whole) > LOADING * weights:
        raise SystemExit(f"loading takes more than {LOADING} times the weights")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parts = ("loading", "sentences")
    parser.add_argument("--only", nargs="+", choices=parts, default=parts)
    parser.add_argument("--small", type=int, default=1_000)
    parser.add_argument("--large", type=int, default=100_000)
    options = parser.parse_args()
    if "loading" in options.only:
        load_a_large_model()
    if "sentences" in options.only:
        run_command_lines(options.small, options.large)


def run_command_lines(few: int, many: int) -> None:
    """Print the peak memory of each command line.

    Raises:
        SystemExit: it grows with the sentences.
    """
    grown = []
    with tempfile.TemporaryDirectory() as name:
        work = Path(name)
        model = write_model(
            work / "model", vocabulary=PIECES, longest=10, length_ratio=1.0, end_bias=3.0
        )
        common = ["--model", str(model), "--device", "cpu"]
        texts = ["--input", str(work / "input.jsonl"), "--output", str(work / "output.jsonl")]
        pairs = ["--source", str(work / "source"), "--target", str(work / "target")]
        translate = ["workflow_scripts.nmt.translate", *common, *texts]
        score = ["workflow_scripts.nmt.score_pairs", *common, *pairs]
        commands = {
            "sampling, 512 rows": [*translate, "--sample", "5", "--samples", "2"],
            # So many samples that even the small file fills the rows several times.
            "sampling, 2,048 rows": [
                *(*translate, "--sample", "5", "--samples", "20", "--batch-rows", "2048")
            ],
            "beam 4, 512 rows": [*translate, "--beam-size", "4"],
            # Pairs are read in buffers of 64 batches: a small batch, so that even the small file
            # fills one.
            "scoring, 64 positions": [*score, "--batch-tokens", "64"],
        }
        print(f"{'peak MB by sentences':<26}{few:>10,}{many:>10,}   seconds")
        peaks: dict[str, list[float]] = {what: [] for what in commands}
        seconds = dict.fromkeys(commands, 0.0)
        for count in (few, many):
            write_inputs(work, count)
            for what, command in commands.items():
                used, seconds[what] = peak(command)
                peaks[what].append(used)
    for what, (small, large) in peaks.items():
        print(f"{what:<26}{small:>10,.0f}{large:>10,.0f}{seconds[what]:>10,.0f}")
        if large > small * (1 + TOLERANCE):
            grown.append(what)
    if grown:
        raise SystemExit(f"memory grows with the sentences: {', '.join(grown)}")


if __name__ == "__main__":
    main()
