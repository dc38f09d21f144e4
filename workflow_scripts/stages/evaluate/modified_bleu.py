"""The modified BLEU of ParaBank (Hu et al., AAAI 2019, 5.4 and note 6; Tables 4 and 6).

All pairs become one: a paragraph of the references and one of their paraphrases, whose BLEU has no
brevity penalty. Sentences are in lower case and lose the ASCII punctuation at their end, and no
blank stands between two of them: of the readings of the paper's text this one comes closest to its
figures (docs/evaluate.md).
"""

import json
import string
from collections.abc import Iterable, Sequence
from pathlib import Path

from workflow_scripts.core.cli import CommandParser, run
from workflow_scripts.core.files.parallel import read_pairs
from workflow_scripts.core.statistics.rounding import DECIMALS
from workflow_scripts.stages.evaluate.diversity import Sentence, bleu_counts, one_minus_bleu


def paragraph(sentences: Iterable[str]) -> str:
    """Return the sentences as one text."""
    return "".join(sentence.lower().rstrip(string.punctuation) for sentence in sentences)


def modified_bleu(pairs: Sequence[tuple[str, str]]) -> float | None:
    """Return the BLEU, 0 to 100, of (reference, paraphrase) pairs; None without any.

    It depends on how many pairs there are, as a word counts as found wherever it stands in the
    other paragraph; the paper takes 100. Their order counts a little, as words at the ends of
    sentences are one with what follows. Memory holds all pairs.
    """
    if not pairs:
        return None
    first, second = (Sentence(paragraph(side)) for side in zip(*pairs, strict=True))
    return round(100.0 - float(one_minus_bleu(bleu_counts(first, second))), DECIMALS)


def main(argv: list[str] | None = None) -> None:
    """Print the modified BLEU of paraphrases, one sentence a line, as one JSON object."""
    parser = CommandParser(description=main.__doc__)
    parser.add_argument("--references", type=Path, required=True, metavar="REF.txt")
    parser.add_argument("--paraphrases", type=Path, required=True, metavar="PARA.txt")
    arguments = parser.parse_args(argv)
    pairs = list(read_pairs(arguments.references, arguments.paraphrases))
    print(json.dumps({"pairs": len(pairs), "modified_bleu": modified_bleu(pairs)}))


if __name__ == "__main__":
    run(main)
