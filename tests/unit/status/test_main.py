import hashlib
import json
import os

import pytest

from tests.e2e.faults.damage import FLIPPED, damage
from workflow_scripts.commands.status import __main__ as status
from workflow_scripts.commands.status.state_table import status_table
from workflow_scripts.commands.status.units import UnitStatus
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import write_json
from workflow_scripts.core.files.manifest import read_record, write_record
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.plan.run.events import FAILED, STARTED, Event, EventHandler

CLEAN = ("clean", None)


@pytest.fixture
def failing(run):
    """One clean shard done, one failed; a corpus begun by a Snakemake that is gone."""
    run.write_record(CLEAN, "0000", 100, 90, duplicate=10)
    log = run.write_log(CLEAN, "0001", "error: the file is damaged\n")
    other = run.write_log(("corpus", "testbed"), "job", "")
    os.utime(run.root / other, (0, 0))
    handler = EventHandler(run.folder / "events")
    handler._write(Event(1.0, STARTED, "clean_shard", [run.part(CLEAN, "0001")], log))
    handler._write(Event(2.0, FAILED, "clean_shard", [run.part(CLEAN, "0001")], log))
    corpus = [run.part(("corpus", "testbed"), name) for name in ("0000", "0001", "rejected.tsv")]
    handler._write(Event(3.0, STARTED, "corpus_import", corpus, other))
    handler._stream.close()
    return run


def test_table_tells_all(failing, capsys):
    status.main(["--run", "runs/testbed"])
    text = capsys.readouterr().out
    assert text.startswith(
        "runs/testbed: not running; the command that started it goes on from here"
    )
    assert f"jobs under way when it ended: 1. 1 of {failing.parts} parts done." in text
    clean = next(line for line in text.splitlines() if line.startswith("clean "))
    assert clean.split() == ["clean", "1", "1", "100", "90", "duplicate", "10", "50%"]
    assert "clean failed at" in text
    assert text.rstrip().endswith("the file is damaged")


@pytest.mark.parametrize(("rate", "shown"), [(0.5, "0.5"), (999.4, "999"), (999.7, "1,000")])
def test_a_speed_is_never_in_powers_of_ten(rate, shown):
    assert f"  {shown} rows/s" in status_table([UnitStatus("clean", done=1, rate=rate)])


def test_json_has_the_same(failing, capsys):
    status.main(["--json"])
    found = json.loads(capsys.readouterr().out)
    assert (found["alive"], found["interrupted"]) == (False, 1)
    (clean,) = [unit for unit in found["units"] if unit["name"] == "clean"]
    assert (clean["done"], clean["failed"], clean["rejected"]) == (1, 1, {"duplicate": 10})
    assert clean["errors"][0]["message"] == "the file is damaged"


def test_watch_ends_with_the_run(run, capsys, monkeypatch):
    looks = []

    def finish(seconds):
        looks.append(seconds)
        for unit in run.layout.units():
            for name in run.layout.records(*unit):
                run.write_record(unit, name, 1, 1)

    monkeypatch.setattr(status.time, "sleep", finish)
    status.main(["--watch", "3"])
    first, second = capsys.readouterr().out.split(status._CLEAR)[1:]
    assert looks == [3.0]
    assert f"0 of {run.parts} parts done" in first
    assert second.startswith(f"runs/testbed: finished. {run.parts} of {run.parts} parts done.")


def test_newest_run_is_shown(run):
    other = run.root / "runs" / "other"
    other.mkdir()
    (other / "config.yaml").write_text("{}", encoding="utf-8")
    os.utime(other / "config.yaml", (1, 1))
    assert status.newest_run().name == "testbed"
    os.utime(other / "config.yaml", (2**32, 2**32))
    assert status.newest_run().name == "other"


def test_run_of_another_version_is_told(run):
    config = run.folder / "config.yaml"
    config.write_text(f"{config.read_text(encoding='utf-8')}\nold: 1\n", encoding="utf-8")
    with pytest.raises(InputError, match="runs/testbed was started by another version"):
        status.main(["--run", "testbed"])
    config.write_text(config.read_text("utf-8").replace("results: results", "results: away"))
    (run.root / "away").symlink_to("/nowhere")
    with pytest.raises(InputError, match=r"^results: .* is its disk mounted"):
        status.main(["--run", "runs/testbed"])


@pytest.mark.parametrize("seconds", ["0", "-1", "nan", "inf"])
def test_watch_takes_seconds_above_zero(seconds):
    with pytest.raises(SystemExit):
        status.main(["--watch", seconds])


def test_without_a_run_the_message_says_where_to_go(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="no run below runs/"):
        status.main([])
    with pytest.raises(InputError, match="nowhere: no run there"):
        status.main(["--run", "nowhere"])


@pytest.mark.slow
def test_lost_files_and_units_made_of_other_content_are_told(run, capsys):
    run.write_record(CLEAN, "0000", 3, 3)
    manifest = run.root / run.layout.folder(*CLEAN) / "manifest.json"
    corpora = {
        unit: run.root / run.layout.folder(*unit) / "manifest.json"
        for unit in run.layout.upstream(CLEAN)
    }
    for path in corpora.values():
        path.parent.mkdir(parents=True)
        write_json(path, sealed({"parts": {}}))
    read = {
        f"{'/'.join(unit)}/{run.layout.key(*unit)}": hashlib.sha256(path.read_bytes()).hexdigest()
        for unit, path in corpora.items()
    }
    files = {"0000.parquet": "", "0001.parquet": ""}
    write_json(manifest, sealed({"parts": {"0000": {"files": files}}, "upstream": read}))
    manifest.with_name("0001.parquet").touch()
    status.main(["--run", "runs/testbed"])
    text = capsys.readouterr().out
    lost = manifest.with_name("0000.parquet").relative_to(run.root)
    assert f"warning: clean: {lost} is gone" in text and "another" not in text
    manifest.with_name("0000.parquet").touch()
    unit, path = list(corpora.items())[-1]
    write_json(path, sealed({"parts": {}, "made": "again"}))
    status.main(["--run", "runs/testbed"])
    text = capsys.readouterr().out
    assert f"warning: clean was made of another {'.'.join(unit)} than is there now" in text
    assert "is gone" not in text
    status.main(["--json"])
    (clean,) = [
        each for each in json.loads(capsys.readouterr().out)["units"] if each["name"] == "clean"
    ]
    assert (clean["gone"], clean["made_of_others"]) == ([], [".".join(unit)])


@pytest.mark.slow
def test_damage_and_mixed_versions_are_told(run, capsys):
    run.write_record(CLEAN, "0000", 3, 3)
    record = run.root / run.part(CLEAN, "0000")
    for version, unit, name in (("2.1", CLEAN, "0000"), ("2.2", ("subword", "main"), "0001")):
        path = run.root / run.part(unit, name)
        write_json(
            path, sealed({"rows_in": 3, "rows_out": 3, "rejected": {}, "tools": {"torch": version}})
        )
    status.main(["--run", "runs/testbed"])
    text = capsys.readouterr().out
    warning = "different versions of torch made this run: 2.1 clean; 2.2 subword.main"
    assert f"warning: {warning}" in text and "is damaged" not in text
    record.write_text(record.read_text("utf-8").replace(": 3", ": 4"), "utf-8")
    manifest = record.with_name("manifest.json")
    manifest.write_text("{", "utf-8")
    status.main(["--run", "runs/testbed"])
    text = capsys.readouterr().out
    for path in (record, manifest):
        assert f"warning: {path.relative_to(run.root)} is damaged (" in text
    assert "delete it and manifest.json beside it and run again" in text
    status.main(["--json"])
    found = json.loads(capsys.readouterr().out)
    (clean,) = [unit for unit in found["units"] if unit["name"] == "clean"]
    assert (clean["done"], len(clean["damaged"])) == (0, 2)
    assert found["mixed_versions"] == []


@pytest.fixture
def whole(run):
    """A run with a shard, a list that no job reads, and a model, each with its record."""
    paths = []
    for unit, name, file in (
        (CLEAN, "0000", "0000.parquet"),
        (CLEAN, "0001", "rejected/0001.tsv.zst"),
        (("train", "forward"), "model", "learning_curve.svg"),
    ):
        record = run.root / run.part(unit, name)
        path = record.parent / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"what its stage wrote")
        write_record(record, 0, 0, {}, files=[path])
        paths.append(path.relative_to(run.root))
    return paths


@pytest.mark.slow
def test_verify_names_every_damaged_file_and_what_to_do(whole, capsys):
    assert status.main(["--verify"]) == 0
    assert "All files that are there are as their stages wrote them." in capsys.readouterr().out
    for path in whole:
        damage(path, FLIPPED)
    assert status.main([]) == 0  # which reads no data
    assert "differs" not in capsys.readouterr().out
    assert status.main(["--verify"]) == 1
    text = capsys.readouterr().out
    shard, rejected, curve = (
        next(line for line in text.splitlines() if f"warning: {path} differs" in line)
        for path in whole
    )
    assert "delete it and 0000.json beside it and run again" in shard
    assert "delete it and ../0001.json beside it and run again" in rejected
    assert "trains once more" in curve and "trains" not in shard + rejected
    assert "as their stages wrote them" not in text
    assert status.main(["--verify", "--json"]) == 1
    units = json.loads(capsys.readouterr().out)["units"]
    assert sum(len(unit["damaged"]) for unit in units) == len(whole)


@pytest.mark.slow
def test_verify_tells_of_lost_files_by_its_exit_status(run, whole, capsys):
    manifest = whole[0].with_name("manifest.json")
    parts = {"0000": read_record(whole[0])}
    write_json(manifest, sealed({"parts": parts}))
    whole[0].unlink()
    assert status.main(["--verify"]) == 1
    assert f"{whole[0]} is gone" in capsys.readouterr().out


@pytest.mark.slow
def test_verify_tells_of_lost_files_of_a_unit_that_is_not_finished(whole, capsys):
    whole[1].unlink()
    assert status.main(["--verify"]) == 1
    text = capsys.readouterr().out
    assert f"warning: {whole[1]} is missing; delete ../0001.json beside it" in text
    assert "as their stages wrote them" not in text


def test_verify_reads_once(run):
    with pytest.raises(SystemExit):
        status.main(["--verify", "--watch"])
