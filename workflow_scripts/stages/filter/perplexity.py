"""Compute a language model's column of a shard of pairs.

It is the perplexity of the paraphrase (BT17 5.6), or the feature `language_model` of the judge.
"""

from pathlib import Path
from typing import Any

from workflow_scripts.core.cli import run
from workflow_scripts.core.command import command
from workflow_scripts.core.files.manifest import verify_file
from workflow_scripts.core.text.word_tokens import DROPPED, TOKENISERS
from workflow_scripts.stages.filter.kenlm import LanguageModel, perplexities
from workflow_scripts.stages.filter.language_model import RECORD
from workflow_scripts.stages.filter.values import Values, write_values

# Each starts KenLM anew, which reads the whole model.
BATCH = 65_536


def values_of(model: Path, config: dict[str, Any]) -> Values:
    """Return the function that computes the column.

    Args:
        model: the file.
        config: with `relative` the column is the log-probability of the paraphrase minus that of
            the reference, and the perplexity of the paraphrase without; `punctuation`, if it is
            not dropped.
    """
    split = TOKENISERS[config.get("punctuation", DROPPED)]
    if not config.get("relative", False):
        return lambda _, paraphrases: perplexities(model, list(map(split, paraphrases)))
    log_probability = LanguageModel(model, split).log_probability
    return lambda references, paraphrases: (
        log_probability(paraphrases) - log_probability(references)
    )


def write_perplexities(config: dict[str, Any], pairs: Path, model: Path, output: Path) -> None:
    """Compute the column of a language model for every pair of a shard.

    Args:
        config: see `values_of`.
        pairs: the `pair_columns` shard.
        model: the file that `filter.language_model` wrote.
        output: the `pair_values` shard; its record stands beside it.
    """
    verify_file(model, RECORD)
    write_values(pairs, output, values_of(model, config), "perplexity", BATCH)


main = command(write_perplexities)

if __name__ == "__main__":
    run(main)
