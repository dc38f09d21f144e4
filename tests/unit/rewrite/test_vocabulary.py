"""The SentencePiece models of a rewriter."""

import pytest

from tests.golden.inputs import arguments, pairs, write_table
from tests.golden.models import lone_segmenter
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.stages.rewrite import side_vocabulary, syntax_templates
from workflow_scripts.stages.rewrite.syntax_templates import Template
from workflow_scripts.stages.subword.segmenter import Segmenter

SETTINGS = {
    **{"model_type": "unigram", "coverage": 0.9999, "split_digits": True, "sentences": 1000},
    **{"side": "source", "vocab_size": 60, "corpora": ["train"], "seed": 1},
}


@pytest.fixture
def folder(tmp_path):
    rows = [{**row, "source": row["reference"], "corpus": "train"} for row in pairs("train", 80)]
    write_table(tmp_path / "0000.parquet", PairRow, rows)
    return tmp_path


def test_it_is_learnt_from_the_training_pairs(folder):
    output = folder / "made" / "source.model"
    side_vocabulary.main(arguments(SETTINGS, folder=folder, shards=1, output=output))
    assert len(list(Segmenter(output).vocabulary())) <= 60
    assert verify(output)["extra"]["sentences"] == 80


def test_one_that_is_too_large_names_the_key_and_the_largest(folder):
    settings = SETTINGS | {"vocab_size": 9000}
    with pytest.raises(InputError, match=r"^vocab_size 9000 is too large for the source side.*\d+"):
        side_vocabulary.main(
            arguments(settings, folder=folder, shards=1, output=folder / "made" / "source.model")
        )


def test_that_of_a_model_is_copied_and_a_damaged_one_refused(folder):
    (folder / "model").mkdir()
    taken = lone_segmenter(folder / "model")
    output = folder / "made" / "source.model"
    options = {"folder": folder, "shards": 1, "taken": taken, "output": output}
    side_vocabulary.main(arguments(SETTINGS, **options))
    assert output.read_bytes() == (taken / "reference.model").read_bytes()
    verify(output)
    (taken / "reference.model").write_bytes(b"other")
    with pytest.raises(InputError, match="differs from what its stage wrote"):
        side_vocabulary.main(arguments(SETTINGS, **options))


@pytest.mark.slow
def test_one_that_can_not_spell_the_templates_is_refused(folder, tmp_path):
    """Its unknown pieces would make all templates one."""
    settings = SETTINGS | {"side": "reference"}
    texts = tmp_path / "texts"
    row = {**pairs("train", 1)[0], "corpus": "train"}
    spelling = {**row, "reference": "((S((NP((VP)) Some words."}
    write_table(texts / "0000.parquet", PairRow, [{**row, "source": "a"}, spelling])
    table = tmp_path / "templates.tsv"
    syntax_templates.write_table(table, [Template("(S (NP) (VP))", 2, "a")])
    write_record(table, 2, 2, {})
    for shards, able in ((folder, False), (texts, True)):
        taken = tmp_path / f"model-{able}"
        options_of_first = arguments(
            settings | {"vocab_size": 28 if able else 60},
            folder=shards,
            shards=1,
            output=taken / "reference.model",
        )
        side_vocabulary.main(options_of_first)
        write_record(taken / "model", 0, 0, {}, files=[taken / "reference.model"])
        output = tmp_path / f"made-{able}" / "source.model"
        options = {"folder": folder, "shards": 1, "taken": taken, "templates": table}
        words = arguments(SETTINGS, **options, output=output)
        if able:
            side_vocabulary.main(words)
            assert output.exists()
        else:
            with pytest.raises(InputError, match=r"no pieces for \(\(NP .*say subword: own"):
                side_vocabulary.main(words)
            assert not output.exists()
