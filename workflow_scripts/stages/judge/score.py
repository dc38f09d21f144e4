"""Prints how probable it is that each paraphrase is good: one number a line, higher is better.

The judge `default` is that of `--language`, and without it the English one, which needs the texts
alone; NLLs that are given make it better.
NLL files have one number a line, in nats per token, and an empty line where it is unknown.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.device import choose_device
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.raw import coders
from workflow_scripts.nmt.scoring import score
from workflow_scripts.plan.catalogues.judges import DEFAULT
from workflow_scripts.plan.catalogues.pair_features import ENGLISH
from workflow_scripts.stages.judge.bench import with_comparison
from workflow_scripts.stages.judge.known_pairs import Numbers, Pairs
from workflow_scripts.stages.judge.opened import judge_of, missing, models_of, not_english, scores
from workflow_scripts.stages.judge.rated_pairs import nll_of


def read_texts(path: Path) -> list[str]:
    """Return the lines of a file.

    Raises:
        InputError: a line is empty.
    """
    lines = list(read_lines(path))
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            raise InputError(
                f"{path}, line {number} is empty; a pair needs both texts: take the line out of "
                "all files"
            )
    return lines


def read_nlls(path: Path) -> Numbers:
    """Return the NLLs of a file, shape (lines,): NaN where a line is empty, or ParaBank's -1.

    Raises:
        InputError: a line is no number.
    """
    lines = enumerate(read_lines(path), start=1)
    return np.array([nll_of(line, path, number) for number, line in lines], np.float64)


def same_length(path: Path, lines: int, first: Path, expected: int) -> None:
    """Check that two files have as many lines.

    Raises:
        InputError: they have not.
    """
    if lines != expected:
        raise InputError(
            f"{path} has {lines} lines, {first} has {expected}; line n of each is of the same pair"
        )


def nlls(folder: Path, sources: Sequence[str], targets: Sequence[str], device: str) -> Numbers:
    """Return the NLLs that a model gives targets; NaN where a side is too long for it.

    Raises:
        InputError: the model can't be read, or does not tell its pieces.
    """
    model = load_model(folder, device)
    source, target = coders(model, folder, True, None, None)
    ids = (
        (source.encode(left), target.encode(right))
        for left, right in zip(sources, targets, strict=True)
    )
    values = np.array(list(score(model, ids)), np.float64)
    return np.where(np.isfinite(values), values, np.nan)


def main(argv: list[str] | None = None) -> None:
    """Print a score of each pair."""
    parser = CommandParser(description=__doc__)
    parser.add_argument(
        "--judge", default=DEFAULT, help="folder that judge fit wrote; or 'default', by language"
    )
    parser.add_argument("--references", type=Path, required=True, help="a sentence a line")
    parser.add_argument("--paraphrases", type=Path, required=True, help="a paraphrase of each")
    parser.add_argument("--forward-nll", type=Path, help="of the paraphrases, given the sources")
    parser.add_argument("--backward-nll", type=Path, help="of the sources, given the paraphrases")
    parser.add_argument("--sources", type=Path, help="a sentence a line; for the models")
    parser.add_argument("--forward", type=Path, help="model that gives the forward NLLs")
    parser.add_argument("--backward", type=Path, help="model that gives the backward NLLs")
    parser.add_argument("--encoder", type=Path, help="folder; without it the judge's own")
    parser.add_argument("--grammar", type=Path, help="folder; without it the English one")
    parser.add_argument("--language", help="of the references (ISO 639); no other one is judged")
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    arguments = parser.parse_args(argv)
    for direction in ("forward", "backward"):
        if getattr(arguments, direction) and getattr(arguments, f"{direction}_nll"):
            parser.error(f"--{direction} and --{direction}-nll give the same; name one of them")
        if getattr(arguments, direction) and not arguments.sources:
            parser.error(f"--{direction} needs --sources")
    judge = judge_of(arguments.judge, arguments.language)
    device = choose_device(arguments.device).type
    pairs = _pairs(arguments, device)
    models = models_of(judge, arguments.encoder, arguments.grammar, device)
    for line in missing(judge, pairs, models):
        print(line, file=sys.stderr)
    if judge.language in ENGLISH and not_english(pairs.references):
        print(
            "warning: the references don't look like English, and this judge knows nothing else: "
            "its scores mean little here (docs/judge.md)",
            file=sys.stderr,
        )
    for value in scores(judge, pairs, models):
        print(f"{value:.6f}")


def _pairs(arguments: argparse.Namespace, device: str) -> Pairs:
    """Return the pairs of the files, with the NLLs that models give.

    Raises:
        InputError: a file is not as it should be, or files differ in length.
    """
    references = read_texts(arguments.references)
    paraphrases = read_texts(arguments.paraphrases)
    same_length(arguments.paraphrases, len(paraphrases), arguments.references, len(references))
    sources = None
    if arguments.sources is not None:
        sources = read_texts(arguments.sources)
        same_length(arguments.sources, len(sources), arguments.references, len(references))
    columns: dict[str, Numbers | None] = {"forward_nll": None, "backward_nll": None}
    for column in columns:
        path = getattr(arguments, column)
        if path is not None:
            columns[column] = values = read_nlls(path)
            same_length(path, len(values), arguments.references, len(references))
    if sources is not None and arguments.forward is not None:
        columns["forward_nll"] = nlls(arguments.forward, sources, paraphrases, device)
    pairs = Pairs(
        references,
        paraphrases,
        sources,
        forward_nll=columns["forward_nll"],
        backward_nll=columns["backward_nll"],
    )
    if sources is None or arguments.backward is None:
        return pairs
    model = load_model(arguments.backward, device)
    source, target = coders(model, arguments.backward, True, None, None)
    return with_comparison(pairs, model, source.encode, target.encode)


if __name__ == "__main__":
    run(main)
