"""The encoder that `make setup` installs, and the files that the default judge was fitted to."""

import importlib.util
import os
from pathlib import Path

import pytest

from tests import labels
from workflow_scripts.encoding.sentence_vectors import encoder_folder
from workflow_scripts.plan.catalogues.encoder_blocks import DEFAULT
from workflow_scripts.stages.judge.fit import GOOD_RATING
from workflow_scripts.stages.judge.fitting import Examples
from workflow_scripts.stages.judge.rated_pairs import read_labels, read_ratings


@pytest.fixture(scope="session")
def minilm() -> Path:
    """Skip where the package is not installed; with PARALOOM_REQUIRE_DATA=1 fail."""
    if importlib.util.find_spec(DEFAULT["package"]) is None:
        message = f"no package {DEFAULT['package']} here, which has the encoder"
        if os.environ.get("PARALOOM_REQUIRE_DATA") == "1":
            pytest.fail(message)
        pytest.skip(message)
    return encoder_folder()


@pytest.fixture(scope="session")
def fitted_to(data_dir: Path) -> tuple[Examples, Examples]:
    """Return the labels and the ratings that the judge that ships was fitted to."""
    ratings = data_dir / "parabank_ratings"
    return (
        read_labels(labels.FOLDER / "english.tsv", splits=["train"]),
        read_ratings(ratings / "candidates.tsv", ratings / "ref.tsv", GOOD_RATING),
    )
