import pytest

from workflow_scripts.core.report import terminal
from workflow_scripts.core.report.terminal import fitted_table, folded

HEADERS = ["stage", "rows in", "rows out", "rejected", "speed"]
LONG = ", ".join(f"reason_{number} {number:,}" for number in range(8))


def widest(table):
    return max(map(len, table.splitlines()))


def test_a_narrow_table_stays_as_it_is():
    table = fitted_table([["clean", 1000, 5, "", None]], HEADERS, width=80)
    assert table.splitlines()[0].split("  ")[0] == "stage"
    assert "1,000" in table
    # Columns in which nothing stands are left out.
    assert "rejected" not in table and "speed" not in table


def test_long_texts_are_folded_and_nothing_is_lost():
    table = fitted_table([["clean", 1000, 5, LONG, "1/s"]], HEADERS, texts=["rejected"], width=60)
    assert 40 < widest(table) <= 60
    for number in range(8):
        assert f"reason_{number}" in table
    assert table.count("clean") == 1


def test_the_state_of_a_long_run_is_one_table_with_a_line_for_each_unit():
    rejected = "charset_source 12,345, charset_reference 123, too_long 123, duplicate 4,444"
    names = ["corpus.testbed_held_out", "clean", "generate.references"]
    rows = [
        [name, 1000, None, None, 57_000_000, 56_000_000, rejected, "100%", "12,345 rows/s", None]
        for name in names
    ]
    headers = ["stage", "done", "running", "failed", "rows in", "rows out", "rejected", "%"]
    headers += ["speed", "left"]
    texts = ["stage", "rejected", "%", "speed", "left"]
    lines = fitted_table(rows, headers, texts=texts, width=80).splitlines()
    assert max(map(len, lines)) <= 80
    assert "" not in lines
    (line,) = (line for line in lines if line.startswith("clean "))
    assert "100%" in line and "57,000,000" in line


def test_columns_that_are_left_over_follow_below_with_their_keys():
    headers = ["system", *(f"measure {number}" for number in range(20))]
    rows = [["parabank", *range(100, 120)], ["paranmt", *range(200, 220)]]
    table = fitted_table(rows, headers, width=50)
    assert widest(table) <= 50
    blocks = table.split("\n\n")
    assert len(blocks) > 1
    assert all("parabank" in block and "paranmt" in block for block in blocks)
    words = table.split()
    assert all(str(number) in words for number in [*range(100, 120), *range(200, 220)])


@pytest.mark.parametrize("width", [20, 40, 80])
@pytest.mark.parametrize(
    "text",
    [
        "evaluate.parabank2.held_out.rank 1.intersection/union",
        "results/select/parabank2/v2-0123456789ab",
        "x" * 200,
        "",
        " a  b ",
    ],
)
def test_folding_keeps_every_character_but_blanks(text, width):
    lines = folded(text, width).split("\n")
    assert max(map(len, lines)) <= width
    assert "".join("".join(lines).split()) == "".join(text.split())


def test_the_width_is_that_of_the_terminal(monkeypatch):
    monkeypatch.setenv("COLUMNS", "44")
    assert terminal.terminal_width() == 44
    assert widest(fitted_table([["clean", 1, 2, LONG, "1/s"]], HEADERS, texts=["rejected"])) <= 44
    monkeypatch.setenv("COLUMNS", "300")
    assert len(fitted_table([["a", 1, 2, LONG, "1/s"]], HEADERS).splitlines()) == 3


def test_texts_that_look_like_numbers_stay_as_they_are():
    assert "1e5" in fitted_table([["1e5", 2]], ["system", "rows"], texts=["system"], width=80)
