"""The references that judge a rewriter: its training shares no text with them."""

from pathlib import Path

from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.files.shard_frame import Input
from workflow_scripts.plan.catalogues.rewriters import TEST, reference_id


def held_out_references(shards: list[Path]) -> set[str]:
    """Return the ids of the references of the split `test`.

    Args:
        shards: of a rewriter's pairs.

    Raises:
        InputError: a shard is missing, or is not what its stage wrote.
    """
    rows = Input(shards, PairRow).rows(["id", "corpus"]).items
    return {reference_id(row["id"]) for row in rows if row["corpus"] == TEST}
