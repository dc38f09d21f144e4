"""A fixed input of the stage `lexicon`, and what it makes of it."""

import gzip
from pathlib import Path

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, table
from tests.golden.rewrite import training_sets
from workflow_scripts.core.files.rows import (
    LexiconCountRow,
    LexiconLinkRow,
    LexiconPhrasesRow,
    LexiconRow,
    LexiconWordRow,
)
from workflow_scripts.stages.lexicon import count, entries, words


def outputs(folder: Path) -> Outputs:
    sets = training_sets(folder)
    settings = {"max_tokens": 30, "min_count": 1, "sample": 100}
    known = folder / "words"
    words.main(arguments(settings, training_sets=sets, output=known / "words.parquet"))
    found: Outputs = {
        "words": table(known / "words.parquet", LexiconWordRow),
        "links": table(known / "links.parquet", LexiconLinkRow),
        "words_record": counts(known / "words.json"),
    }
    made = folder / "counts"
    options = {"training_sets": sets, "words": known, "shards": 2}
    settings = {"max_tokens": 30, "max_words": 3}
    for shard in ("0000", "0001"):
        count.main(arguments(settings, **options, output=made / f"{shard}.parquet"))
        found[shard] = table(made / f"{shard}.parquet", LexiconPhrasesRow)
        for kind in ("across", "within"):
            found[f"{shard}_{kind}"] = table(made / f"{shard}-{kind}.parquet", LexiconCountRow)
    output = folder / "lexicon"
    settings = {"min_count": 1, "attested": False}
    entries.main(arguments(settings, words=known, counts=made, shards=2, output=output))
    found["lexicon"] = table(output / "lexicon.parquet", LexiconRow)
    lines = gzip.decompress((output / "ppdb.gz").read_bytes()).decode().splitlines()
    found["ppdb"] = [line.split(" ||| ")[:3] for line in lines]
    return found
