"""References and their written sources -> shards of pairs, as other corpora have them.

A pair's shard depends on both of its sides, so all sources must be there first.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.files.manifest import read_record, shard_paths
from workflow_scripts.core.files.rows import WrittenRow
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.stages.corpus.importer import import_corpus
from workflow_scripts.stages.corpus.pairs import Pair, Rejected

# Why a source is left out: the forward model finds its reference too unlikely.
NOT_BROUGHT_BACK = "not_brought_back"
_ADVICE = (
    "the models can't bring the text back: look whether it is in the language of the references, "
    "and take other models, or raise max_nll"
)


def pairs(
    rows: Iterable[WrittenRow], name: str, max_nll: float, counts: Counter[str]
) -> Iterator[Pair | Rejected]:
    """Yield each reference with each of its sources, or the reason to leave the source out.

    The place of a pair is that of its reference. Of several sources it has the number as well.

    Args:
        rows: references of the corpus `name`, each with one source or more.
        name: of the corpus.
        max_nll: the highest NLL of a reference, given the source.
        counts: the references that were `written`, with one source or more, or `left_out`.
    """
    for row in rows:
        place, kept = row["id"].removeprefix(f"{name}:"), 0
        for number, source in enumerate(row["sources"], 1):
            nll = source["forward_nll"]
            assert nll is not None  # only further sources of bitext are not scored
            if nll <= max_nll:
                several = len(row["sources"]) > 1
                kept += 1
                yield Pair(
                    f"{place}:{number}" if several else place, source["text"], row["reference"]
                )
            else:
                told = f"{nll:.2f} {source['text']} | {row['reference']}"
                yield Rejected(row["id"], number, NOT_BROUGHT_BACK, told.encode("utf-8"))
        counts["written" if kept else "left_out"] += 1


def pair_sources(config: dict[str, Any], sources: Path, shards: int, output: Path) -> None:
    """Make the pairs of a corpus of its references and their written sources.

    Args:
        sources: the folder of the `written` shards.
        output: the folder of the unit. Its list of rejected lines has for each source that is left
            out the id of the reference, the number of the source, the reason, the NLL, and both
            texts.

    Raises:
        InputError: a shard is damaged, or no pair is left.
    """
    paths = shard_paths(sources, shards)
    earlier: Counter[str] = Counter()
    for path in paths:
        earlier.update(read_record(path)["rejected"])
    rows = Input(paths, WrittenRow).rows().items
    counts = Counter({"written": 0, "left_out": 0})
    import_corpus(
        config["name"],
        pairs(rows, config["name"], config["max_nll"], counts),
        config["shards"],
        output,
        _ADVICE,
        counts,
        earlier,
        config.get("unescapes", False),
    )


main = command(pair_sources, __name__)
