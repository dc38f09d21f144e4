"""docs/tutorial.md, block by block, in a folder that has nothing else."""

import os
import re
import signal
import subprocess
import sys

import httpx
import pytest

from tests.configs import ROOT

PAGE = (ROOT / "docs" / "tutorial.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(sh|python)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
pytestmark = [pytest.mark.e2e, pytest.mark.rest]


@pytest.fixture
def environment(tmp_path):
    """As after `source .venv/bin/activate`, with this repository's own command."""
    command = tmp_path / "bin" / "paraloom"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -P -m paraloom "$@"\n', encoding="utf-8")
    command.chmod(0o755)
    path = [str(command.parent), os.path.dirname(sys.executable), os.environ["PATH"]]  # noqa: PTH120
    return os.environ | {"PATH": os.pathsep.join(path), "PYTHONPATH": str(ROOT)}


def marks(block, folder, environment):
    """A person opens the page that a block serves, marks all, and ends it by Ctrl-C."""
    command = ["bash", "-c", f"exec {block}"]
    server = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.PIPE)
    try:
        address = server.stdout.readline().decode().strip()
        with httpx.Client(base_url=address, headers={"Origin": address.rstrip("/")}) as person:
            person.follow_redirects = True
            page = person.post("/", data={"name": "Ana"}).text
            count = 0
            while form := re.search(r'action="(/page/\d+)"', page):
                page = person.post(form[1], data={"label_1": "GGAB"[count % 4]}).text
                count += 1
        server.send_signal(signal.SIGINT)
        assert server.wait(60) == 0
    finally:
        server.kill()
        server.wait()
    return count


def test_every_block_runs(tmp_path, environment, ctrl_c):
    folder = tmp_path / "empty"
    folder.mkdir()
    shown = {}
    for number, (kind, block) in enumerate(BLOCKS):
        if re.fullmatch(r"paraloom annotate (?!.*--export).*\n", block):
            marked = marks(block, folder, environment)
            continue
        command = ["bash", "-euo", "pipefail", "-c"] if kind == "sh" else [sys.executable, "-c"]
        done = subprocess.run(
            [*command, block], cwd=folder, env=environment, capture_output=True, text=True
        )
        assert done.returncode == 0, f"{block}\n{done.stdout[-2000:]}{done.stderr[-2000:]}"
        shown[number] = done.stdout
    written = [text for text in shown.values() if "written by student_en_pt" in text]
    assert len(written) == 2, "each run tells that its sources are written"
    rows = (folder / "labels.tsv").read_text(encoding="utf-8").splitlines()
    assert len(rows) == marked + 1
    assert (folder / "runs/mine/release/report.html").is_file()
    found = (folder / "paraphrases.tsv").read_text(encoding="utf-8")
    assert "Please turn off the lights when you" in found
