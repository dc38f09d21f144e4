import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.lines import read_lines


def test_only_line_feeds_end_a_line_and_a_mark_at_the_start_is_taken_off(tmp_path):
    path = tmp_path / "text"
    path.write_bytes("\ufeffone\r\ntwo\u2028still \x85 two\r\r\n\n\ufeffthree".encode())
    assert list(read_lines(path)) == ["one", "two\u2028still \x85 two\r", "", "\ufeffthree"]


def test_lines_are_read_as_they_are_asked_for(tmp_path):
    path = tmp_path / "text"
    path.write_bytes(b"good\n\xff\n")
    lines = read_lines(path)
    assert next(lines) == "good"
    with pytest.raises(InputError, match="text, line 2 is not UTF-8; convert the file"):
        next(lines)


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(InputError, match="absent can't be read: No such file"):
        list(read_lines(tmp_path / "absent"))
