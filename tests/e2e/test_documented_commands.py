"""Each command of the pages, on a run of each system and of each kind of unit.

`documented_commands.tsv` is the table of commands, each named by its job. Columns:

- command: the words behind `paraloom`;
- applies: to which runs, by a word of `RUNS`;
- says: an expression that the output and the file that is written match, for each system where it
  names `{system}`; with `error: ` the command refuses;
- arguments: several lines have ` ; ` between; a word with `*` stands for all such files.
"""

import csv
import json
import re
import shlex
import signal
import subprocess
import sys
import urllib.request
from functools import partial
from itertools import cycle, product
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from paraloom.commands import ENTRIES, main
from tests.e2e import test_demo, test_encoder_tasks, test_judge, test_merge, test_rewriting
from tests.e2e.micro import write_lines
from tests.e2e.pipeline import ROOT, Pipeline, environment
from tests.unit.transfer.conftest import write_senteval
from workflow_scripts.apps.annotate.modes import SLOTS, Answer
from workflow_scripts.apps.annotate.store import Store
from workflow_scripts.commands.estimate import networks
from workflow_scripts.commands.runs.garbage import user_links
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.plan.run.run_folders import read_config, root_of

pytestmark = [pytest.mark.e2e, pytest.mark.rest, pytest.mark.xdist_group("documented_commands")]

TABLE = Path(__file__).with_name("documented_commands.tsv")
# Documented, and not in the table.
APART = {
    "run": "starts Snakemake: tests/unit/paraloom",
    **dict.fromkeys(("paraphrase", "translate", "score", "judge"), "on text: tests/unit/paraloom"),
    "setup": "installs packages: tests/unit/test_setup.py, tests/e2e/fresh_wheel.py",
    "testbed generate": "reads nothing",
    "testbed graded": "reads nothing",
    "train parser": "reads a treebank",
    "evaluate parser": "reads a treebank",
    "model convert": "reads a model of Sockeye 2",
    **dict.fromkeys(
        ("release checksums", "release datasheet", "release report", "release tables"),
        "a job that test_commands.py runs alone",
    ),
    "rewriter repair": "a job that test_commands.py runs alone",
}
# The run that each goes on from, how it is had, and which commands apply.
RUNS = {
    "micro": ("finished", lambda run, _: run, "bitext rewriter embedding column ratings one"),
    "judged": ("finished", test_judge.judged, "bitext judge others"),
    "demo": ("finished", test_demo.with_paraloom, "bitext embedding others"),
    "written": ("finished", test_rewriting.written, "bitext rewriter several one"),
    "tuned": ("whole", test_encoder_tasks.tuned, "bitext rewriter embedding encoder column others"),
    "merged": ("finished", test_merge.both_merged, "merge embedding column others"),
}
ANSWERS = {
    "similarity": [Answer(score=70.0, grammar=2)],
    "labels": [Answer(label="G"), Answer(label="B")],
    "strength": [Answer(strength=3, fluency=2)],
}


class Command(NamedTuple):
    """A row of the table."""

    job: str
    command: str
    applies: str
    says: str
    arguments: str


def table() -> list[Command]:
    with TABLE.open(encoding="utf-8", newline="") as stream:
        reader = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
        return [Command(**row) for row in reader]


class Workplace(NamedTuple):
    """A copy of a run, and what the names in braces stand for; a list: for each of them."""

    folder: Path
    names: dict[str, Any]


@pytest.fixture(scope="module")
def place(request, finished, once, tmp_path_factory):
    """Return the workplace of a run by its name in `RUNS`."""
    found = {}

    def made(name):
        if name not in found:
            base, had, _ = RUNS[name]
            run = had(request.getfixturevalue(base), once)
            found[name] = workplace(run, finished, tmp_path_factory)
        return found[name]

    return made


def workplace(run: Pipeline, finished: Pipeline, tmp_path_factory) -> Workplace:
    copy = run.copy(tmp_path_factory.mktemp("documented") / "work", linked=True)
    out = tmp_path_factory.mktemp("out")
    write_senteval(out / "senteval")
    config = read_config(copy.folder / "runs" / copy.config["run"]["name"])
    systems = config["run"]["systems"]
    # A model of random weights writes texts (hub) that are too long for those of the run.
    rows = [row for system in systems if system != "hub" for row in selected(copy, system)]
    embeddings = [name for name in copy.units() if re.match(r"embed\..*-seed\d", name)]
    names = {
        **{"run": config["run"]["name"], "system": systems, **config["shards"], "out": out},
        **{"folder": copy.folder},
        **{"micro": finished.folder, "data": finished.config["data"]},
        **{"pairs": write_texts(out, rows), "embedding": embeddings and copy.unit(embeddings[0])},
        "gone": sorted({root_of(each) for each in user_links(copy.folder / "results")}),
    }
    return Workplace(copy.folder, names)


def selected(run, system):
    for shard in sorted(run.unit(f"select.{system}").glob("[0-9]*.parquet")):
        yield from read_rows(shard, ParaphrasesRow)


def write_texts(folder, rows):
    """Write pairs of a run as commands read them; return their number."""
    pairs = [(row, n, each["text"]) for row in rows for n, each in enumerate(row["paraphrases"], 1)]
    texts = {
        "references": [row["reference"] for row, _, _ in pairs],
        "sources": [row["source"] or "-" for row, _, _ in pairs],
        "paraphrases": [text for _, _, text in pairs],
    }
    for name, lines in texts.items():
        write_lines(folder / f"{name}.txt", lines)
        write_lines(folder / f"{name}.jsonl", [json.dumps({"text": line}) for line in lines])
    write_lines(
        folder / "answers.tsv", [f"{row['reference']}\t{text}\t1" for row, _, text in pairs]
    )
    ranked = [f"{row['reference']}\t{n}\t{text}" for row, n, text in pairs]
    write_lines(folder / "ranked.tsv", ranked)
    return len(pairs)


def filled(text, names):
    """Return the text with names filled in, once for each of a list that it names."""
    lists = {name: found for name, found in names.items() if f"{{{name}}}" in text}
    lists = {name: found if type(found) is list else [found] for name, found in lists.items()}
    for chosen in product(*lists.values()):
        one = text
        for name, value in zip(lists, chosen, strict=True):
            one = one.replace(f"{{{name}}}", str(value))
        yield one


def words_of(line):
    """Return the words of a line, with the files that a pattern stands for."""
    for word in shlex.split(line):
        yield from sorted(map(str, Path().glob(word))) if "*" in word else [word]


def served(command, words):
    """Serve until the first page is there and the campaign, if it is one, answered; then end."""
    command = [sys.executable, "-m", "paraloom", *command.split(), *words]
    settings = environment() | {"PYTHONPATH": str(ROOT)}
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True}
    with subprocess.Popen(command, env=settings, **pipes) as process:
        address, line = process.stdout.readline(), process.stdout.readline()
        try:
            with urllib.request.urlopen(address.strip()) as page:
                assert b"<form" in page.read(), address
            if "--database" in words:
                answer_all(Store(Path(words[words.index("--database") + 1])))
        finally:
            process.send_signal(signal.SIGINT)
        return process.wait(), address + line + process.stdout.read()


def answer_all(store):
    annotator, _ = store.annotator(store.token("Ana"))
    mode = store.settings()["mode"]
    said = cycle(ANSWERS[mode])
    while page := store.next_page(annotator, 1, SLOTS[mode], 4, 1):
        store.answer(annotator, page.number, [next(said) for _ in page.slots])
    store.close()


def called(capfd, monkeypatch, command, words):
    """Run a command in this process, which has imported what most of them need."""
    monkeypatch.setattr(sys, "argv", sys.argv)
    with pytest.raises(SystemExit) as end:
        main([*command.split(), *words])
    return end.value.code or 0, "".join(capfd.readouterr())


def written(words):
    """Return what a command wrote: a text, or the names of a folder's files."""
    path = Path(words[words.index("--output") + 1]) if "--output" in words else Path("none")
    if path.is_dir():
        return "\n".join(sorted(each.name for each in path.iterdir()))
    return path.read_text(encoding="utf-8") if path.exists() else ""


def state(folder):
    """Return what tells that a folder is as it was; hashes that are remembered don't count."""
    files = (path for path in folder.rglob("*") if path.name != ".input_hashes.json")
    found = ((path, path.lstat()) for path in files if not path.is_dir())
    return {path: (status.st_size, status.st_mtime_ns) for path, status in found}


CASES = [
    pytest.param(row, name, id=f"{row.job}-{name}")
    for row, (name, (_, _, told)) in product(table(), RUNS.items())
    if row.applies in ("every", *told.split())
]


@pytest.mark.parametrize(("row", "name"), CASES)
def test_a_documented_command_knows_each_run(row, name, place, capfd, monkeypatch):
    folder, names = place(name)
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "200")
    # One call of each network instead of half a minute.
    once = networks.seconds_per_call
    monkeypatch.setattr(networks, "seconds_per_call", lambda call, device, _: once(call, device, 0))
    before, said = state(folder), ""
    for pattern in row.arguments.split(" ; "):
        for line in filled(pattern, names):
            words = list(words_of(line))
            call = served if "--port" in words else partial(called, capfd, monkeypatch)
            status, said = call(row.command, words)
            assert "Traceback" not in said, said
            assert status == (1 if "error: " in row.says else 0), said
            said += written(words)
    for wanted in filled(row.says, names):
        assert re.search(wanted, said, re.M), said
    if "--delete" not in row.arguments:
        assert state(folder) == before


def test_each_documented_command_is_in_the_table():
    commands = {row.command for row in table()}
    assert ENTRIES.keys() == commands | APART.keys()
    assert not commands & APART.keys()
