import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from tests.configs import replaced, run_on_testbed
from workflow_scripts.commands.runs import garbage
from workflow_scripts.commands.runs.__main__ import main
from workflow_scripts.commands.runs.garbage import alone, find_garbage
from workflow_scripts.core.errors import InputError
from workflow_scripts.plan.layout import Layout
from workflow_scripts.plan.run.run_folders import link_name, link_run
from workflow_scripts.stages.catalogue import linked_layout, run_layout

ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import sys
from workflow_scripts.plan.run.results_lock import ResultsLock
ResultsLock("results").enter()
print("alive", flush=True)
sys.stdin.read()
"""


class Workplace:
    """A working directory with one run, all of whose files are old."""

    def __init__(self, root):
        self.root = root
        self.config = run_on_testbed()
        self.start(self.config)

    def start(self, config):
        """Link a run and write a file into each of its folders, as Snakemake does."""
        layout = run_layout(config)
        link_run(layout)
        for unit in layout.units():
            folder = self.root / layout.folder(*unit)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "0000.parquet").write_bytes(bytes(100))
        self.age()
        return layout

    def age(self):
        for path in [*self.root.rglob("*")]:
            os.utime(path, (0, 0), follow_symlinks=False)

    def changed(self, *path_and_value, name=None):
        config = replaced(self.config, *path_and_value)
        return replaced(config, "run", "name", name) if name else config

    def garbage(self, keep_seconds=0.0):
        found = find_garbage(Path("runs"), keep_seconds)
        return {str(each.folder.relative_to(self.root / "results")) for each in found}


@pytest.fixture
def workplace(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Workplace(tmp_path)


def unit_folders(layout, *units):
    return {layout.folder(*unit).removeprefix("results/") for unit in units}


def moved(first, second):
    """The units of `first` that `second` does not share."""
    return [unit for unit in first.units() if first.key(*unit) != second.key(*unit)]


SELECT = ("select", "parabank2")
BEST_3 = ("systems", "parabank2", "select", "best", 3)


@pytest.mark.slow
def test_folders_of_an_earlier_configuration_are_garbage(workplace):
    first = run_layout(workplace.config)
    second = workplace.start(workplace.changed(*BEST_3))
    assert SELECT in moved(first, second)
    assert ("train", "forward") not in moved(first, second)
    assert workplace.garbage() == unit_folders(first, *moved(first, second))


@pytest.mark.slow
def test_another_run_keeps_its_own(workplace):
    workplace.start(workplace.changed(*BEST_3, name="other"))
    assert workplace.garbage() == set()


@pytest.mark.slow
@pytest.mark.parametrize("data", [".", "results/train/forward"])
def test_path_that_a_configuration_names_stays(workplace, data):
    first = run_layout(workplace.config)
    model = first.folder("train", "forward")
    config = workplace.changed("subword", "coverage", 0.999)
    named = os.path.relpath(model, data)  # one name alone where the data are above the folder
    config["models"]["mine"] = {"folder": named, "source_model": "s", "reference_model": "r"}
    config["data"] = data
    workplace.start(config)
    found = workplace.garbage()
    assert model.removeprefix("results/") not in found
    assert unit_folders(first, ("train", "backward"), ("subword", "main")) <= found


@pytest.mark.slow
def test_what_is_new_and_what_is_no_stage_folder_stays(workplace):
    first = run_layout(workplace.config)
    for name in ("results/select/notes/v1-x", "results/mine/v1-0123456789ab"):
        (workplace.root / name).mkdir(parents=True)
    (workplace.root / "results/select/linked").mkdir()
    (workplace.root / "results/select/linked/v1-0123456789ab").symlink_to(workplace.root)
    second = workplace.start(workplace.changed(*BEST_3))
    (workplace.root / first.folder(*SELECT) / "0000.parquet").touch()
    others = [unit for unit in moved(first, second) if unit != SELECT]
    assert workplace.garbage(keep_seconds=60) == unit_folders(first, *others)


def test_without_a_run_nothing_is_garbage(tmp_path):
    with pytest.raises(InputError, match="nothing says what is needed"):
        find_garbage(tmp_path / "runs", 0.0)


@pytest.mark.slow
def test_dry_run_deletes_nothing_and_delete_takes_logs_and_benchmarks_along(workplace, capsys):
    first = run_layout(workplace.config)
    key, folder = first.key("select", "parabank2"), first.folder("select", "parabank2")
    besides = [
        workplace.root / f"results/{place}"
        for place in (
            f"logs/select/parabank2/{key}/0000.log",
            f"logs/select/parabank2/{key}.log",
            f"benchmarks/select/parabank2/{key}/0000.tsv",
        )
    ]
    for path in besides:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("x", encoding="utf-8")
    stale = workplace.root / folder
    stale = stale.with_name(f".{stale.name}.deleted")
    stale.mkdir()
    workplace.start(workplace.changed(*BEST_3))
    kept = {path for path in workplace.root.rglob("*") if path.is_file()}
    count = len(workplace.garbage())
    main(["collect"])
    assert f"{count} folders, {count}00 B would be deleted" in capsys.readouterr().out
    assert {path for path in workplace.root.rglob("*") if path.is_file()} == kept
    main(["collect", "--delete"])
    assert f"{count} folders, {count}00 B deleted" in capsys.readouterr().out
    assert not (workplace.root / folder).exists()
    assert not stale.exists()
    assert not any(path.exists() for path in besides)
    assert workplace.garbage() == set()
    now = run_layout(workplace.changed(*BEST_3))
    assert all((workplace.root / now.folder(*unit)).exists() for unit in now.units())


@pytest.mark.slow
def test_nothing_is_deleted_while_a_snakemake_lives(workplace, capsys):
    first = run_layout(workplace.config)
    workplace.start(workplace.changed(*BEST_3))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as other:
        assert other.stdout.readline() == b"alive\n"
        with pytest.raises(InputError, match="results: in use by a run on host"):
            main(["collect", "--delete", "--keep-hours", "0"])
        main(["collect"])
        assert "would be deleted" in capsys.readouterr().out
        other.kill()
    assert (workplace.root / first.folder(*SELECT)).exists()
    main(["collect", "--delete"])
    assert not (workplace.root / first.folder(*SELECT)).exists()


def test_snakemake_that_starts_meanwhile_waits(workplace):
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    with alone(Path("runs")):
        command = [sys.executable, "-c", HOLD]
        other = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env=environment
        )
        with pytest.raises(subprocess.TimeoutExpired):
            other.wait(1.0)
    assert other.communicate(timeout=20)[0] == b"alive\n"


@pytest.fixture
def shared(workplace, monkeypatch, tmp_path):
    """Another working directory that uses the same results, for a `select` of its own."""
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    config = workplace.changed("results", str(tmp_path / "results"))
    config["systems"]["parabank2"]["select"]["best"] = 3
    layout = workplace.start(config)
    monkeypatch.chdir(tmp_path)
    return Shared(elsewhere, Path(layout.folder(*SELECT)), layout)


class Shared(NamedTuple):
    """Another working directory, a folder that only its run needs, and the run's layout."""

    root: Path
    folder: Path
    layout: Layout


@pytest.mark.slow
def test_run_of_another_working_directory_keeps_what_it_shares(workplace, shared, tmp_path):
    assert workplace.garbage() == set()
    # Their run is removed: what only it needed goes.
    (shared.root / "runs" / "testbed" / "config.yaml").unlink()
    assert workplace.garbage() == {
        shared.layout.folder(*unit).removeprefix(f"{tmp_path}/results/")
        for unit in moved(shared.layout, run_layout(workplace.config))
    }


def refusal(*arguments):
    with pytest.raises(InputError) as caught:
        main(["collect", *arguments])
    return str(caught.value)


@pytest.mark.slow
def test_working_directory_that_was_moved_stops_the_collection(shared, tmp_path):
    moved_to = shared.root.rename(f"{shared.root}-moved")
    for arguments in ([], ["--delete"]):
        message = refusal(*arguments)
        assert f"{shared.root}/runs/testbed: there is no {shared.root}/runs" in message
        assert f"paraloom runs forget {shared.root}" in message
        assert "nothing is deleted" in message
    assert shared.folder.exists()
    moved_to.rename(shared.root)
    main(["collect", "--delete"])
    assert shared.folder.exists()


@pytest.mark.slow
def test_working_directory_that_is_not_mounted_stops_the_collection(shared):
    """Where it was there is an empty folder, the mount point, or its `runs` is one."""
    away = shared.root.rename(f"{shared.root}-unmounted")
    shared.root.mkdir()
    assert f"{shared.root}/runs/testbed: there is no {shared.root}/runs" in refusal("--delete")
    (shared.root / "runs").mkdir()
    assert f"{shared.root}/runs/testbed: nothing is left in {shared.root}/runs" in refusal(
        "--delete"
    )
    assert shared.folder.exists()
    shutil.rmtree(shared.root)
    away.rename(shared.root)


@pytest.mark.slow
def test_run_that_cannot_be_read_stops_the_collection(shared, monkeypatch):
    """As after damage, in another user's working directory, or on a server that is gone."""
    run = shared.root / "runs" / "testbed"
    config = (run / "config.yaml").read_text("utf-8")
    for content, told in (
        (config.replace("results: /", "results: /gone/"), "its results folder /gone/"),
        ("", f"{run}/config.yaml is empty or damaged"),
    ):
        (run / "config.yaml").write_text(content, "utf-8")
        assert told in refusal("--delete")

    def refuse(run, read=garbage.read_config):
        if run.parents[1] == shared.root:
            raise InputError(f"{run}: no run there (Permission denied)")
        return read(run)

    monkeypatch.setattr(garbage, "read_config", refuse)
    assert f"{run}: no run there (Permission denied)" in refusal("--delete")
    assert shared.folder.exists()


@pytest.mark.slow
def test_run_whose_folder_was_deleted_is_forgotten(shared, tmp_path):
    shutil.rmtree(shared.root / "runs" / "testbed")
    main(["collect", "--delete", "--keep-hours", "0"])
    assert not shared.folder.exists()


@pytest.mark.slow
def test_working_directory_that_is_gone_for_good_can_be_forgotten(shared, tmp_path, capsys):
    with pytest.raises(InputError, match="is still there: to forget a run, delete its folder"):
        main(["forget", str(shared.root)])
    shutil.rmtree(shared.root)
    with pytest.raises(InputError, match=rf"no run of {tmp_path}/other .* there are: .*elsewhere"):
        main(["forget", "other"])
    main(["forget", str(shared.root)])
    assert f"forgotten: {shared.root}/runs/testbed" in capsys.readouterr().out
    main(["collect", "--delete", "--keep-hours", "0"])
    assert not shared.folder.exists()


@pytest.mark.slow
def test_working_directory_can_be_forgotten_from_anywhere(shared, tmp_path, monkeypatch, capsys):
    shutil.rmtree(shared.root)
    monkeypatch.chdir("/")
    with pytest.raises(InputError, match="name the results folder with --results"):
        main(["forget", str(shared.root)])
    main(["forget", str(shared.root), "--results", str(tmp_path / "results")])
    assert "forgotten" in capsys.readouterr().out
    with pytest.raises(InputError, match="/results: no results folder"):
        main(["forget", str(shared.root), "--results", str(shared.root / "results")])


@pytest.mark.slow
def test_runs_on_another_disk_keep_what_they_link(tmp_path, monkeypatch):
    """`runs` is a link; so it is in another working directory that shares the results."""
    roots = [tmp_path / name for name in ("here", "there")]
    for root in roots:
        disk = tmp_path / f"disk-{root.name}" / "runs"
        disk.mkdir(parents=True)
        root.mkdir()
        (root / "runs").symlink_to(disk)
    workplaces = []
    for root in roots:
        monkeypatch.chdir(root)
        (root / "results").mkdir() if root == roots[0] else (root / "results").symlink_to(
            roots[0] / "results"
        )
        workplaces.append(Workplace(root))
    there = workplaces[1].start(workplaces[1].changed(*BEST_3))
    monkeypatch.chdir(roots[0])
    only_theirs = moved(there, run_layout(workplaces[0].config))
    assert find_garbage(Path("runs"), 0.0) == []
    for unit in there.units():
        assert (roots[1] / "runs" / "testbed" / link_name(*unit)).resolve(strict=True)
    assert linked_layout(Path("runs/testbed")).root == roots[0]
    shutil.rmtree(tmp_path / "disk-there" / "runs" / "testbed")
    assert len(find_garbage(Path("runs"), 0.0)) == len(only_theirs)


@pytest.mark.slow
def test_runs_that_were_linked_the_old_way_keep_what_they_link(workplace):
    """Their links led astray where `runs` was a link; names and keys in them are right."""
    run = workplace.root / "runs" / "testbed"
    for link in [entry for entry in run.iterdir() if entry.is_symlink()]:
        astray = Path("../../astray") / link.readlink()
        link.unlink()
        link.symlink_to(astray)
    workplace.age()
    assert workplace.garbage() == set()


@pytest.mark.slow
@pytest.mark.parametrize("linked", ["select", "select/parabank2"])
def test_part_of_the_results_on_another_disk_stays_if_it_is_needed(workplace, linked, tmp_path):
    disk = tmp_path / "disk"
    (workplace.root / "results" / linked).rename(disk)
    (workplace.root / "results" / linked).symlink_to(disk)
    assert workplace.garbage() == set()
    first = run_layout(workplace.config)
    workplace.start(workplace.changed(*BEST_3))
    assert first.folder(*SELECT).removeprefix("results/") in workplace.garbage()
    main(["collect", "--delete", "--keep-hours", "0"])
    assert not (workplace.root / first.folder(*SELECT)).exists()
    assert workplace.garbage() == set()
