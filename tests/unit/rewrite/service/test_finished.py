"""Finished BART, PEGASUS and mBART as rewriters: every kind of constraint, read in their texts.

Weights are random. Whole words are made likely, so that what is avoided would be written.
"""

import argparse
import json
import os
from functools import partial
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from tests.configs import run_on_testbed
from tests.tables import write_frequencies
from tests.unit.nmt.test_tokenizers import WORDS
from tests.unit.rewrite.paraphrasers import KINDS, write_paraphraser
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.pieces import target_coder
from workflow_scripts.nmt.raw import coders
from workflow_scripts.nmt.vocabulary import UNK
from workflow_scripts.stages.generate.inflection import inflections
from workflow_scripts.stages.rewrite.finished_model import make_rewriter
from workflow_scripts.stages.rewrite.opening import add_options, open_rewriter, sets_of
from workflow_scripts.stages.rewrite.requests import Request
from workflow_scripts.stages.rewrite.rewriter import Rewriter, difference
from workflow_scripts.stages.rewrite.spellings import forms_of, holds
from workflow_scripts.stages.train import take_over as train

# The import of the library alone takes seconds.
pytestmark = pytest.mark.slow

PREFIX = "old dog, "
SENTENCES = [
    "the old cat sees a dog under houses",
    "a dog sees gardens under the bridge",
    "the river under the old bridge houses a cat",
]


@pytest.fixture(scope="module", params=KINDS)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paraphrasers") / request.param
    write_paraphraser(folder, request.param)
    (folder / "rewriter.json").write_text(json.dumps({"prefix": PREFIX}), encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def idf(tmp_path_factory: pytest.TempPathFactory) -> Path:
    table = tmp_path_factory.mktemp("idf") / "idf.parquet"
    counts = {word: count for count, word in enumerate(WORDS, start=5)}
    return write_frequencies(table, counts, 100_000)


@pytest.fixture(scope="module")
def paraphraser(folder: Path, idf: Path) -> Rewriter:
    model = load_model(folder, "cpu")
    assert model.target_spm is not None
    systems = partial(sets_of, folder, run_on_testbed(), model.target_spm, idf)
    return Rewriter(model, *coders(model, folder, True, None, None), "en", systems=systems)


def forms(words: tuple[str, ...], inflected: bool) -> list[list[str]]:
    return [forms_of(word, inflections) if inflected else [word] for word in words]


AVOIDED = ("under", "dog", "the")
WISHES = {
    "use": {"use": ("bridge", "caf\u00e9")},
    "use, forms": {"use": ("house",), "use_forms": True},
    "use, at the start": {"use": ("<s> dog",)},
    "use and avoid": {"use": ("cat",), "avoid": ("dog", "the"), "avoid_pieces": True},
    "avoid": {"avoid": AVOIDED},
    "avoid, at the start": {"avoid": ("<s> under", "<s> the")},
    "avoid, forms": {"avoid": ("house", "under"), "avoid_forms": True},
    "avoid, pieces": {"avoid": AVOIDED, "avoid_pieces": True},
    "system, random sets": {"system": "parabank2"},
    "system, rarest words": {"system": "parabank:s04"},
    "system, first words": {"system": "parabank:s34"},
}
DRAWN = {
    f"{name}, samples": wish | {"samples": 20} for name, wish in WISHES.items() if "use" not in wish
}
SYSTEMS = {"system, wanted words": {"system": "parabank:s29"}}


def kept(text: str, avoid: list[list[str]], use: list[list[str]]) -> bool:
    """Tell whether a text has a form of each word asked for, and none of those to avoid."""
    return not any(holds(text, word) for every in avoid for word in every) and all(
        any(holds(text, word, affirmed=True) for word in every) for every in use
    )


@pytest.mark.parametrize("name", [*WISHES, *DRAWN, *SYSTEMS])
def test_texts_have_what_is_asked_for_and_nothing_that_is_avoided(paraphraser, monkeypatch, name):
    wish = {"number": 5, **(WISHES | DRAWN | SYSTEMS)[name]}
    requests = [Request(sentence, **wish) for sentence in SENTENCES]
    answers = paraphraser.answer(requests)
    assert any(answer.paraphrases for answer in answers)
    avoid = forms(wish.get("avoid", ()), "avoid_forms" in wish)
    use = forms(wish.get("use", ()), "use_forms" in wish)
    for request, answer in zip(requests, answers, strict=True):
        assert answer.paraphrases or answer.why
        sets = [(avoid, use)]
        if request.system:
            searches = paraphraser.plan(request).searches
            assert any(search.banned or search.needed for search in searches)
            sets = [([[*one.banned]], [[word] for word in one.needed]) for one in searches]
        for one in answer.paraphrases:
            assert any(kept(one.text, *words) for words in sets)
    # What the search alone gives, without the words that are read in texts afterwards.
    monkeypatch.setattr(paraphraser, "_fault", lambda *_: None)
    texts = [one.text for answer in paraphraser.answer(requests) for one in answer.paraphrases]
    assert all(kept(text, [], use) for text in texts)
    if "avoid_pieces" in wish:
        # With SentencePiece a random model may begin a sentence with the middle of a word.
        whole = paraphraser._target.unmarked_start
        assert all(kept(text if whole else text.partition(" ")[2], avoid, []) for text in texts)


def test_words_that_are_avoided_would_be_written(paraphraser: Rewriter):
    answers = paraphraser.answer([Request(sentence, samples=20) for sentence in SENTENCES])
    texts = [one.text for answer in answers for one in answer.paraphrases]
    written = [word for word in AVOIDED if any(holds(text, word) for text in texts)]
    assert len(written) >= 2
    for answer in answers:
        for one in answer.paraphrases:
            assert one.difference == difference(answer.request.text, one.text)


def test_the_prefix_stands_before_every_sentence_and_in_nothing_that_is_told(folder, paraphraser):
    model = load_model(folder, "cpu")
    source, _ = coders(model, folder, True, None, None)
    model.prefix = ""
    plain, _ = coders(model, folder, True, None, None)
    plan = paraphraser.plan(Request(SENTENCES[0]))
    assert plan.source == source.encode(SENTENCES[0]) == plain.encode(PREFIX + SENTENCES[0])
    assert plan.source != plain.encode(SENTENCES[0])
    assert source.encode(" ") == []
    strange = paraphraser.plan(Request(f"{SENTENCES[0]} \u732b"))
    assert strange.unknown in ([], ["\u732b"])  # bytes write every sign


def test_a_prefix_that_can_not_be_read_is_refused(folder: Path, tmp_path: Path):
    for path in filter(Path.is_file, folder.iterdir()):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    (tmp_path / "rewriter.json").write_text('{"prefix": 5}')
    with pytest.raises(InputError, match=r"rewriter\.json: prefix is 5; it must be a text"):
        load_model(tmp_path, "cpu")
    (tmp_path / "rewriter.json").write_text('{"prefix": "\u732b: "}', encoding="utf-8")
    model = load_model(tmp_path, "cpu")
    with pytest.raises(InputError, match=r"before plain text, not before pieces; give --raw"):
        coders(model, tmp_path, False, None, None)
    if UNK not in target_coder(model, model.target_spm).encode("\u732b"):  # in bytes
        coders(model, tmp_path, True, None, None)
        return
    with pytest.raises(InputError, match=r"can't read its prefix"):
        coders(model, tmp_path, True, None, None)


def task(folder: Path) -> dict[str, Any]:
    return {
        **{"role": "rewriter_theirs", "direction": "forward", "model": {"folder": str(folder)}},
        **{"languages": dict.fromkeys(("source", "reference"), "en"), "corpora": []},
        **{"test": None, "seed": 1},
    }


def test_the_folder_of_a_finished_rewriter_is_that_of_any_other(tmp_path: Path):
    write_paraphraser(tmp_path / "own", "Bart")
    train.take_over(task(tmp_path / "own"), tmp_path / "train")
    about = {"name": "theirs", "language": "en", "prefix": PREFIX}
    given, made = tmp_path / "train", tmp_path / "made"
    make_rewriter({"prefix": PREFIX, "about": about}, given, made)
    record = verify(made / "model")
    assert set(record["files"]) == {*verify(given / "model")["files"], "rewriter.json"}
    assert {"source.model", "reference.model", "metrics.json"} <= set(record["files"])
    # Weights take gigabytes: they are there once.
    assert (made / "model.safetensors").samefile(given / "model.safetensors")
    parser = argparse.ArgumentParser()
    add_options(parser)
    rewriter = open_rewriter(parser.parse_args(["--model", str(made), "--no-meaning"]))
    (answer,) = rewriter.answer([Request(SENTENCES[0], avoid=("dog",), number=2)])
    assert rewriter.language == "en"
    assert answer.paraphrases
    # Made again, and where a file can't have two names.
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "link", Mock(side_effect=OSError))
        make_rewriter({"prefix": "", "about": about}, given, made)
    assert not (made / "model.safetensors").samefile(given / "model.safetensors")
    write_paraphraser(tmp_path / "small", "Pegasus")
    train.take_over(task(tmp_path / "small"), tmp_path / "other")
    with pytest.raises(InputError, match=r"rewriter\.json: the model can't read its prefix '\?:"):
        make_rewriter(
            {"prefix": "?: ", "about": {"prefix": "?: "}}, tmp_path / "other", tmp_path / "a"
        )
