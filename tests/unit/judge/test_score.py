"""The command judge.score, and the judge that ships."""

import numpy as np
import pytest
from sklearn.metrics import roc_auc_score

from tests import labels
from tests.packages import student
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import sha256
from workflow_scripts.encoding.sentence_vectors import load_encoder
from workflow_scripts.plan.catalogues.pair_features import COMPARED, NEEDS
from workflow_scripts.stages.judge import fitting, opened, score
from workflow_scripts.stages.judge.features import Models
from workflow_scripts.stages.judge.fit import FEATURES_BY_DEFAULT, fit_judge
from workflow_scripts.stages.judge.grammar.grammar_model import Grammar
from workflow_scripts.stages.judge.judge import Coefficients, Judge
from workflow_scripts.stages.judge.rated_pairs import read_labels

REFERENCES = ["The dog saw a cat.", "I have no idea where it is.", "She left the house."]
PARAPHRASES = ["A dog saw the cat.", "I don't know where it is.", "She leaved house the house."]
OWN = Judge(
    ("forward_nll", "overlap_1"),
    (
        Coefficients({"forward_nll": -1.0, "overlap_1": 2.0}, 0.0, 1.0, (0.0,)),
        Coefficients({"overlap_1": 2.0}, 0.0, 1.0, (0.0,)),
    ),
    {},
    (),
    "en",
)


def write(path, lines):
    path.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    return path


@pytest.fixture
def options(tmp_path):
    OWN.save(tmp_path / "own")
    files = {
        "references": write(tmp_path / "references.txt", REFERENCES),
        "paraphrases": write(tmp_path / "paraphrases.txt", PARAPHRASES),
    }
    return ["--judge", str(tmp_path / "own"), *words(files)]


def words(options):
    return [word for key, path in options.items() for word in (f"--{key}", str(path))]


def scored(capsys, options):
    score.main(options)
    output = capsys.readouterr()
    return [float(line) for line in output.out.splitlines()], output.err


def test_it_prints_one_score_a_line_and_names_what_is_missing(options, capsys):
    values, message = scored(capsys, options)
    assert len(values) == 3 and all(0 < value < 1 for value in values)
    assert message == "missing feature: forward_nll (needs forward_nll)\n"


def test_an_empty_line_is_an_unknown_nll_and_so_is_parabanks_mark(options, tmp_path, capsys):
    without, _ = scored(capsys, options)
    nlls = write(tmp_path / "nll.txt", ["0.5", "", "-1"])
    values, message = scored(capsys, [*options, "--forward-nll", str(nlls)])
    assert values[0] < without[0] and values[1:] == without[1:]
    assert message == "missing feature: forward_nll is unknown on 2 of 3 lines\n"


def test_what_a_judge_does_not_use_is_told(options, tmp_path, capsys):
    nlls = str(write(tmp_path / "nll.txt", [1, 1, 1]))
    _, message = scored(capsys, [*options, "--forward-nll", nlls, "--backward-nll", nlls])
    assert message == "backward_nll is given, but this judge does not use it\n"


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (["0.5", "high", "1"], r"nll\.txt, line 2: 'high' is no number; write nats"),
        (["0.5", "1", "nan"], r"nll\.txt, line 3: 'nan' is no number"),
        (["inf", "1", "1"], r"nll\.txt, line 1: 'inf' is no number"),
        (["0.5", "-3", "1"], r"nll\.txt, line 2: '-3' is no NLL, which is never negative"),
        (["0.5", "1"], r"nll\.txt has 2 lines, .*references\.txt has 3"),
        (["0.5"] * 4, r"nll\.txt has 4 lines, .*references\.txt has 3"),
    ],
)
def test_wrong_nlls_are_told(options, tmp_path, lines, message):
    nlls = write(tmp_path / "nll.txt", lines)
    with pytest.raises(InputError, match=message):
        score.main([*options, "--forward-nll", str(nlls)])


def test_files_of_different_lengths_and_empty_lines_are_told(options, tmp_path):
    write(tmp_path / "paraphrases.txt", PARAPHRASES[:2])
    with pytest.raises(InputError, match=r"paraphrases\.txt has 2 lines, .*references\.txt has 3"):
        score.main(options)
    write(tmp_path / "paraphrases.txt", [PARAPHRASES[0], " ", PARAPHRASES[2]])
    with pytest.raises(InputError, match=r"paraphrases\.txt, line 2 is empty"):
        score.main(options)


def test_options_that_exclude_each_other_are_told(options, tmp_path, capsys):
    nlls = str(write(tmp_path / "nll.txt", [1, 1, 1]))
    for more in (["--forward", "m", "--forward-nll", nlls], ["--backward", "m"]):
        with pytest.raises(SystemExit) as ended:
            score.main([*options, *more])
        assert ended.value.code == 2


def test_another_language_is_refused_or_warned_of(options, tmp_path, capsys):
    with pytest.raises(InputError, match=r"knows references in 'en' only, not in 'pt'"):
        score.main([*options, "--language", "pt"])
    czech = ["Nevím, kde teď všichni jsou.", "Ten starý dům stojí u řeky.", "Zítra přijde déšť."]
    write(tmp_path / "references.txt", czech * 2)
    write(tmp_path / "paraphrases.txt", czech * 2)
    values, message = scored(capsys, options)
    assert len(values) == 6 and "warning: the references don't look like English" in message


def test_a_judge_that_knows_another_grammar_model_asks_for_it(options, tmp_path):
    about = {"grammar": {"name": "mine"}}
    coefficients = (Coefficients({"grammar": 1.0}, 0.0, 1.0, (0.0,)),)
    Judge(("grammar",), coefficients, {}, (), "en", about).save(tmp_path / "own")
    with pytest.raises(InputError, match=r"grammar model of its own; name its folder \(--grammar"):
        score.main(options)


def test_a_pair_of_which_too_little_is_known_is_told(options, tmp_path):
    Judge(OWN.features, OWN.sets[:1], {}, (), "en").save(tmp_path / "own")
    nlls = write(tmp_path / "nll.txt", ["1", "", "1"])
    with pytest.raises(InputError, match="line 2: of this pair too little is known"):
        score.main([*options, "--forward-nll", str(nlls)])


# --- the judge that ships ---------------------------------------------------------------------


def test_the_default_is_numbers_with_their_provenance():
    judge = Judge.load("default")
    assert judge.language == "en"
    for coefficients in judge.sets:
        for name in ("forward_nll", "forward_root", "invented_words", "changed_pronouns"):
            assert coefficients.weights.get(name, 0) <= 0
        assert all(coefficients.weights.get(name, 0) >= 0 for name in ("cosine", "grammar"))
        assert coefficients.slope > 0


@pytest.mark.parametrize(("language", "labelled"), [("pt", True), ("cs", False)])
def test_default_judges_any_language_and_says_where_it_has_no_labels(
    options, capsys, language, labelled
):
    chosen = ["--judge", "default", "--language", language, *options[2:]]
    values, message = scored(capsys, chosen)
    assert len(values) == 3 and all(0 < value < 1 for value in values)
    assert ("no label is in 'cs'" in message) is not labelled


def test_no_judge_that_ships_was_fitted_to_games_or_the_test_part():
    english = {"english.tsv": ["train"]}
    for name, expected in (
        ("default", {**english, "candidates.tsv": None}),
        ("portuguese", {**english, "portuguese.tsv": ["train"]}),
        ("other", english),
    ):
        files = Judge.load(name).about["fitted_to"]
        assert {file["file"]: file.get("splits") for file in files} == expected
        for file in files:
            if "splits" in file:  # the labels are those of this tree
                assert file["sha256"] == sha256(labels.FOLDER / file["file"])


def test_an_encoder_that_is_not_the_judges_is_refused(tmp_path, monkeypatch):
    own, copy, other = (tmp_path / name for name in ("own", "copy", "other"))
    for folder, weights in ((own, b"a"), (copy, b"a"), (other, b"b")):
        folder.mkdir()
        (folder / "model.safetensors").write_bytes(weights)
    monkeypatch.setattr(opened, "encoder_folder", lambda: own)
    monkeypatch.setattr(opened, "load_encoder", lambda folder, device: folder)
    judge = Judge.load("default")
    assert opened.models_of(judge, copy, None, "cpu").encoder == copy
    with pytest.raises(InputError, match=r"other is not the encoder that the judge was fitted"):
        opened.models_of(judge, other, None, "cpu")


def test_without_the_encoder_the_default_says_so_and_goes_on(options, monkeypatch, capsys):
    def absent(_):
        raise InputError("the encoder is not installed; `make setup` installs it")

    monkeypatch.setattr(opened, "encoder_of", absent)
    values, message = scored(capsys, ["--judge", "default", *options[2:]])
    assert len(values) == 3 and all(0 < value < 1 for value in values)
    assert "missing encoder: the encoder is not installed; `make setup` installs it" in message
    assert "missing feature: cosine (needs encoder)" in message


@pytest.mark.slow
def test_a_pair_has_the_same_score_alone_and_among_others(minilm, options, tmp_path, capsys):
    options = ["--judge", "default", *options[2:]]
    write(tmp_path / "references.txt", [*REFERENCES, "A much longer sentence than these. " * 9])
    write(tmp_path / "paraphrases.txt", [*PARAPHRASES, "A very long sentence, this one. " * 9])
    together, _ = scored(capsys, options)
    assert scored(capsys, options)[0] == together
    for reference, paraphrase, expected in zip(REFERENCES, PARAPHRASES, together, strict=False):
        write(tmp_path / "references.txt", [reference])
        write(tmp_path / "paraphrases.txt", [paraphrase])
        assert scored(capsys, options)[0][0] == pytest.approx(expected, abs=1.01e-6)


def default_scores(examples, tmp_path, capsys, nll):
    write(tmp_path / "r.txt", examples.pairs.references)
    write(tmp_path / "p.txt", examples.pairs.paraphrases)
    options = words({"references": tmp_path / "r.txt", "paraphrases": tmp_path / "p.txt"})
    if nll:
        values = ["" if np.isnan(nll) else nll for nll in examples.pairs.forward_nll]
        options += ["--forward-nll", str(write(tmp_path / "n.txt", values))]
    return scored(capsys, options)[0]


@pytest.mark.rest
def test_the_default_tells_good_from_bad_where_it_was_not_fitted(minilm, tmp_path, capsys):
    examples = read_labels(labels.FOLDER / "english-games.tsv")
    clear = examples.good | examples.bad
    for nll, least in ((True, 0.82), (False, 0.77)):
        values = np.array(default_scores(examples, tmp_path, capsys, nll))
        assert roc_auc_score(examples.good[clear], values[clear]) > least


@pytest.mark.rest
@pytest.mark.slow
def test_the_default_comes_of_its_files_again(minilm, fitted_to, monkeypatch):
    """Figures are cross-validated: no reference is in both parts."""
    monkeypatch.setattr(fitting, "_BOOTSTRAPS", 2)  # of intervals, which are not compared
    shipped = Judge.load("default")
    models = Models(load_encoder(minilm), Grammar.load("english"))
    again = fit_judge(fitted_to, FEATURES_BY_DEFAULT, models, {})
    assert again.features == shipped.features
    for fitted, expected in zip(again.sets, shipped.sets, strict=True):
        assert fitted.weights.keys() == expected.weights.keys()
        for name, weight in expected.weights.items():
            np.testing.assert_allclose(fitted.weights[name], weight, atol=0.02)
    figures = {tuple(figure["features"]): figure for figure in again.about["held_out"]}
    for expected in shipped.about["held_out"]:
        for file, measure in (("labels", "auc"), ("ratings", "spearman")):
            value = figures[tuple(expected["features"])][file][measure]["value"]
            assert value == pytest.approx(expected[file][measure]["value"], abs=0.005)
    rated = tuple(name for name in FEATURES_BY_DEFAULT if not {*NEEDS[name]} & {*COMPARED})
    assert figures[rated]["ratings"]["spearman"]["value"] > 0.6


@pytest.mark.slow
def test_models_give_the_nlls_that_files_would(options, tmp_path, capsys):
    sources = ["O cão viu um gato.", "Não faço ideia de onde está.", "Ela saiu de casa."]
    write(tmp_path / "s.txt", sources)
    own = Judge.load(tmp_path / "own")
    features = {"forward_nll": -1.0, "backward_nll": -0.5}
    Judge(
        (*features, "overlap_1"),
        (Coefficients(features, 0.0, 1.0, (0.0,)), *own.sets),
        {},
        (),
        "en",
    ).save(tmp_path / "own")
    printed, message = scored(
        capsys,
        [
            *(*options, "--sources", str(tmp_path / "s.txt")),
            *("--forward", str(student("pten"))),
            *("--backward", str(student("enpt"))),
        ],
    )
    assert message == ""
    for direction, model, left, right in (
        ("forward", "pten", sources, PARAPHRASES),
        ("backward", "enpt", PARAPHRASES, sources),
    ):
        values = score.nlls(student(model), left, right, "cpu")
        assert (values > 0).all()
        write(tmp_path / f"{direction}.txt", values)
    files = [f"--{d}-nll={tmp_path}/{d}.txt" for d in ("forward", "backward")]
    assert scored(capsys, [*options, *files]) == (printed, "")
    assert printed[0] > printed[2]
