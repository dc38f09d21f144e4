"""A fixed input of the stage `corpus`, and what it makes of it."""

from pathlib import Path

import zstandard

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, table, write_table
from workflow_scripts.core.files.rows import PairRow, WrittenRow
from workflow_scripts.stages.corpus import importer, pair_sources


def outputs(folder: Path) -> Outputs:
    """Text files with bad lines, a TSV file with a header, the testbed, and a text alone."""
    text = b"\n".join([b"Pes.\r", "Kočka".encode("iso8859-2"), b"", "Dům stojí.".encode(), b"A"])
    (folder / "a.cs").write_bytes(text)
    (folder / "a.en").write_bytes("Dog.\nCat.\nNothing.\nA house\u2026\nA".encode())
    (folder / "b.tsv").write_text("x\ten\tcs\n1\tOne.\tJedna.\n2\tTwo.\n", encoding="utf-8")
    blocks = {
        "text": {"source": [str(folder / "a.cs")], "reference": [str(folder / "a.en")]},
        "tsv": {
            "tsv": [str(folder / "b.tsv")],
            "columns": {"source": 2, "reference": 1},
            "header": True,
        },
        "testbed": {"testbed": {"first": 7, "count": 12, "noise": {"misaligned": 0.2}}},
        "alone": {"text": [str(folder / "a.en")]},
    }
    outputs: Outputs = {}
    for name, block in blocks.items():
        config = {"name": name, "block": block, "shards": 2, "max_line_bytes": 200, "seed": 1}
        importer.main(arguments(config, output=folder / name))
        outputs |= imported(folder / name)
    references = [
        {
            "id": f"mine:{number}",
            "reference": f"A house {number}.",
            "corpus": "mine",
            "sources": [
                {"text": f"Dům {nll}.", "backward_nll": 0.5, "forward_nll": nll} for nll in nlls
            ],
        }
        for number, nlls in enumerate(([0.5], [4.75], [1.0, 5.0, 2.0], [3.5]), 1)
    ]
    write_table(folder / "sources" / "0000.parquet", WrittenRow, references)
    config = {"name": "mine", "source": "written by x", "max_nll": 4.5, "shards": 2}
    options = {"sources": folder / "sources", "shards": 1, "output": folder / "mine"}
    pair_sources.main(arguments(config, **options))
    return outputs | imported(folder / "mine")


def imported(folder: Path) -> Outputs:
    """Return what the import of a corpus has written."""
    name, rejected = folder.name, (folder / "rejected.tsv.zst").read_bytes()
    lines = zstandard.decompress(rejected, 1 << 20).decode("utf-8")
    return {
        **{
            f"{name}/{shard}": table(folder / f"{shard}.parquet", PairRow)
            for shard in ("0000", "0001")
        },
        f"{name}/rejected": lines.replace(str(folder.parent), ""),
    }
