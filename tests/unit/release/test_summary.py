import pytest

from tests.unit.embed.sts_example import STS, TRAINING_SETS
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.embed.sts_tables import models
from workflow_scripts.stages.evaluate.results import read_measures, shown_groups
from workflow_scripts.stages.release.summary import (
    count_table,
    embedding_table,
    main,
    measure_table,
    model_table,
)

REJECTED = {f"charset_{number}": 10**number for number in range(9)}


def test_table_has_rows_of_every_system(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    measures = {system: read_measures(run.measures(system))["groups"] for system in run.systems}
    header, _, *lines = measure_table(measures).splitlines()
    assert header.split()[:3] == ["system", "references", "rank"]
    cells = [line.split() for line in lines]
    expected = [
        [system, group, str(rank)]
        for system, groups in measures.items()
        for group in shown_groups(groups)
        for rank in range(1, 6)
    ]
    assert [row[:3] for row in cells] == expected
    best = measures["beam"]["all"]["ranks"][0]
    (row,) = (row for row in cells if row[:3] == ["beam", "all", "1"])
    assert row[3:5] == [str(best["listed"]), f"{best['one_minus_bleu']:.2f}"]
    parsed = measures["parabank2"]["all"]["syntax"]["ranks"][0]["tree_edit_distance"]
    (row,) = (row for row in cells if row[:3] == ["parabank2", "all", "1"])
    assert f"{parsed:.2f}" in row
    assert "tree distance" in header


def test_without_systems_there_is_no_table_of_measures():
    assert measure_table({}) == ""


NOTHING = {"rank": 1, "listed": 0, "one_minus_bleu": None, "interval": None, "mean_sum": None}
GROUP = {"references": 3, "testbed": None, "syntax": None, "ranks": [NOTHING]}


def test_a_group_without_paraphrases_has_empty_cells_and_one_without_references_no_rows():
    table = measure_table({"none": {"all": GROUP, "seen": GROUP | {"references": 0}}})
    (row,) = table.splitlines()[2:]
    assert row.split() == ["none", "all", "1", "0"]


def test_no_line_is_wider_than_the_terminal(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    measures = {system: read_measures(run.measures(system))["groups"] for system in run.systems}
    for table in (
        measure_table(measures),
        embedding_table(STS, models(STS, TRAINING_SETS, ["word", "trigram"])),
        count_table([{"label": "clean", "rows_in": 9, "rows_out": 1, "rejected": REJECTED}]),
    ):
        assert 60 < max(map(len, table.splitlines())) <= 80


def test_models_that_were_not_measured_have_no_table():
    nothing = {"validation_perplexity": None, "bleu": None}
    assert model_table({"forward": nothing, "backward": nothing}) == ""
    assert "forward" in model_table({"forward": nothing | {"validation_perplexity": 3.0}})


def test_embeddings_beside_their_untrained_selves_and_overlap(monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    lines = embedding_table(STS, models(STS, TRAINING_SETS, ["word", "trigram"])).splitlines()
    first, *_, last = (line.split() for line in lines[2:])
    assert first == ["word", "cost-beam-1", "2", "40.0", "65.0", "7.1", "60.0"]
    assert last == ["trigram", "cost-beam-1", "1", "40.0", "90.0", "60.0"]


def test_an_unfinished_run_is_an_error(tmp_path):
    (tmp_path / "config.yaml").write_text("run: {systems: [parabank2]}\n", encoding="utf-8")
    (tmp_path / "release").symlink_to("not/there/yet")
    with pytest.raises(InputError, match=r"the run is not finished; see paraloom status"):
        main(["--run", str(tmp_path)])


def test_no_run_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no run there"):
        main(["--run", str(tmp_path / "runs" / "nothing")])
