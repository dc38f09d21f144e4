"""Runs that merge what others have selected: configuration, and what they read of others."""

import json

import pytest
import yaml

from tests.commands import require_right_waits
from tests.configs import ROOT, refusal, refusals, replaced
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.plan.catalogues.merged_runs import selected_runs
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.catalogue import validate as validate_run
from workflow_scripts.stages.select.stage import Select

LANGUAGES = ROOT / "recipes" / "languages"
SELECT = {"method": "nbest", "best": 5, "keep": {"quantile": 1.0}}


@pytest.fixture
def config():
    return resolve([LANGUAGES / "merged.yaml"], [])


@pytest.mark.parametrize(
    "names", [["cs-en"], ["cs-en", "de-en"], ["cs-en", "fr-en"], ["merged"]], ids=" ".join
)
def test_the_recipes_of_languages_are_valid(names):
    validate_run(resolve([LANGUAGES / f"{name}.yaml" for name in names], []))


def test_a_run_of_merges_has_no_unit_of_bitext_or_models(config, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for run in ("cs-en", "de-en", "fr-en"):
        write_run(tmp_path, run)
    layout = run_layout(config)
    stages = {stage for stage, _ in layout.units()}
    assert stages == {"score", "select", "filter", "embed", "evaluate", "release"}
    require_right_waits(layout)


REFUSED = """
run.corpora: [demo] => : a run of merges has no bitext and no models; set
run.systems: [cs, bt2017] => : cs merge other runs, and bt2017 generate
dual_filter.enabled: true => : a run of merges has no bitext
evaluate.reference_scores: true => : a run of merges
evaluate.columns: [perplexity] => columns.perplexity: a run of merges has no bitext
{evaluate.columns: [lstm], columns.lstm.classifier.each_corpus: true} => columns.lstm: each_corpus:
    the run has no corpora of its own
systems.cs.search: {method: beam, beam_size: 5} => merge takes the place of search
systems.cs.sources: {written: 1} => merge takes the place of sources
systems.cs.select.judge: default => : a run of merges has no
systems.cs.select.keep: {reference_quantile: 0.5} => : a run of
{systems.bt2017.select.score: rank, run.corpora: [demo], run.systems: [bt2017]} =>
    systems.bt2017.select.score: rank is for a system that merges
run.systems: [bt2017] => run.corpora: it is empty; name the bitext
{training_sets.all.grid: {corpora: each}, run.training_sets: [all]} =>
    training_sets.all.grid.corpora: the run has no corpora of its own; take it out
{run.systems: [], run.outside: [pairs], run.training_sets: [all], outside: {pairs: {tsv:
    pairs.tsv}}, training_sets.all.ranks: [1, 5]} => training_sets.all: the run has no systems, and
    no pairs from outside have what it
{run.systems: [], evaluate.documents: wikipedia.txt} => evaluate.documents: a run without systems
    has no bitext and no models; take it out
run.systems: [] => : it is empty; name a system, or pairs from outside
systems.cs.merge: {cs: {run: cs-en, system: x}, de: {run: cs-en, system: x}} => : cs and de are the
    same system of the same run, x of cs-en
systems.cs.merge: {} => : {} should be non-empty
systems.cs.merge: {a+b: {run: x, system: y}} => 'a+b' does not match
"""


@pytest.mark.slow
@pytest.mark.parametrize(("change", "expected"), refusals(REFUSED))
def test_what_has_no_sense_in_a_merge_is_refused(config, change, expected):
    for path, value in yaml.safe_load(change).items():
        config = replaced(config, *path.split("."), value)
    assert expected in refusal(config)


def test_a_system_without_merge_still_needs_search_and_score(config):
    config["systems"]["mine"] = {"select": SELECT}
    needed = "systems.mine: key '{}' is missing, which a system that generates needs"
    assert needed.format("score") in refusal(config)
    config["systems"]["mine"]["score"] = {"prune_above": None}
    config["run"]["systems"] = ["mine"]
    assert needed.format("search") in refusal(config)


# --- the other runs ----------------------------------------------------------------------------


def write_run(folder, name, source="cs", reference="en", version=Select.version, merge=False):
    """Write the links and the manifest that a finished run has."""
    run = folder / "runs" / name
    selected, model = (folder / "results" / part / name for part in ("select", "train"))
    for each in (run, selected, model):
        each.mkdir(parents=True)
    system = {"merge": {}} if merge else {}
    config = {
        "results": "results",
        "run": {"name": name, "systems": ["bt2017"], "corpora": ["a", "b"]},
        "systems": {"bt2017": system},
        "languages": {"source": {"code": source}, "reference": {"code": reference}},
        "corpora": {"a": {"licence": "cc0-1.0"}, "b": {"licence": "CC BY 2.0"}},
        "release": {"licence": None},
    }
    (run / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")
    (run / "select.bt2017").symlink_to(selected)
    (run / "train.forward").symlink_to(model)
    manifest = {
        **{"name": f"select/bt2017/{name}", "version": version, "parts": {"0000": {}, "0001": {}}},
        "thresholding": {},
    }
    (selected / "manifest.json").write_text(json.dumps(sealed(manifest)), encoding="utf-8")
    (model / "reference.model").write_bytes(b"pieces")
    return run


def merging(*names, system="bt2017"):
    block = {name.split("-")[0]: {"run": name, "system": system} for name in names}
    config = {"languages": {"reference": {"code": "en"}}, "systems": {"all": {"merge": block}}}
    return selected_runs(config, "all", Select.version)


@pytest.fixture
def here(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_run_tells_which_of_its_sources_a_model_wrote(here):
    path = write_run(here, "cs-en") / "config.yaml"
    (run,) = merging("cs-en")
    assert (run.written, run.sources) == ({}, {})
    config = yaml.safe_load(path.read_text(encoding="utf-8"))
    config["corpora"]["b"]["text"] = "b.en"
    config["train"] = {"models": {"backward": "back"}}
    config["systems"]["bt2017"] = {"sources": {"written": 2}}
    path.write_text(yaml.safe_dump(config), encoding="utf-8")
    (run,) = merging("cs-en")
    assert run.written == {"b": "written by back"}
    assert run.sources == {"human": True, "written": 2, "mark": "written by back"}


def test_a_run_tells_its_language_licence_and_shards(here):
    write_run(here, "cs-en")
    (run,) = merging("cs-en")
    assert (run.name, run.source, run.shards) == ("cs", "cs", 2)
    assert run.licence == "cc0-1.0; CC BY 2.0"
    assert run.unit == "select/bt2017/cs-en"
    assert run.folder == (here / "results/select/cs-en").resolve()


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ({"reference": "pt"}, r"are 'pt', and languages\.reference\.code is 'en'"),
        ({"version": 1}, "made by another version of Paraloom"),
        ({"merge": True}, "merges runs itself"),
    ],
    ids=["language", "version", "merge of merges"],
)
def test_a_run_that_can_not_be_merged_is_refused(here, written, message):
    write_run(here, "cs-en", **written)
    with pytest.raises(InputError, match=message):
        merging("cs-en")


def test_an_unfinished_run_and_a_damaged_manifest_are_refused(here):
    write_run(here, "cs-en")
    path = here / "results/select/cs-en/manifest.json"
    path.write_text(path.read_text("utf-8").replace("bt2017", "bt2018"), encoding="utf-8")
    with pytest.raises(InputError, match=r"manifest\.json is damaged"):
        merging("cs-en")
    path.unlink()
    with pytest.raises(InputError, match="has not selected the paraphrases of bt2017 yet"):
        merging("cs-en")


def test_a_run_that_is_not_there_or_has_no_such_system_is_refused(here):
    with pytest.raises(InputError, match="no run there"):
        merging("cs-en")
    write_run(here, "cs-en")
    with pytest.raises(InputError, match=r"merge\.cs\.system: .*cs-en has no mine, but bt2017"):
        merging("cs-en", system="mine")


def test_the_key_of_a_merge_follows_what_was_selected_and_its_name(config, here):
    for run in ("cs-en", "de-en", "fr-en"):
        write_run(here, run)
    before = run_layout(config)
    path = here / "results/select/fr-en/manifest.json"
    manifest = {"name": "other", "version": Select.version, "parts": {"0000": {}}}
    path.write_text(json.dumps(sealed(manifest)), encoding="utf-8")
    after = run_layout(config)
    changed = {
        system
        for system in config["run"]["systems"]
        if before.key("score", system) != after.key("score", system)
    }
    assert changed == {"fr", "all_languages"}
