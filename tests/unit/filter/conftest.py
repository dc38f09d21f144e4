import importlib
import os

import pytest

from tests.golden.inputs import arguments as arguments
from tests.tables import write_table as write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import PAIR_COLUMNS
from workflow_scripts.stages.filter.kenlm import program


def pair(identifier, rank, reference, paraphrase, **columns):
    """Return a row of the `pair_columns` schema."""
    texts = {"id": identifier, "reference": reference, "paraphrase": paraphrase}
    return {**texts, **dict.fromkeys(PAIR_COLUMNS, 0.0), "rank": rank, **columns}


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
