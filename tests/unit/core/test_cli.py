"""Arguments of commands that are too long for a command line, and a reader that has gone."""

import hashlib
import json
import subprocess
import sys

import pytest

from workflow_scripts.core.cli import ARGUMENTS, json_argument, words
from workflow_scripts.core.errors import InputError


def test_a_damaged_file_of_the_rules_is_refused(tmp_path):
    folder = tmp_path / ARGUMENTS
    folder.mkdir()
    content = b'{"seed":1}'
    path = folder / f"{hashlib.sha256(content).hexdigest()}.json"
    path.write_bytes(content)
    assert json_argument(f"@{path}") == {"seed": 1}
    path.write_bytes(b'{"seed":7}')
    with pytest.raises(InputError, match=r"\.json is damaged; delete it and run again"):
        json_argument(f"@{path}")


def test_a_reader_that_has_gone_ends_a_command_without_a_message():
    code = "from workflow_scripts.core.cli import run\nrun(lambda: print('a line' * 100_000))"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 141


def test_a_program_that_has_gone_is_an_error_like_others():
    code = "from workflow_scripts.core.cli import run\ndef main(): raise BrokenPipeError\nrun(main)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.endswith("BrokenPipeError\n")


def test_words_of_files_take_their_place(tmp_path):
    path = tmp_path / "list.json"
    path.write_text(json.dumps(["a b", "ž=@@x", "@y"]), "utf-8")
    given = ["--units", f"@@{path}", "--config", "@z", "--output", "o"]
    assert words(given) == ["--units", "a b", "ž=@@x", "@y", "--config", "@z", "--output", "o"]


@pytest.mark.parametrize("given", [[], ["--units", "a"]])
def test_other_words_stay_and_those_of_the_process_are_the_default(given):
    assert words(given) == given
    code = "from workflow_scripts.core.cli import words; print(words())"
    command = [sys.executable, "-c", code, *given]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.strip() == repr(given)
