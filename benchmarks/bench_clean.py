"""Pairs per CPU second and peak memory of the stages corpus and clean.

    python benchmarks/bench_clean.py [--pairs 20000 200000] [--shards 2] [--source F --reference F]

Without files of your own the bitext is random words, with Unicode punctuation in 15 % of the
pairs (as in news text) and 5 % duplicates. Files are repeated, with a number in every copy, up to
each size. The stages run as the workflow runs them, start-up included; plain sacremoses
normalisation of the same lines is timed next to them.
"""

import argparse
import itertools
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from sacremoses import MosesPunctNormalizer

from workflow_scripts.core.files.manifest import read_record, shard_paths

ROOT = Path(__file__).resolve().parents[1]
WORDS = 20
MOSES_LINES = 20_000


def random_pairs() -> Iterator[tuple[str, str]]:
    """Yield pairs of sentences of random words, without end."""
    generator = random.Random(1)
    vocabularies = [
        ["".join(generator.choices(letters, k=generator.randint(2, 8))) for _ in range(5000)]
        for letters in ("aábcčdeéěfhiíjklmnoprřsštuúůvyýzž", "etaoinshrdlucmfwyp")
    ]
    pair = ("", "")
    while True:
        if not pair[0] or generator.random() > 0.05:
            marks = ("„{}“ …", "“{}” – …") if generator.random() < 0.15 else ("{}.", "{}.")
            source, reference = (
                mark.format(" ".join(generator.choices(words, k=WORDS)))
                for mark, words in zip(marks, vocabularies, strict=True)
            )
            pair = (source, reference)
        yield pair


def repeated_pairs(source: Path, reference: Path) -> Iterator[tuple[str, str]]:
    """Yield the pairs of two files over and over, each copy with a number of its own."""
    for copy in itertools.count():
        with (
            source.open(encoding="utf-8", newline="\n") as left,
            reference.open(encoding="utf-8", newline="\n") as right,
        ):
            for pair in zip(left, right, strict=True):
                yield tuple(f"{line.rstrip()} {copy}" for line in pair)


def write_bitext(pairs: Iterator[tuple[str, str]], count: int, folder: Path) -> tuple[Path, Path]:
    """Write the first `count` pairs to two files."""
    paths = folder / "source.txt", folder / "reference.txt"
    left, right = (path.open("w", encoding="utf-8") for path in paths)
    with left, right:
        for source, reference in itertools.islice(pairs, count):
            left.write(f"{source}\n")
            right.write(f"{reference}\n")
    return paths


def run_stage(module: str, config: dict, *options: str | Path) -> tuple[float, float]:
    """Run a stage's command; return its CPU seconds and its peak memory in MB."""
    command = [sys.executable, "-m", module, "--config", json.dumps(config), *map(str, options)]
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{module} failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def moses_rate(paths: tuple[Path, Path]) -> float:
    """Return the pairs per second of plain sacremoses normalisation."""
    normalise = MosesPunctNormalizer().normalize
    lines = []
    for path in paths:
        with path.open(encoding="utf-8", newline="\n") as stream:
            lines += itertools.islice(stream, MOSES_LINES)
    start = time.process_time()
    for line in lines:
        normalise(line)
    return len(lines) / 2 / (time.process_time() - start)


def main() -> None:
    """Print a line per size."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pairs", type=int, nargs="+", default=[20_000, 200_000])
    parser.add_argument("--shards", type=int, default=2)
    parser.add_argument("--source", type=Path)
    parser.add_argument("--reference", type=Path)
    arguments = parser.parse_args()
    for count in arguments.pairs:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            pairs = (
                repeated_pairs(arguments.source, arguments.reference)
                if arguments.source
                else random_pairs()
            )
            paths = write_bitext(pairs, count, folder)
            block = {"source": str(paths[0]), "reference": str(paths[1])}
            config = {"name": "c", "block": block, "shards": arguments.shards}
            imported, import_memory = run_stage(
                "workflow_scripts.stages.corpus.importer",
                config | {"max_line_bytes": 20_000, "seed": 1},
                *("--output", folder / "corpus"),
            )
            config = {
                "charset": {"source": "latin-2", "reference": "latin-1"},
                **{"min_words": 1, "max_words": 100, "max_ratio": 3.0, "drop_copies": True},
                "corpora": ["c"],
            }
            outputs = shard_paths(folder / "clean", arguments.shards)
            runs = [
                run_stage(
                    "workflow_scripts.stages.clean.shard",
                    *(config, "--pairs", shard, "--output", output),
                    *("--rejected", output.parent / "rejected" / f"{output.stem}.tsv.zst"),
                )
                for shard, output in zip(
                    shard_paths(folder / "corpus", arguments.shards), outputs, strict=True
                )
            ]
            cleaned = sum(seconds for seconds, _ in runs)
            kept = sum(read_record(output)["rows_out"] for output in outputs)
            moses = moses_rate(paths)
            print(
                f"{count:,} pairs, {kept:,} kept: "
                f"import {count / imported:,.0f}/s, {import_memory:.0f} MB; "
                f"clean {count / cleaned:,.0f}/s, {max(memory for _, memory in runs):.0f} MB; "
                f"plain sacremoses {moses:,.0f}/s, clean / sacremoses "
                f"{count / cleaned / moses:.2f}",
                flush=True,
            )


if __name__ == "__main__":
    main()
