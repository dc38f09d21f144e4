"""The workflow as a module of another one: `use rule * from paraloom as para_*`."""

import json

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import ROOT, Pipeline

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

OUTER = """
module paraloom:
    snakefile: {snakefile!r}
    config: config["paraphrases"]
    {more}

use rule * from paraloom as para_*

onstart: paraloom.onstart()
onsuccess: paraloom.onsuccess()
onerror: paraloom.onerror()

rule count:
    default_target: True
    input: rules.para_clean.input
    output: "counted.txt"
    shell: "cat {{input}} | wc -l > {{output}}"

rule clean:
    output: "cleaned.txt"
    shell: "touch {{output}}"

rule everything:
    input: rules.para_all.input, "cleaned.txt"
"""


@pytest.fixture
def outer(bitext, tmp_path):
    config = {"paraphrases": micro.config(bitext) | {"results": "made/results"}}
    pipeline = Pipeline(tmp_path / "work", config)
    pipeline.snakefile = tmp_path / "outer" / "Snakefile"
    pipeline.snakefile.parent.mkdir()
    write(pipeline)
    return pipeline


def write(pipeline, more=""):
    text = OUTER.format(snakefile=str(ROOT / "Snakefile"), more=more)
    pipeline.snakefile.write_text(text, encoding="utf-8")


def test_its_rules_run_under_other_names_with_a_configuration_of_their_own(outer):
    output = outer.run("--rerun-triggers", "mtime")
    assert "localrule para_clean_shard:" in output or "rule para_clean_shard:" in output
    (manifest,) = outer.folder.glob("made/results/clean/*/manifest.json")
    assert json.loads(manifest.read_text("utf-8"))["rows_out"] > 0
    assert (outer.folder / "counted.txt").is_file()
    assert (outer.folder / "runs" / "micro" / "clean").resolve() == manifest.parent
    assert "Nothing to be done" in outer.run("--rerun-triggers", "mtime")
    # A lost shard is made again, and so is what another workflow makes of it; nothing else is.
    (shard,) = manifest.parent.glob("0001.parquet")
    shard.unlink()
    planned = outer.run("--rerun-triggers", "mtime", "--dry-run")
    assert "para_clean_shard" in planned and "para_corpus_import" not in planned


def test_its_whole_plan_has_every_rule_of_a_run(outer):
    planned = outer.run("everything", "--rerun-triggers", "mtime", "--dry-run")
    for stage in ("corpus", "clean", "train", "generate", "select", "release"):
        assert f"para_{stage}_" in planned
    forced = outer.run("everything", "--rerun-triggers", "mtime", "--dry-run", "-R", "para_clean")
    assert "para_clean_shard" in forced


def test_a_trained_model_without_its_manifest_gets_it_back(outer, finished, tmp_path):
    pipeline = finished.copy(tmp_path / "copy").with_config({"paraphrases": finished.config})
    pipeline.snakefile = outer.snakefile
    (manifest,) = pipeline.folder.glob("results/train/forward/*/manifest.json")
    before = manifest.read_bytes()
    manifest.unlink()
    pipeline.run("para_train", "--rerun-triggers", "mtime")
    assert manifest.read_bytes() == before


def test_a_prefix_of_its_files_is_refused_with_the_remedy(outer):
    write(outer, 'prefix: "elsewhere"')
    message = "the module of Paraloom has a prefix: of its files"
    assert message in outer.fail("--rerun-triggers", "mtime", "--dry-run")


def test_a_wrong_key_of_its_configuration_is_named(outer):
    wrong = outer.with_config({"paraphrases": {**outer.config["paraphrases"], "shard": {}}})
    wrong.snakefile = outer.snakefile
    assert "unknown key 'shard'; did you mean 'shards'?" in wrong.fail("--dry-run")
