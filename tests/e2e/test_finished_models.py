"""A run with finished models in both roles: nothing is trained, no text is there to train on."""

import gzip
import hashlib
import json

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline, sha256, stages_of
from tests.golden.models import fixed_model
from tests.unit.corpus.hub_server import Hub, hub_serving
from tests.unit.corpus.server import serving
from tests.unit.nmt.marian_files import write_binary
from tests.unit.nmt.test_hugging_face import made

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

SIDES = ("source", "reference")
WRONG = hashlib.sha256(b"another file").hexdigest()


def write_models(folder):
    fixed_model(folder / "forward", "source", "reference", 1)
    fixed_model(folder / "backward", "reference", "source", 2)


@pytest.fixture(scope="module")
def own_models(once):
    return once("finished_models", write_models)


@pytest.fixture(scope="module")
def run(bitext, own_models, once):
    blocks = {
        f"own_{role}": {
            "folder": str(own_models / role),
            **{f"{side}_model": f"{own_models}/{role}/{side}.model" for side in SIDES},
            "trained_on": seen,
            "licence": "CC0-1.0",
        }
        for role, seen in (("forward", ["train"]), ("backward", []))
    }
    changes = {
        "models": blocks,
        "train": {
            "dev": None,
            "test": "test",
            "models": {"forward": "own_forward", "backward": "own_backward"},
        },
    }
    config = micro.merged(micro.config(bitext), changes)
    return Pipeline(once("nothing_trained", lambda folder: Pipeline(folder, config).run()), config)


def test_no_text_is_cut_and_nothing_is_trained(run):
    planned = run.planned("--forceall", "release")
    assert not stages_of(planned) & {"subword"}
    assert planned["train_take_over"] == 2
    assert "train_model" not in planned
    assert not (run.folder / "results" / "subword").exists()
    assert "Nothing to be done" in run.run("--dry-run")


def test_models_are_as_they_were_and_measured_on_test_pairs_alone(run, own_models):
    for role in ("forward", "backward"):
        unit = run.unit(f"train.{role}")
        for name in ("params.best", "vocab.src.0.json", "source.model", "reference.model"):
            assert sha256(unit / name) == sha256(own_models / role / name)
        metrics = json.loads((unit / "metrics.json").read_text(encoding="utf-8"))
        assert metrics["bleu"]["sentences"] == micro.SIZES["test"]
        assert metrics["test_perplexity"] > 1


def test_seen_and_held_out_follow_what_the_models_declare(run):
    measures = json.loads((run.unit("evaluate.micro") / "measures.json").read_text("utf-8"))
    found = {name: group["references"] for name, group in measures["groups"].items()}
    assert found["seen"] == found["held_out"] == 8


def test_the_release_tells_where_the_models_are_from(run):
    card = (run.unit("release") / "micro" / "README.md").read_text(encoding="utf-8")
    assert "| forward | folder forward | CC0-1.0 | train |" in card
    assert "| backward | folder backward | CC0-1.0 | none of the corpora of this run |" in card
    assert "Not trained in this run" in (run.unit("release") / "report.html").read_text("utf-8")


def packed(folder):
    """The files of a model as Firefox' are published, by the paths of a server."""
    return {
        f"/students/{path.name.replace('xxyy', 'csen')}.gz": gzip.compress(path.read_bytes())
        for path in folder.iterdir()
    }


def test_models_are_downloaded_from_a_url_and_from_the_hub(bitext, tmp_path):
    files = packed(write_binary(tmp_path / "marian", {"max-length": 60}, end_bias=2.0))
    made(tmp_path / "opus")
    hub = Hub(
        "someone/opus-mt-en-cs",
        "0123456789abcdef0123456789abcdef01234567",
        {path.name: path.read_bytes() for path in (tmp_path / "opus").iterdir()},
    )
    with serving(files) as site, hub_serving(hub):
        site.cut_after = [500, 10]
        hashes = [hashlib.sha256(content).hexdigest() for content in files.values()]
        forward = {"url": [f"{site.url}{path}" for path in files], "sha256": hashes}
        changes = {
            "models": {
                "student": {**forward, "sha256": [hashes[0], WRONG]},
                "opus": {"hub": hub.repository, "revision": hub.commit},
            },
            "train": {
                "dev": None,
                "test": None,
                "models": {"forward": "student", "backward": "opus"},
            },
        }
        pipeline = Pipeline(tmp_path / "work", micro.merged(micro.config(bitext), changes))
        pipeline.environment |= {"HF_ENDPOINT": hub.url}
        planned = pipeline.planned("train")
        assert (planned["corpus_download"], planned["corpus_hub"]) == (2, 1)
        failed = pipeline.fail("train")
        assert f"but the configuration says {WRONG}. It was thrown away" in failed
        changes["models"]["student"] = forward
        pipeline = pipeline.with_config(micro.merged(micro.config(bitext), changes))
        pipeline.environment |= {"HF_ENDPOINT": hub.url}
        pipeline.run("train")
    kinds = {"forward": "Marian .bin", "backward": "Hugging Face Marian"}
    for role, kind in kinds.items():
        unit = pipeline.unit(f"train.{role}")
        assert json.loads((unit / "metrics.json").read_text("utf-8"))["kind"] == kind
    weights = pipeline.unit("train.forward") / "model.csen.bin"
    assert weights.read_bytes() == (tmp_path / "marian" / "model.xxyy.bin").read_bytes()
    assert "Nothing to be done" in pipeline.run("--dry-run", "train")
