"""The four systems of the papers side by side on one bitext, as recipes/compare.yaml runs them."""

import csv
import json
import re
from collections import Counter
from pathlib import Path

import pytest
import yaml

from tests.e2e import micro
from tests.e2e.pipeline import ROOT, Pipeline
from tests.rules.test_commands import damage, flipped, in_process, jobs, read_files, run_alone
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import CandidatesRow
from workflow_scripts.stages.evaluate.results import read_measures
from workflow_scripts.stages.generate.constraint_words import words_of
from workflow_scripts.stages.release.summary import describe

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

SYSTEMS = micro.PAPERS
CHANGES = {
    "run": {"outside": [], "training_sets": ["half"], "rewriters": []},
    "systems": {"parabank": micro.PARABANK, "parabank2": {"search": {"samples": 4}}},
}


@pytest.fixture(scope="module")
def compared(finished, once) -> Pipeline:
    return four_systems(finished, once)


def four_systems(finished, once) -> Pipeline:
    """Return a finished run of all four; bitext and models are those of the micro run."""
    config = finished.config
    for name in ("quantile", "compare"):
        text = (ROOT / "recipes" / f"{name}.yaml").read_text(encoding="utf-8")
        config = micro.merged(config, yaml.safe_load(text))
    config = micro.merged(config, CHANGES)
    folder = once("compared", lambda new: finished.copy(new).with_config(config).run())
    return Pipeline(folder, config)


@pytest.fixture(scope="module")
def candidates(compared):
    return {
        system: list(read_rows(compared.unit(f"generate.{system}") / "0000.parquet", CandidatesRow))
        for system in SYSTEMS
    }


def shown_column(heading, place):
    """Return a column of the summary's table of the run whose head has the word `heading`."""
    for table in describe(Path("runs/compare")).split("\n\n"):
        lines = table.splitlines()
        rules = [number for number, line in enumerate(lines) if line.startswith("---")]
        if rules and heading in " ".join(lines[: rules[0]]).split():
            rows = [line for line in lines[rules[0] + 1 :] if not line.startswith(" ")]
            return [line.split()[place] for line in rows]
    raise AssertionError(f"no table with {heading}")


def test_all_start_from_the_same_references_and_models(compared, candidates):
    ids = [[row["id"] for row in candidates[system]] for system in SYSTEMS]
    assert len(ids[0]) == 16 and ids == ids[:1] * 4
    assert len(compared.folders("train")) == 2
    assert len(list((compared.folder / "results/generate/idf").iterdir())) == 1


def test_beams_give_a_list_and_one_translation(candidates):
    for row, single in zip(candidates["bt2017"], candidates["paranmt"], strict=True):
        assert 1 < len(row["candidates"]) <= 50
        assert len(single["candidates"]) == 1
        nlls = [found["forward_nll"] for found in row["candidates"]]
        assert nlls == sorted(nlls)
        assert {found["variant"] for found in row["candidates"]} == {"bt2017"}


def test_variants_of_one_system_meet_their_constraints(compared, candidates):
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
    record = compared.manifest("generate.parabank")["parts"]["0000"]["extra"]
    assert record["unmet"] == sum(row["unmet"] for row in candidates["parabank"])
    assert record["searches"] < sum(len(row["sets"]) for row in candidates["parabank"])


def test_every_variant_has_its_row_and_its_outputs(compared, candidates):
    texts = {}
    for row in candidates["parabank"]:
        for found in row["candidates"]:
            texts.setdefault(found["variant"], set()).add((row["id"], found["text"]))
    path = compared.unit("release") / "tables" / "variants.tsv"
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


def test_every_table_has_rows_of_each_system(compared, monkeypatch):
    monkeypatch.chdir(compared.folder)
    assert list(dict.fromkeys(shown_column("references", 0))) == SYSTEMS
    page = (compared.unit("release") / "report.html").read_text(encoding="utf-8")
    for caption in ("All references", "From candidates to paraphrases"):
        part = page[page.index(caption) :]
        part = part[: part.index("</table>")]
        rows = re.findall(r'<th scope="row">(\w+)</th>', part)
        assert list(dict.fromkeys(rows)) == SYSTEMS
    for system, ranks in zip(SYSTEMS, (5, 1, 5, 5), strict=True):
        measures = read_measures(compared.unit(f"evaluate.{system}") / "measures.json")
        assert measures["groups"]["all"]["references"] == 16
        assert len(measures["groups"]["all"]["ranks"]) == ranks


def test_embeddings_have_a_row_for_the_training_set_of_each_system(compared, monkeypatch):
    names = [f"half-{system}" for system in SYSTEMS]
    release = compared.unit("release")
    page = (release / "report.html").read_text(encoding="utf-8")
    assert 'href="#embeddings"' in page
    for caption, rows in (
        ("half (as ParaBank 2, Table 3", [*names, "word overlap"]),
        ("Years of SemEval", ["word overlap", "BLEU", "METEOR-like", *["tiny"] * 4]),
        ("Mean Pearson", ["tiny"] * 8),
    ):
        part = page[page.index(caption) :]
        part = part[: part.index("</table>")]
        assert re.findall(r'<th scope="row">([^<]+)</th>', part) == rows, caption
    record = verify(release / "tables" / "tables")
    assert compared.manifest("release")["parts"]["tables/tables"] == record
    with (release / "tables" / "sts.tsv").open(encoding="utf-8", newline="") as stream:
        table = list(csv.DictReader(stream, delimiter="\t"))
    assert [(row["training_set"], row["system"]) for row in table] == [
        (f"half-{system}", system) for system in SYSTEMS
    ]
    assert {"filter/half-parabank2", "embed/sts"} <= {
        name.rpartition("/")[0] for name in compared.manifest("release")["upstream"]
    }
    sts = json.loads((compared.unit("embed.sts") / "sts.json").read_text(encoding="utf-8"))
    for system, row in zip(SYSTEMS, table, strict=True):
        assert row["seeds"] == "2"
        assert int(row["pairs"]) == compared.manifest(f"filter.half-{system}")["rows_out"]
        found = sts["embeddings"][f"tiny-half-{system}"]["over_seeds"]["trained"]["pearson"]
        assert float(row["trained_pearson"]) == pytest.approx(100 * found["mean"], abs=1e-3)
    monkeypatch.chdir(compared.folder)
    assert shown_column("overlap", 1) == names


def test_the_datasheet_tells_of_the_corpus_alone(compared):
    sheet = (compared.unit("release") / "parabank2" / "README.md").read_text(encoding="utf-8")
    assert "select / parabank2" in sheet
    assert "half-" not in sheet and "tiny" not in sheet
    assert "embed" not in sheet[: sheet.index("All that shaped this corpus")]


def test_document_frequencies_and_variants_alone_and_damaged(compared, tmp_path, monkeypatch):
    output = compared.run("evaluate", "--dry-run", "--forceall", "--printshellcmds")
    printed = {
        job.rule: job
        for job in jobs(output)
        if job.rule == "generate_idf" or "/parabank/" in job.command
    }
    work = compared.copy(tmp_path / "work")
    for rule in ("generate_idf", "evaluate_variants"):
        run_alone(printed[rule], work.folder)
    monkeypatch.chdir(work.folder)
    for rule, file in (
        ("generate_idf", "0000.parquet"),
        ("generate_shard", "idf.parquet"),
        ("evaluate_variants", "0000.parquet"),
    ):
        job = printed[rule]
        (name,) = (each for each in read_files(job) if each.endswith(file))
        damage(Path(name), flipped)
        with pytest.raises(InputError, match=re.escape(Path(name).name)):
            in_process(job)()
