"""The profiles: what they say of the rules is true, and Snakemake makes of it what is meant."""

import re
import shutil

import pytest
import yaml

from tests.e2e import micro
from tests.e2e.pipeline import ROOT, Pipeline
from tests.rules.test_structure import JOBS

PROFILES = sorted(path.parent.name for path in ROOT.glob("profiles/*/config.yaml"))
CLUSTERS = sorted(set(PROFILES) - {"default", "local"})
# Rules that run models.
ON_DEVICE = {rule.name for rule in JOBS if "device=" in rule.directives["resources"]}
MANY = {"shards": {"early": 32, "late": 16}}


def read(profile):
    return yaml.safe_load((ROOT / "profiles" / profile / "config.yaml").read_text("utf-8"))


def test_there_is_one_for_each_place():
    assert set(PROFILES) == {"default", "kubernetes", "local", "slurm"}
    assert (ROOT / "profiles" / "default").resolve().name == "local"


@pytest.mark.parametrize("profile", PROFILES)
def test_settings_that_every_run_needs(profile):
    settings = read(profile)
    assert (ROOT / "profiles" / profile / "README.md").is_file()
    assert settings["rerun-incomplete"] is True
    assert settings["scheduler-subsample"] == 64
    # All else that counts is in the names of the folders.
    assert settings["rerun-triggers"] == ["mtime"]


@pytest.mark.parametrize("profile", PROFILES)
def test_rules_that_it_names_exist(profile):
    settings = read(profile)
    named = {*settings.get("set-resources", {}), *settings.get("groups", {})}
    assert named <= {rule.name for rule in JOBS}
    assert settings.get("group-components", {}).keys() <= set(settings.get("groups", {}).values())


@pytest.mark.parametrize("profile", PROFILES)
def test_all_rules_that_run_models_and_no_others_take_a_gpu(profile):
    resources = read(profile)["set-resources"]
    assert {rule for rule, each in resources.items() if "gpu" in each} == ON_DEVICE
    if profile in CLUSTERS:
        assert all(resources[rule]["device"] == "cuda" for rule in ON_DEVICE)
        assert not ON_DEVICE & read(profile)["groups"].keys()


@pytest.mark.parametrize("profile", CLUSTERS)
def test_failed_jobs_are_submitted_again(profile):
    assert read(profile)["retries"] >= 1
    # In a rule, they would run in the allocation that was too small.
    assert not [rule.name for rule in JOBS if "retries" in rule.directives]


def dry_run(bitext, folder, profile, *arguments):
    """Return what a dry run of many shards says under a profile."""
    pipeline = Pipeline(folder, micro.merged(micro.config(bitext), MANY))
    return pipeline.run(
        "--workflow-profile", str(ROOT / "profiles" / profile), "--dry-run", *arguments
    )


def resources(output):
    """Return the resources of each rule's last job as a dry run prints them."""
    found = re.findall(r"rule (\w+):\n(?:.*\n)*?\s+resources: (.*)", output)
    return {rule: dict(each.split("=") for each in text.split(", ")) for rule, text in found}


@pytest.mark.rest
@pytest.mark.parametrize("profile", CLUSTERS)
def test_dry_run_asks_for_gpus_and_for_more_at_each_attempt(bitext, tmp_path, profile):
    first = resources(dry_run(bitext, tmp_path, profile))
    third = resources(dry_run(bitext, tmp_path, profile, "--attempt", "3"))
    assert {rule for rule in first if first[rule].get("gpu") == "1"} == ON_DEVICE & first.keys()
    assert {
        rule for rule in first if first[rule].get("device") == "cuda"
    } == ON_DEVICE & first.keys()
    assert first.keys() == third.keys() > {"train_model", "generate_shard", "clean_shard"}
    for rule in first.keys() - {"all"}:
        for name in ("mem_mb", "runtime"):
            assert int(third[rule][name]) == 3 * int(first[rule][name]) > 0


@pytest.mark.rest
@pytest.mark.parametrize("profile", CLUSTERS)
def test_small_shards_share_jobs(bitext, tmp_path, profile):
    output = dry_run(bitext, tmp_path, profile)
    groups = re.findall(r"Group job (\w+) \(", output)
    assert {name: groups.count(name) for name in groups} == {
        "clean": 2,
        "subword": 2,
        "references": 1,
        "select": 1,
        "release": 1,
    }


@pytest.mark.rest
@pytest.mark.parametrize("gpus", [0, 1])
def test_gpu_count_limits_jobs_only_where_there_is_a_gpu(bitext, tmp_path, monkeypatch, gpus):
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "which").symlink_to(shutil.which("which"))  # Slurm's plugin calls it
    if gpus:
        (tools / "nvidia-smi").touch(mode=0o755)
    monkeypatch.setenv("PATH", str(tools))
    found = resources(dry_run(bitext, tmp_path / "work", "local"))
    assert {found[rule]["gpu"] for rule in ON_DEVICE & found.keys()} == {str(gpus)}
