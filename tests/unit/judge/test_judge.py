"""A judge: what it makes of features, and how it is fitted."""

import json
from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from tests.tables import pair
from tests.unit.dual_filter.conftest import model_folder
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.stages.judge import fit as fit_command
from workflow_scripts.stages.judge.features import Models
from workflow_scripts.stages.judge.fit_run import On, Translators
from workflow_scripts.stages.judge.fitting import (
    BANDS,
    LACKING_WEIGHT,
    Design,
    Examples,
    calibrate,
    fit,
    known_sets,
    logistic,
)
from workflow_scripts.stages.judge.judge import Coefficients, Judge, band_names
from workflow_scripts.stages.judge.known_pairs import Pairs
from workflow_scripts.stages.judge.rated_pairs import read_labels, read_ratings
from workflow_scripts.stages.score.shard import score_rows
from workflow_scripts.stages.subword.segmenter import Segmenter

JUDGE = Judge(
    ("forward_nll", "overlap_1", "reference_vector"),
    (
        Coefficients(
            {"forward_nll": -2.0, "overlap_1": 1.0, "reference_vector": np.array([1.0, -1.0])},
            0.5,
            2.0,
            (0.0, 1.0),
        ),
        Coefficients({"overlap_1": 3.0}, -1.0, 1.0, (0.0, -1.0)),
    ),
    {"forward_nll": (0.0, 4.0), "overlap_1": (0.0, 1.0)},
    (8,),
    "en",
)


def test_each_pair_is_judged_by_what_is_known_of_it():
    features = {
        "forward_nll": np.array([1.0, np.nan, 1.0, 9.0]),
        "overlap_1": np.array([0.5, 0.5, np.nan, 0.5]),
        "reference_vector": np.array([[0.5, 0.0]] * 4),
    }
    probabilities = JUDGE.probability(features, np.array([7.0, 8.0, 7.0, 7.0]))
    expected = [
        expit(2 * (0.5 - 2 + 0.5 + 0.5)),
        expit((-1 + 1.5) - 1),
        np.nan,
        expit(2 * (0.5 - 8 + 0.5 + 0.5)),  # beyond what was seen, it counts as the nearest
    ]
    np.testing.assert_allclose(probabilities, expected)


def test_a_missing_feature_is_as_unknown_as_nan():
    words = np.array([7.0, 20.0])
    features = {"overlap_1": np.array([0.2, 0.9]), "reference_vector": np.full(2, np.nan)}
    np.testing.assert_allclose(
        JUDGE.probability(features, words),
        JUDGE.probability({"overlap_1": features["overlap_1"]}, words),
    )


def test_a_judge_is_the_same_after_it_was_written(tmp_path):
    again = Judge.load(JUDGE.save(tmp_path))
    assert again.content == JUDGE.content == Judge.load(tmp_path).content


def with_set(**changes):
    return {"sets": [{**JUDGE.content["sets"][0], **changes}]}


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"format": 0}, r"\(its format is 0"),
        ({"sets": []}, r"\(its sets"),
        ({"language": ""}, r"\(its language"),
        ({"format": True}, r"\(its format"),
        ({"ranges": {**JUDGE.content["ranges"], "overlap1": [0, 1]}}, r"\(its ranges"),
        ({"band": [8]}, r"\(unknown key 'band'; did you mean 'bands'\?\)"),
        (with_set(shift=[0]), r"\(unknown key 'shift'; did you mean 'shifts'\?\)"),
    ],
)
def test_what_is_no_judge_is_refused(tmp_path, changes, told):
    (tmp_path / "judge.json").write_text(json.dumps({**JUDGE.content, **changes}))
    with pytest.raises(InputError, match=rf"judge\.json is no judge {told}"):
        Judge.load(tmp_path)


def test_a_file_that_is_none_of_a_judge_is_refused(tmp_path):
    with pytest.raises(
        InputError, match=r"none can't be read.*name a folder that paraloom judge fit"
    ):
        Judge.load(tmp_path / "none")
    twice = json.dumps(JUDGE.content).replace('"format"', '"language": "de", "format"')
    for text, told in ((twice, r" \(key 'language' .* twice"), ("[]", "")):
        (tmp_path / "judge.json").write_text(text)
        with pytest.raises(InputError, match=rf"judge\.json is no judge{told}"):
            Judge.load(tmp_path)


def test_the_bands_have_names():
    assert band_names((8, 15)) == ["1-7", "8-14", "15+"]


# --- fitting ----------------------------------------------------------------------------------


def test_coefficients_obey_their_bounds_and_find_the_truth():
    random = np.random.default_rng(1)
    matrix = np.column_stack([random.normal(size=(4000, 2)), np.ones(4000)])
    target = expit(matrix @ np.array([1.0, -0.5, 0.3]))
    ones, none = np.ones(4000), np.zeros(3)
    free = logistic(matrix, target, ones, none, [(None, None)] * 3)
    np.testing.assert_allclose(free, [1.0, -0.5, 0.3], atol=1e-3)
    bound = logistic(matrix, target, ones, none, [(None, None), (0, None), (None, None)])
    assert bound[1] == 0 and bound[0] > 0.5


def test_the_calibration_finds_the_share_of_each_band():
    random = np.random.default_rng(1)
    band = np.repeat(np.arange(len(BANDS) + 1), 20_000)
    good = random.random(len(band)) < np.array([0.2, 0.4, 0.6, 0.8])[band]
    margins = np.zeros(len(band))
    shares = calibrate(margins, good, band).probability(margins, band)
    for number in range(4):
        assert shares[band == number][0] == pytest.approx(good[band == number].mean(), abs=0.02)


def test_a_calibration_never_turns_the_order():
    margins = np.linspace(-2, 2, 200)
    calibration = calibrate(margins, margins < 0, np.zeros(200, np.intp))
    assert calibration.slope == 0


def examples(name, columns):
    """Return ten pairs, and columns of features that are known or not."""
    rows = np.arange(10.0)
    features = {key: rows if known else np.full(10, np.nan) for key, known in columns.items()}
    texts = [f"{name} {row}" for row in range(10)]
    good = rows > 5
    pairs = Pairs(texts, texts)
    return Examples(name, pairs, good * 1.0, good, ~good, None, {**features, "words": rows}, ())


def test_pairs_of_a_file_that_lacks_a_feature_count_less_beside_it():
    files = [
        examples("labels", {"forward_nll": True, "backward_nll": True}),
        examples("ratings", {"forward_nll": True, "backward_nll": False}),
    ]
    design = Design(files, ["forward_nll", "backward_nll"])
    assert design.weights(["forward_nll"]).tolist() == [1.0] * 20
    both = design.weights(["forward_nll", "backward_nll"])
    assert both.tolist() == [1.0] * 10 + [LACKING_WEIGHT] * 10
    files[0] = examples("labels", {"forward_nll": False, "backward_nll": True})
    each_lacks_one = Design(files, ["forward_nll", "backward_nll"])
    assert each_lacks_one.weights(["forward_nll", "backward_nll"]).tolist() == [1.0] * 20


def test_what_needs_the_same_is_known_or_unknown_together():
    features = ["forward_nll", "forward_root", "cosine", "edit_distance"]
    assert known_sets(features) == [
        tuple(features),
        ("forward_nll", "forward_root", "edit_distance"),
        ("cosine", "edit_distance"),
        ("edit_distance",),
    ]
    assert known_sets(["forward_nll"]) == [("forward_nll",)]


def test_what_needs_a_part_of_what_is_known_is_known():
    assert known_sets(["backward_nll", "divergence", "source_lost", "words"]) == [
        ("backward_nll", "divergence", "source_lost", "words"),
        ("backward_nll", "words"),
        ("words",),
    ]
    assert known_sets(["forward_gain", "backward_gain", "forward_nll"]) == [
        ("forward_gain", "backward_gain", "forward_nll"),
        ("forward_gain", "forward_nll"),
        ("backward_gain", "forward_nll"),
        ("backward_gain",),
        ("forward_nll",),
    ]


def test_ratings_that_are_all_the_same_have_no_correlation(tmp_path):
    labels = examples("labels", {"forward_nll": True})
    same = replace(examples("ratings", {"forward_nll": True}), score=np.full(10, 90.0))
    judge = fit([labels, same], ["forward_nll"], "en", {})
    assert Judge.load(judge.save(tmp_path)).about["held_out"][0]["ratings"].keys() == {
        "pairs",
        "references",
        "auc",
    }


# --- files ------------------------------------------------------------------------------------

HEAD = "id\tsource\treference\tparaphrase\tforward_nll\tbackward_nll\tlabel\n"


def write_labels(path, references=40, nll=True):
    """Good ones have a low NLL and share words with the reference."""
    lines, random = [HEAD], np.random.default_rng(5)
    for number in range(references):
        words = [f"w{number}" for number in random.integers(50, size=4 + number % 8)]
        for label, step, cost in (("G", 1, 0.3), ("acceptable", 2, 0.9), ("B", 4, 1.5)):
            changed = [w if i % step == 0 else f"x{i}" for i, w in enumerate(words)]
            nll_text = f"{cost * random.uniform(0.6, 1.4):.4f}" if nll else ""
            texts = (" ".join(words), " ".join([*changed, "z"]))
            lines.append("\t".join([str(number), "s", *texts, nll_text, "", label]) + "\n")
    path.write_text("".join(lines), "utf-8")
    return path


FEATURES = ["--features", "forward_nll", "overlap_1", "edit_distance"]


@pytest.mark.rest
def test_a_judge_is_fitted_to_labels_from_the_command_line(tmp_path, capsys):
    labels = write_labels(tmp_path / "labels.tsv")
    options = ["--labels", str(labels), *FEATURES, "--ablation"]
    fit_command.main([*options, "--output", str(tmp_path / "a")])
    printed = capsys.readouterr().out
    assert "3 features, labels auc" in printed and "without forward_nll" in printed
    assert "1-7\t0.8-1.0" in printed
    judge = Judge.load(tmp_path / "a")
    assert judge.features == ("forward_nll", "overlap_1", "edit_distance")
    assert [set(coefficients.weights) for coefficients in judge.sets] == [
        {"forward_nll", "overlap_1", "edit_distance"},
        {"overlap_1", "edit_distance"},
    ]
    assert judge.sets[0].weights["forward_nll"] < 0
    assert judge.about["held_out"][0]["labels"]["auc"]["value"] > 0.9
    assert judge.about["fitted_to"][0]["file"] == "labels.tsv"
    fit_command.main([*options, "--output", str(tmp_path / "b")])
    assert (tmp_path / "a/judge.json").read_bytes() == (tmp_path / "b/judge.json").read_bytes()
    assert str(tmp_path) not in (tmp_path / "a/judge.json").read_text("utf-8")


@pytest.mark.rest
def test_the_ablation_of_a_single_feature_leaves_none(tmp_path, capsys):
    labels = write_labels(tmp_path / "labels.tsv")
    options = ["--labels", str(labels), "--features", "forward_nll", "--ablation"]
    fit_command.main([*options, "--output", str(tmp_path / "a")])
    assert "without forward_nll\tlabels auc 0.5000" in capsys.readouterr().out


@pytest.mark.slow
def test_more_nll_is_never_better_whatever_the_labels_say(tmp_path):
    labels = write_labels(tmp_path / "labels.tsv")
    lines = [line.split("\t") for line in labels.read_text("utf-8").splitlines()]
    turned = [[*row[:4], str(3 - float(row[4])), *row[5:]] for row in lines[1:]]
    labels.write_text("\n".join("\t".join(row) for row in [lines[0], *turned]) + "\n", "utf-8")
    fit_command.main(["--labels", str(labels), *FEATURES, "--output", str(tmp_path / "a")])
    assert Judge.load(tmp_path / "a").sets[0].weights["forward_nll"] == 0


def test_labels_of_several_files_stand_together_without_copies_and_other_splits(tmp_path, capsys):
    rows = ["w1\ttrain\ta\tb\tgood", "w2\ttrain\ta\tA\tcopy", "w3\theld\ta\tc\tB"]
    more = ["w4\ttrain\td\te\tacceptable"]
    for name, lines in (("one", rows), ("two", more)):
        columns = (line.split("\t") for line in lines)
        text = "".join(f"{i}\t{s}\t\t{r}\t{p}\t\t0.5\t{k}\n" for i, s, r, p, k in columns)
        (tmp_path / name).write_text(HEAD.replace("id\t", "id\tsplit\t") + text, "utf-8")
    files = (tmp_path / "one", tmp_path / "two")
    every = read_labels(*files)
    assert every.pairs.paraphrases == ["b", "c", "e"] and every.target.tolist() == [1, 0, 0.5]
    assert [source["file"] for source in every.sources] == ["one", "two"]
    assert "1 copies of their references are left out" in capsys.readouterr().err
    train = read_labels(*files, splits=["train"])
    assert train.pairs.paraphrases == ["b", "e"] and train.sources[0]["splits"] == ["train"]
    with pytest.raises(InputError, match=r"one, .*two \(split dev\): no judged pair"):
        read_labels(*files, splits=["dev"])
    with pytest.raises(InputError, match=r"labels\.tsv, line 1: no column split"):
        read_labels(write_labels(tmp_path / "labels.tsv"), splits=["train"])


RATINGS = "worker_id_anon\tref_id\tref_len\tsys_id\tcandidate\tNLL\thuman_score\tgm\n"


def write_ratings(folder):
    (folder / "ref.tsv").write_text("ref_id\tref_sent\n7\tthe dog sleeps\n8\tit rains\n", "utf-8")
    rows = [
        ("u", "7", "3 4", "a dog sleeps", "0.5", "90", "2"),
        ("v", "7", "3 4", "a dog sleeps", "0.5", "100", "2"),
        ("u", "7", "35", "dog", "-1", "10", "1"),
        ("v", "7", "35", "dog", "-1", "", "0"),
        ("u", "8", "3", "rain falls", "0.25", "60", "2"),
        ("u", "8", "0", "it rains", "-2", "100", "2"),
        ("u", "8", "9", "nonsense", "0.25", "", "0"),
    ]
    lines = ["\t".join([w, r, "5", s, c, n, h, g]) for w, r, s, c, n, h, g in rows]
    (folder / "ratings.tsv").write_text(RATINGS + "\n".join(lines) + "\n", "utf-8")
    return folder / "ratings.tsv", folder / "ref.tsv"


def test_ratings_are_read_without_controls_and_without_pairs_that_nobody_scored(tmp_path):
    read = read_ratings(*write_ratings(tmp_path), good=80)
    assert read.pairs.references == ["the dog sleeps", "the dog sleeps", "it rains"]
    assert read.pairs.paraphrases == ["a dog sleeps", "dog", "rain falls"]
    assert read.score.tolist() == [95, 10, 60] and read.good.tolist() == [True, False, False]
    np.testing.assert_array_equal(read.pairs.forward_nll, [0.5, np.nan, 0.25])
    assert read.target[0] > read.target[2] > read.target[1]


def test_annotators_use_the_scale_in_their_own_ways(tmp_path):
    ratings, texts = write_ratings(tmp_path)
    rows = [("mild", "7", "a", 80), ("mild", "7", "b", 90), ("hard", "8", "c", 10)]
    rows = rows * 40 + [("hard", "8", "d", 20)] * 40
    lines = [f"{w}\t{r}\t5\t3\t{c}\t\t{score}\t2" for w, r, c, score in rows]
    ratings.write_text(RATINGS + "\n".join(lines) + "\n", "utf-8")
    a, b, c, d = read_ratings(ratings, texts, good=80).target
    assert c < a < d < b  # by means it would be c, d, a, b


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("\tG\n", "\tfine\n"), "line 2: the label is 'fine'; write good"),
        (("\tlabel\n", "\tmark\n"), "line 1: no column label"),
        (("\tG\n", "\n"), "line 2 has 6 fields, the header 7"),
        *(
            (("\t0.25\t", f"\t{wrong}\t"), f"line 2: '{wrong}' is ")
            for wrong in ("much", "nan", "inf", "-0.5")
        ),
    ],
)
def test_wrong_labels_are_told(tmp_path, change, message):
    path = tmp_path / "labels.tsv"
    path.write_text(f"{HEAD}1\ts\ta b\tb a\t0.25\t\tG\n".replace(*change), "utf-8")
    with pytest.raises(InputError, match=rf"labels\.tsv, {message}"):
        read_labels(path)


def test_labels_may_tell_what_the_backward_model_compares(tmp_path):
    path = tmp_path / "labels.tsv"

    def read(columns, *cells):
        rows = [f"{n}\ts\ta\tb\t\t1\tG{each}\n" for n, each in enumerate(cells)]
        path.write_text(HEAD.replace("\n", f"{columns}\n") + "".join(rows), "utf-8")
        return read_labels(path).pairs

    both = read("\tlost\tdivergence", "\t-1.5\t0.25", "\t\t ", "\t0\t")
    np.testing.assert_array_equal(both.lost, [-1.5, np.nan, 0])
    np.testing.assert_array_equal(both.divergence, [0.25, np.nan, np.nan])
    without = read("", "")
    assert without.lost is without.divergence is None
    alone = read("\tdivergence", "\t0.5")
    assert alone.lost is None and alone.divergence.tolist() == [0.5]
    for wrong in ("much", "nan", "inf"):
        told = rf"labels\.tsv, line 3: lost: '{wrong}' is no number.*; or leave it empty"
        with pytest.raises(InputError, match=told):
            read("\tlost", "\t1", f"\t{wrong}")


def test_a_run_scores_labels_as_its_stage_score_does(tmp_path):
    folder = model_folder(tmp_path / "backward", ("reference", "source"), seed=2)
    texts = [("pes spí", "dog sleeps", "dog eats"), ("kočka jí", "cat eats", "cat sees dog")]
    sources, references, paraphrases = map(list, zip(*texts, strict=True))
    known = np.array([9.0, np.nan])
    pairs = Pairs(references, paraphrases, sources, backward_nll=known)
    scored = Translators(None, folder, On("cpu", "fp32", 64)).scored(pairs)
    rows = [
        pair(f"c:{number}", source, reference)
        | {"candidates": [{"text": text, "source": None, "variant": "v", "forward_nll": 1.0}]}
        for number, (source, reference, text) in enumerate(texts)
    ]
    model = load_model(folder, "cpu")
    read, write = (Segmenter(folder / f"{side}.model") for side in ("reference", "source"))
    of_run = [row["candidates"][0] for row in score_rows(rows, model, read, write, None, 500)]
    assert scored.backward_nll.tolist() == [9.0, pytest.approx(of_run[1]["backward_nll"], abs=1e-4)]
    for name in ("lost", "divergence"):
        expected = [each[name] for each in of_run]
        np.testing.assert_allclose(getattr(scored, name), expected, atol=1e-4)
    assert np.isfinite(scored.reference_backward_nll).all()


def test_a_rated_reference_has_one_text(tmp_path):
    ratings, texts = write_ratings(tmp_path)
    same = texts.read_text("utf-8") + "8\tit rains\n"
    texts.write_text(same, "utf-8")  # as in exported ratings
    assert set(read_ratings(ratings, texts, good=80).pairs.references) >= {"it rains"}
    for text, told in (
        (same + "8\tit snows\n", "ref.tsv, line 5: reference '8' .* text in line 3"),
        ("ref_id\tref_sent\n7\tthe dog sleeps\n", "'8' has no text in .*ref"),
    ):
        texts.write_text(text, "utf-8")
        with pytest.raises(InputError, match=told):
            read_ratings(ratings, texts, good=80)


@pytest.mark.parametrize("seed", ["-1", "4294967296"])
def test_a_seed_that_no_fold_can_have_is_refused(tmp_path, capsys, seed):
    with pytest.raises(SystemExit):
        fit_command.main(["--labels", "none.tsv", "--seed", seed, "--output", str(tmp_path)])
    assert f"--seed {seed} is not from 0 to 2^32 - 1" in capsys.readouterr().err


def test_too_little_to_fit_to_is_told(tmp_path):
    few = write_labels(tmp_path / "few.tsv", references=5)
    with pytest.raises(InputError, match="at least 10 references; these are of 5"):
        fit_command.main(["--labels", str(few), *FEATURES, "--output", str(tmp_path)])
    path = write_labels(tmp_path / "labels.tsv")
    path.write_text(path.read_text("utf-8").replace("\tG\n", "\tB\n"), "utf-8")
    with pytest.raises(InputError, match=r"labels\.tsv: none of the pairs are good"):
        fit_command.main(["--labels", str(path), *FEATURES, "--output", str(tmp_path)])


@pytest.mark.parametrize(
    ("features", "told"),
    [
        (
            ["forward_nll", "cosine", "overlap_1"],
            r"forward_nll, cosine lack .*\(forward_nll, encoder\)",
        ),
        (["cosin"], "'cosin' is no feature of pairs; did you mean 'cosine'"),
        (["invented_words"], "invented_words lack .*English references"),
    ],
)
def test_features_that_lack_what_they_need_are_named(tmp_path, features, told):
    files = [read_labels(write_labels(tmp_path / "labels.tsv", nll=False))]
    with pytest.raises(InputError, match=told):
        fit_command.fit_judge(files, features, Models(language="pt"), {})


@pytest.mark.slow
def test_by_default_another_language_has_only_what_is_for_every_language(tmp_path):
    labels = write_labels(tmp_path / "labels.tsv")
    options = ["--labels", str(labels), "--language", "pt", "--output", str(tmp_path)]
    fit_command.main(options)
    judge = Judge.load(tmp_path)
    assert judge.language == "pt"
    texts = ("numbers", "repeated_words", "doubled_words", "changed_marks")
    assert judge.features == ("forward_nll", "forward_root", *texts)
