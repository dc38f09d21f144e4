import json
import shutil

import pytest
from stanza.resources import default_packages

from tests.stanza_package import FOLDER, LANGUAGE, PACKAGE
from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.syntax.parser import Parser
from workflow_scripts.stages.syntax.parser_files import PUBLISHED, parser_files
from workflow_scripts.stages.syntax.trees import parse, truncate, words

SENTENCE = "The doctor bought the car."


def test_a_sentence(parser):
    (tree,) = parser.parse([SENTENCE])
    assert words(parse(tree)) == ["The", "doctor", "bought", "the", "car", "."]
    assert truncate(parse(tree), 3) == "(S (NP (DT) (NN)) (VP (VBD) (NP)) (.))"


def test_contractions_are_two_tokens(parser):
    (tree,) = parser.parse(["The dog didn't sleep."])
    assert words(parse(tree)) == ["The", "dog", "did", "n't", "sleep", "."]


def test_trees_come_in_the_order_of_the_texts(parser):
    texts = [SENTENCE, "A boy slept.", "", "Yesterday, the old teacher saw a dog.", " \n\t", "Dogs"]
    trees = parser.parse(texts)
    assert [tree is None for tree in trees] == [not text.strip() for text in texts]
    for text, tree in zip(texts, trees, strict=True):
        if tree is not None:
            assert "".join(words(parse(tree))) == "".join(text.split())
    assert parser.parse(texts[::-1]) == trees[::-1]
    assert parser.parse([]) == []


def test_a_text_is_one_sentence_whatever_is_in_it(parser):
    (tree,) = parser.parse(["The dog slept.\n\nThe boy sang! (It was late)"])
    assert "".join(words(parse(tree))) == "Thedogslept.Theboysang!-LRB-Itwaslate-RRB-"


@pytest.mark.slow
def test_odd_texts_have_trees(parser):
    texts = ["?", "(", "word " * 120, "x" * 300, "Пёс спит.", "a\u00a0b\u2028c", "\u200b"]
    for text, tree in zip(texts, parser.parse(texts), strict=True):
        assert tree is None or parse(tree), text


def test_a_text_that_ends_in_no_tree_leaves_the_others_alone(parser, monkeypatch):
    """Stanza's parser leaves such a text out, and then fails to tell whose trees are left."""
    model = parser._pipeline.processors["constituency"]._model
    original = model.parse_tagged_words

    def without_cats(tagged, batch_size):
        others = [words for words in tagged if all(word != "cat" for word, _ in words)]
        return original(others, batch_size)

    texts = ["The dog slept.", "The cat slept.", SENTENCE, "A boy slept."]
    expected = parser.parse(texts)
    monkeypatch.setattr(model, "parse_tagged_words", without_cats)
    assert parser.parse(texts) == [expected[0], None, *expected[2:]]


def changed_index(folder, change):
    shutil.copytree(FOLDER, folder)
    index = json.loads((folder / "resources.json").read_text())
    change(index)
    (folder / "resources.json").write_text(json.dumps(index))
    return folder


def test_files_of_a_package():
    files = parser_files(str(FOLDER), LANGUAGE, PACKAGE)
    assert sorted(files) == [
        f"{name}/trees" for name in ("constituency", "pos", "pretrain", "tokenize")
    ]


def test_multi_word_tokens_and_optional_parsers_are_found(tmp_path):
    def change(index):
        index["en"]["mwt"] = {"trees": {}}
        package = index["en"]["packages"]["default"]
        package["mwt"] = "trees"
        package["optional"] = {"constituency": package.pop("constituency")}

    folder = changed_index(tmp_path / "a", change)
    (folder / "en" / "mwt").mkdir()
    (folder / "en" / "mwt" / "trees.pt").touch()
    assert "mwt/trees" in parser_files(str(folder), "en", "default")
    assert "constituency/trees" in parser_files(str(folder), "en", "default")


def refused(folder, message, language="en", package="default"):
    with pytest.raises(InputError, match=message):
        Parser(folder, language, package, "cpu")


def test_unknown_names():
    known = r"no package 'accurate' of the language 'en'; it has default; fetch it"
    refused(FOLDER, known, package="accurate")
    none = (
        r"no package 'default' of the language 'cs'; it has none; Stanza publishes no "
        r"constituency model of 'cs' \(it has da, de, en, .*, vi\)\. Train one"
    )
    refused(FOLDER, none, language="cs")


def test_the_languages_with_a_published_model_are_those_of_this_stanza():
    published = default_packages.default_constituency.keys()
    assert {*PUBLISHED, "zh-hans"} == published  # its code has no two letters


def test_folders_that_lack_an_index_a_parser_or_a_model(tmp_path):
    refused(tmp_path, r"evaluate\.syntax\.folder: .*stanza\.download\('en'")
    (tmp_path / "resources.json").write_text("{")
    refused(tmp_path, "is not JSON")
    folder = changed_index(
        tmp_path / "a", lambda index: index["en"]["packages"]["default"].pop("constituency")
    )
    refused(folder, "has no constituency model")
    folder = changed_index(tmp_path / "b", lambda index: None)
    (folder / "en" / "pretrain" / "trees.pt").unlink()
    refused(folder, r"pretrain/trees\.pt is missing")
