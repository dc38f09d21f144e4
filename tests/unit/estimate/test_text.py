from pathlib import Path

import pytest

from tests.configs import run_on_testbed
from tests.e2e import micro
from tests.golden.models import sentence_model
from workflow_scripts.commands.estimate import text_speed
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.catalogue import run_layout

pytestmark = pytest.mark.slow

PARABANK = {
    "train": {"corpora": ["train"], "dev": "dev", "test": "test"},
    "run": {"name": "x", "corpora": ["train", "held_out"], "systems": ["parabank2"]},
}


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bitext = micro.write_bitext(tmp_path / "bitext")
    return micro.merged(run_on_testbed(), micro.config(bitext))


def test_lines_are_counted_simulated_or_given(config):
    layout = run_layout(config)
    assert text_speed.count_lines(layout, {"dev": 7}) == {
        "train": 420,
        "held_out": 24,
        "dev": 7,
        "test": 30,
    }
    config = micro.merged(config, {"train": {"dev": "testbed_dev"}})
    layout = run_layout(config)
    assert text_speed.count_lines(layout, {})["testbed_dev"] == 300
    with pytest.raises(InputError, match="--lines trian: no corpus of this run; did you mean"):
        text_speed.count_lines(layout, {"trian": 1000})


def test_what_is_not_downloaded_must_be_given(config):
    config["corpora"]["dev"] = {
        "url": ["http://a/dev.cs", "http://a/dev.en"],
        "sha256": ["0" * 63 + "1", "0" * 63 + "2"],
        "source": "dev.cs",
        "reference": "dev.en",
    }
    layout = run_layout(config)
    with pytest.raises(InputError, match=r"corpora\.dev: not downloaded yet; .* --lines dev=N"):
        text_speed.count_lines(layout, {})
    assert text_speed.count_lines(layout, {"dev": 5})["dev"] == 5


def test_sample_goes_through_the_real_stages(config):
    speed = text_speed.measure(run_layout(config))
    assert set(speed.imported) == {"train", "held_out", "dev", "test"}
    for value in (*speed.imported.values(), *speed[1:-1]):
        assert value > 0
    # Some 20 characters in pieces of one to five.
    assert 5 < speed.pieces["source"] < 40
    assert 20 < speed.characters < 80


def test_seconds_of_an_import_are_those_of_a_line_whether_it_is_a_pair_or_not(
    config, tmp_path, monkeypatch
):
    for side in ("cs", "en"):
        with Path(config["data"], f"held_out.{side}").open("a", encoding="utf-8") as lines:
            lines.write("\n" * 24)
    monkeypatch.setattr(text_speed, "seconds_of", lambda call: 96.0)
    found = text_speed._import_seconds(run_layout(config), ["held_out"], tmp_path / "imported")
    assert found == {"held_out": 2.0}


FEW = {
    "few.cs": "Pes spí doma .\nKočka je velmi malá .\nMuž čte dlouhou knihu .\n",
    "few.en": "The dog sleeps at home .\nThe cat is very small .\nA man reads a long book .\n",
    "dev.cs": "Ahoj .\n",
    "dev.en": "Hello there .\n",
}


def test_of_few_pairs_a_shard_that_has_some_is_cut(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, text in FEW.items():
        Path(name).write_text(text, encoding="utf-8")
    config = run_on_testbed() | {"data": "."}
    blocks = {name: {"source": f"{name}.cs", "reference": f"{name}.en"} for name in ("few", "dev")}
    config["corpora"] |= blocks
    config["run"] |= {"corpora": ["few"], "training_sets": [], "embeddings": []}
    config["train"] |= {"corpora": None, "dev": "dev", "test": None}
    config["generate"]["limit"] = None
    for column in config["columns"].values():
        if "language_model" in column:
            column["language_model"]["corpora"] = None
    speed = text_speed.measure(run_layout(config))
    assert min(speed.segmented, speed.segment_bytes, speed.pieces["source"]) > 0


def test_with_text_models_of_finished_models_nothing_is_trained_or_cut(config, tmp_path):
    own = {side: tmp_path / f"{side}.model" for side in ("source", "reference")}
    for side, path in own.items():
        sentence_model(path, side)
    speed = text_speed.measure(run_layout(config), own)
    assert (speed.trained, speed.segmented, speed.segment_bytes) == (0, 0, 0)
    assert min(speed.selected, speed.cleaned) > 0
    assert speed.pieces["reference"] == pytest.approx(speed.characters + 1, rel=0.1)  # letters


def test_text_alone_is_measured_with_a_stand_in_for_its_sources(config, tmp_path):
    own = {side: tmp_path / f"{side}.model" for side in ("source", "reference")}
    for path in own.values():
        sentence_model(path, "reference")
    package = {"package": "x", "version": "1", "path": "y"}
    config["models"] |= {"one": package}
    config["train"] |= {"corpora": None, "dev": None, "test": None}
    config["train"]["models"] |= {"forward": "one", "backward": "one"}
    config["corpora"]["mine"] = {"text": "held_out.en"}
    config["run"] |= {"corpora": ["mine"], "training_sets": [], "embeddings": [], "rewriters": []}
    config["generate"] |= {"limit": None}
    for column in config["columns"].values():
        if "language_model" in column:
            column["language_model"]["corpora"] = None
    layout = run_layout(config)
    assert text_speed.count_lines(layout, {}) == {"mine": 24}
    speed = text_speed.measure(layout, own)
    assert speed.pieces["source"] == pytest.approx(speed.pieces["reference"], rel=0.1)
    Path(config["data"], "held_out.en").write_text("1\n2\n", encoding="utf-8")
    with pytest.raises(InputError, match="clean: it leaves none of the first 2 pairs"):
        text_speed.measure(run_layout(config), own)


def test_segmenter_is_made_smaller_where_the_sample_is(config):
    config["subword"]["vocab_size"] = {"source": 20000, "reference": 20000}
    assert text_speed.measure(run_layout(config)).trained > 0
