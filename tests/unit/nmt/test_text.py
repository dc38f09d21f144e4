"""Text of both sides, by the models in a folder or by those that are named."""

from pathlib import Path

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.model import Model
from workflow_scripts.nmt.pieces import raw_coders, source_coder, target_coder


def test_a_folder_of_marian_brings_its_own(student: Model):
    source, target = raw_coders(student)
    assert source.encode("5 6") == source_coder(student).encode("▁5 ▁6") == [5, 6]
    assert target.encode("5 6") == target_coder(student).encode("▁5 ▁6") == [5, 6]
    assert target.encode_phrase("<s> 9") == (2, 9)
    assert target.decode([5, 6]) == "5 6"
    assert source.encode("") == []


def test_a_folder_of_sockeye_does_not(tiny: Model):
    with pytest.raises(
        InputError, match=r"both sides \(--spm-source, .*, or, .* copy its tokenizer.json"
    ):
        raw_coders(tiny)


def test_a_file_that_is_none_is_named(tiny: Model, tmp_path: Path):
    with pytest.raises(InputError, match="absent: cannot read the SentencePiece model"):
        source_coder(tiny, tmp_path / "absent")
