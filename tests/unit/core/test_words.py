import json
import subprocess
import sys

import pytest

from workflow_scripts.core.cli import words


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
