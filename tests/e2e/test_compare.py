"""The four systems of the papers side by side on one bitext."""

import csv
import re
from collections import Counter
from pathlib import Path

import pytest

from tests.e2e import micro
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import CandidatesRow
from workflow_scripts.stages.evaluate.results import read_measures
from workflow_scripts.stages.generate.constraint_words import words_of
from workflow_scripts.stages.release.summary import describe

pytestmark = pytest.mark.e2e

SYSTEMS = micro.PAPERS


@pytest.fixture(scope="module")
def candidates(whole):
    return {
        system: list(read_rows(whole.unit(f"generate.{system}") / "0000.parquet", CandidatesRow))
        for system in SYSTEMS
    }


def shown_column(heading, place):
    """Return a column of the summary's table of the run whose head has the word `heading`."""
    for table in describe(Path("runs/whole")).split("\n\n"):
        lines = table.splitlines()
        rules = [number for number, line in enumerate(lines) if line.startswith("---")]
        if rules and heading in " ".join(lines[: rules[0]]).split():
            rows = [line for line in lines[rules[0] + 1 :] if not line.startswith(" ")]
            return [line.split()[place] for line in rows]
    raise AssertionError(f"no table with {heading}")


def test_all_start_from_the_same_references_and_models(whole, candidates):
    ids = [[row["id"] for row in candidates[system]] for system in SYSTEMS]
    assert len(ids[0]) == 16 and ids == ids[:1] * 4
    assert len(whole.folders("train")) == 4  # two are of the dual filter
    assert len(list((whole.folder / "results/generate/idf").iterdir())) == 1


def test_variants_of_one_system_meet_their_constraints(whole, candidates):
    seen, wanted = Counter(), 0
    for row in candidates["parabank"]:
        unmet = {each["set"] for each in row["sets"] if each["want"]}
        for found in row["candidates"]:
            constraints = row["sets"][found["set"]]
            assert constraints["variant"] == found["variant"]
            words = {word.text for word in words_of(found["text"])}
            assert words >= set(constraints["want"])
            unmet.discard(found["set"])
            wanted += bool(constraints["want"])
            seen[found["variant"]] += 1
        assert row["unmet"] == sum(len(set(row["sets"][number]["want"])) for number in unmet)
    assert wanted
    assert {"s01", "s02", "s18", "s34", "ppdb"} <= seen.keys()
    record = whole.manifest("generate.parabank")["parts"]["0000"]["extra"]
    assert record["unmet"] == sum(row["unmet"] for row in candidates["parabank"])
    assert record["searches"] < sum(len(row["sets"]) for row in candidates["parabank"])


def test_every_variant_has_its_row_and_its_outputs(whole, candidates):
    texts = {}
    for row in candidates["parabank"]:
        for found in row["candidates"]:
            texts.setdefault(found["variant"], set()).add((row["id"], found["text"]))
    path = whole.unit("release") / "tables" / "variants.tsv"
    with path.open(encoding="utf-8", newline="") as stream:
        rows = [row for row in csv.DictReader(stream, delimiter="\t") if row["references"] == "all"]
    names = ["ppdb", *(f"s{number:02d}" for number in range(1, 35))]
    assert [row["variant"] for row in rows] == names
    for row in rows:
        own = texts.get(row["variant"], set())
        assert int(row["outputs"]) == len(own)
        shared = dict(each.split(":") for each in row["shared"].split())
        assert shared == {
            name: str(len(own & others))
            for name, others in texts.items()
            if name != row["variant"] and own & others
        }


def test_every_table_has_rows_of_each_system(whole, monkeypatch):
    monkeypatch.chdir(whole.folder)
    assert list(dict.fromkeys(shown_column("references", 0))) == SYSTEMS
    page = (whole.unit("release") / "report.html").read_text(encoding="utf-8")
    for caption in ("All references", "From candidates to paraphrases"):
        part = page[page.index(caption) :]
        part = part[: part.index("</table>")]
        rows = re.findall(r'<th scope="row">(\w+)</th>', part)
        assert list(dict.fromkeys(rows)) == SYSTEMS
    for system, ranks in zip(SYSTEMS, (5, 1, 5, 5), strict=True):
        measures = read_measures(whole.unit(f"evaluate.{system}") / "measures.json")
        assert measures["groups"]["all"]["references"] == 16
        assert len(measures["groups"]["all"]["ranks"]) == ranks


def test_the_datasheet_tells_of_the_corpus_alone(whole):
    sheet = (whole.unit("release") / "parabank2" / "README.md").read_text(encoding="utf-8")
    assert "select / parabank2" in sheet
    assert "half-" not in sheet and "tiny" not in sheet
    assert "embed" not in sheet[: sheet.index("All that shaped this corpus")]
    other = (whole.unit("release") / "bt2017" / "README.md").read_text(encoding="utf-8")
    assert "machine-written-sources" in sheet and "machine-written-sources" not in other
