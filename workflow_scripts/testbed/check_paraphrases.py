"""Checks paraphrases of testbed references: do they mean the same, and how are they varied?

paraloom testbed check --references REF.txt --paraphrases PARA.txt
"""

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.files.parallel import read_pairs
from workflow_scripts.testbed.checker import Checker


def check(lines: Iterable[tuple[str, str]], checker: Checker | None = None) -> dict[str, Any]:
    """Count over (reference, paraphrase) lines.

    Returns:
        `pairs`; `same_meaning`: how many mean the same, and `same_meaning_share`, x 100 (null
        without pairs); `copies`: how many of these are the reference itself; `parsed`: how many
        paraphrases are sentences of the grammar; `variations`: how many paraphrases of the same
        meaning use each kind of variation.
    """
    checker = checker or Checker()
    counts: Counter[str] = Counter()
    variations: Counter[str] = Counter()
    for reference, paraphrase in lines:
        counts["pairs"] += 1
        counts["parsed"] += bool(checker.parse(paraphrase))
        if checker.same_meaning(reference, paraphrase):
            counts["same_meaning"] += 1
            counts["copies"] += reference == paraphrase
            variations.update(checker.variations(reference, paraphrase))
    pairs = counts["pairs"]
    share = round(100.0 * counts["same_meaning"] / pairs, 6) if pairs else None
    return {
        **{name: counts[name] for name in ("pairs", "parsed", "same_meaning", "copies")},
        "same_meaning_share": share,
        "variations": dict(variations),
    }


def main(argv: list[str] | None = None) -> None:
    """Print one JSON object."""
    parser = CommandParser(description=__doc__.splitlines()[0])
    parser.add_argument("--references", type=Path, required=True, help="one reference a line")
    parser.add_argument(
        "--paraphrases", type=Path, required=True, help="its paraphrase, line by line"
    )
    arguments = parser.parse_args(argv)
    counts = check(read_pairs(arguments.references, arguments.paraphrases))
    print(json.dumps(counts, indent=2, sort_keys=True))


if __name__ == "__main__":
    run(main)
