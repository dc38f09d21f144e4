import re

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.section import sections
from workflow_scripts.stages.clean.report import characters


@pytest.fixture
def run(tmp_path):
    charset = {"source": "latin-1", "reference": "latin-1"}
    manifest = {"stage": "clean", "instance": None, "config": {"charset": charset}, "parts": {}}
    counts = {"rows_in": 0, "rows_out": 0, "rejected": {}}
    write_json(tmp_path / "manifest.json", sealed(manifest | counts))
    return FinishedRun({}, [(("clean", None), tmp_path)])


def rejected(run, shard, **sides):
    path = run.folder("clean") / "rejected" / f"{shard}.tsv.zst"
    path.parent.mkdir(exist_ok=True)
    path.touch()
    write_record(path, 0, 0, {}, extra={"characters": sides})


def test_the_counts_of_all_shards_are_added_up(run):
    rejected(run, "0000", source={"€": 3, "ř": 1}, reference={"ř": 2})
    rejected(run, "0001", source={"ř": 7})
    source, reference = characters(run)["sides"]
    assert source["rows"] == [
        {"character": "ř U+0159", "name": "LATIN SMALL LETTER R WITH CARON", "pairs": 8},
        {"character": "€ U+20AC", "name": "EURO SIGN", "pairs": 3},
    ]
    assert (reference["side"], reference["distinct"]) == ("reference", 1)
    (section,) = sections(["workflow_scripts.stages.clean.report:characters"], run)
    assert re.search(r"EURO SIGN</td><td[^>]*>3<", section.html)


def test_without_such_characters_or_lists_there_is_no_section(run):
    assert characters(run) is None
    rejected(run, "0000")
    assert characters(run) is None


def test_a_damaged_record_is_named(run):
    rejected(run, "0000", source={"€": 3})
    path = run.folder("clean") / "rejected" / "0000.tsv.json"
    path.write_text(path.read_text().replace(": 3", ": 4"))
    with pytest.raises(InputError, match=r"rejected/0000\.tsv\.json is damaged"):
        characters(run)
