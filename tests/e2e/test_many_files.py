"""A corpus of very many files, and a run of very many corpora: no command is too long."""

import shutil

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline

pytestmark = pytest.mark.e2e

PAIRS = 1600
SIDES = {"source": "cs", "reference": "en"}


def test_a_corpus_of_many_files_is_imported(bitext, tmp_path):
    data = tmp_path / "data in a folder whose name is long enough to fill a command line with"
    shutil.copytree(bitext, data)
    pairs = [micro.pair(meaning) for meaning in range(PAIRS)]
    names = [f"part-{number:04d}" for number in range(PAIRS)]
    for name, pair in zip(names, pairs, strict=True):
        micro.write_pairs(data, name, [pair])
    block = {side: [f"{name}.{end}" for name in names] for side, end in SIDES.items()}
    config = micro.merged(
        micro.config(data),
        {
            "run": {"corpora": ["many"]},
            "corpora": {"many": block},
            "train": {"corpora": ["many"]},
            "columns": {"fluency": {"language_model": {"corpora": ["many"]}}},
            "generate": {"limit": 8},
        },
    )
    pipeline = Pipeline(tmp_path / "work", config)
    # An argument holds 128 KiB at most.
    assert sum(len(str(data / name)) for name in names) > 2**17
    pipeline.run("corpus")
    manifest = pipeline.manifest("corpus.many")
    assert (manifest["rows_in"], manifest["rows_out"]) == (PAIRS, PAIRS)
    assert manifest["config"]["block"] == block
    assert not pipeline.planned("corpus")
    # A change of one file among them is seen.
    micro.write_pairs(data, names[-1], [micro.pair(PAIRS)])
    assert pipeline.planned("corpus")["corpus_import"] == 1
