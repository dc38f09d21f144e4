"""A fixed input of the stage `release`, and what it makes of it."""

from pathlib import Path

import zstandard

from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, selected, write_table
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.stages.release import checksums, export


def outputs(folder: Path) -> Outputs:
    """The released data; how datasheet and report word it is no matter of versions."""
    write_table(folder / "0000.parquet", ParaphrasesRow, selected())
    output = folder / "release"
    config = {"best": 2, "languages": {"source": "cs", "reference": "en"}}
    export.main(arguments(config, folder=folder, shards=1, output=output))
    tsv, parquet = output / "paraphrases.tsv.zst", output / "paraphrases.parquet"
    record = output / "paraphrases.json"
    checksums.main(["--records", str(record), "--output", str(output / "SHA256SUMS")])
    sums = (output / "SHA256SUMS").read_text(encoding="utf-8").splitlines()
    released = export.pq.read_table(parquet)
    return {
        "tsv": zstandard.decompress(tsv.read_bytes(), 1 << 20).decode("utf-8"),
        "columns": str(released.schema.remove_metadata()),
        "rows": released.to_pylist(),
        "record": counts(record),
        "sums": [line.split("  ")[1] for line in sums],
    }
