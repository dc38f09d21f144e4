import json
from collections import Counter

import pytest

from tests.unit.train.conftest import write_segments
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.subword.segmenter import Segmenter
from workflow_scripts.stages.train import work_folder
from workflow_scripts.stages.train.data import dev_sample, select_rows, vocabulary, write_text


def row(split: str, source: str, reference: str) -> dict:
    return {"id": "x:1", "split": split, "copy": 0, "source": source, "reference": reference}


def test_long_segments_are_left_out_and_counted_but_not_of_the_test_set():
    rows = [
        row("train", "a b", "c d e"),
        row("train", "a b c d", "e"),
        row("train", "a", "b c d e"),
        row("dev", "a b c d", "e"),
        row("test", "a b c d", "e"),
    ]
    counts = Counter()
    assert list(select_rows(rows, 3, counts)) == [rows[0], rows[4]]
    assert counts == {"train": 3, "train_too_long": 2, "dev": 1, "dev_too_long": 1, "test": 1}


@pytest.mark.parametrize(("direction", "read"), [("forward", "source"), ("backward", "reference")])
def test_text_is_written_by_split_and_direction(tmp_path, direction, read):
    shards = [tmp_path / "0000.parquet", tmp_path / "0001.parquet"]
    rows = [row(split, f"s {split}", f"r {split}") for split in ("train", "dev", "test")]
    write_segments(shards[0], rows[:2])
    write_segments(shards[1], [*rows[2:], row("train", "s more", "r more")])
    counts = write_text(shards, direction, 10, tmp_path, ("train", "dev"))
    assert counts == {"train": 2, "dev": 1, "test": 1}
    assert json.loads((tmp_path / work_folder.COUNTS).read_text()) == counts
    first, second = ("s", "r") if read == "source" else ("r", "s")
    assert (tmp_path / work_folder.TRAIN_SOURCE).read_text() == f"{first} train\n{first} more\n"
    assert (tmp_path / work_folder.TRAIN_TARGET).read_text() == f"{second} train\n{second} more\n"
    assert (tmp_path / work_folder.DEV_SOURCE).read_text() == f"{first} dev\n"
    assert (tmp_path / work_folder.TEST_TARGET).read_text() == f"{second} test\n"


def test_of_development_data_a_seeded_sample_is_drawn(tmp_path):
    shards = [tmp_path / "0000.parquet", tmp_path / "0001.parquet"]
    rows = [{**row("dev", f"s{n}", f"r{n}"), "id": f"news:{n}"} for n in range(40)]
    rows[7]["source"] = "far too long"
    write_segments(shards[0], [row("train", "a", "b"), *rows[:25]])
    write_segments(shards[1], rows[25:])
    drawn = dev_sample(shards, 2, 10, 1)
    assert len(drawn) == 10
    assert "news:7" not in drawn
    assert drawn < dev_sample(shards, 2, 20, 1)
    assert drawn != dev_sample(shards, 2, 10, 2)
    assert dev_sample(shards, 2, 500, 1) == {each["id"] for each in rows} - {"news:7"}
    counts = write_text(shards, "forward", 2, tmp_path, ("train", "dev"), dev=drawn)
    assert counts == {"train": 1, "dev": 10, "dev_not_drawn": 30}
    written = (tmp_path / work_folder.DEV_SOURCE).read_text().split()
    assert written == [each["source"] for each in rows if each["id"] in drawn]


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([row("train", "a", "b")], "no dev segments .* does train.dev name"),
        ([row("dev", "a", "b")], "no train segments .* does train.corpora name"),
        (
            [row("train", "a b c", "d"), row("dev", "a", "b")],
            "all 1 train segments .* max_length, 2 pieces: raise it",
        ),
    ],
)
def test_an_empty_split_is_named_with_its_reason(tmp_path, rows, message):
    write_segments(tmp_path / "0000.parquet", rows)
    with pytest.raises(InputError, match=message):
        write_text([tmp_path / "0000.parquet"], "forward", 2, tmp_path, ("train", "dev"))
    assert not (tmp_path / work_folder.COUNTS).exists()


def test_the_vocabulary_is_the_sub_word_model_s(bitext):
    segmenter = Segmenter(bitext.models["source"])
    found = vocabulary(segmenter)
    assert list(found)[:4] == ["<pad>", "<unk>", "<s>", "</s>"]
    assert list(found.values()) == list(range(len(found)))
    assert list(found)[4:] == segmenter.vocabulary()


def test_a_piece_spelt_like_a_special_symbol_does_not_upset_the_ids(bitext, monkeypatch):
    monkeypatch.setattr(Segmenter, "vocabulary", lambda _: ["▁a", "</s>", "b"])
    found = vocabulary(Segmenter(bitext.models["source"]))
    assert found == {"<pad>": 0, "<unk>": 1, "<s>": 2, "</s>": 3, "▁a": 4, "b": 5}
