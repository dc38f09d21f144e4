"""The command `paraloom`: its subcommands, its help, how it ends, and what it loads."""

import importlib
import os
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from paraloom import run
from paraloom.commands import BLOCKS, ENTRIES, GROUPS, Entry, main
from paraloom.place import WORKFLOW, workflow_folder
from workflow_scripts.core.version import version

ROOT = Path(__file__).resolve().parents[3]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]


def command(*words, folder=ROOT, **settings):
    """Start the command in a process of its own."""
    line = [sys.executable, "-m", "paraloom", *words]
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    return subprocess.Popen(line, cwd=folder, env=environment, text=True, **settings)


def called(capfd, *words):
    """Start the command in this process; return its status and what it says."""
    with pytest.raises(SystemExit) as end:
        main(words)
    return end.value.code, "".join(capfd.readouterr())


@pytest.fixture(autouse=True)
def own_words(monkeypatch):
    """A subcommand finds its words in `sys.argv`."""
    monkeypatch.setattr(sys, "argv", sys.argv)


# --- its subcommands -------------------------------------------------------------------------


def test_each_subcommand_has_a_module_with_a_main():
    for name, entry in ENTRIES.items():
        module, _, function = entry.module.partition(":")
        spec = importlib.util.find_spec(module)
        assert spec, name
        text = Path(spec.origin).read_text(encoding="utf-8")
        assert re.search(rf"^(def {function or 'main'}\(|main = )", text, re.M), name


@pytest.mark.slow
@pytest.mark.parametrize("name", ENTRIES)
def test_a_subcommand_calls_itself_as_the_user_does(name, capfd):
    status, said = called(capfd, *name.split(), "--help")
    assert status == 0
    assert said.startswith(f"usage: paraloom {name} ")
    assert "python -m" not in said


def test_pages_name_subcommands_that_are_there():
    known = ENTRIES.keys() | set(GROUPS)
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        code = re.findall(r"(?ms)^```\n(.*?)^```|`([^`]+)`", text)
        named = r"(?<!from )\bparaloom ([a-z][a-z-]*)(?: ([a-z][a-z-]*))?"
        for words in (words for each in code for words in re.findall(named, "".join(each))):
            assert words[0] in known, (page, words)
            if words[0] in GROUPS and words[0] not in ENTRIES:
                assert " ".join(words).strip() in known, (page, words)


def test_pages_name_no_other_command_of_ours():
    for page in PAGES:
        assert not re.search(r"python -m\s+workflow_scripts", page.read_text("utf-8")), page


def test_the_site_lists_all_subcommands(site_lists):
    assert site_lists.MARK in (ROOT / "docs" / "command.md").read_text("utf-8")
    listed = site_lists.LISTS["command.md"]().splitlines()[1:-1]
    assert [re.split(r"  +", line) for line in listed] == [
        [name, ENTRIES[name].help] for name in sorted(ENTRIES)
    ]


# --- help ------------------------------------------------------------------------------------


def test_help_fits_one_screen_and_names_every_subcommand(capfd):
    status, said = called(capfd, "--help")
    lines = said.splitlines()
    assert status == 0
    assert len(lines) <= 23
    assert max(map(len, lines)) <= 80
    for name in ENTRIES:
        assert re.search(rf"\b{name.split()[0]}\b", said)
    assert {name for block in BLOCKS for name in block} == {
        name for name in ENTRIES if " " not in name
    }


def test_help_loads_nothing_slow():
    program = (
        "import sys\nfrom paraloom.commands import main\n"
        "try: main(['--help'])\nexcept SystemExit: pass\n"
        "slow = {'pandas', 'torch', 'snakemake', 'numpy', 'yaml', 'jinja2', 'pyarrow', 'tqdm'}\n"
        "print('loaded:', *sorted(slow & sys.modules.keys()))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=ROOT, check=True, capture_output=True, text=True
    )
    assert done.stdout.splitlines()[-1] == "loaded:"


def test_the_version_is_that_of_the_project(capfd):
    assert called(capfd, "--version") == (0, f"paraloom {version()}\n")


def test_a_group_lists_its_subcommands(capfd):
    status, said = called(capfd, "corpus", "--help")
    assert status == 0
    assert "pin" in said


# --- how it ends -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["stats"], "no subcommand 'stats'; did you mean 'status'?"),
        (["judge", "fti"], "'fti'; did you mean 'fit'?"),
        (["corpus", "xyz"], "no subcommand 'xyz'; known subcommands: pin"),
        (["--verison"], "--version"),
        (["status", "--jsn"], "paraloom status: error: unrecognized arguments: --jsn"),
        (["run", "--cores", "8"], "--cores stands before --; Snakemake's options stand behind it"),
        (["run", "--", "--configfile", "a.yaml"], "recipes stand before it"),
        ([], "Usage: paraloom"),
    ],
)
def test_a_wrong_command_line_ends_with_2(words, said, capfd):
    status, output = called(capfd, *words)
    assert status == 2
    assert said in output


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["status", "--run", "nothing"], "error: .*nothing"),
        (["run", "nothing.yaml"], "error: nothing.yaml: no such file, nor is it in "),
    ],
)
def test_input_at_fault_ends_with_1(words, said, capfd, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    status, output = called(capfd, *words)
    assert status == 1
    assert re.search(said, output)
    assert "Traceback" not in output


def test_a_reader_that_has_gone_ends_it_with_141():
    read, write = os.pipe()
    os.close(read)
    with command("--help", stdout=write, stderr=subprocess.PIPE) as process:
        os.close(write)
        assert process.stderr.read() == ""
    assert process.returncode == 141


@pytest.mark.slow
def test_ctrl_c_ends_it_with_130(tmp_path, ctrl_c):
    """The subcommand waits for lines that nobody writes."""
    fifo = tmp_path / "references"
    os.mkfifo(fifo)
    (tmp_path / "paraphrases").write_text("A.\n", encoding="utf-8")
    words = ["--references", str(fifo), "--paraphrases", str(tmp_path / "paraphrases")]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with command("testbed", "check", *words, **pipes) as process:
        with fifo.open("w"):  # opened when the subcommand reads
            process.send_signal(signal.SIGINT)
            assert process.wait() == 130
        assert process.communicate() == ("", "")


def test_a_package_that_is_not_installed_is_told(monkeypatch, capsys):
    """As in the base install, which has not what all stages import."""
    monkeypatch.setitem(ENTRIES, "inspect", Entry("not_installed.module", "of a package"))
    with pytest.raises(SystemExit) as ended:
        main(["inspect"])
    assert ended.value.code == 1
    assert "inspect needs the package not_installed" in capsys.readouterr().err
    monkeypatch.setitem(ENTRIES, "inspect", Entry("workflow_scripts.lost", "of ours"))
    with pytest.raises(ModuleNotFoundError):
        main(["inspect"])


# --- the workflow ----------------------------------------------------------------------------


def test_the_workflow_lies_around_the_package_or_inside_it(tmp_path):
    assert WORKFLOW == ROOT
    assert (WORKFLOW / "Snakefile").is_file()
    packed = tmp_path / "paraloom" / "workflow"
    packed.mkdir(parents=True)
    assert workflow_folder(packed.parent) == tmp_path
    (packed / "Snakefile").touch()
    assert workflow_folder(packed.parent) == packed


SNAKEFILE = ["--snakefile", str(WORKFLOW / "Snakefile")]
PROFILE = ["--workflow-profile", str(WORKFLOW / "profiles" / "default")]
ALL = ["--cores", "all"]
DATA = f'data="{WORKFLOW}"'


@pytest.mark.parametrize(
    ("recipes", "words", "line"),
    [
        (
            ["a.yaml", "b.yaml"],
            ["--cores", "8", "select"],
            ["--configfile", "a.yaml", "b.yaml", *SNAKEFILE, *PROFILE, "--cores", "8", "select"],
        ),
        (["a.yaml"], ["-n"], ["--configfile", "a.yaml", *SNAKEFILE, *PROFILE, *ALL, "-n"]),
        (["a.yaml"], ["-j4"], ["--configfile", "a.yaml", *SNAKEFILE, *PROFILE, "-j4"]),
        (
            ["a.yaml"],
            ["--workflow-profile=slurm"],
            ["--configfile", "a.yaml", *SNAKEFILE, "--workflow-profile=slurm"],
        ),
        ([], ["select"], ["--config", DATA, *SNAKEFILE, *PROFILE, *ALL, "select"]),
        (
            [],
            ["-n", "--config", "seed=2"],
            [*SNAKEFILE, *PROFILE, *ALL, "-n", "--config", DATA, "seed=2"],
        ),
        *(
            (
                [],
                [word, "select"],
                ["--config", DATA, "seed=2", *SNAKEFILE, *PROFILE, *ALL, "select"],
            )
            for word in ("-Cseed=2", "--config=seed=2")
        ),
    ],
)
def test_what_snakemake_is_told(recipes, words, line):
    found = run.command([Path(recipe) for recipe in recipes], words)
    assert found == [sys.executable, "-P", "-m", "snakemake", *line]


# In place of Snakemake: it says where it is and what it got, and ends as it is told.
SNAKEMAKE = """
import os, sys
print(os.getpid(), os.environ["PATH"].split(os.pathsep)[0], *sys.argv[1:3])
sys.exit(7)
"""


def test_snakemake_takes_the_place_of_the_command(tmp_path):
    """So Ctrl-C reaches it, and its status is that of the command."""
    (tmp_path / "snakemake.py").write_text(SNAKEMAKE, encoding="utf-8")
    environment = os.environ | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{ROOT}"}
    line = [sys.executable, "-m", "paraloom", "run", "recipes/testbed.yaml"]
    with subprocess.Popen(
        line, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True
    ) as process:
        said = process.stdout.read().split()
    assert process.returncode == 7
    recipe = str(ROOT / "recipes/testbed.yaml")
    assert said == [str(process.pid), str(Path(sys.executable).parent), "--configfile", recipe]
