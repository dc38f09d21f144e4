"""Make `tests/data/nmt_oracle`: a small Sockeye model, and what Sockeye itself says with it.

python -m tests.data.make_nmt_oracle      (some three minutes on one core)

All text comes from the testbed. Sockeye's own programs train the model, translate and score; no
code of our search core takes part. The README beside this file describes what is written.
"""

import argparse
import itertools
import json
import os
import random
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import torch

from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.subword.train import train_model
from workflow_scripts.testbed.generate import items

SEED = 1
# Numbers of meanings, as in config.yaml: no text of the cases is trained on.
TRAIN, DEV, SEARCH, SCORE = (0, 12_000), (200_000, 200), (300_000, 44), (310_000, 100)
REALISATIONS = 2
SYMBOLS = ("<pad>", "<unk>", "<s>", "</s>")  # Sockeye wants them first, in this order.
# As many on either side, so that tests may swap the sides.
PIECES = 1200
MAX_PIECES = 60
# The number of hypotheses of a search and of its n-best list. The first has no suffix in its file.
BEAMS = (10, 1, 4)
# Whose n-best list the cases of a kind come from. A search that is told what must appear divides
# its beam of 10 among hypotheses with nothing of it, a part and all of it: two or three banks, as
# wanted phrases have one or two pieces. So it is compared with a plain beam of a bank's width.
CONSTRAINED = {"negative_single": 10, "negative_phrase": 10, "positive": 4, "both": 4}
# Where weights changed by this share, at random, give another translation, so might other rounding.
NOISE = 1e-4
# Beside the testbed: one word, unknown characters, and sentences too long for the grammar.
ODD = (
    "Ano.",
    "Pes.",
    "ξ ψ ω.",
    "Muž ξ spí.",
    "Muž spí a muž spí a muž spí a muž spí a muž spí a muž spí.",
    "Kluk rozbíjel hrnek. Šéfové chápou podivnou odpověď. V poledne muži odpočívají.",
)
SHAPE = {
    **{"num-layers": "2:2", "transformer-model-size": 64},
    **{"transformer-feed-forward-num-hidden": 256, "transformer-attention-heads": 4},
    **{"transformer-dropout-prepost": "0:0", "transformer-dropout-attention": "0:0"},
    **{"transformer-dropout-act": "0:0", "weight-tying-type": "trg_softmax"},
}
TRAINING = {
    **{"batch-type": "word", "batch-size": 1024, "label-smoothing": 0.1},
    **{"initial-learning-rate": 0.003, "learning-rate-warmup": 100},
    **{"learning-rate-scheduler-type": "linear-decay", "max-updates": 2400},
    **{"checkpoint-interval": 400, "decode-and-evaluate": 0, "keep-last-params": 1},
}
MODEL_FILES = ("config", "params.best", "vocab.src.0.json", "vocab.trg.0.json", "version")

Case = dict[str, Any]


def sockeye(program: str, folder: Path, options: dict[str, Any], *flags: str) -> None:
    """Run one of Sockeye's programs in `folder`, on one thread.

    Raises:
        SystemExit: it failed; what it printed is shown.
    """
    words = [str(word) for name, value in options.items() for word in (f"--{name}", value)]
    command = [sys.executable, "-m", f"sockeye.{program}", *words, *flags, "--no-logfile"]
    environment = os.environ | {"OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"sockeye.{program} failed:\n{done.stderr}")


def write_lines(path: Path, lines: Iterable[str]) -> None:
    path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8", newline="\n")


def write_json_lines(path: Path, lines: Iterable[Case]) -> None:
    write_lines(path, (json.dumps(line, ensure_ascii=False) for line in lines))


def read_json_lines(path: Path) -> list[Case]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def texts(meanings: tuple[int, int], realisations: int = 1) -> dict[str, list[str]]:
    """Return the two sides of testbed pairs."""
    found = list(items(SEED, *meanings, realisations=realisations))
    return {"cs": [item.source for item in found], "en": [item.reference for item in found]}


def train(work: Path) -> dict[str, Segmenter]:
    """Train the sub-word models and then Sockeye's; return the segmenters by language."""
    corpora = {"train": texts(TRAIN, REALISATIONS), "dev": texts(DEV)}
    segmenters = {}
    settings = {"model_type": "bpe", "vocab_size": PIECES, "coverage": 1.0, "split_digits": True}
    for language in ("cs", "en"):
        path = work / f"spm.{language}.model"
        path.write_bytes(train_model(corpora["train"][language], settings))
        segmenters[language] = Segmenter(path)
        for name, sides in corpora.items():
            lines = (" ".join(segmenters[language].pieces(text)) for text in sides[language])
            write_lines(work / f"{name}.{language}", lines)
        entries = (*SYMBOLS, *segmenters[language].vocabulary())
        vocabulary = {piece: number for number, piece in enumerate(entries)}
        text = json.dumps(vocabulary, ensure_ascii=False, indent=0)
        (work / f"vocabulary.{language}.json").write_text(text, encoding="utf-8")
    preparation = {
        "source": "train.cs",
        "target": "train.en",
        "source-vocab": "vocabulary.cs.json",
        "target-vocab": "vocabulary.en.json",
        "bucket-width": 4,
        "max-seq-len": f"{MAX_PIECES}:{MAX_PIECES}",
        "output": "prepared",
    }
    sockeye("prepare_data", work, preparation)
    data = {
        **{"prepared-data": "prepared", "validation-source": "dev.cs"},
        **{"validation-target": "dev.en", "output": "model", "seed": SEED},
    }
    sockeye("train", work, data | SHAPE | TRAINING, "--use-cpu")
    return segmenters


def add_noise(work: Path) -> None:
    """Write `noisy`: the model with every weight changed a little."""
    shutil.copytree(work / "model", work / "noisy")
    path = work / "noisy" / "params.best"
    weights = torch.load(path, weights_only=True)
    generator = torch.Generator().manual_seed(SEED)
    for name, values in weights.items():
        if values.is_floating_point():
            noise = torch.randn(values.shape, generator=generator)
            weights[name] = values * (1 + NOISE * noise)
    torch.save(weights, path)


def search(work: Path, model: str, cases: Sequence[Case], beam: int) -> list[Case]:
    """Return Sockeye's translations, one sentence at a time: so no padding takes part."""
    write_json_lines(work / "search.jsonl", cases)
    options = {
        **{"models": model, "input": "search.jsonl", "output": "found.jsonl"},
        **{"output-type": "json", "beam-size": beam, "nbest-size": beam, "batch-size": 1},
    }
    sockeye("translate", work, options, "--json-input", "--use-cpu")
    return read_json_lines(work / "found.jsonl")


def plain_cases(work: Path, segmenter: Segmenter) -> tuple[list[Case], dict[int, list[Case]]]:
    """Return the cases without constraints, and Sockeye's n-best lists of each by beam size.

    A case is left out if a little noise in the weights changes a translation or their order.
    """
    sources = dict.fromkeys((*texts(SEARCH)["cs"], *ODD))
    cases = [{"text": " ".join(segmenter.pieces(text))} for text in sources]
    add_noise(work)
    found = {beam: search(work, "model", cases, beam) for beam in BEAMS}
    noisy = {beam: search(work, "noisy", cases, beam) for beam in BEAMS}
    clear = [
        number
        for number in range(len(cases))
        if all(
            found[beam][number].get(key) == noisy[beam][number].get(key)
            for beam in BEAMS
            for key in ("translation", "translations")
        )
    ]
    print(f"{len(cases)} sentences, {len(cases) - len(clear)} left out", file=sys.stderr)
    chosen = {beam: [lines[number] for number in clear] for beam, lines in found.items()}
    return [cases[number] for number in clear], chosen


def contains(translation: str, phrase: str) -> bool:
    """Say whether all pieces of a phrase stand in a translation, side by side."""
    return f" {phrase} " in f" {translation} "


def best_allowed(line: Case, constraints: Sequence[str], avoid: Sequence[str]) -> Case | None:
    """Return the best of an n-best list that meets the constraints, or None."""
    for translation, [score] in zip(line["translations"], line["scores"], strict=True):
        if all(contains(translation, phrase) for phrase in constraints) and not any(
            contains(translation, phrase) for phrase in avoid
        ):
            return {"score": score, "translation": translation}
    return None


def phrases(translation: str, length: int, draw: random.Random) -> list[str]:
    """Return the phrases of so many pieces, in random order."""
    pieces = translation.split()
    found = [" ".join(pieces[start:][:length]) for start in range(len(pieces) - length + 1)]
    return draw.sample(found, len(found))


def words(translation: str, draw: random.Random) -> list[str]:
    """Return the words of one or two pieces, in random order: what a user asks for is a word."""
    found = re.findall(r"(?<!\S)▁\w+(?: \w+)?(?!\S)(?! \w)", translation)
    return draw.sample(found, len(found))


def constrained_cases(lines: Sequence[Case], kind: str) -> list[tuple[Case, Case]]:
    """Return cases of one kind, each with the best of Sockeye's plain n-best list that meets them.

    Sockeye 3 has no constraints. But if a hypothesis of its plain search happens to meet them, a
    search that is told of them should find one as good. What is avoided stands in the best
    translation, the word that is wanted does not.
    """
    draw = random.Random(f"{SEED} {kind}")
    chosen = []
    for line in lines:
        best, *others = line["translations"]
        length = 2 if kind == "negative_phrase" else 1
        avoided = [[phrase] for phrase in phrases(best, length, draw)]
        if kind == "negative_single":
            avoided = [[*one, *other] for one, other in itertools.pairwise(avoided)]
        wanted = [
            [phrase]
            for other in draw.sample(others, len(others))
            for phrase in words(other, draw)
            if not contains(best, phrase)
        ]
        if kind == "positive":
            avoided = [[]]
        elif kind != "both":
            wanted = [[]]
        for constraints, avoid in itertools.product(wanted, avoided):
            expected = best_allowed(line, constraints, avoid)
            if expected:
                case = {"text": line["text"], "constraints": constraints, "avoid": avoid}
                chosen.append(({key: value for key, value in case.items() if value}, expected))
                break
    return chosen


def score_cases(segmenters: dict[str, Segmenter]) -> dict[str, list[str]]:
    """Return pairs to score: testbed pairs; every fourth has the reference of the next pair."""
    sides = texts(SCORE)
    references = sides["en"]
    for number in range(0, len(references) - 1, 4):
        references[number] = references[number + 1]
    return {
        language: [" ".join(segmenters[language].pieces(text)) for text in sides[language]]
        for language in sides
    }


def write_cases(work: Path, folder: Path, segmenters: dict[str, Segmenter]) -> None:
    """Write all cases with Sockeye's results."""
    cases, found = plain_cases(work, segmenters["cs"])
    write_json_lines(folder / "plain.jsonl", cases)
    for beam, lines in found.items():
        suffix = "" if beam == BEAMS[0] else f".beam{beam}"
        write_json_lines(folder / f"plain{suffix}.sockeye3.jsonl", lines)
    for kind, beam in CONSTRAINED.items():
        chosen = constrained_cases(found[beam], kind)
        print(f"{len(chosen)} cases of {kind}", file=sys.stderr)
        write_json_lines(folder / f"{kind}.jsonl", (case for case, _ in chosen))
        write_json_lines(folder / f"{kind}.sockeye3.jsonl", (best for _, best in chosen))
    for language, lines in score_cases(segmenters).items():
        write_lines(folder / f"score.{language}", lines)
    files = {"source": folder / "score.cs", "target": folder / "score.en"}
    output = {"model": "model", "output": folder / "score.sockeye3.txt", "batch-size": 100}
    sockeye("score", work, files | output, "--use-cpu")


def make(work: Path, output: Path) -> None:
    """Train in `work`; then write `output`, in place of what was there."""
    segmenters = train(work)
    unfinished = work / "nmt_oracle"
    (unfinished / "model").mkdir(parents=True)
    for name in MODEL_FILES:
        shutil.copyfile(work / "model" / name, unfinished / "model" / name)
    for language, segmenter in segmenters.items():
        shutil.copyfile(segmenter.path, unfinished / f"spm.{language}.model")
    (unfinished / "cases").mkdir()
    write_cases(work, unfinished / "cases", segmenters)
    shutil.rmtree(output, ignore_errors=True)
    shutil.copytree(unfinished, output)


def main(argv: list[str] | None = None) -> None:
    """Make the oracle in a temporary folder, then put it where it belongs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    default = Path(__file__).with_name("nmt_oracle")
    parser.add_argument("--output", type=Path, default=default, help="replaced (nmt_oracle)")
    output = parser.parse_args(argv).output
    with tempfile.TemporaryDirectory() as work:
        make(Path(work), output.resolve())


if __name__ == "__main__":
    main()
