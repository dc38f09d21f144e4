"""The rows that a rewriter with noise learns from: damaged on the side that is read."""

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.seeding import fraction
from workflow_scripts.stages.rewrite.noising import damage


def noisy(
    row: PairRow,
    copies: int,
    language: str,
    settings: Mapping[str, Any],
    seed: int,
    counts: Counter[str],
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
        counts: gets the damages by kind, and the rows without any as `clean`.
    """
    for copy in range(copies):
        keys = (row["id"], copy)
        read = damage(row["source"], language, settings, seed, *keys)
        counts.update([change.kind for change in read.damages] or ["clean"])
        same = fraction(seed, "identity", *keys) < settings["identity"]
        yield {
            "id": f"{row['id']}.{copy}",
            "source": read.text,
            "reference": row["source"] if same else row["reference"],
            "corpus": row["corpus"],
        }
