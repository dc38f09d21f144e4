import os
import pickle
import socket

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.input_files import FileHashes, files_below
from workflow_scripts.core.files.regular_files import regular_file


def test_file_and_link_to_one(tmp_path):
    (tmp_path / "file").write_text("text", encoding="utf-8")
    (tmp_path / "link").symlink_to("file")
    for name in ("file", "link"):
        assert regular_file(tmp_path / name) == tmp_path / name
        assert regular_file(str(tmp_path / name), "corpora.a.source") == tmp_path / name


def test_what_would_wait_or_never_end_is_refused_by_key(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "link").symlink_to("fifo")
    with socket.socket(socket.AF_UNIX) as made:
        made.bind(str(tmp_path / "socket"))
        for path, kind in (
            (tmp_path / "fifo", "a FIFO"),
            (tmp_path / "link", "a FIFO"),
            (tmp_path / "socket", "a socket"),
            (tmp_path, "a folder"),
            ("/dev/zero", "a device"),
        ):
            with pytest.raises(InputError, match=f"^data.x: {path} is not a file but {kind}"):
                regular_file(path, "data.x")


@pytest.mark.parametrize("path", ["absent", "a\0b", "x" * 5000, "\ud800", "absent/x"])
def test_path_that_cannot_be_is_named(path):
    with pytest.raises(InputError, match=r"^corpora\.a: .*: .*; correct the path"):
        regular_file(path, "corpora.a")


def test_planning_refuses_a_fifo_by_key(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    with pytest.raises(InputError, match=r"^corpora\.a\.source: .*fifo is not a file but a FIFO"):
        FileHashes(tmp_path / "cache").sha256(str(tmp_path / "fifo"), "corpora.a.source")
    with pytest.raises(InputError, match=r"^sts\.data: .*fifo is not a file but a FIFO"):
        files_below([str(tmp_path / "fifo")], "sts.data")
    (tmp_path / "file").write_text("text", encoding="utf-8")
    assert files_below([str(tmp_path)], "sts.data") == [str(tmp_path / "file")]


def test_messages_do_not_steer_a_terminal():
    error = InputError("a\tb\nžluť \u200d \x1b]0;x\x07 \r \x85 \u202e \u2066")
    assert str(error) == "a\tb\nžluť \u200d \\x1b]0;x\\x07 \\r \\x85 \\u202e \\u2066"
    assert str(pickle.loads(pickle.dumps(error))) == str(error)
