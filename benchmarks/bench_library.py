"""What the library costs: import, first answer, one text, many, memory.

Usage: python -m benchmarks.bench_library [--texts 128] [--memory 2000]
    [--only start speed busy threads memory]

`start`: CPU-seconds of `import paraloom`, and of a new process to its first answer.
`speed`: texts per CPU-second of a `Paraphraser`, and of the pipeline's own code on the same texts:
the search that writes sources, then generate, score and judge on a row for each written source.
`busy`: CPU-seconds of a call with one text, alone and beside three processes that never wait.
`threads`: seconds by the clock of 30 texts, by one thread and by two; of a machine that is idle.
`memory`: of the process after 200 texts, and after all.

Texts are real ones (English sentences of Tatoeba; without PARALOOM_DATA those of the demo).
"""

import argparse
import subprocess
import sys
import time
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import psutil
from tabulate import tabulate

from benchmarks.bench_students import DATA, TEXTS, folder

EARLY = 200
_PARTS = ("start", "speed", "busy", "threads", "memory")
# Busy processes, calls beside them, texts by the clock.
_BUSY, _CALLS, _TOGETHER = 3, 5, 30
_DEMO = Path(__file__).resolve().parents[1] / "demo" / "tatoeba.por-eng.tsv"
_IMPORT = "import time; t = time.process_time(); import paraloom; print(time.process_time() - t)"
_FIRST = """
import time
import paraloom
assert paraloom.Paraphraser("en")("Will you do me a favor?")
print(time.process_time())
"""


def texts() -> list[str]:
    """Return distinct English sentences."""
    real = DATA / TEXTS["Tatoeba"][0]
    table = real if real.is_file() else _DEMO
    lines = table.read_text(encoding="utf-8").splitlines()
    return list(dict.fromkeys(line.split("\t")[1] for line in lines))


def cpu_seconds(code: str) -> float:
    """Return what a Python process prints, the best of three."""
    command = [sys.executable, "-c", code]
    runs = (subprocess.run(command, capture_output=True, check=True) for _ in range(3))
    return min(float(run.stdout) for run in runs)


def library_speed(sentences: list[str]) -> float:
    """Return the texts per CPU-second of a `Paraphraser`."""
    import paraloom

    paraphraser = paraloom.Paraphraser("en")
    list(paraphraser(sentences[:32]))  # warm
    started = time.process_time()
    found = list(paraphraser(iter(sentences)))
    assert len(found) == len(sentences)
    return len(sentences) / (time.process_time() - started)


def pipeline_speed(sentences: list[str]) -> float:
    """Return the texts per CPU-second of the pipeline's code, by the same search."""
    import torch

    from paraloom import Search
    from workflow_scripts.encoding.sentence_vectors import encoder_folder, load_encoder
    from workflow_scripts.nmt.beam import BeamRequest, translate
    from workflow_scripts.nmt.loaders import load_model
    from workflow_scripts.nmt.pieces import raw_coders
    from workflow_scripts.stages.generate.candidates import generate
    from workflow_scripts.stages.generate.pool import Reading
    from workflow_scripts.stages.generate.variants import set_maker
    from workflow_scripts.stages.judge.bench import Bench
    from workflow_scripts.stages.judge.features import Models
    from workflow_scripts.stages.judge.grammar.grammar_model import Grammar
    from workflow_scripts.stages.judge.judge import Judge
    from workflow_scripts.stages.judge.shard import judge_stream
    from workflow_scripts.stages.score.shard import score_stream
    from workflow_scripts.stages.subword.segmenter import Segmenter

    torch.set_num_threads(1)  # as the jobs of the stages have it
    search = Search()
    there, back = (
        load_model(folder(way), "cpu", "int8", shortlist=True) for way in ("en-pt", "pt-en")
    )
    reader, writer = raw_coders(there)
    assert there.source_spm and there.target_spm
    english, other = Segmenter(there.source_spm), Segmenter(there.target_spm)
    bench = Bench(
        Judge.load("default"), Models(load_encoder(encoder_folder()), Grammar.load("english"))
    )
    block = {"method": "beam", "beam_size": search.beam, "nbest": search.beam}
    config = {"search": block, "seed": 1}

    def read(chosen: list[str]) -> Iterator[Reading]:
        written = translate(
            there,
            (BeamRequest(reader.encode(text)) for text in chosen),
            beam_size=search.source_beam,
            nbest=search.sources,
            batch_rows=search.batch_rows,
        )
        for number, (text, found) in enumerate(zip(chosen, written, strict=True)):
            for output in found.outputs:
                source = writer.decode(output)
                row = {"id": str(number), "source": source, "reference": text, "corpus": "bench"}
                yield Reading(row, source, "bench", row["id"])

    def judged(chosen: list[str]) -> int:
        sets = set_maker(None, 1, english.pieces, None)
        generated = generate(read(chosen), back, other, english, sets, config, search.batch_rows)
        scored = score_stream((row for row, _ in generated), there, english, other, None, 4096)
        return sum(1 for _ in judge_stream(scored, None, bench))

    judged(sentences[:32])  # warm
    started = time.process_time()
    assert judged(sentences) > len(sentences)
    return len(sentences) / (time.process_time() - started)


def one_text(sentences: list[str]) -> tuple[float, float]:
    """Return the CPU-seconds of a call with one text: alone, and beside busy processes."""
    import paraloom

    paraphraser = paraloom.Paraphraser("en")
    list(paraphraser(sentences[:_CALLS]))  # warm

    def call() -> float:
        started = time.process_time()
        for sentence in sentences[:_CALLS]:
            paraphraser(sentence)
        return (time.process_time() - started) / _CALLS

    alone = call()
    command = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(command) for _ in range(_BUSY)]
    try:
        return alone, call()
    finally:
        for other in others:
            other.kill()
            other.wait()


def by_the_clock(sentences: list[str]) -> list[float]:
    """Return the seconds that texts take by one thread and by two, the best of three in turns."""
    import paraloom

    both = [paraloom.Paraphraser("en", threads=threads) for threads in (1, 2)]
    taken: list[list[float]] = [[], []]
    for _ in range(3):
        for paraphraser, seconds in zip(both, taken, strict=True):
            started = time.perf_counter()
            list(paraphraser(sentences[:_TOGETHER]))
            seconds.append(time.perf_counter() - started)
    return [min(seconds) for seconds in taken]


def memory(sentences: list[str], count: int) -> tuple[float, float]:
    """Return the megabytes of this process after `EARLY` texts and after `count`."""
    import paraloom

    process, early = psutil.Process(), 0.0
    stream = paraloom.Paraphraser("en")(islice(cycle(sentences), count), n=1)
    for number, _ in enumerate(stream, start=1):
        if number == EARLY:
            early = process.memory_info().rss / 1e6
    return early, process.memory_info().rss / 1e6


def main() -> None:
    """Measure, and print what was asked for."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--texts", type=int, default=128)
    parser.add_argument("--memory", type=int, default=2000)
    parser.add_argument("--only", nargs="+", choices=_PARTS)
    arguments = parser.parse_args()
    wanted = arguments.only or _PARTS
    sentences = texts()
    rows: list[list[object]] = []
    # First, as the memory of the other measurements would stay.
    if "memory" in wanted:
        early, late = memory(sentences, arguments.memory)
        rows.append([f"memory after {EARLY} texts, MB", early])
        rows.append([f"memory after {arguments.memory:,} texts, MB", late])
        rows.append(["their ratio (at most 1.05)", late / early])
    if "start" in wanted:
        rows.append(["import paraloom, CPU-seconds (at most 0.3)", cpu_seconds(_IMPORT)])
        rows.append(["first answer, CPU-seconds (at most 4)", cpu_seconds(_FIRST)])
    if "speed" in wanted:
        chosen = sentences[: arguments.texts]
        library, pipeline = library_speed(chosen), pipeline_speed(chosen)
        rows.append(["library, texts per CPU-second", library])
        rows.append(["pipeline, texts per CPU-second", pipeline])
        rows.append(["their ratio (at least 0.9)", library / pipeline])
    if "busy" in wanted:
        alone, beside = one_text(sentences)
        rows.append(["one text, CPU-seconds", alone])
        rows.append([f"beside {_BUSY} busy processes (at most 1.2)", beside])
        rows.append(["their ratio (at most 1.5)", beside / alone])
    if "threads" in wanted:
        one, two = by_the_clock(sentences)
        rows.append([f"{_TOGETHER} texts, seconds by one thread", one])
        rows.append(["by two", two])
    print(tabulate(rows, ["what", "measured"], floatfmt=".3f", tablefmt="pipe"))


if __name__ == "__main__":
    main()
