"""Prints the NLL of each given translation on a line of its own.

The NLL is in nats per target token, </s> included. Source and target are files of pieces with
blanks between, or of plain text with --raw.
"""

from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import TextCoder
from workflow_scripts.nmt.precision import PRECISIONS
from workflow_scripts.nmt.raw import add_text_options, coders
from workflow_scripts.nmt.scoring import Pair, score


def read_pairs(
    model: Model, source: Path, target: Path, source_coder: TextCoder, target_coder: TextCoder
) -> Iterator[Pair]:
    """Yield the piece ids of the pairs of two files.

    Raises:
        InputError: a side is empty or longer than the model takes, or the files differ in length.
    """
    lines = zip_longest(read_lines(source), read_lines(target))
    for number, (left, right) in enumerate(lines, start=1):
        if left is None or right is None:
            counts = [sum(1 for _ in read_lines(path)) for path in (source, target)]
            raise InputError(f"{source} has {counts[0]} lines, {target} has {counts[1]}")
        pair = source_coder.encode(left), target_coder.encode(right)
        limits = model.max_source_pieces, model.max_target_pieces
        for path, ids, limit in zip((source, target), pair, limits, strict=True):
            if not 0 < len(ids) <= limit:
                raise InputError(
                    f"{path}, line {number}: {len(ids)} pieces; the model scores 1 to {limit}"
                )
        yield pair


def main(argv: list[str] | None = None) -> None:
    """Parse the command line and score."""
    parser = CommandParser(description=__doc__)
    parser.add_argument("--model", type=Path, required=True, help="folder of a model")
    parser.add_argument("--source", type=Path, required=True, help="one source a line")
    parser.add_argument("--target", type=Path, required=True, help="its translation, line by line")
    add_text_options(parser)
    parser.add_argument("--device", choices=("auto", "cpu", "cuda"), default="auto")
    parser.add_argument("--precision", choices=tuple(PRECISIONS), default="fp32")
    parser.add_argument("--batch-tokens", type=int, default=4096, help="positions per batch")
    arguments = parser.parse_args(argv)
    model = load_model(arguments.model, arguments.device, arguments.precision)
    spm_models = arguments.spm_source, arguments.spm_target
    source, target = coders(model, arguments.model, arguments.raw, *spm_models)
    pairs = read_pairs(model, arguments.source, arguments.target, source, target)
    for nll in score(model, pairs, batch_tokens=arguments.batch_tokens):
        print(f"{nll:.6f}")


if __name__ == "__main__":
    run(main)
