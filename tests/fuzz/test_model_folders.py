"""Folders of Sockeye 3 and of sentence embeddings: a damaged file is told, or all still works."""

import json
import re

import numpy as np
import pytest
import torch
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.cases import damaged, damages, fuzz, json_values, outcome
from tests.unit.embed import examples
from tests.unit.nmt.folders import write_model
from workflow_scripts.encoding import embedding
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.scoring import score

SENTENCES = ["the doctor bought the car", "", "zyx"]


def whole(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


@pytest.fixture(scope="module")
def sockeye(tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("sockeye") / "model"
    write_model(folder, vocabulary=8, size=4, hidden=4, longest=6)
    return folder, whole(folder)


@pytest.fixture(scope="module", params=[["word", "trigram"], ["word"], ["blstm"]], ids="+".join)
def sentences(request, tmp_path_factory):
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("embedding")
    embedding.save(folder, examples.random_model(request.param, "add", size=2))
    return folder, whole(folder)


def with_value(content, place, value):
    """Return a config of Sockeye with another value in one of its lines."""
    lines = content.decode().split("\n")
    given = [n for n, line in enumerate(lines) if re.fullmatch(r" *[a-z_]+: [^&!]+", line)]
    number = given[place % len(given)]
    text = yaml.safe_dump(value, default_flow_style=True).split("\n")[0]
    lines[number] = lines[number].partition(": ")[0] + f": {text}"
    return "\n".join(lines).encode()


def with_file(folder, contents, name, content):
    for each, old in contents.items():
        (folder / each).write_bytes(content if each == name else old)


changes = st.lists(st.tuples(st.integers(0, 60), json_values), max_size=1)
# A file has parts whose damage nobody can see: names, and numbers that stay numbers.
files = st.sampled_from(["config", "config", "params.best", "vocab.src.0.json", "vocab.trg.0.json"])


@fuzz(0.5)
@given(files, changes, damages)
@example("config", [], [])
@example("params.best", [], [("flip", 0, 0)])
@example("config", [(30, 9212133)], [])
def test_folders_of_sockeye(sockeye, name, many, more):
    folder, contents = sockeye
    content = contents[name]
    for place, value in many if name == "config" else ():
        content = with_value(content, place, value)
    content = damaged(content, more)
    with_file(folder, contents, name, content)
    # The message names the file, or the folder if two do not fit.
    model = outcome(folder, lambda: load_model(folder, "cpu"))
    if content == contents[name]:
        assert model is not None
    if model is not None:
        (nll,) = score(model, [([4], [5])])
        assert nll > 0


@fuzz(0.2)
@given(st.data(), damages)
def test_folders_of_sentence_embeddings(sentences, data, more):
    folder, contents = sentences
    names = [name for name in contents if not name.endswith(".py")]
    name = data.draw(st.sampled_from([embedding.parts.CONFIG, *names]))
    content = contents[name]
    if name == embedding.parts.CONFIG:
        config = json.loads(content)
        changed = st.dictionaries(st.sampled_from([*config, "x"]), json_values, max_size=1)
        content = json.dumps(config | data.draw(changed)).encode()
    content = damaged(content, more)
    with_file(folder, contents, name, content)
    model = outcome(folder, lambda: embedding.load(folder))
    if content == contents[name]:
        assert model is not None
    if model is not None:
        vectors = model.encode(SENTENCES)
        assert vectors.shape == (len(SENTENCES), model.size)
        assert np.isfinite(vectors).all()
