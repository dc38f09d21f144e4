"""Hostile lines, file names and values go through the pipeline; see `hostile`."""

import gzip

import pytest

from tests.e2e import hostile

pytestmark = pytest.mark.e2e

# All lines go through corpus and clean, and so many references of each corpus through the rest.
# `make test-hostile` sends five times as many, and all of them through everything.
LINES = 20_000
REFERENCES = 300


@pytest.mark.rest
def test_hostile_lines_are_all_accounted_for_and_none_is_executed(tmp_path):
    pipeline = hostile.run(tmp_path, LINES, REFERENCES)
    assert pipeline.manifest("clean")["rows_out"] > LINES / 2
    assert pipeline.manifest("release")["rows_out"] == 2 * REFERENCES


def test_every_kind_of_line_is_what_it_is_called():
    """The reasons by which lines are rejected rest on it."""
    found = {kind: (source, reference) for kind, source, reference in hostile.pairs(5_000, 1)}
    assert found.keys() == hostile.KINDS.keys()
    for kind, sides in found.items():
        for side in sides:
            assert b"\n" not in side, kind
    assert any(b"\0" in side for side in found["nul"])
    assert max(map(len, found["megabyte"])) > 1_000_000
    with pytest.raises(UnicodeDecodeError):
        b"\t".join(found["surrogate"]).decode("utf-8")


@pytest.mark.parametrize("name", ["a\tb", "a\nb", "-rf", "ž*?[x]", "a;touch b"])
def test_file_of_any_other_name_is_read_and_named(tmp_path, name):
    data = tmp_path / "data"
    data.mkdir()
    with gzip.open(data / f"{name}.gz", "wb") as table:
        table.write(b"Pes.\tDog.\nKo\xff\tCat.\n")
    rejected = hostile.import_table(data / f"{name}.gz", tmp_path / "corpus")
    assert [line.split("\t")[1:3] for line in rejected] == [["2", "not_utf8"]]
