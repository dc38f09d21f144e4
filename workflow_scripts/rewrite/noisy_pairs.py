"""The rows that a rewriter with noise learns from: damaged on the side that is read."""

from collections.abc import Iterator, Mapping
from typing import Any

from workflow_scripts.core.rows import PairRow
from workflow_scripts.core.seeding import fraction
from workflow_scripts.rewrite.noise import damage


def noisy(
    row: PairRow, copies: int, language: str, settings: Mapping[str, Any], seed: int
) -> Iterator[PairRow]:
    """Yield copies of a row with damage on what is read.

    What is written is never damaged: it is that of the row, or by the share `identity` the very
    text that is read, as it was before the damage.

    Args:
        row: `source` is read, `reference` is written.
        copies: how many; each has its own damage, and its number at the end of its id.
        language: the code of both sides.
        settings: the block `noise`.
        seed: of all draws. They depend on the row's id and the copy, not on other rows.
    """
    for copy in range(copies):
        keys = (row["id"], copy)
        same = fraction(seed, "identity", *keys) < settings["identity"]
        yield {
            "id": f"{row['id']}.{copy}",
            "source": damage(row["source"], language, settings, seed, *keys).text,
            "reference": row["source"] if same else row["reference"],
            "corpus": row["corpus"],
        }
