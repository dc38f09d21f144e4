from dataclasses import replace

import pytest

from tests.unit.made_up_run import write_model
from tests.unit.pages import Reader, captioned, rows_of

SECTION = "workflow_scripts.stages.train.report:models"


@pytest.mark.slow
def test_models_with_their_curves(made_up_run):
    section = made_up_run.section(SECTION)
    reader = Reader(section)
    assert reader.faults == [] and reader.ids[0] == "models"
    assert section.count("<svg") == 2
    rows = rows_of(captioned(section, "As far as they were measured"))
    figures = ["1,234,567", "1,200", "2.174", "31.25", "nrefs:1|case:mixed|eff:no"]
    assert rows[1:] == [["forward", *figures], ["backward", *figures]]


@pytest.mark.slow
def test_filter_models_come_last(made_up_run, tmp_path):
    roles = ["filter_forward", "filter_backward", "forward", "backward"]
    for role in roles:
        write_model(tmp_path, role)
    units = {f"train/{role}": tmp_path / "train" / role / "v1-0123456789ab" for role in roles}
    section = replace(made_up_run, units=units).section(SECTION)
    rows = rows_of(captioned(section, "As far as they were measured"))
    assert [row[0] for row in rows[1:]] == [*roles[2:], *roles[:2]]
