import csv
from dataclasses import replace

import pytest

from tests.unit.embed.sts_example import QUOTED
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.report.table import Table
from workflow_scripts.stages.release.tables import main, tsv

WITHOUT = {"diversity", "between_ranks", "lengths", "exact_lengths", "statistics", "bins"}


@pytest.fixture(scope="module")
def write(run, release, release_without):
    """Write the tables, with those of embeddings where such are given; return their rows."""

    def write(output, embedded=()):
        declared = (release if embedded else release_without).released_tables()
        config = {**run.config, "quoted": QUOTED}
        arguments = replace(run, config=config).arguments(more=embedded)
        arguments += ["--tables", *(f"{name}={function}" for name, function in declared.items())]
        main([*arguments, "--output", str(output)])
        return {path.stem: rows(path) for path in output.glob("*.tsv")}

    return write


def rows(path):
    with path.open(encoding="utf-8", newline="") as stream:
        return list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))


@pytest.fixture(scope="module")
def found(write, embedded, tmp_path_factory):
    return write(tmp_path_factory.mktemp("tables"), embedded)


def test_fields_never_hold_what_ends_them():
    table = Table("a b", [{"a": "x\ty\n", "b": None}, {"a": 1.5, "b": "\\"}])
    assert tsv(table) == "a\tb\nx\\ty\\n\t\n1.5\t\\\\\n"


def test_embeddings_have_tables_where_there_are_some(write, found, tmp_path):
    assert found.keys() == WITHOUT | {
        *("sts", "sts_data_sets", "sts_gains", "sts_differences", "sts_encoder_differences")
    }
    assert write(tmp_path).keys() == WITHOUT
    assert verify(tmp_path / "tables")["files"].keys() == {f"{name}.tsv" for name in WITHOUT}
