"""What the command tells of model folders."""

import json
from pathlib import Path

import pytest

from tests.unit.nmt.marian_files import OPTIONS, shortlist, write_binary, write_npz
from workflow_scripts.nmt.inspect import inspect, main

MADE_UP = {"layers": [1, 1], "size": 16, "vocabulary": [22, 22], "refused": []}


def told(folder: Path, capsys: pytest.CaptureFixture[str], status: int = 0) -> dict:
    assert main([str(folder)]) == status
    (line,) = capsys.readouterr().out.splitlines()
    found = json.loads(line)
    assert list(found) == [
        "kind", "source", "target", "layers", "size", "vocabulary", "shortlist", "licence",
        "refused",
    ]  # fmt: skip
    return found


def test_sockeye(tiny_folder: Path, capsys):
    found = told(tiny_folder, capsys)
    assert found == MADE_UP | {
        "kind": "Sockeye 3", "source": None, "target": None, "vocabulary": [24, 24],
        "shortlist": False, "licence": None,
    }  # fmt: skip


def test_a_student_by_the_names_of_its_files(tmp_path: Path, capsys):
    folder = write_binary(tmp_path / "model")
    (folder / "lex.50.50.xxyy.s2t.bin").write_bytes(shortlist(4, [[]] * OPTIONS["dim-vocabs"][0]))
    found = told(folder, capsys)
    assert found == MADE_UP | {
        "kind": "Marian .bin", "source": "xx", "target": "yy", "shortlist": True, "licence": None,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("before", "front", "licence"),
    [
        ("", "license: [cc-by-nc-4.0, mit]", "cc-by-nc-4.0, mit"),
        ("", "license: other\nlicense_name: nllb-nc", "nllb-nc"),
        ("", "license: other", "other"),
        ("", "license: []", None),
        ("# No notes\n\n", "license: x", None),
    ],
)
def test_licences_of_a_card(tmp_path: Path, capsys, before, front, licence):
    folder = write_binary(tmp_path / "model")
    (folder / "README.md").write_text(f"{before}---\n{front}\n---\n", encoding="utf-8")
    assert told(folder, capsys)["licence"] == licence


def test_a_student_by_its_notes(tmp_path: Path, capsys):
    folder = write_binary(tmp_path / "model")
    notes = {"shortName": "pt-en-tiny", "license": "MPL-2.0"}
    (folder / "model_info.json").write_text(json.dumps(notes))
    (folder / "modelMeta.json").write_text('{"installedOn": ""}')
    found = told(folder, capsys)
    assert [found[key] for key in ("source", "target", "licence")] == ["pt", "en", "MPL-2.0"]


def test_npz(tmp_path: Path, capsys):
    found = told(write_npz(tmp_path / "model"), capsys)
    assert (found["kind"], found["source"]) == ("Marian .npz", None)


@pytest.mark.slow
def test_hugging_face(tmp_path: Path, capsys):
    from tests.unit.nmt.test_hugging_face import made

    folder = tmp_path / "model"
    made(folder)
    (folder / "tokenizer_config.json").write_text('{"source_lang": "eng", "target_lang": "por"}')
    (folder / "README.md").write_text("---\nlanguage:\n- en\n- pt\nlicense: cc-by-4.0\n---\n# it\n")
    capsys.readouterr()
    assert told(folder, capsys) == {
        "kind": "Hugging Face Marian", "source": "eng", "target": "por", "layers": [2, 2],
        "size": 16, "vocabulary": [24, 24], "shortlist": False, "licence": "cc-by-4.0",
        "refused": [],
    }  # fmt: skip
    (folder / "tokenizer_config.json").unlink()
    assert told(folder, capsys)["target"] == "pt"


def test_all_reasons_are_told(tmp_path: Path, capsys):
    folder = write_binary(tmp_path / "model", {"ulr": True, "right-left": True})
    found = told(folder, capsys, status=1)
    assert found["refused"] == [
        "right-left is True, supported is False",
        "ulr is True, supported is False",
    ]
    assert (found["kind"], found["source"], found["size"]) == ("Marian .bin", "xx", None)


def test_damaged_weights_and_missing_files_are_reasons(tmp_path: Path, capsys):
    folder = write_binary(tmp_path / "model")
    path = folder / "model.xxyy.bin"
    path.write_bytes(path.read_bytes() + b"x")
    (reason,) = told(folder, capsys, status=1)["refused"]
    assert "1 bytes follow the last item" in reason
    (reason,) = told(tmp_path, capsys, status=1)["refused"]
    assert "is no model folder" in reason


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("model_info.json", b"{", "model_info.json"),
        ("model_info.json", b"\xff", "model_info.json"),
        ("model_info.json", b"[" * 99_999, "model_info.json"),
        ("metadata.json", b" " * 1_000_001, "metadata.json"),
        ("README.md", b"---\na: [\n---\n", "README.md"),
        ("target.spm", b"no model", "target.spm: cannot read the SentencePiece model"),
    ],
)
@pytest.mark.slow
def test_files_that_cannot_be_read_are_reasons(tmp_path: Path, name, content, message):
    from tests.unit.nmt.test_hugging_face import made

    folder = tmp_path / "model"
    made(folder) if name == "target.spm" else write_binary(folder)
    (folder / name).write_bytes(content)
    (reason,) = inspect(folder)["refused"]
    assert message in reason
