"""How well a parser parses sentences whose trees are known.

paraloom evaluate parser --trees GOLD.mrg --folder models/stanza
"""

import json
from pathlib import Path

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.progress import progress
from workflow_scripts.stages.syntax.brackets import bracketing
from workflow_scripts.stages.syntax.parser import Parser
from workflow_scripts.stages.syntax.treebank import Sentence, read_trees, sentence, written
from workflow_scripts.stages.syntax.trees import parse, truncate

WINDOW = 512


def check(sentences: list[Sentence], parser: Parser, levels: int = 3) -> dict[str, float | int]:
    """Parse the texts of gold trees and compare.

    Returns:
        The number of `sentences`; `f1`: labelled bracketing F1 x 100 of all; the shares of
        sentences, x 100, with the right `words`, with the right brackets (`exact`), and with the
        right `top` levels.
    """
    texts = [written(gold)[0] for gold in sentences]
    starts = progress(range(0, len(texts), WINDOW), desc="windows")
    trees = [tree for start in starts for tree in parser.parse(texts[start : start + WINDOW])]
    pairs = [
        (gold.tree, None if tree is None else parse(tree))
        for gold, tree in zip(sentences, trees, strict=True)
    ]
    counts = bracketing(pairs)
    top = sum(
        parsed is not None and truncate(gold, levels) == truncate(parsed, levels)
        for gold, parsed in pairs
    )
    shares = {"words": counts.same_words, "exact": counts.exact, "top": top}
    return {
        "sentences": counts.trees,
        "f1": round(100 * counts.f1, 2),
        **{name: round(100 * count / counts.trees, 2) for name, count in shares.items()},
    }


def main(argv: list[str] | None = None) -> None:
    """Print how well a Stanza package parses the sentences of gold trees, as one JSON object."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--trees", type=Path, nargs="+", required=True, help="gold trees")
    parser.add_argument("--folder", type=Path, required=True, help="of Stanza's models")
    parser.add_argument("--language", default="en", help="code of the language (en)")
    parser.add_argument("--package", default="default", help="name of the package (default)")
    parser.add_argument("--levels", type=int, default=3, help="levels that `top` compares (3)")
    parser.add_argument("--device", default="auto", choices=["auto", "cpu", "cuda"])
    arguments = parser.parse_args(argv)
    sentences = [sentence(tree) for tree in read_trees(arguments.trees)]
    if not sentences:
        raise InputError("there are no trees to compare with")
    model = Parser(arguments.folder, arguments.language, arguments.package, arguments.device)
    print(json.dumps(check(sentences, model, arguments.levels)))


if __name__ == "__main__":
    run(main)
