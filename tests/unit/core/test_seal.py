import json

import pytest

from workflow_scripts.core.files.seal import read_sealed, sealed

CONTENT = {"rows": 3, "text": "žák", "share": 0.1, "by": {2: (1, None)}, "parts": {"a": {}}}


def test_what_is_sealed_is_read_as_json_knows_it(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(sealed(CONTENT), indent=2), "utf-8")
    read = read_sealed(path)
    assert {**read, "sha256": None} == {**CONTENT, "by": {"2": [1, None]}, "sha256": None}
    # However it is written, and sealed once more.
    path.write_text(json.dumps(dict(reversed(sealed(read).items()))), "utf-8")
    assert read_sealed(path) == read


@pytest.mark.parametrize(
    "changes",
    [{"parts": []}, {"parts": {"a": None}}, {"parts": {"a": {"files": 1}}}, {"upstream": None},
     {"rejected": []}, {"tools": None}, {"rows_in": "3"}],
)  # fmt: skip
def test_a_record_of_another_form_is_no_record(tmp_path, changes):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(CONTENT | changes), "utf-8")
    with pytest.raises(ValueError, match=r"is no (object|number|record)"):
        read_sealed(path)


@pytest.mark.parametrize("key", list(CONTENT))
def test_whatever_is_changed_added_or_gone_is_found(tmp_path, key):
    path = tmp_path / "a.json"
    for change in ({key: "another"}, {f"{key}2": 1}):
        path.write_text(json.dumps(sealed(CONTENT) | change), "utf-8")
        with pytest.raises(ValueError, match="it differs from what its stage wrote"):
            read_sealed(path)
    rest = sealed(CONTENT)
    del rest[key]
    path.write_text(json.dumps(rest), "utf-8")
    with pytest.raises(ValueError, match="it differs"):
        read_sealed(path)


@pytest.mark.parametrize("text", ["", "{", "[]", "3", "[" * 100_000, '{"sha256": []}'])
def test_what_is_no_record_is_a_value_error(tmp_path, text):
    path = tmp_path / "a.json"
    path.write_text(text, "utf-8")
    with pytest.raises(ValueError, match=r"."):
        read_sealed(path)
