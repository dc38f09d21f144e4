import pytest

from workflow_scripts.core.report.cells import count, estimate, in_brackets, number, row_name, text
from workflow_scripts.core.report.table import Table, ends, value_at

RECORD = {"name": "a", "n": 1200, "words": {"ratio": 0.5}, "none": None, "spans": [{"to": 5}]}


def test_values_stand_at_paths():
    assert value_at(RECORD, "words.ratio") == 0.5
    assert value_at(RECORD, "spans.0.to") == 5
    assert value_at(RECORD, "none.ratio") is None
    assert value_at(RECORD, "pieces?.ratio") is None
    with pytest.raises(KeyError, match="pieces"):
        value_at(RECORD, "pieces.ratio")


def test_counts_with_gaps_stay_counts():
    frame = Table("name count=n? share=words?.ratio", [RECORD, {"name": "NA"}]).frame()
    assert frame.to_dict("records") == [
        {"name": "a", "count": 1200, "share": 0.5},
        {"name": "NA", "count": None, "share": None},
    ]
    assert list(Table("name n", []).frame()) == ["name", "n"]


def test_columns_of_a_figure_with_an_interval():
    assert ends("met") == "met_value=met.value met_low=met.low met_high=met.high"


def test_records_by_what_they_have():
    table = Table("name n", [{"name": name, "n": n} for n, name in enumerate("aba")])
    assert table.where(name="a").records == [{"name": "a", "n": 0}, {"name": "a", "n": 2}]
    assert [[row["n"] for row in rows] for rows in table.groups("name")] == [[0, 2], [1]]


def test_cells_are_escaped_and_rounded():
    assert row_name("t").cell({"t": "<b>"}) == '<th scope="row">&lt;b&gt;</th>'
    assert row_name("t", code=True).cell({"t": "<"}) == '<th scope="row"><code>&lt;</code></th>'
    assert text("none").cell(RECORD) == "<td></td>"
    assert count("n").cell(RECORD) == '<td class="number">1,200</td>'
    assert (
        number("words.ratio", "share", 1, times=100).cell(RECORD) == '<td class="number">50.0</td>'
    )
    assert number("none").cell(RECORD) == '<td class="number">–</td>'


def test_intervals_and_deviations_stand_behind_their_figure():
    found = {"met": {"value": -1.26, "low": -2.0, "high": 3.0}, "absent": None, "spread": 0.5}
    cell = '<td class="number">\u22121.3 <span class="interval">\u22122.0 to 3.0</span></td>'
    assert estimate("met", "met").cell(found) == cell
    bare = in_brackets(estimate("met", "met")).cell(found)
    assert bare == '<td class="number">\u22121.3 (\u22122.0 to 3.0)</td>'
    assert estimate("absent", "absent").cell(found) == '<td class="number">–</td>'
    shown = number("met.value", "met", interval="met", deviation="spread").cell(found)
    assert shown == '<td class="number">\u22121.26 <span class="interval">± 0.5</span></td>'


def test_headings_stand_where_their_cells_do():
    columns = [row_name("data_set"), count("left_out?"), text("l2", "L2", "number")]
    assert [(each.title, each.heading_css) for each in columns] == [
        ("data set", ""),
        ("left out", "number"),
        ("L2", "number"),
    ]
