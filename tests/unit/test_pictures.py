"""The pictures of docs/architecture.md show what the code says."""

import re
import xml.etree.ElementTree as ET

import pytest

from tests.pictures import flow
from tests.pictures.__main__ import DOCS, pictures
from workflow_scripts.stages.catalogue import STAGES, run_layout

SVG = "{http://www.w3.org/2000/svg}"


def shapes(picture, kind):
    """Return the shapes of a picture whose class begins with a word."""
    found = [each for each in ET.fromstring(picture).iter() if each.get("class")]
    return [each for each in found if each.get("class").split()[0] == kind]


@pytest.mark.rest
@pytest.mark.parametrize("name", ["flow.svg", "rooms.svg"])
def test_a_picture_is_that_of_the_code(name):
    assert (DOCS / name).read_text(encoding="utf-8") == pictures()[name], (
        "the code was changed: run python -m tests.pictures, and look at the picture"
    )


def test_the_flow_has_all_stages_and_all_that_they_read(tmp_path):
    layout = run_layout(flow.everything(tmp_path))
    rows = flow.rows(layout)
    stage_of = {row.name: row.name.partition(" ")[0] for row in rows}
    assert set(stage_of.values()) == {stage.name for stage in STAGES}
    drawn = {(stage_of[row.name], stage_of[each]) for row in rows for each in row.takes}
    units = layout.units()
    read = {(unit[0], each[0]) for unit in units for each in layout.upstream(unit)}
    assert drawn == {(stage, each) for stage, each in read if stage != each} | {
        # Of these the second visit reads the first.
        ("filter", "filter")
    }
    places = {row.name: place for place, row in enumerate(rows)}
    assert all(places[each] < places[row.name] for row in rows for each in row.takes)


def test_everything_is_enabled(tmp_path):
    layout = run_layout(flow.everything(tmp_path))
    instances = {stage.name: stage.instances() for stage in layout.stages}
    assert all(instances.values())
    kinds = {next(iter(layout.config["columns"][name])) for name in flow.COLUMNS}
    # And a user's vectors.
    assert kinds == {"language_model", "classifier", "embedding", "encoder", "feature"}
    assert "idf" in instances["generate"]
    assert {"filter_forward", "filter_backward"} <= set(instances["train"])
    assert "sts" in instances["embed"]


@pytest.mark.parametrize("name", ["flow.svg", "rooms.svg", "paraphrases.svg"])
def test_a_picture_fits_a_narrow_screen_and_loads_nothing(name):
    text = (DOCS / name).read_text(encoding="utf-8")
    root = ET.fromstring(text)
    width = float(root.get("width"))
    assert width <= 430
    letters = {"name": 8.6, "note": 6.2}
    for each in root.iter(f"{SVG}text"):
        assert float(each.get("x")) + letters[each.get("class")] * len(each.text) <= width
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)|<script|@import|url\(", text)
