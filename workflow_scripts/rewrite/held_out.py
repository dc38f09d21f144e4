"""The references that judge a rewriter: its training shares no text with them."""

from pathlib import Path

from workflow_scripts.core.rewriters import TEST
from workflow_scripts.core.shard import Input


def held_out_references(shards: list[Path]) -> set[str]:
    """Return the ids of the references of the split `test`.

    Args:
        shards: of a rewriter's pairs, whose ids are those of the references, a dash and a digest.

    Raises:
        InputError: a shard is missing, or is not what its stage wrote.
    """
    rows = Input(shards, "pairs").rows(["id", "corpus"]).items
    return {row["id"].rpartition("-")[0] for row in rows if row["corpus"] == TEST}
