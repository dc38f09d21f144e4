"""Models that are made to read what they write."""

from pathlib import Path

import pytest
import torch

from tests.unit.nmt.folders import write_model
from tests.unit.nmt.marian_files import SEPARATE, write_binary
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.model_folder import model_files
from workflow_scripts.nmt.loaders import load_model, opened_model
from workflow_scripts.nmt.loaders.sockeye3 import read_tree
from workflow_scripts.nmt.monolingual import write_monolingual
from workflow_scripts.nmt.scoring import forced


@pytest.fixture
def output(tmp_path: Path) -> Path:
    (tmp_path / "output").mkdir()
    return tmp_path / "output"


def test_one_vocabulary_stays_as_it_is(tmp_path: Path, output: Path):
    folder = write_binary(tmp_path / "model")
    write_monolingual(folder, output)
    pairs = [([5, 6], [7, 8])]
    first, second = (list(forced(load_model(each, "cpu"), pairs)) for each in (folder, output))
    assert first == second
    assert (output / "vocab.xxyy.spm").read_bytes() == (folder / "vocab.xxyy.spm").read_bytes()


def test_two_vocabularies_of_marian_are_refused(tmp_path: Path, output: Path):
    changes = SEPARATE | {"dim-vocabs": [22, 20]}
    with pytest.raises(InputError, match=r"Marian \.bin with two vocabularies can't read its own"):
        write_monolingual(write_binary(tmp_path / "model", changes), output)


@pytest.mark.parametrize("chosen", ['{"tag": "▁5"}', '{"source": "a", "target": "b"}'])
def test_languages_to_choose_are_refused(tmp_path: Path, output: Path, chosen: str):
    folder = write_binary(tmp_path / "model")
    (folder / "paraloom.json").write_text(chosen, encoding="utf-8")
    with pytest.raises(
        InputError, match=r"a model whose languages are chosen \(paraloom.json\) can't be trained"
    ):
        write_monolingual(folder, output)


def test_the_source_of_sockeye_gets_the_targets_pieces(tmp_path: Path, output: Path):
    folder = write_model(tmp_path / "model", source_vocabulary=21)
    name = "embedding_source.embedding.weight"
    write_monolingual(folder, output)
    model = load_model(output, "cpu")
    assert list(model.source_vocab) == list(model.target_vocab)
    assert len(model.source_vocab) == 24
    table = model.network.target.pieces
    assert torch.equal(model.network.source.pieces, table)
    same = write_model(tmp_path / "same")
    assert read_tree(output / "config") == read_tree(same / "config")
    # Sockeye itself takes it.
    from sockeye.model import load_model as load_with_sockeye

    theirs, _, _ = load_with_sockeye(str(output), device=torch.device("cpu"))
    assert theirs.embedding_source.embedding.weight.shape == (24, 16)
    # Both are tables of their own: what the encoder reads is trained apart.
    opened = opened_model(output, model_files(output)).raw.tensors
    assert opened[name] is not opened["embedding_target.embedding.weight"]
    assert opened["output_layer.weight"] is opened["embedding_target.embedding.weight"]
