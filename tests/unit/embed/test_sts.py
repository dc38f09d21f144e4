import json

import numpy as np
import pytest
from scipy import stats

from tests.unit.embed import examples
from workflow_scripts.core.errors import InputError
from workflow_scripts.encoding import parts
from workflow_scripts.encoding.embedding import UNTRAINED, load, save
from workflow_scripts.stages.embed import sts
from workflow_scripts.stages.embed.correlations import overlap

PAIRS = examples.simulated_pairs(30)


@pytest.fixture
def data(tmp_path):
    random = np.random.default_rng(1)
    for name in ("one", "two"):
        lines = [f"{random.uniform(0, 5):.2f}\t{a}\t{b}" for a, b in PAIRS]
        (tmp_path / f"{name}.tsv").write_text("\n".join(lines), encoding="utf-8")
    return tmp_path


@pytest.fixture
def folder(tmp_path):
    path = tmp_path / "model"
    path.mkdir()
    built = examples.random_model(["word"], "add")
    save(path, built)
    built.network.tables[0].data.normal_()
    parts.write_weights(path / UNTRAINED, built)
    return path


def run(capsys, *arguments):
    sts.main([str(argument) for argument in arguments])
    captured = capsys.readouterr()
    return json.loads(captured.out), captured.err


def expected(data, similarity):
    rows = [line.split("\t") for line in (data / "one.tsv").read_text("utf-8").split("\n")]
    gold = [float(row[0]) for row in rows]
    return stats.pearsonr(gold, [similarity(row[1], row[2]) for row in rows])[0]


def cosine(model):
    def similarity(first, second):
        one, other = model.encode([first, second]).astype(np.float64)
        return one @ other / np.linalg.norm(one) / np.linalg.norm(other)

    return similarity


def test_prints_one_object_of_all_data_sets(capsys, folder, data):
    found, said = run(capsys, "--model", folder, "--data", data)
    assert list(found) == ["one", "two", "bt2017", "mean", "weighted", "all"]
    assert found["one"].keys() == {"n", "pearson", "spearman"}
    assert found["one"]["n"] == len(PAIRS)
    assert found["one"]["pearson"] == pytest.approx(expected(data, cosine(load(folder))), abs=1e-5)
    assert "2012.MSRpar" in said


def test_baselines(capsys, folder, data):
    untrained, _ = run(capsys, "--model", folder, "--untrained", "--data", data)
    assert untrained["one"]["pearson"] == pytest.approx(
        expected(data, cosine(load(folder, untrained=True))), abs=1e-5
    )
    words, _ = run(capsys, "--overlap", "--data", data / "one.tsv")
    assert words["one"]["pearson"] == pytest.approx(expected(data, overlap), abs=1e-5)
    with pytest.raises(InputError, match="--untrained goes with --model"):
        sts.main(["--overlap", "--untrained", "--data", str(data / "one.tsv")])
