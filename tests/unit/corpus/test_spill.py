import pytest

from workflow_scripts.corpus import spill
from workflow_scripts.corpus.spill import Spill

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
    killed = Spill(tmp_path, 1)
    killed.add(0, ("a", "b", "c"))
    with pytest.raises(ZeroDivisionError), Spill(tmp_path, 1):
        raise ZeroDivisionError
    assert list(tmp_path.iterdir()) == []
