"""The manifests of finished runs: their counts add up, their hashes hold, no stage is without."""

import json
import os
import shutil
from collections import Counter
from itertools import pairwise

import pyarrow.parquet as pq
import pytest

from tests.e2e import micro
from tests.e2e.pipeline import sha256, stages_of
from workflow_scripts.core.files.manifest import TOOLS
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow, ScoredRow
from workflow_scripts.stages.catalogue import STAGES

pytestmark = pytest.mark.e2e

CORPORA = ("train", "web", "held_out", "dev", "test")


@pytest.fixture
def manifests(whole):
    return {name: whole.manifest(name) for name in whole.units()}


def rows_in_files(folder) -> int:
    return sum(pq.read_metadata(path).num_rows for path in folder.glob("[0-9]*.parquet"))


def test_every_manifest_is_the_sum_of_its_parts(manifests):
    for name, manifest in manifests.items():
        parts = manifest["parts"].values()
        for key in ("rows_in", "rows_out"):
            assert manifest[key] == sum(part[key] for part in parts), name
        rejected = sum((Counter(part["rejected"]) for part in parts), Counter())
        assert manifest["rejected"] == dict(rejected), name
        assert manifest["rows_in"] == manifest["rows_out"] + rejected.total(), name


def test_rows_out_of_a_stage_are_rows_into_the_next(whole, manifests):
    def out(*names):
        return sum(manifests[name]["rows_out"] for name in names)

    corpora = [f"corpus.{name}" for name in CORPORA]
    assert [out(name) for name in corpora] == [micro.SIZES[name] for name in CORPORA]
    assert manifests["clean"]["rows_in"] == out(*corpora)
    for following in ("subword.filter", "dual_filter.scores", "dual_filter.kept"):
        assert manifests[following]["rows_in"] == out("clean")
    for following in ("subword.main", "generate.references", "generate.words", "generate.idf"):
        assert manifests[following]["rows_in"] == out("dual_filter.kept")
    for system in micro.PAPERS:
        stages = ("generate", "score", "select", "syntax")
        chain = ["generate.references", *(f"{stage}.{system}" for stage in stages)]
        for name, following in pairwise(chain):
            assert manifests[following]["rows_in"] == out(name), following
    selected = out(*(f"select.{system}" for system in micro.PAPERS))
    assert manifests["release"]["rows_in"] == manifests["release"]["rows_out"] == selected
    # All but one corpus are trusted, and it is not trained on.
    copies = whole.config["subword"]["samples"]
    for role in whole.config["train"]["models"]:
        assert manifests[f"train.{role}"]["rows_in"] == copies * micro.SIZES["train"], role


def test_rows_out_are_the_rows_of_the_files(whole, manifests):
    one_row_each = ("corpus", "clean", "dual_filter", "generate", "score", "select", "syntax")
    for name, folder in whole.units().items():
        if name.startswith(one_row_each) and list(folder.glob("[0-9]*.parquet")):
            assert manifests[name]["rows_out"] == rows_in_files(folder), name


def test_hashes_are_those_of_the_files(whole, manifests):
    for name, folder in whole.units().items():
        for part, record in manifests[name]["parts"].items():
            files = {file: sha256((folder / part).parent / file) for file in record["files"]}
            assert record["files"] == files, f"{name}: {part}"


def test_manifests_name_what_they_were_made_from(whole, manifests):
    """Up to what is read from files of the user's, each by the hash of its manifest."""
    known = {
        manifest["name"]: sha256(whole.unit(name) / "manifest.json")
        for name, manifest in manifests.items()
    }
    files = {"embed.evaluation", "filter.given", "transfer.tasks"}
    for name, manifest in manifests.items():
        assert manifest["upstream"].items() <= known.items(), name
        from_files = name.startswith("corpus.") or name in files
        assert bool(manifest["upstream"]) == (not from_files), name
    others = ("release/", "filter/", "embed/")
    # Of training sets and embeddings it reads what the report shows of them.
    tested = ("filter/half-bt2017/", "filter/short-given/", "embed/sts/")
    released = {name for name in known if not name.startswith(others) or name.startswith(tested)}
    assert set(manifests["release"]["upstream"]) == released


def test_flipped_byte_stops_the_run_and_what_it_says_to_do_helps(whole, own_copy_of):
    pipeline = own_copy_of(whole)
    select = pipeline.unit("select.bt2017")
    damaged = pipeline.unit("score.bt2017") / "0000.parquet"
    before = pipeline.hashes()
    content, status = bytearray(damaged.read_bytes()), damaged.stat()
    content[len(content) // 2] ^= 1
    damaged.write_bytes(content)
    os.utime(damaged, ns=(status.st_atime_ns, status.st_mtime_ns))
    shutil.rmtree(select)

    output = pipeline.fail("select")
    assert "Traceback" not in output
    name = damaged.relative_to(pipeline.folder.resolve())
    assert f"error: {name} differs from what its stage wrote" in output
    assert "delete it, 0000.json and manifest.json beside it and run again" in output

    for name in ("0000.parquet", "0000.json", "manifest.json"):
        damaged.with_name(name).unlink()
    pipeline.run("select")
    assert pipeline.hashes() == before


def test_manifests_say_stage_version_configuration_and_tools(whole, manifests):
    for name, manifest in manifests.items():
        assert whole.unit(name).name.startswith(f"v{manifest['version']}-")
        assert name.split(".")[0] == manifest["stage"]
    select = whole.config["systems"]["parabank2"]["select"]
    given = {key: select[key] for key in ("method", "judge")}
    assert manifests["select.parabank2"]["config"].items() >= given.items()
    assert manifests["generate.bt2017"]["config"]["seed"] == 1
    assert {"numpy", "torch", "sentencepiece"} <= manifests["generate.bt2017"]["tools"].keys()


def test_a_pool_tells_the_searches_and_the_source_of_each_candidate(whole):
    scored = whole.unit("score.parabank2") / "0000.parquet"
    found = [each for row in read_rows(scored, ScoredRow) for each in row["candidates"]]
    given = {name for each in found for name in each["variant"].split()}
    assert given == {"beam", "beam/1", "samples", "samples/1"}
    for each in found:
        written = [name.endswith("/1") for name in each["variant"].split()]
        assert any(written) if each["source"] else not all(written)
    rows = list(read_rows(whole.unit("select.parabank2") / "0000.parquet", ParaphrasesRow))
    kept = [each for row in rows for each in row["paraphrases"]]
    known = {(each["text"], each["variant"]) for each in found}
    assert kept and {(each["text"], each["variant"]) for each in kept} <= known


def test_one_run_visits_every_stage_and_every_package(whole, manifests):
    stages = {stage.name for stage in STAGES}
    assert {manifest["stage"] for manifest in manifests.values()} == stages
    # What Snakemake's process itself wrote of the jobs that it ran.
    events = (whole.folder / "runs" / "whole" / "events").iterdir()
    lines = [json.loads(line) for path in events for line in path.read_text("utf-8").splitlines()]
    assert stages_of(Counter(line["rule"] for line in lines if "rule" in line)) == stages
    tools = {tool for manifest in manifests.values() for tool in manifest["tools"]}
    assert tools >= set(TOOLS) - (set() if micro.HAS_KENLM else {"kenlm"})
