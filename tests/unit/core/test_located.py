import json

import pytest

from workflow_scripts.core.files.paths import Located, with_names
from workflow_scripts.core.files.seal import canonical


@pytest.mark.parametrize(
    ("path", "folder", "name"),
    [
        ("/data/a/b.txt", "/data", "a/b.txt"),
        ("/data/./a/../c/b.txt", "/data/", "c/b.txt"),
        ("/data/../elsewhere/b.txt", "/data", "b.txt"),
        ("/database/b.txt", "/data", "b.txt"),
        ("data/a/b.txt", "data", "a/b.txt"),
        ("/models/own/", None, "own"),
        ("b.zip/inside/a.txt", ".", "b.zip/inside/a.txt"),
    ],
)
def test_a_file_is_told_by_its_place_in_the_folder_or_by_its_own_name(path, folder, name):
    located = Located(path, folder)
    assert located == path and located.name == name
    # As an argument of a command it is the path.
    assert json.loads(canonical({"file": located})) == {"file": path}


def test_a_link_goes_by_its_own_name(tmp_path):
    (tmp_path / "here").mkdir()
    (tmp_path / "there").write_text("x", "utf-8")
    (tmp_path / "here" / "link").symlink_to(tmp_path / "there")
    assert Located(tmp_path / "here" / "link", tmp_path / "here").name == "link"


def test_settings_are_told_with_names_in_all_places():
    file = Located("/data/a.txt", "/data")
    settings = {"many": [file, "/data/a.txt"], "by": {file: 1}, "none": None, "pair": (file, 0.5)}
    expected = {"many": ["a.txt", "/data/a.txt"], "by": {"a.txt": 1}, "none": None}
    assert with_names(settings) == {**expected, "pair": ["a.txt", 0.5]}
