"""Pairs a second of the stage `lexicon`, its memory and its files, on one core.

    python benchmarks/bench_lexicon.py [--pairs 100000] [--text FILE] [--folder FOLDER]

The text is a training set (pairs.parquet), whose pairs are repeated: of each copy, one word in ten
is another one of the text, drawn by the seed, and one in a hundred is a new one, so that the
counts grow as those of new text do. Without --text the pairs are drawn as in bench_filter.py. Each
of the three jobs is a process of its own; the memory is the most that it held.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq

from benchmarks.bench_filter import make_pairs
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.parquet import TableWriter, read_rows
from workflow_scripts.core.files.rows import TrainingPairRow

CHANGED, NEW = 0.1, 0.01
DRAWN = 50_000
WORDS = {"max_tokens": 30, "min_count": 2, "sample": 500_000}
COUNTS = {"max_tokens": 30, "max_words": 3}
ENTRIES = {"min_count": 2, "attested": True}


def varied(pairs: list[tuple[str, str]], count: int) -> Iterator[tuple[str, str]]:
    """Yield `count` pairs: those given, and then copies with other words."""
    random = np.random.default_rng(1)
    words = [word for pair in pairs for text in pair for word in text.split()]
    made = 0
    for copy in range(-(-count // len(pairs))):
        for pair in pairs[: count - made]:
            made += 1
            if not copy:
                yield pair
                continue
            changed: dict[str, str] = {}
            for word in dict.fromkeys(" ".join(pair).split()):
                chance = random.random()
                if chance < NEW:
                    changed[word] = f"new{int(random.integers(count))}"
                elif chance < CHANGED:
                    changed[word] = words[int(random.integers(len(words)))]
            one, other = (
                " ".join(changed.get(word, word) for word in text.split()) for text in pair
            )
            yield one, other


def write_pairs(text: Path | None, count: int, path: Path) -> None:
    """Write a training set with its record."""
    if text:
        rows = read_rows(text, TrainingPairRow, ["reference", "paraphrase"])
        pairs = [(row["reference"], row["paraphrase"]) for row in rows]
    else:
        pairs = make_pairs(min(count, DRAWN), 12, 1)
    with TableWriter(path, TrainingPairRow) as writer:
        for number, (one, other) in enumerate(varied(pairs, count)):
            writer.write({"id": f"t:{number}", "reference": one, "paraphrase": other})
    write_record(path, count, count, {})


def timed(module: str, *words: object) -> dict[str, float]:
    """Run a job; return its CPU-seconds and the most memory that it held, in MB."""
    command = [sys.executable, "-m", f"workflow_scripts.stages.lexicon.{module}", *map(str, words)]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status:
        raise RuntimeError(f"{module} failed")
    seconds = usage.ru_utime + usage.ru_stime
    return {"cpu_seconds": round(seconds, 1), "memory_mb": usage.ru_maxrss // 1024}


def main() -> None:
    """Print what each job took, pairs a second of all, and the sizes of their files, as JSON."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--text", type=Path, help="pairs.parquet")
    parser.add_argument("--folder", type=Path, help="for the files; it is kept")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = arguments.folder or Path(temporary)
        pairs = folder / "pairs.parquet"
        folder.mkdir(parents=True, exist_ok=True)
        if not pairs.with_suffix(".json").exists():
            write_pairs(arguments.text, arguments.pairs, pairs)
        sets = ("--training-sets", pairs)
        words, counts, made = (folder / name for name in ("words", "counts", "lexicon"))
        file = ("--output", words / "words.parquet")
        found = {"words": timed("words", "--config", json.dumps(WORDS), *sets, *file)}
        known = ("--words", words)
        shards = ("--shards", 1)
        file = ("--output", counts / "0000.parquet")
        found["count"] = timed(
            "count", "--config", json.dumps(COUNTS), *sets, *known, *shards, *file
        )
        options = ("--counts", counts, *shards, "--output", made)
        found["entries"] = timed("entries", "--config", json.dumps(ENTRIES), *known, *options)
        seconds = sum(each["cpu_seconds"] for each in found.values())
        rows = pq.read_metadata(made / "lexicon.parquet").num_rows
        sizes = {
            each.name: sum(file.stat().st_size for file in each.iterdir()) >> 20
            for each in (words, counts, made)
        }
        whole = {
            "pairs_a_second": round(arguments.pairs / seconds),
            "rows": rows,
            "files_mb": sizes,
        }
        print(json.dumps({"pairs": arguments.pairs, **found, **whole}))


if __name__ == "__main__":
    main()
