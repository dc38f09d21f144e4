"""A fixed input of the stage `syntax`, and what it makes of it."""

from pathlib import Path

from tests import stanza_package
from tests.golden.figures import Outputs
from tests.golden.inputs import arguments, counts, selected, table, write_table
from workflow_scripts.core.files.rows import ParaphrasesRow, TreesRow
from workflow_scripts.stages.syntax import shard as syntax


def outputs(folder: Path) -> Outputs:
    """Sentences of the testbed alone: the tests' parser knows them well, on any CPU."""
    rows = [row for row in selected() if row["corpus"] == "testbed"]
    given = write_table(folder / "select.parquet", ParaphrasesRow, rows)
    config = {
        "folder": str(stanza_package.FOLDER),
        "language": stanza_package.LANGUAGE,
        "package": stanza_package.PACKAGE,
        **{"share": 0.8, "seed": 1},
    }
    output = folder / "0000.parquet"
    syntax.main(arguments(config, paraphrases=given, output=output, device="cpu"))
    return {"trees": table(output, TreesRow), "record": counts(output.with_suffix(".json"))}
