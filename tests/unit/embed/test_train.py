import json
from pathlib import Path

import numpy as np
import pytest
import torch

from tests.tables import write_training_pairs
from tests.unit.embed import examples
from tests.unit.embed.test_evaluation import collect
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files import atomic
from workflow_scripts.core.files.manifest import read_record, verify, write_record
from workflow_scripts.encoding.embedding import load
from workflow_scripts.stages.embed import evaluation, train

ROOT = Path(__file__).resolve().parents[3]
PAIRS = examples.simulated_pairs(60)
TESTED = [
    (3.0, PAIRS[7][1].upper(), "Something else."),
    (1.0, "Another.", PAIRS[9][0].replace(".", "!")),
    (2.0, "Nothing that is trained on.", "Nor this."),
]


def tsv(path, rows):
    path.write_text("".join(f"{s}\t{a}\t{b}\n" for s, a, b in rows), encoding="utf-8")
    return path


def collected(folder, rows):
    """Write a table of evaluation data."""
    return collect(folder, data=[str(tsv(folder / "tested.tsv", rows))] if rows else [])


@pytest.fixture
def inputs(tmp_path):
    return write_training_pairs(tmp_path / "pairs.parquet", PAIRS), collected(tmp_path, TESTED)


def contents(folder):
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir())}


def test_published_folder_is_a_model_with_its_record(tmp_path, inputs):
    train.main(examples.train_arguments(tmp_path, *inputs))
    record = verify(tmp_path / "1" / "model")
    assert record["files"].keys() == contents(tmp_path / "1").keys() - {"model.json"}
    # Two references or paraphrases stand in the evaluation data, but for case and punctuation.
    assert record["rows_in"] == len(PAIRS)
    assert record["rejected"] == {"in_evaluation": 2}
    assert len(record["extra"]["history"]) == 2
    texts = examples.sentences(PAIRS)
    trained, untrained = load(tmp_path / "1"), load(tmp_path / "1", untrained=True)
    assert not np.array_equal(trained.encode(texts), untrained.encode(texts))
    assert not [path for path in (tmp_path / "work").iterdir() if path.is_dir()]


@pytest.mark.slow
@pytest.mark.parametrize("encoders", [["lstm"], ["word", "gran"]])
def test_all_weights_are_trained(tmp_path, inputs, encoders):
    train.main(examples.train_arguments(tmp_path, *inputs, encoders=encoders))
    trained, untrained = (
        load(tmp_path / "1", untrained=state).parts.network.state_dict() for state in (False, True)
    )
    assert trained.keys() == untrained.keys()
    assert not [name for name in trained if torch.equal(trained[name], untrained[name])]


def test_a_training_that_is_killed_while_it_tidies_up_can_be_done_again(
    tmp_path, inputs, monkeypatch
):
    arguments = examples.train_arguments(tmp_path, *inputs)

    def killed(folder, ignore_errors=False):
        if folder.name.startswith("prepared") and folder.exists():
            min(folder.iterdir()).unlink()
            raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(atomic.shutil, "rmtree", killed)
        train.main(arguments)
    first = contents(tmp_path / "1")
    train.main(arguments)
    assert contents(tmp_path / "1") == first


@pytest.mark.slow
def test_other_settings_start_over(tmp_path, inputs, capsys):
    train.main(examples.train_arguments(tmp_path, *inputs))
    first = contents(tmp_path / "1")
    train.main(examples.train_arguments(tmp_path, *inputs, {"margin": 0.8}))
    assert "starting over" in capsys.readouterr().err
    assert contents(tmp_path / "1")["model.safetensors"] != first["model.safetensors"]


@pytest.mark.slow
def test_the_best_epoch_is_chosen_by_development_data_that_is_not_tested_on(tmp_path, inputs):
    development = [(n, *pair) for n, pair in enumerate(PAIRS[20:30])]
    path = tsv(tmp_path / "development.tsv", [*development, TESTED[2]])
    arguments = examples.train_arguments(
        tmp_path, *inputs, {"development": [str(path)], "epochs": 4}
    )
    train.main(arguments)
    record = read_record(tmp_path / "1" / "model")
    assert record["rejected"] == {"in_evaluation": 2, "in_development": 10}
    assert record["extra"]["development_pairs_tested_on"] == 1
    scores = [entry["development"] for entry in record["extra"]["history"]]
    assert len(set(scores)) > 1
    best = evaluation.data_set("d", "d", development)
    from workflow_scripts.stages.embed.sts import model_similarities

    found = train.result([best], model_similarities(load(tmp_path / "1"), [best]))
    assert found["mean"]["pearson"] == pytest.approx(max(scores), abs=1e-5)


def test_data_for_development_that_is_tested_alone_may_choose_the_epoch(tmp_path, inputs):
    """`sts.development`: points of grids are chosen on it, and it is not reported."""
    pairs, table = inputs
    both = [str(tmp_path / name) for name in ("tested.tsv", "chosen.tsv")]
    tsv(tmp_path / "chosen.tsv", [(5.0, *PAIRS[20]), (0.0, "one dog", "the cat")])
    assert collect(tmp_path, data=both, development=["chosen"]) == table
    development = {"development": [str(tmp_path / "chosen.tsv")]}
    arguments = examples.train_arguments(tmp_path, pairs, table, development)
    told = r"2 of its 2 pairs are in the data sets that are reported; .* or null"
    with pytest.raises(InputError, match=told):
        train.main(arguments)
    chosen = {"chosen_on": ["chosen"]}
    train.main(examples.train_arguments(tmp_path, pairs, table, development, more=chosen))
    record = read_record(tmp_path / "1" / "model")
    assert record["extra"]["development_pairs_tested_on"] == 0
    # Nothing of it is trained on, as of the test data: two pairs of that, and one of this.
    assert record["rejected"]["in_evaluation"] == 3


def test_a_point_of_a_grid_may_have_no_pairs(tmp_path, inputs):
    empty = write_training_pairs(tmp_path / "none.parquet", [])
    train.main(examples.train_arguments(tmp_path, empty, inputs[1], more={"tuned": True}))
    assert read_record(tmp_path / "1" / "model")["rows_out"] == 0
    sentences = [first for _, first, _ in TESTED]
    vectors = [load(tmp_path / "1", untrained=each).encode(sentences) for each in (False, True)]
    assert (vectors[0] == vectors[1]).all()


def test_nothing_to_train_on_is_an_error_with_the_reasons(tmp_path, inputs):
    pairs = inputs[0]
    write_training_pairs(pairs, [])
    with pytest.raises(InputError, match=r"pairs\.parquet: no pair .*left out: none"):
        train.main(examples.train_arguments(tmp_path, *inputs))
    write_record(pairs, 120, 0, {"sum": 100, "sample": 20})
    with pytest.raises(InputError, match=r"left out: sample 20, sum 100\)"):
        train.main(examples.train_arguments(tmp_path, *inputs))
    write_training_pairs(pairs, [PAIRS[7], PAIRS[9]])
    with pytest.raises(InputError, match=r"left out: in_evaluation 2\)"):
        train.main(examples.train_arguments(tmp_path, *inputs))


@pytest.mark.slow
def test_pieces_and_vectors_from_a_file(tmp_path, inputs):
    vectors = tmp_path / "vectors.txt"
    line = " ".join(["0.5"] * 8)
    vectors.write_text(f"zebra {line}\nthe {line}\n", encoding="utf-8")
    train.main(examples.train_arguments(tmp_path, *inputs, vectors=str(vectors)))
    np.testing.assert_allclose(load(tmp_path / "1").encode(["Zebra!"]), 0.5)
    record = json.loads((tmp_path / "1" / "model.json").read_text(encoding="utf-8"))
    assert (record["extra"]["vectors"]["read"], record["extra"]["vectors"]["known"]) == (2, 1)
    train.main(examples.train_arguments(tmp_path, *inputs, tokens="pieces", vocabulary=100))
    assert (tmp_path / "1" / "pieces.model").exists()


def test_damaged_tokens_of_a_training_that_goes_on_are_told(tmp_path, inputs, monkeypatch):
    arguments = examples.train_arguments(tmp_path, *inputs)
    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(train.Training, "update", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        train.main(arguments)
    tokens = next((tmp_path / "work" / "prepared").glob("*.ids"))
    tokens.write_bytes(tokens.read_bytes()[4:8] + tokens.read_bytes()[4:])
    with pytest.raises(InputError, match=rf"{tokens.name} is damaged .*; delete .*prepared"):
        train.main(arguments)
