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
def kenlm():
    """Skip where KenLM's programs are not compiled; with PARALOOM_REQUIRE_DATA=1 fail."""
    try:
        return program("lmplz")
    except InputError as error:
        if os.environ.get("PARALOOM_REQUIRE_DATA") == "1":
            raise
        pytest.skip(str(error))
