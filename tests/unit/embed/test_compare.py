import json
from itertools import pairwise

import numpy as np
import pytest

from tests.golden.inputs import arguments
from tests.tables import write_training_pairs
from tests.unit.embed import examples
from tests.unit.embed.test_evaluation import collect
from tests.unit.embed.test_train import collected, tsv
from workflow_scripts.core.errors import InputError
from workflow_scripts.encoding.embedding import load
from workflow_scripts.stages.embed import sts_comparison, train
from workflow_scripts.stages.embed.baselines import baselines
from workflow_scripts.stages.embed.evaluation import read_collected
from workflow_scripts.stages.embed.sts import model_similarities

PAIRS = examples.simulated_pairs(40)
# Two kinds of embeddings; one of them is trained on two sets, on the first with two seeds.
MODELS = (("word-all-a", 1), ("word-all-a", 2), ("word-all-b", 1), ("trigram-all-a", 1))


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The models, and a set of pairs whose score is whether they belong together."""
    path = tmp_path_factory.mktemp("compare")
    sets = {
        "all-a": write_training_pairs(path / "a" / "pairs.parquet", PAIRS),
        "all-b": write_training_pairs(path / "b" / "pairs.parquet", PAIRS[:10]),
    }
    tested = examples.simulated_pairs(30, first=100)
    evaluation = collected(path, scored(tested))
    for name, seed in MODELS:
        entry, _, training_set = name.partition("-")
        given = (sets[training_set], evaluation, {"epochs": 8}, seed)
        options = {"output": str(seed), "encoders": [entry]}
        train.main(examples.train_arguments(path / name, *given, **options))
    return path


def scored(pairs):
    """Return the pairs, with a score of 5, and sides of neighbours, with one of 0."""
    lines = [(5.0, *pair) for pair in pairs]
    return lines + [(0.0, one[0], other[1]) for one, other in pairwise(pairs)]


def with_development(folder, tmp_path):
    """Write the table of the tested data set and of `dev.tsv`, which is for development."""
    data = [str(folder / "tested.tsv"), str(tmp_path / "dev.tsv")]
    return collect(tmp_path, data=data, development=["dev"])


def figures(folder):
    models = [f"{name}/{seed}={folder / name / str(seed)}" for name, seed in MODELS]
    files = {"evaluation": folder / "evaluation.parquet", "output": folder / "sts.json"}
    config = {"bootstrap": 100, "language": "en", "seed": 1}
    sts_comparison.main(arguments(config, models=models, **files))
    return json.loads((folder / "sts.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_each_model_stands_beside_its_untrained_self_and_overlap(folder):
    found = figures(folder)
    assert found["embeddings"].keys() == {"word-all-a", "word-all-b", "trigram-all-a"}
    assert found["embeddings"]["word-all-a"]["seeds"].keys() == {"1", "2"}
    data = read_collected(folder / "evaluation.parquet")
    one = found["embeddings"]["word-all-a"]["seeds"]["2"]
    for state in ("trained", "untrained"):
        model = load(folder / "word-all-a" / "2", untrained=state == "untrained")
        expected = sts_comparison.result(data, model_similarities(model, data))
        assert one[state] == expected
    for baseline, figure in (("untrained", one["untrained"]), ("overlap", found["overlap"])):
        gain = one["trained"]["mean"]["pearson"] - figure["mean"]["pearson"]
        assert one["gain"][baseline]["pearson"] == pytest.approx(gain, abs=1e-5)
    assert found["baselines"].keys() == {"bleu", "meteor"}
    for name, similarities in baselines(data, "en").items():
        assert found["baselines"][name] == sts_comparison.result(data, similarities)
    assert found["pairs"] == {"tested": len(data[0].scores)}
    assert "2016.headlines" in found["missing"]


def test_the_point_that_is_best_on_the_development_data_is_chosen(folder, tmp_path):
    """Wieting et al. (2017), 5.5 to 5.7: chosen there, reported on the test sets."""
    rows = list(examples.simulated_pairs(30, first=300))
    tsv(tmp_path / "dev.tsv", scored(rows))
    table = with_development(folder, tmp_path)
    models = {"word-all-a": {"1": folder / "word-all-a" / "1"}}
    models |= {"word-all-b": {"1": folder / "word-all-b" / "1"}}
    settings = {"bootstrap": 20, "language": "en", "seed": 1, "development": ["dev"]}
    settings |= {"tuned": {"all": ["all-a", "all-b"]}}
    found = sts_comparison.compare(settings, models, table)
    assert (found["pairs"], found["development"]) == ({"tested": 59}, {"dev": 59})
    (dev,) = (each for each in read_collected(table) if each.name == "dev")
    expected = {
        name: sts_comparison.result([dev], model_similarities(load(folder / name / "1"), [dev]))
        for name in models
    }
    (one,) = found["tuned"]
    development = {point["training_set"]: point["development"] for point in one["points"]}
    assert development == {
        name.removeprefix("word-"): each["mean"]["pearson"] for name, each in expected.items()
    }
    assert one["training_set"] == max(development, key=development.get)
    assert (one["embedding"], one["grid"]) == ("word", "all")
    # The chosen point alone is tested, and nothing of the test is of the development data.
    assert list(found["embeddings"]) == [f"word-{one['training_set']}"]
    assert found["differences"] == {"word": []}
    trained = found["embeddings"][f"word-{one['training_set']}"]["seeds"]["1"]["trained"]
    assert "tested" in trained and "dev" not in trained


@pytest.mark.slow
def test_no_point_is_chosen_by_pairs_that_are_reported(folder, tmp_path, capsys):
    """As STS Benchmark holds pairs of STS 2016."""
    both = list(examples.simulated_pairs(30, first=100))[:10]
    own = list(examples.simulated_pairs(30, first=300))
    lines = scored(own)
    settings = {"bootstrap": 20, "language": "en", "seed": 1, "development": ["dev"]}
    settings |= {"tuned": {"all": ["all-a"]}}
    models = {"word-all-a": {"1": folder / "word-all-a" / "1"}}

    def development(rows):
        tsv(tmp_path / "dev.tsv", rows)
        table = with_development(folder, tmp_path)
        found = sts_comparison.compare(settings, models, table)
        return found["development"], found["tuned"][0]["points"][0]["development"]

    without = development(lines)
    # With gold scores that would turn the choice, and sides in the other order.
    assert development([*lines, *((-50.0, two, one) for one, two in both)]) == without
    assert "10 pairs for development are in the data sets that are reported" in (
        capsys.readouterr().err
    )
    with pytest.raises(InputError, match=r"sts\.development: 10 of its 12 pairs are in"):
        development([*lines[:2], *((5.0, *pair) for pair in both)])


def test_a_point_without_pairs_is_passed_over():
    points = {
        "word-x-s-1": sts_comparison.Point(0, None),
        "word-x-s-2": sts_comparison.Point(5, -0.3),
        "word-x-s-3": sts_comparison.Point(7, -0.3),
        "gran-x-s-1": sts_comparison.Point(0, None),
    }
    grids = {"x-s": ["x-s-1", "x-s-2", "x-s-3"], "y-s": ["y-s-1"]}
    word, gran = sts_comparison.chosen(points, grids)
    assert word["training_set"] == "x-s-2"  # the first of two that are equally good
    assert [point["development"] for point in word["points"]] == [None, -0.3, -0.3]
    assert (gran["training_set"], gran["points"][0]["pairs"]) == (None, 0)


def test_seeds_are_summed_up_by_mean_and_deviation(folder):
    found = figures(folder)["embeddings"]
    values = [each["trained"]["mean"]["pearson"] for each in found["word-all-a"]["seeds"].values()]
    summary = found["word-all-a"]["over_seeds"]["trained"]["pearson"]
    assert summary["mean"] == pytest.approx(np.mean(values), abs=1e-6)
    assert summary["deviation"] == pytest.approx(np.std(values, ddof=1), abs=1e-6)
    assert found["trigram-all-a"]["over_seeds"]["trained"]["pearson"]["deviation"] is None


def test_training_sets_of_one_kind_are_told_apart_by_their_mean_over_seeds(folder):
    found = figures(folder)
    assert found["differences"]["trigram"] == []
    (one,) = found["differences"]["word"]
    assert (one["first"], one["second"]) == ("all-a", "all-b")
    means = {
        name: found["embeddings"][f"word-{name}"]["over_seeds"]["trained"]["pearson"]["mean"]
        for name in ("all-a", "all-b")
    }
    assert one["gain"]["pearson"] == pytest.approx(means["all-b"] - means["all-a"], abs=1e-5)
    assert one["gain"]["low"] <= one["gain"]["pearson"] <= one["gain"]["high"]
