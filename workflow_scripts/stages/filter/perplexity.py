"""Compute a language model's column of a shard of pairs.

It is the perplexity of the paraphrase (BT17 5.6), or the feature `language_model` of the judge.
"""

import argparse
from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import json_argument, run
from workflow_scripts.core.files.manifest import verify_file
from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS
from workflow_scripts.stages.filter.kenlm import LanguageModel
from workflow_scripts.stages.filter.language_model import RECORD
from workflow_scripts.stages.filter.values import Values, write_values


def values_of(model: Path, config: dict[str, Any]) -> Values:
    """Return what gives the column: perplexities, or what paraphrases are more probable by.

    Args:
        model: the file.
        config: `relative` where the latter is asked, and `punctuation` if it is not dropped.
    """
    asked = LanguageModel(model, TOKENISERS[config.get("punctuation", DROPPED)])
    if not config.get("relative", False):
        return lambda _, paraphrases: asked.perplexity(paraphrases)
    return lambda references, paraphrases: (
        asked.log_probability(paraphrases) - asked.log_probability(references)
    )


def main(argv: list[str] | None = None) -> None:
    """Compute the column of a language model for every pair of a shard."""
    parser = argparse.ArgumentParser(description=main.__doc__)
    parser.add_argument("--config", type=json_argument, required=True, help="JSON")
    parser.add_argument("--input", type=Path, required=True, help="shard of pair columns")
    parser.add_argument("--model", type=Path, required=True, help="of filter.language_model")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args(argv)
    verify_file(arguments.model, RECORD)
    values = values_of(arguments.model, arguments.config)
    write_values(arguments.input, arguments.output, values, "perplexity")


if __name__ == "__main__":
    run(main)
