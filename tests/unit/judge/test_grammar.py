"""The grammar model: its tokens, the damage, the training, the file."""

import numpy as np
import pytest

from tests.golden.inputs import arguments
from tests.tables import pair, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import ReferenceRow
from workflow_scripts.stages.judge.grammar import Grammar
from workflow_scripts.stages.judge.grammar.damage import Damager
from workflow_scripts.stages.judge.grammar.known_tokens import grams, is_word, normal, shape, tokens
from workflow_scripts.stages.judge.grammar.sequences import LEVELS, Seen, hashes
from workflow_scripts.stages.judge.grammar.train import main
from workflow_scripts.stages.judge.grammar.training import examples, number_of_batches

SUBJECTS = ["The woman", "My brother", "The old teacher", "Mary", "Her little sister", "The boy"]
VERBS = ["was reading", "has written", "is looking for", "wanted to see", "has been painting"]
OBJECTS = ["a long letter", "the red house", "his new books", "an old picture", "their mother"]
PLACES = ["in the garden", "at school", "on Sunday", "with her friends", "near the river"]
AFTER = ["and didn't say a word", "before dinner", "because it was late", "for many years"]


@pytest.fixture(scope="module")
def sentences():
    return [
        f"{subject} {verb} {thing} {place} {after}."
        for subject in SUBJECTS
        for verb in VERBS
        for thing in OBJECTS
        for place in PLACES
        for after in AFTER
    ]


def test_tokens_are_words_and_single_marks():
    assert tokens("Tom's 2 cats, don’t!") == [
        *("Tom", "'", "s", "2", "cats", ",", "don", "’", "t", "!")
    ]


def test_scripts_without_blanks_give_a_token_a_character():
    assert tokens("我喜欢bananas") == ["我", "喜", "欢", "bananas"]
    assert tokens("नमस्ते दुनिया") == ["नमस्ते", "दुनिया"]


def test_case_digits_and_quotes_are_no_difference():
    assert normal("McDonald") == "mcdonald"
    assert normal("1989") == normal("2024") == "0000"
    assert normal("’") == normal("'")
    assert len({shape(token) for token in ["cat", "Cat", "CAT", "McCat", "12", "."]}) == 6


def test_words_that_share_letters_share_grams():
    common = set(grams("walking", 1 << 20)) & set(grams("talking", 1 << 20))
    assert len(common) > 10
    assert not set(grams("walking", 1 << 20)) & set(grams("house", 1 << 20))


def test_a_very_long_word_has_few_grams():
    assert len(grams("x" * 10_000, 64)) < 200


@pytest.fixture(scope="module")
def corpus(sentences):
    return [tokens(sentence) for sentence in sentences]


@pytest.fixture(scope="module")
def damager(corpus):
    return Damager(corpus, 1)


def test_damage_depends_on_the_sentence_the_seed_and_the_keys_alone(corpus, damager):
    first = [damager.damage(sentence, 0) for sentence in corpus[:50]]
    again = [damager.damage(sentence, 0) for sentence in reversed(corpus[:50])]
    assert first == again[::-1]
    assert first != [damager.damage(sentence, 1) for sentence in corpus[:50]]
    other = Damager(corpus, 2)
    assert first != [other.damage(sentence, 0) for sentence in corpus[:50]]


def test_damaged_sentences_are_none_of_the_corpus(corpus, damager):
    sound = {" ".join(map(normal, sentence)) for sentence in corpus}
    for sentence in corpus[:500]:
        damaged = damager.damage(sentence)
        assert " ".join(map(normal, damaged.tokens)) not in sound


def test_marks_stand_where_something_is_wrong(corpus, damager):
    for sentence in corpus[:300]:
        damaged = damager.damage(sentence)
        assert len(damaged.wrong) == len(damaged.tokens) + 1
        assert any(damaged.wrong)
        # What is not marked stands in the sentence, in the same order.
        unmarked = [
            normal(t) for t, wrong in zip(damaged.tokens, damaged.wrong, strict=False) if not wrong
        ]
        rest = iter(map(normal, sentence))
        assert all(token in rest for token in unmarked)


def damages(damager, corpus, kind):
    damaged = [damager.damage(sentence, kind=kind) for sentence in corpus[:400]]
    return [
        (" ".join(map(normal, sentence)), " ".join(map(normal, result.tokens)))
        for sentence, result in zip(corpus, damaged, strict=False)
        if result
    ]


@pytest.mark.slow
def test_all_kinds_of_damage_happen(corpus, damager):
    for kind in damager.kinds:
        assert damages(damager, corpus, kind), kind


def test_swapping_and_moving_keep_the_words(corpus, damager):
    for kind in ("swap", "move"):
        for sound, damaged in damages(damager, corpus, kind):
            assert sorted(sound.split()) == sorted(damaged.split())
            assert sound != damaged


def test_forms_share_their_stem(corpus, damager):
    known = {normal(token) for sentence in corpus for token in sentence}
    for sound, damaged in damages(damager, corpus, "form"):
        differing = [
            (old, new)
            for old, new in zip(sound.split(), damaged.split(), strict=True)
            if old != new
        ]
        ((old, new),) = differing
        assert old[:2] == new[:2]
        assert new in known


def test_alike_words_stand_among_the_same_neighbours(corpus, damager):
    changes = {
        (old, new)
        for sound, damaged in damages(damager, corpus, "alike")
        for old, new in zip(sound.split(), damaged.split(), strict=True)
        if old != new
    }
    assert ("was", "has") in changes or ("has", "was") in changes or ("is", "has") in changes


def test_invented_words_are_new(corpus, damager):
    known = {normal(token) for sentence in corpus for token in sentence}
    for kind in ("letters", "pieces"):
        for sound, damaged in damages(damager, corpus, kind):
            (new,) = set(damaged.split()) - set(sound.split())
            assert new not in known
            assert is_word(new)


def test_names_are_respelt_in_sound_sentences_and_never_damaged(corpus, damager):
    assert damager.renamed(["Hello", "there"], 0) == ["Hello", "there"]
    with_name = [sentence for sentence in corpus if "Sunday" in sentence]
    renamed = [damager.renamed(sentence, 0) for sentence in with_name]
    assert renamed == [damager.renamed(sentence, 0) for sentence in with_name]
    made_up = {
        new
        for sentence, other in zip(with_name, renamed, strict=True)
        for old, new in zip(sentence, other, strict=True)
        if old != new
    }
    assert made_up and all(name[0].isupper() and is_word(name) for name in made_up)
    for kind in ("letters", "pieces"):
        damaged = [damager.damage(sentence, kind=kind) for sentence in with_name]
        assert any(damaged) and all("Sunday" in result.tokens for result in damaged if result)


def test_contractions_stand_at_wrong_words(corpus, damager):
    changes = damages(damager, corpus, "contraction")
    assert any(damaged.count("' t") > sound.count("' t") for sound, damaged in changes)


def test_the_first_word_has_its_capital(corpus, damager):
    for sentence in corpus[:300]:
        assert damager.damage(sentence).tokens[0][0].isupper()


def seen_at(seen, words, length=None):
    hashed = hashes(words, length or len(words) + 2)[None]
    return (seen.features(hashed)[0, : len(words) + 2] * LEVELS).round().astype(int)


def test_sequences_that_were_seen_are_told_from_others():
    seen = Seen.count([["we", "were", "late"], ["we", "were", "late"], ["he", "was", "early"]])
    start, we, were, late, end = seen_at(seen, ["we", "were", "late"])
    assert (were > 0).all()
    # At the edges there is nothing before or behind.
    assert (we[[0, 1, 2, 3, 5, 6]] > 0).all() and we[4] == 0
    assert start[[2, 6]].min() > 0 and end[[1, 4]].min() > 0 and late[6] == 0
    # Known words in an unknown order: of "he" only what stands around it was seen twice.
    _, he, were, late, _ = seen_at(seen, ["he", "were", "late"])
    assert he.tolist() == [1, 0, 0, 2, 0, 0, 0]
    assert were.tolist() == [2, 0, 2, 0, 0, 0, 2]
    assert late[[1, 2]].min() > 0
    assert not seen_at(seen, ["nothing"])[1].any()


def test_frequent_sequences_have_higher_levels():
    seen = Seen.count([["a", "b"]] * 100 + [["c", "d"]] * 4)
    assert seen_at(seen, ["a", "b"])[1, 2] > seen_at(seen, ["c", "d"])[1, 2] > 1


def test_what_was_seen_does_not_depend_on_padding(corpus):
    seen = Seen.count([normal(token) for token in sentence] for sentence in corpus)
    for sentence in corpus[:20]:
        words = [normal(token) for token in sentence]
        np.testing.assert_array_equal(seen_at(seen, words), seen_at(seen, words, 64))


SETTINGS = {"epochs": 3, "vocabulary": 300, "embedding": 16, "hidden": 16, "dilations": [1, 2]}
SETTINGS |= {"batch": 32, "learning_rate": 0.01, "buckets": 512}
SETTINGS |= {"sentences": 2200, "validation": 200}


def train(folder, sentences, **config):
    file = folder / "sound.txt"
    file.write_text("".join(f"{sentence}\n" for sentence in sentences), encoding="utf-8")
    output = folder / "model"
    main(arguments({**SETTINGS, **config}, input=file, output=output, language="en"))
    return output


@pytest.fixture(scope="module")
def folder(tmp_path_factory, sentences):
    return train(tmp_path_factory.mktemp("grammar"), sentences)


@pytest.mark.slow
def test_a_trained_model_tells_damaged_sentences(folder):
    assert Grammar.load(folder).description["validation"]["area"] > 0.85


def test_a_model_says_where_it_comes_from(folder):
    about = Grammar.load(folder).description
    assert about["language"] == "en"
    assert [source["file"] for source in about["sources"]] == ["sound.txt"]
    assert len(about["sources"][0]["sha256"]) == 64
    assert about["settings"]["epochs"] == SETTINGS["epochs"]
    assert about["sentences"] == {"counted": 1600, "training": 400, "validation": 200}


@pytest.mark.slow
def test_references_of_a_run_train_the_same_model(folder, tmp_path, sentences):
    for shard in range(2):
        found = enumerate(sentences[shard::2])
        rows = [pair(f"c:{shard}-{number}", "x", sentence) for number, sentence in found]
        write_table(tmp_path / f"{shard:04d}.parquet", ReferenceRow, rows)
    output = tmp_path / "model"
    main(arguments(SETTINGS, folder=tmp_path, shards=2, output=output))
    weights = "grammar.safetensors"
    assert (output / weights).read_bytes() == (folder / weights).read_bytes()


@pytest.mark.slow
def test_a_figure_does_not_depend_on_the_sentences_beside_it(folder, sentences):
    model = Grammar.load(folder)
    mixed = ["", *sentences[:100], " ".join(sentences[:20]), "The woman were reading."]
    together = model.log_odds(mixed)
    alone = np.array([model.log_odds([sentence])[0] for sentence in mixed])
    assert together.dtype == np.float64
    assert np.isfinite(together).all()
    np.testing.assert_array_equal(together, alone)
    np.testing.assert_array_equal(model.log_odds(mixed[::-1]), together[::-1])
    assert model.log_odds([]).shape == (0,)


@pytest.mark.slow
def test_sentences_that_are_too_long_with_others_behind_them_are_left_out(tmp_path, sentences):
    long = [" and ".join(sentences[start : start + 3]) for start in range(len(sentences) - 2)]
    description = Grammar.load(train(tmp_path, long, epochs=2, joined=0.9)).description
    assert description["settings"]["joined"] == 0.9
    split = [tokens(sentence) for sentence in long[:100]]
    config = {"seed": 1, "batch": 8, "joined": 0.9}
    damager = Damager(split, 1)
    for epoch in (1, 2):
        batches = list(examples(split, damager, config, epoch))
        assert len(batches) == number_of_batches(split, config, epoch) < 100 / 4


def test_too_few_sentences_are_refused(tmp_path, sentences):
    with pytest.raises(InputError, match=r"1999 different sentences .* needs 2000"):
        train(tmp_path, [*sentences[:1999], *sentences[:500], "Hello", "?"])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ([], "by one of --input and --folder"),
        (["--input", "a.txt", "--folder", "shards", "--shards", "1"], "by one of --input and"),
        (["--folder", "shards"], "--folder needs --shards"),
    ],
)
def test_sentences_come_from_one_place(options, message):
    with pytest.raises(InputError, match=message):
        main([*options, "--output", "model"])


def test_unknown_settings_are_refused(tmp_path, sentences):
    with pytest.raises(InputError, match=r"unknown settings \['epoch'\].*'epochs'"):
        train(tmp_path, sentences, epoch=2)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"validation": 0}, "validation: must be above zero"),
        ({"validation": -5}, "validation: must be above zero"),
        ({"counted": 1.0}, "counted: must be from 0 to below 1"),
    ],
)
def test_settings_that_leave_nothing_to_train_on_or_to_measure_are_refused(
    tmp_path, sentences, setting, message
):
    with pytest.raises(InputError, match=message):
        train(tmp_path, sentences, **setting)


def test_a_damaged_file_is_refused(tmp_path, folder):
    with pytest.raises(InputError, match="no folder of a grammar model"):
        Grammar.load(tmp_path / "nothing")
    for name in ("grammar.json", "grammar.safetensors", "model.json"):
        (tmp_path / name).write_bytes((folder / name).read_bytes())
    weights = tmp_path / "grammar.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x7f")
    with pytest.raises(InputError, match=r"grammar\.safetensors differs from what its stage wrote"):
        Grammar.load(tmp_path)
