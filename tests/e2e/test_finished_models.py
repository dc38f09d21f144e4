"""Finished models are downloaded; a run with folders of them: test_text."""

import gzip
import hashlib
import json

import pytest
import yaml

from tests.configs import ROOT
from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from tests.unit.corpus.hub_server import Hub, hub_serving
from tests.unit.corpus.server import serving
from tests.unit.nmt.marian_files import write_binary
from tests.unit.nmt.nllb_files import write_nllb
from tests.unit.nmt.test_hugging_face import made

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

WRONG = hashlib.sha256(b"another file").hexdigest()


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


def test_the_recipe_of_nllb_runs_with_one_folder_for_both_directions(tmp_path):
    pairs = micro.bitext()["held_out"]
    folder = write_nllb(tmp_path / "nllb", (side for pair in pairs for side in pair))
    (tmp_path / "pairs.tsv").write_text("".join(f"{a}\t{b}\n" for a, b in pairs), "utf-8")
    recipe = yaml.safe_load((ROOT / "recipes" / "nllb.yaml").read_text(encoding="utf-8"))
    changes = {
        "data": str(tmp_path),
        "languages": {"source": {"code": "cs"}},
        "shards": {"early": 1, "late": 1},
        "models": {
            "nllb": {"folder": str(folder), "source": "ces_Latn"},
            "nllb_back": {"folder": str(folder), "target": "ces_Latn"},
        },
        "generate": {"limit": 6},
    }
    pipeline = Pipeline(tmp_path / "work", micro.merged(recipe, changes))
    told = pipeline.run("release")
    languages = [("ces_Latn", "eng_Latn"), ("eng_Latn", "ces_Latn")]
    for role, name, (source, target) in zip(
        ("forward", "backward"), ("nllb", "nllb_back"), languages, strict=True
    ):
        assert f"note: models.{name}: its licence (CC-BY-NC-4.0) forbids commercial use" in told
        chosen = json.loads((pipeline.unit(f"train.{role}") / "paraloom.json").read_text("utf-8"))
        assert chosen == {"source": source, "target": target}
    assert pipeline.manifest("generate.parabank2")["rows_in"] == 6
    assert pipeline.manifest("select.parabank2")["rows_out"] > 0
    card = (pipeline.unit("release") / "parabank2" / "README.md").read_text(encoding="utf-8")
    assert "forbid it, which may bind this corpus as well: forward, backward." in card
    assert f"| forward | folder {folder.name} | CC-BY-NC-4.0 | not known |" in card
