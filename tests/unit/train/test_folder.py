import json
import shutil

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.stages.subword.train import train_model
from workflow_scripts.stages.train.sockeye import main

pytestmark = pytest.mark.slow

DEV_ONLY = ("config", "params.best", "vocab.src.0.json", "vocab.trg.0.json", "version")


@pytest.fixture
def own(trained, tmp_path):
    """A finished model of the user's own, with nothing of ours around it."""
    folder = tmp_path / "own"
    folder.mkdir()
    for name in DEV_ONLY:
        shutil.copyfile(trained / name, folder / name)
    return {
        "folder": str(folder),
        "source_model": str(trained / "source.model"),
        "reference_model": str(trained / "reference.model"),
    }


@pytest.mark.rest
def test_an_own_model_is_copied_and_measured_but_not_trained(bitext, trained, own, tmp_path):
    output = tmp_path / "published"
    main(bitext.command(output, own))
    verify(output / "model")
    found, expected = (
        json.loads((folder / "metrics.json").read_text()) for folder in (output, trained)
    )
    for name in ("validation_perplexity", "bleu", "parameters"):
        assert found[name] == expected[name]
    for name in (*DEV_ONLY, "source.model", "reference.model"):
        assert (output / name).read_bytes() == (trained / name).read_bytes()
    left = {path.name for path in (output / "work").iterdir()}
    assert not left & {"prepared", "train.source", "train.target"}
    assert {"dev.source", "test.target"} <= left


@pytest.mark.parametrize("name", DEV_ONLY)
def test_a_missing_file_is_named(bitext, own, tmp_path, name):
    (tmp_path / "own" / name).unlink()
    with pytest.raises(InputError, match=rf"no Sockeye 3 model folder: {name} missing"):
        main(bitext.command(tmp_path / "published", own))
    assert not (tmp_path / "published" / "model.json").exists()


def test_a_model_of_sockeye_2_is_refused(bitext, own, tmp_path):
    (tmp_path / "own" / "version").write_text("2.3.24")
    with pytest.raises(InputError, match=r"Sockeye 2\.3\.24; Sockeye 3 is needed"):
        main(bitext.command(tmp_path / "published", own))


def test_exchanged_sub_word_models_are_noticed(bitext, own, tmp_path):
    own["source_model"], own["reference_model"] = own["reference_model"], own["source_model"]
    with pytest.raises(InputError, match="are source_model and reference_model exchanged"):
        main(bitext.command(tmp_path / "published", own))


def test_a_foreign_sub_word_model_is_refused(bitext, own, tmp_path):
    words = ["WOLKE", "REGEN", "STURM", "NEBEL", "FROST", "HAGEL"]
    text = [" ".join(words[index:] + words[:index]) for index in range(len(words))] * 20
    config = {"model_type": "unigram", "coverage": 1.0, "split_digits": True, "vocab_size": 24}
    foreign = tmp_path / "foreign.model"
    foreign.write_bytes(train_model(text, config))
    with pytest.raises(InputError, match=r"foreign\.model does not belong to the model"):
        main(bitext.command(tmp_path / "published", own | {"source_model": str(foreign)}))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"size": 128}, "unknown size: a model of your own has a name of its own"),
        ({"source_model": "/nowhere/x.model"}, r"source_model /nowhere/x\.model does not exist"),
    ],
)
def test_a_bad_block_is_refused(bitext, own, tmp_path, change, message):
    with pytest.raises(InputError, match=message):
        main(bitext.command(tmp_path / "published", own | change))
