import importlib
import json
import os

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.parquet import TableWriter
from workflow_scripts.core.files.rows import PAIR_COLUMNS
from workflow_scripts.stages.filter.kenlm import program


def write_table(path, kind, rows):
    """Write a table as its stage would, with its record."""
    with TableWriter(path, kind) as table:
        for row in rows:
            table.write(row)
    write_record(path, table.rows_written, table.rows_written, {})
    return path


def pair(identifier, rank, reference, paraphrase, **columns):
    """Return a row of the `pair_columns` schema."""
    texts = {"id": identifier, "reference": reference, "paraphrase": paraphrase}
    return {**texts, **dict.fromkeys(PAIR_COLUMNS, 0.0), "rank": rank, **columns}


def arguments(config=None, **options):
    """Spell a command line."""
    words = ["--config", json.dumps(config)] if config is not None else []
    for name, value in options.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return words


@pytest.fixture(scope="session")
def kenlm_module():
    """KenLM's module; skip where it or its programs are not compiled, but fail if CI asks."""
    try:
        program("lmplz")
        return importlib.import_module("kenlm")
    except (InputError, ModuleNotFoundError) as error:
        if os.environ.get("PARALOOM_REQUIRE_DATA") == "1":
            raise
        pytest.skip(str(error))
