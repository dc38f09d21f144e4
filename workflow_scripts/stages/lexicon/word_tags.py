"""Parts of speech of a lexicon's words, by a Stanza package: what each word is most often."""

from collections import Counter
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.parquet import TableWriter
from workflow_scripts.core.files.rows import LexiconTagRow, TrainingPairRow
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.core.progress import progress
from workflow_scripts.stages.generate.tagger import Tagger, Tags
from workflow_scripts.stages.lexicon.results import read_words

# Sentences that are tagged, at most, half of them references; at 7 ms each.
SENTENCES = 20_000


class Parts:
    """How often words have each part of speech."""

    def __init__(self, words: list[str]):
        """Count those of `words`."""
        self._counts: dict[str, Counter[str]] = {word: Counter() for word in words}

    def add(self, tags: Tags) -> None:
        """Count the parts of speech of the words of a sentence."""
        for word, parts in tags.items():
            if (counts := self._counts.get(word.lower())) is not None:
                counts.update(parts)

    def most_frequent(self) -> dict[str, str]:
        """Return the most frequent part of each word that has any; of equal ones the first."""
        return {
            word: min(counts, key=lambda part: (-counts[part], part))
            for word, counts in self._counts.items()
            if counts
        }


def write_tags(
    config: dict[str, Any],
    training_sets: list[Path],
    words: Path,
    output: Path,
    inputs: dict[str, str] | None = None,
) -> None:
    """Find the parts of speech of the words of a lexicon, as far as they stand in tagged sentences.

    Args:
        config: `folder`, `package` and `language` of the tagger.
        training_sets: their files.
        words: folder of the words.

    Raises:
        InputError: a file is damaged, or the tagger's folder is not what it should be.
    """
    with unchanged(inputs or {}):
        tagger = Tagger(config["folder"], config["language"], config["package"])
    parts = Parts(read_words(words).words)
    pairs = Input(training_sets, TrainingPairRow)
    total, tagged = pairs.count(), 0
    every = pairs.rows(["reference", "paraphrase"]).items
    for number, row in enumerate(progress(every, total, "tags")):
        # Spread evenly over all pairs.
        if (number + 1) * SENTENCES // 2 // total > number * SENTENCES // 2 // total:
            for sentence in (row["reference"], row["paraphrase"]):
                parts.add(tagger.tags(sentence))
                tagged += 1
    tags = parts.most_frequent()
    with TableWriter(output, LexiconTagRow) as writer:
        for word, part in tags.items():
            writer.write({"word": word, "tag": part})
    write_record(output, total, total, {}, {"sentences": tagged, "tagged": len(tags)})


main = command(write_tags, __name__)
