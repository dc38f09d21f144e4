import subprocess
import sys

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.corpus import spill
from workflow_scripts.stages.corpus.spill import Spill

ROWS = [(f"c:{n}", f"source\r{n}\u2028\x85\x1c", f"\treference {n}\v") for n in range(100)]


@pytest.mark.parametrize("buffer", [1, 500, 1 << 24])
def test_rows_come_back_as_they_were_in_order(tmp_path, monkeypatch, buffer):
    monkeypatch.setattr(spill, "_BUFFER_CHARACTERS", buffer)
    with Spill(tmp_path / "out", 4) as rows:
        for number, row in enumerate(ROWS):
            rows.add(number % 3, row)
        for shard in range(3):
            assert list(rows.rows(shard)) == ROWS[shard::3]
        assert list(rows.rows(3)) == []
    assert list((tmp_path / "out").iterdir()) == []


def test_nothing_is_left_after_an_error_or_of_a_killed_predecessor(tmp_path):
    code = (
        "import os, pathlib, sys; from workflow_scripts.stages.corpus.spill import Spill;"
        "rows = Spill(pathlib.Path(sys.argv[1]), 1); rows.add(0, ('a', 'b', 'c'));"
        "list(rows.rows(0)); os._exit(9)"
    )
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=False)
    (killed,) = tmp_path.iterdir()
    assert list(killed.iterdir())
    with pytest.raises(ZeroDivisionError), Spill(tmp_path, 1):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []


def test_second_spill_spares_the_rows_of_one_that_is_alive(tmp_path):
    with Spill(tmp_path, 1) as first:
        first.add(0, ("a", "b", "c"))
        assert list(first.rows(0)) == [("a", "b", "c")]
        with Spill(tmp_path, 1):
            pass
        assert list(first.rows(0)) == [("a", "b", "c")]


@pytest.mark.parametrize("left", [None, "", "1\na\nb\n1\na\n"])
def test_rows_that_went_missing_are_an_error(tmp_path, left):
    with Spill(tmp_path, 1) as rows:
        for _ in range(2):
            rows.add(0, ("1", "a", "b"))
        list(rows.rows(0))
        (path,) = tmp_path.glob(".spill.*/0.txt")
        path.unlink() if left is None else path.write_text(left)
        with pytest.raises(InputError, match="of the 2 rows written are left"):
            list(rows.rows(0))
