import copy
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.runs import link_run
from workflow_scripts.runs.__main__ import main
from workflow_scripts.runs.garbage import alone, find_garbage
from workflow_scripts.stages import run_layout

ROOT = Path(__file__).resolve().parents[3]
HOLD = """
import sys
from pathlib import Path
from workflow_scripts.core.runs import remove_stale_locks
alive = remove_stale_locks(Path(".snakemake"))
print("alive", flush=True)
sys.stdin.read()
"""


class Workplace:
    """A working directory with one run, all of whose files are old."""

    def __init__(self, root):
        self.root = root
        self.config = yaml.safe_load((ROOT / "config.yaml").read_text(encoding="utf-8"))
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
        *path, key, value = path_and_value
        config = copy.deepcopy(self.config)
        node = config
        for each in path:
            node = node[each]
        node[key] = value
        if name:
            config["run"]["name"] = name
        return config

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


def test_what_a_run_links_stays(workplace):
    assert workplace.garbage() == set()


def test_folders_of_an_earlier_configuration_are_garbage(workplace):
    first = run_layout(workplace.config)
    second = workplace.start(workplace.changed(*BEST_3))
    assert SELECT in moved(first, second)
    assert ("train", "forward") not in moved(first, second)
    assert workplace.garbage() == unit_folders(first, *moved(first, second))


def test_another_run_keeps_its_own(workplace):
    workplace.start(workplace.changed(*BEST_3, name="other"))
    assert workplace.garbage() == set()


def test_run_of_another_working_directory_keeps_what_it_shares(workplace, monkeypatch, tmp_path):
    elsewhere = tmp_path.parent / f"{tmp_path.name}-elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    shared = workplace.changed("results", str(tmp_path / "results"))
    shared["systems"]["parabank2"]["select"]["best"] = 3
    theirs = workplace.start(shared)
    monkeypatch.chdir(tmp_path)
    assert workplace.garbage() == set()
    # Their run is removed: what only it needed goes.
    (elsewhere / "runs" / "demo" / "config.yaml").unlink()
    only_theirs = moved(theirs, run_layout(workplace.config))
    prefix = f"{tmp_path}/results/"
    assert workplace.garbage() == {
        theirs.folder(*unit).removeprefix(prefix) for unit in only_theirs
    }


def test_path_that_a_configuration_names_stays(workplace):
    first = run_layout(workplace.config)
    model = first.folder("train", "forward")
    config = workplace.changed("subword", "coverage", 0.999)
    config["models"]["mine"] = {"folder": model, "source_model": "s", "reference_model": "r"}
    workplace.start(config)
    found = workplace.garbage()
    assert model.removeprefix("results/") not in found
    assert unit_folders(first, ("train", "backward"), ("subword", "main")) <= found


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


def test_nothing_is_deleted_while_a_snakemake_lives(workplace, capsys):
    first = run_layout(workplace.config)
    workplace.start(workplace.changed(*BEST_3))
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", HOLD]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=environment
    ) as other:
        assert other.stdout.readline() == b"alive\n"
        with pytest.raises(InputError, match="a Snakemake is at work in"):
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
