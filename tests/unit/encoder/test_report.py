import json
from types import SimpleNamespace

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.report.section import sections
from workflow_scripts.stages.encoder.report import encoders_table

FIGURES = {"pairs": 400, "accuracy": 0.75, "f1": 0.8, "auc": 0.875, "cosine_auc": 0.97}
TUNED = {
    **{"weights": 3000000, "pairs": 992, "cut": 21, "updates": 62, "history": []},
    "held_out": {"neighbour": FIGURES, "random": FIGURES | {"auc": 0.985}},
}
SCRATCH = {"sentences": 41502, "perplexity": 285.09}


@pytest.fixture
def run(tmp_path):
    """What the report sees of a run with one encoder from scratch."""
    for unit, metrics in (("pbert", TUNED), ("pbert-scratch", SCRATCH)):
        (tmp_path / unit).mkdir()
        path = tmp_path / unit / "metrics.json"
        path.write_text(json.dumps(metrics), encoding="utf-8")
        write_record(tmp_path / unit / "model", 0, 0, {}, files=[path])
    upstream = {"embed/word-all-parabank2-seed1/v5-0": "", "filter/all-parabank2/v2-0": ""}
    extra = {"texts": 31308, "train": {"without_negative": 17}}
    mined = {"parts": {"pairs": {"extra": extra}}, "upstream": upstream}
    return SimpleNamespace(
        config={},  # of the release, which has no catalogue
        instances=lambda stage: ["pbert-pairs", "pbert-scratch", "pbert"],
        folder=lambda stage, unit: tmp_path / unit,
        manifest=lambda stage, unit: mined,
    )


def test_the_section_has_the_figures_and_where_they_are_from(run):
    (section,) = sections(["workflow_scripts.stages.encoder.report:encoders"], run)
    assert section.title == "Encoders"
    shown = ("75.0", "87.5", "98.5", "97.0", "31,308", "41,502", "285.1", "992", "near")
    for text in (*shown, "of all-parabank2,"):
        assert text in section.html


def test_the_table_has_a_row_for_each_kind_of_negatives(run):
    table = encoders_table(run).frame()
    assert list(table.itertuples(index=False, name=None)) == [
        ("pbert", "neighbour", 400, 0.75, 0.8, 0.875, 0.97),
        ("pbert", "random", 400, 0.75, 0.8, 0.985, 0.97),
    ]


def test_damaged_figures_are_not_shown(run, tmp_path):
    (tmp_path / "pbert" / "metrics.json").write_text("{}", encoding="utf-8")
    with pytest.raises(InputError, match=r"metrics\.json"):
        encoders_table(run)
