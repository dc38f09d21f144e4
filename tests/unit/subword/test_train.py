import json
import re
from itertools import chain

import pytest
import sentencepiece

from tests.golden.inputs import arguments
from tests.unit.subword.conftest import sentences, write_pairs
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.subword.train import (
    main,
    sample_sentences,
    train_model,
    train_on_shards,
)


def load(model: bytes) -> sentencepiece.SentencePieceProcessor:
    return sentencepiece.SentencePieceProcessor(model_proto=model)


def test_digits_are_pieces_of_their_own(train_config):
    processor = load(train_model(sentences(300), train_config))
    assert [piece for piece in processor.encode_as_pieces("pes 4711") if piece.isdigit()] == [
        *"4711"
    ]


def test_a_vocabulary_too_large_is_refused_with_the_largest_possible(train_config):
    texts = sentences(300)
    with pytest.raises(InputError, match=r"100000 is too large .* largest possible is \d+") as e:
        train_model(texts, train_config | {"vocab_size": 100_000})
    largest = int(re.search(r"possible is (\d+)", str(e.value))[1])
    model = load(train_model(texts, train_config | {"vocab_size": largest}))
    assert model.get_piece_size() == largest


@pytest.mark.parametrize(
    ("texts", "message"), [(sentences(300), "vocab_size 10 is too small"), ([], "no text")]
)
def test_text_that_no_model_can_be_trained_on_is_refused(train_config, texts, message):
    with pytest.raises(InputError, match=message):
        train_model(texts, train_config | {"vocab_size": 10})


def test_a_sample_depends_on_ids_and_seed_alone():
    rows = [(f"a:{number}", str(number)) for number in range(2000)]
    kept = set(sample_sentences(rows, 0.3, 1, "source"))
    assert abs(len(kept) - 600) < 100
    assert set(sample_sentences(reversed(rows), 0.3, 1, "source")) == kept
    assert set(sample_sentences(rows, 0.3, 2, "source")) != kept
    assert len(list(sample_sentences(rows, 1.2, 1, "source"))) == 2000


def test_only_the_training_corpora_are_read_and_all_is_counted(tmp_path, pair_rows, train_config):
    paths = write_pairs(tmp_path / "pairs", pair_rows)
    output = tmp_path / "source.model"
    train_on_shards(train_config, paths, output)
    texts = [
        row["source"]
        for row in chain(pair_rows[::2], pair_rows[1::2])
        if row["corpus"] in ("a", "b")
    ]
    assert output.read_bytes() == train_model(texts, train_config)
    record = json.loads((tmp_path / "source.json").read_text())
    assert record["extra"] == {"sentences": 120, "not_sampled": 0}


def test_a_vocabulary_that_may_be_lowered_is_and_says_so(tmp_path, pair_rows, train_config, capsys):
    paths = write_pairs(tmp_path / "pairs", pair_rows)
    output = tmp_path / "source.model"
    config = train_config | {"vocab_size": 8000}
    with pytest.raises(InputError, match=r"vocab_size 8000 is too large .* possible is \d+"):
        train_on_shards(config, paths, output)
    train_on_shards(config | {"lower": True}, paths, output)
    size = load(output.read_bytes()).get_piece_size()
    assert 50 < size < 8000
    told = capsys.readouterr().err
    assert f"8,000 pieces are too many for the text of a, b; {size} are taken" in told
    record = json.loads((tmp_path / "source.json").read_text())
    assert record["extra"] == {"sentences": 120, "not_sampled": 0, "vocab_size": size}
    train_on_shards(train_config | {"lower": True}, paths, output)
    assert load(output.read_bytes()).get_piece_size() == 50


def test_the_command_line_trains_on_a_sample(tmp_path, pair_rows, train_config):
    write_pairs(tmp_path / "pairs", pair_rows)
    config = train_config | {"side": "reference", "sentences": 80}
    output = tmp_path / "reference.model"
    main(arguments(config, folder=tmp_path / "pairs", shards=2, output=output))
    record = json.loads((tmp_path / "reference.json").read_text())
    used = record["extra"]["sentences"]
    assert 50 < used < 110
    assert record["extra"] == {"sentences": used, "not_sampled": 120 - used}
    pieces = sentencepiece.SentencePieceProcessor(model_file=str(output)).encode_as_pieces("PES")
    assert "".join(pieces) == "▁PES"


def test_a_changed_shard_and_an_empty_corpus_are_refused(tmp_path, pair_rows, train_config):
    paths = write_pairs(tmp_path / "pairs", pair_rows)
    with pytest.raises(InputError, match=r"no pairs .*nothing_here"):
        train_on_shards(train_config | {"corpora": ["nothing_here"]}, paths, tmp_path / "x.model")
    paths[1].write_bytes(paths[0].read_bytes())
    with pytest.raises(InputError, match=r"0001\.parquet differs"):
        train_on_shards(train_config, paths, tmp_path / "x.model")
    assert not (tmp_path / "x.model").exists()
