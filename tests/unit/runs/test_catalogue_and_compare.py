import json
import os
from pathlib import Path

import pytest

from tests.configs import run_on_testbed
from tests.e2e.micro import merged
from workflow_scripts.commands.runs.__main__ import main
from workflow_scripts.commands.runs.compare import differences, flat
from workflow_scripts.commands.runs.garbage import last_change
from workflow_scripts.commands.runs.run_list import run_line, size_of, size_text
from workflow_scripts.commands.status import __main__ as status
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.plan.run.run_folders import link_run
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.evaluate.group import Group


def start(name, changes=None):
    config = run_on_testbed()
    layout = run_layout(merged(config, {"run": {"name": name}, **(changes or {})}))
    link_run(layout)
    return layout


def write(layout, unit, name, content):
    path = Path(layout.folder(*unit)) / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(content), encoding="utf-8")


def write_measures(layout, groups):
    unit = ("evaluate", "parabank2")
    write(layout, unit, "measures.json", {"groups": groups})
    folder = Path(layout.folder(*unit))
    write_record(folder / "evaluation.json", 0, 0, {}, files=[folder / "measures.json"])


def finish(layout):
    record = {"rows_in": 1, "rows_out": 1, "rejected": {}}
    for unit in layout.units():
        for name in layout.records(*unit):
            write(layout, unit, f"{name}.json", record)


def rank(number, bleu):
    words = {"intersection_over_union": 40.0, "length_ratio": 1.0}
    return {"rank": number, "one_minus_bleu": bleu, "words": words, "mean_sum": 0.5}


@pytest.fixture
def two(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = start("first")
    second = start("second", {"systems": {"parabank2": {"select": {"best": 3}}}})
    return first, second


@pytest.mark.slow
def test_list_tells_finished_from_unfinished(two, capsys):
    finish(two[0])
    main(["list"])
    lines = capsys.readouterr().out.splitlines()
    first = next(line for line in lines if line.startswith("first"))
    second = next(line for line in lines if line.startswith("second"))
    units = two[0].units()
    parts = {unit: len(two[0].records(*unit)) for unit in units}
    total = sum(parts.values())
    assert "finished" in first and f"{total} of {total}" in first and "parabank2" in first
    # Units that both link are done in both.
    shared = sum(parts[unit] for unit in units if two[0].key(*unit) == two[1].key(*unit))
    assert 0 < shared < total
    assert "unfinished" in second and f"{shared} of {total}" in second


@pytest.mark.slow
def test_run_of_another_version_is_listed(two):
    config = Path("runs/first/config.yaml")
    text = config.read_text(encoding="utf-8")
    config.write_text(f"{text}\nkey_of_old: 1\n", encoding="utf-8")
    assert run_line(Path("runs/first")).state == "of another version"


@pytest.mark.slow
@pytest.mark.parametrize("content", [b"", b"\xff\x00", b"[]", b"run: [", b"run: 3"])
def test_damaged_configuration_hides_no_other_run_and_is_an_error_where_it_is_needed(
    two, capsys, content
):
    config = Path("runs/first/config.yaml")
    config.write_bytes(content)
    main(["list"])
    listed = capsys.readouterr().out
    assert "damaged configuration" in listed and "second" in listed
    with pytest.raises(InputError, match=r"runs/first/config.yaml is empty or damaged: start the"):
        main(["compare", "first", "second"])
    with pytest.raises(InputError, match=r"runs/first/config.yaml is empty or damaged"):
        status.main(["--run", "runs/first"])


def test_compare_tells_configuration_counts_and_measures(two, capsys, monkeypatch):
    counts = {"rows_in": 10, "rejected": {}}
    for layout, kept, bleu in zip(two, (9, 7), (70.0, 72.5), strict=True):
        unit = ("select", "parabank2")
        write(layout, unit, "manifest.json", counts | {"rows_out": kept})
        group = {"ranks": [rank(1, bleu)], "testbed": {"ranks": [{"rank": 1, "share": 90.0}]}}
        write_measures(layout, {"seen": group})
    monkeypatch.setenv("COLUMNS", "200")
    main(["compare", "first", "runs/second"])
    text = capsys.readouterr().out
    lines = {line.split("  ")[0]: line.split() for line in text.splitlines()}
    assert lines["systems.parabank2.select.best"][-2:] == ["5", "3"]
    assert lines["run.name"][-2:] == ['"first"', '"second"']
    assert lines["select.parabank2.rows_out"][-3:] == ["9", "7", "-2"]
    assert lines["evaluate.parabank2.seen.rank 1.1-BLEU"][-3:] == ["70.00", "72.50", "2.50"]
    assert "evaluate.parabank2.seen.rank 1.same meaning %" not in lines
    shared = text.splitlines()[-1]
    assert shared.startswith("folders in common: clean, corpus.testbed")
    assert "select" not in shared


@pytest.mark.slow
def test_compare_knows_groups_without_paraphrases_and_fits_the_terminal(two, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    empty = Group(1).result(10, 1)
    assert empty["references"] == 0
    for layout, bleu in zip(two, (70.0, 72.5), strict=True):
        groups = {"all": {"ranks": [rank(1, bleu)], "testbed": None}, "held_out": empty}
        write_measures(layout, groups)
    main(["compare", "first", "second"])
    text = capsys.readouterr().out
    measures = text.partition("\nmeasures\n")[2]
    assert "72.50" in measures
    assert ".held_out." not in measures  # the same in both: none
    assert max(map(len, text.splitlines()[:-1])) <= 80
    groups["held_out"] = {"ranks": [rank(1, 60.0)], "testbed": None}
    write_measures(two[1], groups)
    main(["compare", "first", "second"])
    measures = "".join(capsys.readouterr().out.partition("\nmeasures\n")[2].split())
    assert "held_out.rank1.1-BLEU60.00" in measures
    write(two[1], ("evaluate", "parabank2"), "measures.json", {"groups": {}})
    with pytest.raises(InputError, match=r"second/evaluate.parabank2/measures.json differs from"):
        main(["compare", "first", "second"])


@pytest.mark.slow
def test_compare_tells_versions_of_packages_and_damaged_manifests(two, capsys):
    counts = {"rows_in": 1, "rows_out": 1, "rejected": {}}
    for layout, version in zip(two, ("2.1", "2.2"), strict=True):
        tools = {"tools": {"torch": [version], "numpy": ["1"]}}
        write(layout, ("select", "parabank2"), "manifest.json", counts | tools)
    main(["compare", "first", "second"])
    text = capsys.readouterr().out
    assert "numpy" not in text
    lines = {line.split("  ")[0]: line.split() for line in text.splitlines()}
    assert lines["select.parabank2.torch"][-2:] == ['"2.1"', '"2.2"']
    write(two[0], ("select", "parabank2"), "manifest.json", sealed(counts) | {"rows_in": 2})
    with pytest.raises(InputError, match=r"select.parabank2/manifest.json is damaged \(it differs"):
        main(["compare", "first", "second"])


@pytest.mark.slow
def test_catalogue_entries_that_no_run_uses_do_not_differ(two, capsys):
    shape = run_on_testbed()["models"]["testbed"]
    start("second", {"models": {"unused": {**shape, "size": 8}}})
    main(["compare", "first", "second"])
    text = capsys.readouterr().out
    assert "unused" not in text
    assert "rows\nnone yet" in text


@pytest.mark.slow
def test_compare_shows_what_is_absent_as_a_dash(two, capsys):
    start("third", {"subword": {"filter_vocab_size": {"source": 300, "reference": 300}}})
    main(["compare", "first", "third"])
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["subword.filter_vocab_size.source", "-", "300"] in lines


def test_compare_wants_runs(two):
    with pytest.raises(InputError, match=r"runs/third: no run there"):
        main(["compare", "first", "third"])


def test_list_wants_a_run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no run below runs/"):
        main(["list"])


def test_differences_show_what_is_absent():
    one, other = dict(flat({"a": {"b": 1, "c": []}, "d": {}})), dict(flat({"a": {"b": 2}}))
    assert differences(one, other) == [("a.b", 1, 2), ("a.c", [], "-"), ("d", {}, "-")]


@pytest.mark.parametrize(
    ("size", "text"),
    [(0, "0 B"), (999, "999 B"), (1500, "1.5 kB"), (999_700, "1 MB"), (2.5e12, "2.5 TB")],
)
def test_size_text(size, text):
    assert size_text(size) == text


def test_a_file_that_goes_meanwhile_has_no_size(tmp_path, monkeypatch):
    """The temporary file of a job that is at work."""
    for name in ("kept", ".gone.tmp"):
        (tmp_path / name).write_bytes(b"12345")
    for name in ("stat", "lstat"):
        known = getattr(os, name)

        def look(path, *arguments, known=known, **options):
            if str(path).endswith(".tmp"):
                raise FileNotFoundError(path)
            return known(path, *arguments, **options)

        monkeypatch.setattr(os, name, look)
    assert size_of(tmp_path) == 5
    assert last_change(tmp_path) > 0
