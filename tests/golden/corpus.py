"""A fixed input of the stage `corpus`, and what it makes of it."""

from pathlib import Path

import zstandard

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, table
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.stages.corpus import importer


def outputs(folder: Path) -> Outputs:
    """Text files with bad lines, a TSV file with a header, and the testbed."""
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
    }
    outputs: Outputs = {}
    for name, block in blocks.items():
        config = {"name": name, "block": block, "shards": 2, "max_line_bytes": 200, "seed": 1}
        importer.main(arguments(config, output=folder / name))
        for shard in ("0000", "0001"):
            outputs[f"{name}/{shard}"] = table(folder / name / f"{shard}.parquet", PairRow)
        rejected = (folder / name / "rejected.tsv.zst").read_bytes()
        lines = zstandard.decompress(rejected, 1 << 20).decode("utf-8")
        outputs[f"{name}/rejected"] = lines.replace(str(folder), "")
    return outputs
