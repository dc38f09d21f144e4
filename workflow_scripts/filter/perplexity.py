"""Compute the perplexity of every paraphrase of a shard under a language model (BT17 5.5)."""

import argparse
from pathlib import Path

from workflow_scripts.core.cli import run
from workflow_scripts.core.manifest import verify_file
from workflow_scripts.core.text import words
from workflow_scripts.filter.kenlm import perplexities
from workflow_scripts.filter.language_model import RECORD
from workflow_scripts.filter.values import write_values

# Each starts KenLM anew, which reads the whole model.
BATCH = 65_536


def main(argv: list[str] | None = None) -> None:
    """Compute the perplexity of every paraphrase of a shard under a language model."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--input", type=Path, required=True, help="shard of pair columns")
    parser.add_argument("--model", type=Path, required=True, help="of filter.language_model")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    verify_file(arguments.model, RECORD)
    write_values(
        arguments.input,
        arguments.output,
        lambda _, paraphrases: perplexities(arguments.model, list(map(words, paraphrases))),
        "perplexity",
        BATCH,
    )


if __name__ == "__main__":
    run(main)
