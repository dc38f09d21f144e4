"""Corpora that Snakemake downloads: from archives and files, over bad connections, only once."""

import hashlib
import io
import json
import os
import subprocess
import sys
import tarfile

import pytest

from tests.e2e import micro
from tests.e2e.pipeline import ROOT, Pipeline
from tests.unit.corpus.server import serving
from workflow_scripts.commands.status.__main__ import look
from workflow_scripts.plan.resolve import resolve

pytestmark = [pytest.mark.e2e, pytest.mark.rest]

ENTRY = """
import json, sys
from workflow_scripts.stages.corpus.mtdata_index import block_of, find
print(json.dumps(block_of(find(sys.argv[1]), "de", "en")))
"""


def tgz(folder, *names):
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w:gz") as archive:
        for name in names:
            archive.add(folder / name, f"training/{name}")
    return stream.getvalue()


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def states(pipeline):
    found = look(pipeline.folder / "runs" / "micro")
    return {state.name: state for state in found["states"]}


def test_downloaded_bitext_is_the_same_as_local_one(bitext, tmp_path):
    files = {
        "/cs-en.tgz": tgz(bitext, "train.cs", "train.en"),
        "/dev.cs": (bitext / "dev.cs").read_bytes(),
        "/dev.en": (bitext / "dev.en").read_bytes(),
    }
    with serving(files) as site:
        site.cut_after = [500, 10]
        corpora = {
            "train": {
                "url": f"{site.url}/cs-en.tgz",
                "sha256": sha256(files["/cs-en.tgz"]),
                "source": "cs-en.tgz/training/train.cs",
                "reference": "cs-en.tgz/training/train.en",
            },
            "dev": {
                "url": [f"{site.url}/dev.cs", f"{site.url}/dev.en"],
                "sha256": [sha256(files["/dev.cs"]), sha256(files["/dev.en"])],
            },
        }
        config = micro.merged(micro.config(bitext), {"corpora": corpora})
        pipeline = Pipeline(tmp_path / "work", config)
        assert pipeline.planned("corpus")["corpus_download"] == 3
        assert not site.requests
        pipeline.run("corpus")
        asked = len(site.requests)
        assert asked > len(files)  # it was cut off, and went on
        # Another place of the same content is no reason to run anything.
        moved = {"corpora": {"train": {"url": "http://127.0.0.1:1/mirror/cs-en.tgz"}}}
        again = pipeline.with_config(micro.merged(config, moved))
        assert set(again.planned("corpus")) <= {"corpus"}
        assert len(site.requests) == asked
    local = Pipeline(tmp_path / "local", micro.config(bitext))
    local.run("corpus")
    for name in ("train", "dev"):
        for shard in ("0000.parquet", "0001.parquet"):
            path = pipeline.unit(f"corpus.{name}") / shard
            assert path.read_bytes() == (local.unit(f"corpus.{name}") / shard).read_bytes()
    # Two shards and the list of rejected lines, and the files.
    assert (states(pipeline)["corpus.train"].done, states(pipeline)["corpus.dev"].done) == (4, 5)


def test_index_of_mtdata_agrees_with_the_recipe(tmp_path):
    """In a process of its own: importing the index builds it, and it logs as it likes."""
    recipe = resolve([ROOT / "recipes" / "europarl-de-en.yaml"], [])
    block = recipe["corpora"]["europarl"]
    environment = os.environ | {"MTDATA": str(tmp_path), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", ENTRY, block["mtdata"]]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=500)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["url"].partition("//")[2] == block["url"].partition("//")[2]
    for side in ("source", "reference"):
        assert found[side].format("training-parallel-europarl-v7.tgz") == block[side]
