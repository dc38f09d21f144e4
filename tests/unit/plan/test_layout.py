import copy
import os
import re
import shutil
from pathlib import Path

import pytest
import yaml

from tests.commands import jobs, require_right_waits, waits_for
from tests.configs import keys, refusals, replaced, run_on_testbed
from tests.stanza_package import FOLDER as STANZA
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.run.run_folders import link_run
from workflow_scripts.plan.selection import corpora, early_shards, pairs, seen_corpora
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.clean.stage import Clean
from workflow_scripts.stages.corpus.stage import Corpus
from workflow_scripts.stages.embed import stage as embed
from workflow_scripts.stages.embed.stage import Embed
from workflow_scripts.stages.generate.checks import PREPOSITIONS
from workflow_scripts.stages.generate.stage import Generate
from workflow_scripts.stages.release.stage import Release
from workflow_scripts.stages.subword.stage import Subword

SELECTED = {"select", "filter", "embed", "evaluate", "release"}
SEARCHED = {"generate", "score", *SELECTED}


@pytest.fixture
def config(tmp_path):
    config = run_on_testbed()
    config["results"] = str(tmp_path / "results")
    return config


def folders(config):
    layout = run_layout(config)
    return {unit: layout.folder(*unit) for unit in layout.units()}


def moved(before, after):
    """The units of some folders that have others now, or none."""
    return {unit for unit in before if after.get(unit) != before[unit]}


def changed(config, *path_and_value):
    return moved(folders(config), folders(replaced(config, *path_and_value)))


def own_text(config, tmp_path):
    """Name two files of one line as the corpus `text`."""
    for name in ("a", "b"):
        (tmp_path / name).write_text("x\n", encoding="utf-8")
    config["corpora"]["text"] = {"source": str(tmp_path / "a"), "reference": str(tmp_path / "b")}


def stages(units):
    return {stage for stage, _ in units}


@pytest.mark.parametrize(
    ("path", "value", "moved"),
    [
        ("systems.parabank2.select.keep", {"max_sum": 3.0}, SELECTED),
        ("systems.parabank2.select.centres", "apart", {"release"}),  # which shows it
        ("systems.parabank2.select.centres", "far", SELECTED),
        ("systems.parabank2.select.distinct", None, {"release"}),
        ("systems.parabank2.select.distinct", "content", SELECTED),
        ("systems.parabank2.select.new_words", 0, {"release"}),
        ("systems.parabank2.select.new_words", 2, SELECTED),
        ("systems.parabank2.score.of_each_content", None, {"release"}),
        ("systems.parabank2.score.of_each_content", 1, {"score", *SELECTED}),
        ("systems.parabank2.score.shortlist", False, {"release"}),
        ("systems.parabank2.score.shortlist", True, {"score", *SELECTED}),
        ("shards.late", 1, SEARCHED),
        ("compute.batch_rows", 7, set()),
        ("compute.search_threads", 2, set()),
        ("compute.mxnet_python", "python3.8-mxnet", set()),
        ("compute.precision", "bf16", SEARCHED),
        ("train.backend", "mxnet", {"train", *SEARCHED}),
    ],
)
def test_a_key_moves_the_stages_that_follow_from_it_alone(config, path, value, moved):
    found = changed(config, *path.split("."), value)
    assert stages(found) == moved
    assert (("generate", "references") in found) == (path == "shards.late")
    if "train" in moved:
        assert {("train", "forward"), ("train", "backward")} <= found


def test_the_sizes_of_the_filter_vocabularies_change_them_alone(config):
    config["corpora"]["testbed_held_out"]["trusted"] = False
    config["dual_filter"]["enabled"] = True
    moved = changed(config, "subword", "filter_vocab_size", {"source": 300, "reference": 200})
    assert {unit for unit in moved if unit[0] in ("corpus", "clean", "subword")} == {
        ("subword", "filter"),
        ("subword", "main"),  # which reads what is kept
    }
    assert ("train", "filter_forward") in moved
    config["subword"]["filter_vocab_size"] = {"source": 300, "reference": 200}
    subword = run_layout(config).stage(Subword)
    assert subword.settings("filter")["vocab_size"] == {"source": 300, "reference": 200}
    assert subword.vocabulary_settings("filter", "source")["vocab_size"] == 300
    assert subword.vocabulary_settings("main", "source")["vocab_size"] == 2000
    assert "filter_vocab_size" not in subword.settings("main")


def filtered(config, **block):
    """A run that filters held-out pairs by models that `testbed` trains; `news` is apart."""
    config["corpora"]["testbed"]["trusted"] = True
    config["corpora"]["testbed_held_out"]["trusted"] = False
    config["corpora"]["news"] = {"testbed": {"first": 800_000, "count": 50}}
    config["train"]["corpora"] = ["testbed", "testbed_held_out"]
    config["dual_filter"] |= {"enabled": True, **block}
    return config


def test_trusted_corpora_train_the_filter_models_alone_where_that_is_asked(config):
    """ParaBank 2, 3.1 and 3.2: the main models see the filtered bitext only."""
    both = run_layout(filtered(copy.deepcopy(config)))
    alone = run_layout(filtered(copy.deepcopy(config), trusted_train="filter"))
    assert both.stage(Subword).settings("main")["train"] == ["testbed", "testbed_held_out"]
    assert alone.stage(Subword).settings("main")["train"] == ["testbed_held_out"]
    for layout in (both, alone):
        assert layout.stage(Subword).settings("filter")["train"] == ["testbed"]
    assert seen_corpora(alone.config) == ["testbed_held_out"]
    said = run_layout(filtered(copy.deepcopy(config), trusted_train="all"))
    for unit in both.units():
        assert unit[0] == "release" or said.folder(*unit) == both.folder(*unit)
    with pytest.raises(InputError, match=r"dual_filter\.trusted_train: filter, but all of train"):
        filtered(config, trusted_train="filter")["train"]["corpora"] = ["testbed"]
        run_layout(config)


def test_the_filter_models_have_development_data_of_their_own(config):
    """ParaBank 2, 3.1: a random 500-sentence subset of news."""
    layout = run_layout(filtered(config, dev="news", dev_pairs=500))
    subword = layout.stage(Subword)
    assert subword.settings("filter")["dev"] == "news"
    assert subword.settings("main")["dev"] == "testbed_dev"
    for role in ("filter_forward", "filter_backward"):
        assert layout.settings(("train", role))["dev_pairs"] == 500
    assert "dev_pairs" not in layout.settings(("train", "forward"))
    # Nothing of it is trained on, whatever other corpora hold.
    assert corpora(config)[:3] == ["testbed_test", "testbed_dev", "news"]
    assert layout.settings(("dual_filter", "scores"))["skip"][0] == "testbed"
    assert "news" in layout.settings(("dual_filter", "scores"))["skip"]


def test_only_vocabularies_of_the_filter_models_are_lowered(config):
    config["dual_filter"]["enabled"] = True
    subword = run_layout(config).stage(Subword)
    assert subword.vocabulary_settings("filter", "source")["lower"]
    assert not subword.vocabulary_settings("main", "source")["lower"]
    config["subword"]["filter_vocab_size"] = {"source": 300, "reference": 200}
    subword = run_layout(config).stage(Subword)
    assert not subword.vocabulary_settings("filter", "source")["lower"]


def test_keys_of_another_method_change_nothing(config):
    config["dual_filter"] = {"enabled": True, "method": "sum", "max_sum": 3.5, "min_score": 0.1}
    config["corpora"]["testbed"]["trusted"] = True
    kept = ("dual_filter", "kept")
    assert not changed(config, "dual_filter", "min_score", 0.2)
    moved = changed(config, "dual_filter", "max_sum", 3.0)
    assert kept in moved and ("dual_filter", "scores") not in moved
    config["dual_filter"]["method"] = "cross_entropy"
    assert not changed(config, "dual_filter", "max_sum", 3.0)
    assert kept in changed(config, "dual_filter", "min_score", 0.2)


@pytest.mark.parametrize("key", ["nbest", "alpha"])
def test_keys_of_sampled_segmentations_count_where_some_are_sampled(config, key):
    assert not changed(config, "subword", key, 2)
    config["subword"] |= {"model_type": "unigram", "samples": 4}
    assert ("subword", "main") in changed(config, "subword", key, 2)


def test_another_system_leaves_the_first_alone(config):
    config["systems"]["other"] = copy.deepcopy(config["systems"]["parabank2"])
    config["systems"]["other"]["search"]["samples"] = 5
    moved = changed(config, "run", "systems", ["parabank2", "other"])
    assert moved == {("embed", "sts"), ("release", None)}


def test_systems_share_the_sources_that_are_written_alike(config):
    one = config["systems"]["parabank2"]
    beam = {"method": "beam", "beam_size": 8, "nbest": 2}
    config["systems"] |= {
        "two": one | {"sources": {"written": 2}},
        "pool": one
        | {"search": None, "searches": {"a": beam, "b": False, "c": beam}}
        | {"sources": {"human": False, "written": 1}},
        "wide": one | {"sources": {"written": 1, "search": beam}},
    }
    before = keys(run_layout(config))
    config["run"]["systems"] = ["parabank2", "two", "pool", "wide"]
    layout = run_layout(config)
    require_right_waits(layout)
    known = keys(layout)
    assert known["generate", "parabank2"] == before["generate", "parabank2"]
    *_, shared = behind(layout, "two")
    *_, other = behind(layout, "wide")
    units = {unit for unit in known if unit[1] and unit[1].startswith("sources-")}
    assert shared != other and units == {shared, other}
    assert behind(layout, "pool") == behind(layout, "two")
    assert layout.upstream(shared) == [("generate", "references"), ("train", "backward")]
    settings = layout.settings(("generate", "pool"))
    assert settings["searches"] == {"a": beam, "c": beam} and "search" not in settings
    assert settings["sources"] == {"human": False, "written": 1}
    # How many are taken is the part of the system.
    config["systems"]["two"]["sources"]["written"] = 3
    units = moved(known, keys(run_layout(config)))
    assert ("generate", "two") in units and not units & {shared, ("generate", "pool")}


def behind(layout, system):
    return layout.upstream(("generate", system))


def test_training_sets_share_the_columns_and_leave_the_release_alone(config):
    config["run"]["embeddings"] = []
    config["training_sets"]["short"] = {"grid": {"bounds": {"sum": [[0, 1], [1, 2]]}}}
    moved = changed(config, "run", "training_sets", ["all", "short"])
    assert not moved
    config["run"]["training_sets"] = ["all", "short"]
    grid = {"bounds": {"sum": [[0, 1], [1, 3]]}}
    assert changed(config, "training_sets", "short", "grid", grid) == {
        ("filter", "short-parabank2-2")
    }
    layout = run_layout(config)
    assert layout.upstream(("filter", "short-parabank2-1")) == [("filter", "parabank2")]


def test_an_embedding_is_trained_on_each_set_with_each_seed(config):
    config["run"]["training_sets"] = ["all", "short"]
    config["training_sets"]["short"] = {}
    config["run"]["embeddings"] = ["word", "trigram"]
    config["embeddings"]["word"]["seeds"] = [1, 7]
    config["embeddings"]["trigram"]["training_sets"] = ["short"]
    layout = run_layout(config)
    assert [name for stage, name in layout.units() if stage == "embed"] == [
        "evaluation",
        *("word-all-parabank2-seed1", "word-all-parabank2-seed7"),
        *("word-short-parabank2-seed1", "word-short-parabank2-seed7"),
        *("trigram-short-parabank2-seed1", "sts"),
    ]
    assert layout.upstream(("embed", "word-short-parabank2-seed7")) == [
        *(("filter", "short-parabank2"), ("embed", "evaluation"))
    ]
    assert layout.records("embed", "word-short-parabank2-seed7") == ["model"]


def test_another_seed_or_encoder_leaves_the_other_embeddings_alone(config):
    config["run"]["embeddings"] = ["word", "trigram"]
    config["embeddings"]["word"]["seeds"] = [1]
    shown = {("embed", "sts"), ("release", None)}
    assert changed(config, "embeddings", "word", "seeds", [1, 2]) == shown
    assert changed(config, "embeddings", "trigram", "training", {"margin": 0.5}) == {
        ("embed", "trigram-all-parabank2-seed1"),
        *shown,
    }
    assert changed(config, "sts", "bootstrap", 10) == shown


def test_the_release_reads_the_test_of_embeddings_and_their_training_sets(config):
    config["run"]["training_sets"] = ["all", "short"]
    config["training_sets"]["short"] = {}
    config["run"]["embeddings"] = ["word"]
    config["embeddings"]["word"]["training_sets"] = ["short"]
    config["embeddings"]["word"]["seeds"] = [1, 2]
    layout = run_layout(config)
    tested = [("filter", "short-parabank2"), ("embed", "sts")]
    assert embed.tested_units(config) == tested
    others = {"filter", "embed", "release"}
    first = [unit for unit in layout.units() if unit[0] not in others]
    assert layout.upstream(("release", None)) == [*first, *tested]
    part = layout.settings(("release", None))
    (shown,) = part["embeddings"]
    assert (shown["name"], shown["training"]["margin"]) == ("word", 0.4)
    config["run"]["embeddings"] = []
    layout = run_layout(config)
    assert embed.tested_units(config) == []
    assert layout.upstream(("release", None)) == first
    assert layout.settings(("release", None))["embeddings"] == []


def test_quoted_figures_change_the_report_and_not_the_released_corpus(config):
    quoted = {"Doe 2020": {"Table 1": {"Theirs": {"sick.test": 77.7}}}}
    before = run_layout(config)
    assert changed(config, "release", "quoted", quoted) == {("release", None)}
    config["release"]["quoted"] = quoted
    after = run_layout(config)
    assert after.settings(("release", None))["quoted"] == quoted
    alone = before.stage(Release).system_settings("parabank2")
    assert after.stage(Release).system_settings("parabank2") == alone
    assert not {"quoted", "embeddings"} & alone.keys()


NAME = "given.txt"
# What names a file of the user's in a configuration, and the stages whose folders it moves.
USER_FILES = """
{corpora.mine: {source: FILE, reference: FILE}, run.corpora: [testbed, mine]} => corpora.mine.source
    moves corpus clean subword train SEARCHED
{systems.parabank.constraints.pairs: {list: FILE}, run.systems: [parabank]} =>
    systems.parabank.constraints.pairs.list moves SEARCHED
{columns.score: {vectors: {file: FILE}}, training_sets.all: {bounds: {score: [0.5, 1]}}} =>
    columns.score.vectors.file moves filter embed release
{columns.lstm.classifier.vectors: FILE, evaluate.columns: [lstm]} => columns.lstm.classifier.vectors
    moves filter evaluate release
embeddings.word.model: {vectors: FILE, dimension: 1} => embeddings.word.model.vectors moves embed
    release
sts.data: [FILE] => sts.data moves embed release
evaluate.answers: FILE => evaluate.answers moves evaluate release
evaluate.documents: FILE => evaluate.documents moves evaluate release
evaluate.ratings: {file: FILE} => evaluate.ratings.file moves evaluate release
""".replace("FILE", NAME).replace("SEARCHED", " ".join(sorted(SEARCHED)))


@pytest.mark.parametrize(("change", "expected"), refusals(USER_FILES))
def test_a_file_counts_by_its_content_and_not_its_place(config, tmp_path, change, expected):
    key, _, *stages_moved = expected.split()
    before = folders(config)
    for path, value in yaml.safe_load(change).items():
        config = replaced(config, *path.split("."), value)
    for place in ("here", "there"):
        (tmp_path / place).mkdir()
        (tmp_path / place / NAME).write_text("1\ta\tb\n", encoding="utf-8")
    here = folders(config | {"data": str(tmp_path / "here")})
    # That it is named moves no other stage.
    assert stages(moved(before, here)) <= {*stages_moved}
    config["data"], file = str(tmp_path / "there"), tmp_path / "there" / NAME
    os.utime(file, (1, 1))
    assert folders(config) == here
    # Nor is its time a reason to run the job that reads it.
    told = [*jobs(run_layout(config))]
    assert any(str(file) in job.users for job in told)
    assert not any(str(file) in waits_for(job) for job in told)
    file.write_text("2\ta\tb\n", encoding="utf-8")
    assert stages(moved(here, folders(config))) == {*stages_moved}
    file.unlink()
    with pytest.raises(InputError, match=rf"{re.escape(key)}: {file}: [Nn]o such file"):
        folders(config)


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("columns.lstm.classifier.vectors", None),
        ("evaluate.answers", None),
        ("evaluate.ratings", None),
        ("evaluate.ratings.min_judgments", 25),
    ],
)
def test_what_a_key_is_where_it_is_left_out_moves_nothing(config, tmp_path, path, value):
    config["evaluate"]["columns"] = ["lstm"]
    if value:
        (tmp_path / NAME).write_text("some", encoding="utf-8")
        config["evaluate"]["ratings"] = {"file": str(tmp_path / NAME)}
    assert not changed(config, *path.split("."), value)


def test_files_are_read_in_the_folder_of_data_and_told_as_they_are_named(config, tmp_path):
    file = tmp_path / NAME
    file.write_text("told informed\n", encoding="utf-8")
    config["data"] = str(tmp_path)
    config["embeddings"]["word"]["model"] = {"vectors": NAME, "dimension": 1}
    config["run"]["systems"] = ["parabank"]
    config["systems"]["parabank"]["constraints"]["pairs"] = {"list": NAME}
    layout = run_layout(config)
    vectors = layout.settings(("embed", "word-all-parabank-seed1"))["model"]["vectors"]
    assert [vectors] == layout.stage(Generate).pair_files("parabank") == [str(file)]
    unit = ("generate", "parabank")
    assert layout.settings(unit)["constraints"]["pairs"] == {"list": str(file)}
    units = (unit, ("release", None))
    told = [layout.description(each) for each in units]
    assert told[0]["config"]["constraints"]["pairs"] == {"list": NAME}
    # The same file by an absolute path makes no difference to what manifests and digests say.
    config["systems"]["parabank"]["constraints"]["pairs"] = {"list": str(file)}
    elsewhere = run_layout(config)
    assert elsewhere.key(*unit) == layout.key(*unit)
    assert [elsewhere.description(each) for each in units] == told


def test_embeddings_are_tested_on_all_data_of_a_folder(config, tmp_path):
    path = tmp_path / "sts" / "2012" / "a.tsv"
    path.parent.mkdir(parents=True)
    path.write_text("1\ta\tb\n", encoding="utf-8")
    config["data"], config["sts"]["data"] = str(tmp_path), ["sts"]
    before = run_layout(config)
    assert list(before.stage(embed.Embed).inputs("evaluation")) == [str(path)]
    path.write_text("2\ta\tb\n", encoding="utf-8")
    assert run_layout(config).key("embed", "evaluation") != before.key("embed", "evaluation")
    config["sts"]["data"] = ["absent"]
    with pytest.raises(InputError, match=r"sts\.data: .*absent: no such file or folder"):
        run_layout(config)


def test_graded_pairs_of_the_testbed_are_for_runs_on_it(config, tmp_path):
    unit = ("embed", "evaluation")
    assert run_layout(config).settings(unit)["testbed"] == {"first": 600000, "count": 500}
    own_text(config, tmp_path)
    config["run"]["corpora"], config["train"]["corpora"] = ["text"], None
    config["generate"]["limit"] = None
    assert run_layout(config).settings(unit)["testbed"] is None


def test_the_testbeds_licence_is_not_that_of_other_corpora(config, tmp_path):
    release = run_layout(config).stage(Release).system_settings("parabank2")
    assert (release["title"], release["licence"]) == ("Paraphrases, testbed", "cc0-1.0")
    own_text(config, tmp_path)
    config["run"] |= {"name": "mine", "corpora": ["testbed", "text"]}
    release = run_layout(config).stage(Release).system_settings("parabank2")
    assert (release["title"], release["licence"]) == ("Paraphrases, mine", "unknown")
    config["release"] |= {"title": "My captions", "licence": "cc-by-4.0"}
    release = run_layout(config).stage(Release).system_settings("parabank2")
    assert (release["title"], release["licence"]) == ("My captions", "cc-by-4.0")


def test_columns_that_a_model_computes_are_made_where_a_training_set_needs_them(config):
    config["columns"]["score"] = {"vectors": {"file": "vectors.txt"}}
    assert {instance for stage, instance in run_layout(config).units() if stage == "filter"} == {
        *("parabank2", "all-parabank2")
    }
    bounds = {"perplexity": [0, 100], "lstm": [0.5, 1]}
    config["training_sets"]["fluent"] = {"bounds": bounds}
    config["run"]["training_sets"], config["run"]["embeddings"] = ["fluent"], []
    layout = run_layout(config)
    perplexity = ("filter", "perplexity-parabank2")
    assert layout.upstream(("filter", "fluent-parabank2")) == [
        *(("filter", "parabank2"), ("filter", "lstm-parabank2"), perplexity)
    ]
    assert layout.upstream(perplexity) == [("filter", "parabank2"), ("filter", "perplexity")]
    assert layout.upstream(("filter", "perplexity")) == [pairs(config), ("generate", "references")]
    assert (layout.shards(*perplexity), layout.shards("filter", "perplexity")) == (2, 0)
    assert layout.other_records("filter", "lstm-parabank2") == ["model"]
    assert layout.records("filter", "perplexity") == ["model"]
    assert layout.other_records(*perplexity) == []
    moved = changed(config, "columns", "lstm", "classifier", "epochs", 9)
    assert moved == {("filter", "lstm-parabank2"), ("filter", "fluent-parabank2")}


def test_document_frequencies_are_counted_once_and_only_where_they_are_needed(config):
    config["systems"]["other"] = copy.deepcopy(config["systems"]["parabank"])
    config["run"]["systems"] = ["paranmt", "parabank2"]
    assert ("generate", "idf") not in run_layout(config).units()
    config["run"]["systems"] = ["paranmt", "parabank", "other"]
    layout = run_layout(config)
    assert layout.units().count(("generate", "idf")) == 1
    assert layout.shard_names("generate", "idf") == []
    for system, needed in (("paranmt", False), ("parabank", True), ("other", True)):
        assert (("generate", "idf") in layout.upstream(("generate", system))) == needed
    moved = changed(config, "systems", "parabank", "constraints", "idf", "min_references", 9)
    assert {unit for unit in moved if unit[0] == "generate"} == {("generate", "parabank")}
    moved = changed(config, "train", "corpora", ["testbed", "testbed_held_out"])
    assert ("generate", "idf") in moved


def test_another_corpus_does_not_import_the_others_again(config):
    moved = changed(config, "run", "corpora", ["testbed_held_out", "testbed", "testbed_dev"][:2])
    assert ("corpus", "testbed") not in moved


def test_a_missing_test_corpus_is_told_with_the_key_that_names_it(config, tmp_path):
    """A recipe may never have said `train.test`: then it is that of config.yaml."""
    config["corpora"]["mine"] = {"source": str(tmp_path / "none.cs"), "reference": "a.en"}
    config["train"]["test"] = "mine"
    with pytest.raises(InputError, match=r"let train\.test name another corpus: .* 'mine'"):
        run_layout(config).key("corpus", "mine")


def test_trusted_corpora_come_before_others_and_after_held_out_ones(config):
    config["corpora"]["web"] = {"testbed": {"first": 500000, "count": 1}}
    config["corpora"]["testbed"]["trusted"] = True
    config["run"]["corpora"] = ["web", "testbed", "testbed_held_out"]
    config["train"]["corpora"] = ["web", "testbed"]
    found = corpora(config)
    assert found == ["testbed_test", "testbed_dev", "testbed_held_out", "testbed", "web"]


def test_late_shard_is_a_run_of_early_ones(config):
    config["shards"] = {"early": 16, "late": 2}
    assert early_shards(config, "0001") == [f"{shard:04d}" for shard in range(8, 16)]


def test_runs_that_lead_nowhere_are_told(tmp_path, config):
    runs = tmp_path / "runs"
    runs.symlink_to(tmp_path / "disk")
    with pytest.raises(InputError, match=r"runs is a link to .*disk, which is not there"):
        link_run(run_layout(config), runs)


def test_run_links_its_folders(config, tmp_path):
    layout = run_layout(config)
    run = link_run(layout, tmp_path / "runs")
    assert (run / "select.parabank2").readlink().parts[-1] == layout.key("select", "parabank2")
    assert yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8")) == config
    config["systems"]["parabank2"]["select"]["best"] = 2
    link_run(run_layout(config), tmp_path / "runs")
    assert (run / "select.parabank2").readlink().parts[-1] != layout.key("select", "parabank2")


ARCHIVE = {
    "url": "https://a.org/de-en.tgz",
    "sha256": "ab" * 32,
    "source": "de-en.tgz/x.de",
    "reference": "de-en.tgz/x.en",
}


@pytest.fixture
def downloaded(config):
    config["corpora"]["web"] = dict(ARCHIVE)
    config["run"]["corpora"] = ["testbed", "web"]
    return config


def test_downloaded_corpus_is_where_its_hash_says(downloaded):
    layout = run_layout(downloaded)
    corpus = layout.stage(Corpus)
    (download,) = corpus.downloads("web")
    assert download.path == f"downloads/{'ab' * 32}/de-en.tgz"
    assert corpus.input_files("web") == [download.path]
    block = layout.settings(("corpus", "web"))["block"]
    assert block == {
        "source": [f"{download.path}/x.de"],
        "reference": [f"{download.path}/x.en"],
        "sha256": {download.path: "ab" * 32},
    }
    assert corpus.downloads("testbed") == []
    assert corpus.outside("web") == [download.path]


@pytest.mark.slow
def test_digest_of_a_download_is_its_content_and_not_its_place(downloaded):
    web = ("corpus", "web")
    assert web not in changed(downloaded, "corpora", "web", "url", "https://b.org/de-en.tgz")
    assert web not in changed(downloaded, "downloads", "elsewhere")
    assert web not in changed(downloaded, "corpora", "web", "mtdata", "Statmt-x-7-deu-eng")
    assert web in changed(downloaded, "corpora", "web", "sha256", "cd" * 32)
    assert web in changed(downloaded, "corpora", "web", "source", "de-en.tgz/y.de")


def test_what_is_not_pinned_is_told_with_the_way_out(downloaded):
    downloaded["corpora"]["web"]["sha256"] = None
    with pytest.raises(InputError, match=r"corpora\.web: the sha256 .* paraloom corpus pin"):
        run_layout(downloaded)
    downloaded["corpora"]["web"] = {"mtdata": "Statmt-europarl-7-deu-eng"}
    with pytest.raises(InputError, match=r"corpora\.web: the sha256 .* is not known yet"):
        run_layout(downloaded)


def test_the_references_are_scored_only_where_something_needs_it(config):
    before = folders(config)
    assert ("score", "references") not in before
    config["evaluate"]["reference_scores"] = True
    shown = folders(config)
    assert shown.keys() - before.keys() == {("score", "references")}
    assert stages(moved(before, shown)) == {"evaluate", "release"}
    # A threshold that follows from the references reads their scores, and shows them as well.
    config["evaluate"]["reference_scores"] = False
    config["systems"]["parabank2"]["select"]["keep"] = {"reference_quantile": 0.5}
    layout = run_layout(config)
    assert ("score", "references") in layout.upstream(("select", "parabank2"))
    assert ("score", "references") in layout.upstream(("evaluate", "parabank2"))
    assert layout.folder("score", "references") == shown["score", "references"]
    assert layout.folder("score", "parabank2") == before["score", "parabank2"]


def test_the_former_block_of_paraloom_finds_what_paraloom_made(config):
    config["run"]["systems"] = ["parabank2", "paraloom_2"]
    now = folders(config)
    assert ("select", "paraloom") in now and ("select", "paraloom_2") not in now
    config["run"]["systems"] = ["parabank2", "paraloom"]
    other = folders(config)
    config["systems"]["paraloom"] = {  # as it was until November 2026
        "searches": {"beam": {"method": "beam", "beam_size": 20, "nbest": 20}},
        "sources": {"written": 2},
        "score": {"prune_above": 3.5},
        "select": {
            **{"method": "judged", "judge": "default", "distinct": "content", "new_words": 1},
            **{"clusters": 7, "best": 5, "keep": {"max_sum": 3.5, "probability": 0.25}},
        },
    }
    assert now == folders(config)
    units = moved(now, other)
    assert ("score", "paraloom") in units and ("generate", "paraloom") not in units
    config["run"]["systems"] = ["paraloom", "paraloom_2"]
    with pytest.raises(InputError, match=r"paraloom_2 goes by the name of paraloom, .* is null"):
        folders(config)
    config["run"]["systems"] = ["parabank2", "paraloom_2"]
    config["systems"]["parabank2"]["name"] = "paraloom"
    with pytest.raises(InputError, match="parabank2 goes by the name of paraloom"):
        folders(config)
    config["systems"]["parabank2"]["name"] = "paraloom_2"  # names may change places
    assert {("select", "paraloom"), ("select", "paraloom_2")} <= folders(config).keys()
    config["run"]["systems"] = ["paraloom", "paraloom_2"]
    config["systems"]["paraloom_2"]["name"] = None
    both = folders(config)
    assert {("select", "paraloom"), ("select", "paraloom_2")} <= both.keys()


def test_punctuation_as_tokens_moves_what_counts_words_and_its_default_nothing(config):
    config["columns"] = {"p": {"language_model": {"order": 3, "corpora": None}}}
    config["evaluate"]["columns"] = ["p"]
    config["generate"]["limit"] = 10
    before = folders(config)
    config["evaluate"]["punctuation"] = "dropped"
    assert folders(config) == before
    config["evaluate"]["punctuation"] = "tokens"
    units = moved(before, folders(config))
    assert stages(units) == {"filter", "embed", "evaluate", "release"}
    assert {("filter", "p"), ("filter", "parabank2"), ("filter", "p-parabank2")} <= units


def test_a_system_that_the_run_leaves_out_has_no_references_scored(config):
    config["systems"]["paranmt"]["select"]["keep"] = {"reference_quantile": 0.5}
    assert ("score", "references") not in folders(config)


def test_a_variant_that_is_false_is_as_if_it_had_never_been(config):
    config["run"]["systems"] = ["parabank"]
    variants = config["systems"]["parabank"]["constraints"]["variants"]
    before, without = folders(config), copy.deepcopy(config)
    del without["systems"]["parabank"]["constraints"]["variants"]["s26"]
    variants["s26"] = False
    after = folders(config)
    assert after == folders(without)
    assert after["generate", "parabank"] != before["generate", "parabank"]
    settings = run_layout(config).settings(("release", None))["systems"]["parabank"]
    assert "s26" not in settings["constraints"]["variants"]
    assert settings["constraints"]["variants"]["s28"] is None


def test_the_models_of_a_tagger_name_the_folder_and_their_place_does_not(config, tmp_path):
    config["run"]["systems"] = ["parabank"]
    constraints = config["systems"]["parabank"]["constraints"]
    before = folders(config)["generate", "parabank"]

    def tagged(folder):
        shutil.copytree(STANZA, folder)
        constraints["tagger"] = {"folder": str(folder), "package": "default"}
        return folders(config)["generate", "parabank"]

    one, other = tagged(tmp_path / "one"), tagged(tmp_path / "other")
    assert one == other != before
    layout = run_layout(config)
    assert str(tmp_path) not in str(layout.settings(("release", None))["systems"])
    read = layout.stage(Generate).inputs("parabank")
    assert {Path(path).relative_to(tmp_path / "other" / "en").as_posix() for path in read} == {
        *("tokenize/trees.pt", "pos/trees.pt", "pretrain/trees.pt")
    }
    used = layout.settings(("generate", "parabank"))["constraints"]["tagger"]
    assert used == {"folder": str(tmp_path / "other"), "package": "default", "language": "en"}
    (tmp_path / "other" / "en" / "pos" / "trees.pt").write_bytes(b"another")
    assert folders(config)["generate", "parabank"] not in (one, before)
    (tmp_path / "other" / "en" / "pos" / "trees.pt").unlink()
    with pytest.raises(InputError, match=r"systems\.parabank\.constraints\.tagger\.folder: .*pos"):
        folders(config)


def test_optional_tests_of_cleaning_have_no_part_in_the_names_of_folders_until_they_are_asked_for(
    config,
):
    clean = run_layout(config).stage(Clean)
    assert not {"entities", "language_confidence", "filter"} & clean.settings(None).keys()
    assert changed(config, "clean", "filter", True) == set()
    assert ("clean", None) in changed(config, "clean", "filter", False)
    assert ("clean", None) in changed(config, "clean", "entities", "reject")
    corpora = {unit for unit in folders(config) if unit[0] == "corpus"}
    assert not corpora & changed(config, "clean", "entities", "reject")
    assert corpora <= changed(config, "clean", "entities", "unescape")  # their shards are others
    config["clean"]["language_confidence"] = {"reference": 0.1}
    clean = run_layout(config).stage(Clean)
    asked = {"reference": {"code": "en", "least": 0.1}}
    assert clean.settings(None)["language_confidence"] == asked
    assert ("clean", None) in changed(config, "languages", "reference", "code", "de")
    config["languages"]["reference"]["code"] = "vep"
    with pytest.raises(InputError, match=r"language_confidence\.reference: the detector does not"):
        run_layout(config)


def test_the_datasheet_gets_the_configuration_without_folders_of_the_machine(config, tmp_path):
    data = tmp_path / "data"
    data.mkdir()
    for name in ("a.cs", "a.en"):
        (data / name).write_text("a\n", encoding="utf-8")
    config["data"] = str(data)
    config["corpora"]["mine"] = {"source": str(data / "a.cs"), "reference": "a.en"}
    config["run"] |= {"corpora": ["testbed", "mine"], "systems": ["parabank2", "paranmt"]}
    release = run_layout(config).stage(Release)
    told = release.system_settings("paranmt")["configuration"]
    assert str(tmp_path) not in str(told)
    assert told["corpora"]["mine"] == {"source": "a.cs", "reference": "a.en"}
    assert list(told["systems"]) == told["run"]["systems"] == ["paranmt"]
    assert "testbed_held_out" not in told["corpora"] and "scoring" not in told["models"]
    assert not {"results", "data", "downloads", "compute"} & told.keys()
    assert told["subword"] == config["subword"]
    assert "configuration" not in release.settings(None)


def test_what_is_english_only_is_switched_off_for_other_references(config):
    config["run"]["systems"] = ["parabank"]
    catalogue = config["systems"]["parabank"]["constraints"]
    english = run_layout(config)
    assert english.notes() == []
    used = english.settings(("generate", "parabank"))["constraints"]
    assert used == catalogue | {"language": "en"}
    assert english.settings(("generate", "idf"))["language"] == "en"
    assert set(catalogue["idf"]["exempt"]) == PREPOSITIONS
    config["languages"]["reference"] = {"code": "pt", "charset": None}
    portuguese = run_layout(config)
    assert "corpora.testbed" in {note.partition(":")[0] for note in portuguese.notes()}
    used = portuguese.settings(("generate", "parabank"))["constraints"]
    numbers = [*range(8, 15), *range(25, 28), *range(29, 32)]
    off = [f"s{number:02d}" for number in numbers]
    assert [name for name in catalogue["variants"] if name not in used["variants"]] == off
    assert used["idf"] == catalogue["idf"] | {"exempt": []}
    released = portuguese.settings(("release", None))["systems"]["parabank"]["constraints"]
    assert released | {"language": "pt"} == used
    notes = [note for note in portuguese.notes() if note.startswith("systems.parabank")]
    assert notes == [
        f"systems.parabank.constraints.variants: {', '.join(off)} are switched off: "
        "they inflect, which knows English (en) only, and the references are 'pt'",
        "systems.parabank.constraints.idf.exempt: the English prepositions are switched off, as "
        "the references are 'pt'; name the prepositions of that language there",
    ]
    catalogue["variants"] |= dict.fromkeys(off, False)
    catalogue["idf"]["exempt"] = ["a", "de", "em", "para", "por"]
    own = run_layout(config)
    assert not [note for note in own.notes() if note.startswith("systems.parabank")]
    used = own.settings(("generate", "parabank"))["constraints"]
    assert used["idf"]["exempt"] == ["a", "de", "em", "para", "por"]


def test_data_sets_of_similarity_are_noted_under_another_language(config):
    config["sts"]["data"] = ["sts.tsv"]
    assert not list(Embed.notes(config))
    config["languages"]["reference"]["code"] = "pt"
    (note,) = Embed.notes(config)
    assert note.startswith("sts.data: embeddings of 'pt' are tested")


def test_languages_without_blanks_are_noted_unless_their_words_are_parted(config):
    assert run_layout(config).notes() == []
    config["languages"]["source"]["code"] = "zh"
    (note,) = run_layout(config).notes()
    assert note.startswith("languages.source: 'zh' is written without blanks. clean.max_words")
    assert note.endswith("languages.source.segmented: true")
    before = folders(config)
    config["languages"]["source"]["segmented"] = True
    assert run_layout(config).notes() == []
    assert folders(config) == before
