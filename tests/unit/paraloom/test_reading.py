"""Released corpora as frames."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import paraloom
from paraloom import ArgumentError, InputError
from paraloom.reading import COLUMNS
from workflow_scripts.stages.release.export import schema


def paraphrase(text, score, **more):
    return {"text": text, "score": score, "forward_nll": 0.25, "backward_nll": None, **more}


ROWS = [
    {
        "id": "a",
        "reference": 'Say "NA".',
        "paraphrases": [paraphrase("NA", 0.5), paraphrase("B", 1)],
    },
    {"id": "b", "reference": "null", "paraphrases": []},
    {"id": "c", "reference": "C", "paraphrases": [paraphrase("D", 2, probability=0.75)]},
]


def write(folder, rows=ROWS, merged=False):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "paraphrases.parquet"
    pq.write_table(pa.Table.from_pylist(rows, schema(merged)), path)
    return path


def test_a_row_for_each_paraphrase(tmp_path):
    frame = paraloom.read(write(tmp_path))
    assert list(frame.columns) == list(COLUMNS)
    assert frame["id"].tolist() == ["a", "a", "b", "c"]
    assert frame["reference"].tolist() == ['Say "NA".', 'Say "NA".', "null", "C"]
    assert frame["rank"].tolist() == [1, 2, 0, 1]
    assert frame["text"].tolist() == ["NA", "B", None, "D"]
    assert frame["score"].fillna(-1).tolist() == [0.5, 1, -1, 2]
    assert frame["backward_nll"].isna().all()
    assert frame["probability"].fillna(-1).tolist() == [-1, -1, -1, 0.75]


def test_some_columns_in_the_order_asked_for(tmp_path):
    frame = paraloom.read(write(tmp_path), columns=["text", "rank"])
    assert list(frame.columns) == ["text", "rank"] and len(frame) == 4


def test_batches_hold_so_many_references(tmp_path):
    path = write(tmp_path)
    frames = paraloom.read(path, batches=2)
    assert [len(frame) for frame in frames] == [3, 1]
    assert list(next(paraloom.read(path, columns=["id"], batches=1))["id"]) == ["a", "a"]


@pytest.mark.parametrize("merged", [False, True])
def test_a_corpus_without_rows_has_columns(tmp_path, merged):
    frame = paraloom.read(write(tmp_path, [], merged))
    assert len(frame) == 0 and list(frame.columns) == list(COLUMNS)


def test_a_corpus_of_several_runs_is_read_too(tmp_path):
    sources = [{"run": "r", "language": "pt", "corpus": "web"}]
    rows = [
        {
            **{"id": "a", "reference": "A", "sources": sources},
            "paraphrases": [paraphrase("B", 1, sources=sources)],
        }
    ]
    assert paraloom.read(write(tmp_path, rows, merged=True))["text"].tolist() == ["B"]


def test_a_run_by_its_name_and_its_systems(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "runs" / "mine" / "release" / "first")
    (tmp_path / "runs" / "mine" / "config.yaml").write_text("run: {}")
    assert len(paraloom.read("mine")) == len(paraloom.read("mine", "first")) == 4
    write(tmp_path / "runs" / "mine" / "release" / "second", ROWS[:1])
    with pytest.raises(InputError, match="several systems; name one: first, second"):
        paraloom.read("mine")
    assert len(paraloom.read("mine", "second")) == 2
    with pytest.raises(InputError, match="no system 'secnd'; did you mean 'second'"):
        paraloom.read("mine", "secnd")
    assert len(paraloom.read(tmp_path / "runs" / "mine" / "release" / "second")) == 2


def test_what_is_no_corpus_is_told(tmp_path):
    with pytest.raises(InputError, match=r"no paraphrases\.parquet there"):
        paraloom.read(tmp_path / "nothing")
    other = tmp_path / "other.parquet"
    pq.write_table(pa.table({"id": ["a"]}), other)
    with pytest.raises(InputError, match=r"corpus: it lacks paraphrases, reference$"):
        paraloom.read(other)
    pq.write_table(pa.table({"id": ["a"], "reference": ["A"], "paraphrases": ["B"]}), other)
    with pytest.raises(InputError, match="its paraphrases lack"):
        paraloom.read(other)
    other.write_bytes(b"no Parquet")
    with pytest.raises(InputError, match="can't be read as Parquet"):
        paraloom.read(other)


def test_wrong_arguments_are_refused(tmp_path):
    path = write(tmp_path)
    with pytest.raises(ArgumentError, match="no column 'txt'; did you mean 'text'"):
        paraloom.read(path, columns=["txt"])
    with pytest.raises(ArgumentError, match="batches is 0"):
        paraloom.read(path, batches=0)
    for columns in ([], 5, "text"):
        with pytest.raises(ArgumentError, match=r"columns is .*, and must be a list"):
            paraloom.read(path, columns=columns)
    with pytest.raises(ArgumentError, match="run is None, and must be a name or a path"):
        paraloom.read(None)
    with pytest.raises(ArgumentError, match="system is 5"):
        paraloom.read(path, 5)


def test_what_has_one_system_has_no_other(tmp_path):
    path = write(tmp_path / "mine")
    for run in (path, path.parent):
        assert len(paraloom.read(run, "mine")) == len(paraloom.read(run)) == 4
        with pytest.raises(InputError, match="its folder is not called 'nonsense'"):
            paraloom.read(run, "nonsense")
