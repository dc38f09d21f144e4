"""Plain text on the command lines: --raw, and phrases of plain text."""

import json
import re
from pathlib import Path

import pytest

from tests.oracles import Oracle
from tests.unit.nmt.marian_files import spm_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.nmt.pieces import TextCoder
from workflow_scripts.nmt.raw import forbidden, wanted, whole_words
from workflow_scripts.nmt.vocabulary import SYMBOLS, Vocabulary

LETTERS = [*"abcdefghijklmnopqrstuvwxyz", "F", '"', "(", "\u00e9", "\u732b", "\u304c", "\u2581"]
PIECES = ["\u2581for", "\u2581For", "for", "\u2581the", "\u2581cat", "ty", '\u2581"', *LETTERS]


@pytest.fixture
def coder(tmp_path: Path) -> TextCoder:
    """Plain text of a few letters, without a model."""
    (tmp_path / "pieces.spm").write_bytes(spm_model(PIECES))
    return TextCoder(Vocabulary([*SYMBOLS, *PIECES]), tmp_path / "pieces.spm")


def pieces(coder: TextCoder, phrase: tuple[int, ...]) -> str:
    return " ".join([*SYMBOLS, *PIECES][number] for number in phrase)


def test_an_avoided_word_is_forbidden_in_other_case_and_after_punctuation(coder: TextCoder):
    found = [pieces(coder, phrase) for phrase in forbidden(coder, "for")]
    assert found[0] == "\u2581for"
    assert "\u2581For" in found
    assert '\u2581" for' in found
    assert '" for' in found
    assert '\u2581" F o r' in found
    assert "( for" in found
    # Inside of other words it is free, as nothing begins with the bare piece.
    assert "for" not in found
    assert len(found) == len(set(found))


def test_phrases_of_several_words_and_at_the_start(coder: TextCoder):
    found = [pieces(coder, phrase) for phrase in forbidden(coder, "<s> for  the cat ")]
    assert found[0] == "<s> \u2581for \u2581the \u2581cat"
    assert "<s> \u2581For \u2581the \u2581cat" in found
    assert all(phrase.startswith("<s> ") for phrase in found)
    assert forbidden(coder, "<s>for the cat") == forbidden(coder, "<s> for the cat")


def test_a_word_that_the_model_cannot_write_needs_no_constraint(coder: TextCoder):
    assert forbidden(coder, "\u017elu\u0165") == []
    assert wanted(coder, "\u017e") != ()  # but it can't be met either


def test_scripts_without_blanks_have_words_inside_of_sentences(coder: TextCoder):
    found = [pieces(coder, phrase) for phrase in forbidden(coder, "\u732b\u304c")]
    assert "\u732b \u304c" in found
    assert pieces(coder, wanted(coder, "\u732b")) == "\u732b"
    assert not whole_words(coder, ["\u732b"])
    assert whole_words(coder, ["for", "the cat"])
    assert whole_words(coder, [])


def test_pieces_are_taken_as_they_are():
    vocabulary = Vocabulary([*SYMBOLS, *PIECES])
    coder = TextCoder(vocabulary)
    assert forbidden(coder, "\u2581for ty") == [wanted(coder, "\u2581for ty")]
    assert wanted(coder, "<s> \u2581for") == (2, 4)
    assert not whole_words(coder, ["\u2581for"])


OPTIONS = [("--nbest", "3"), ("--sample", "4", "--samples", "6")]


@pytest.mark.parametrize("options", OPTIONS)
def test_plain_text_gives_what_its_pieces_give(translated, student_folder: Path, options):
    avoid = {"avoid": ["9 10", "<s> 7"]}
    plain = [{"text": "4 5 6"}, {"text": " 8  4", **avoid}]
    segmented = [
        {"text": "\u25814 \u25815 \u25816"},
        {"text": "\u25818 \u25814", "avoid": ["\u25819 \u258110", "<s> \u25817"]},
    ]
    found = translated(student_folder, plain, "--raw", *options)
    expected = translated(student_folder, segmented, *options)
    for one, other in zip(found, expected, strict=True):
        for key in ("translation", "translations"):
            texts, pieces = one[key], other[key]
            for text, written in zip(
                *([[texts], [pieces]] if key == "translation" else [texts, pieces]), strict=True
            ):
                assert text == written.replace(" ", "").replace("\u2581", " ").strip()
        assert one["scores"] == other["scores"]
    assert [line["text"] for line in found] == ["4 5 6", " 8  4"]
    assert found[1]["avoid"] == avoid["avoid"]


def test_a_translation_scores_what_its_search_said(translated, nlls, student_folder: Path):
    numbers = [f"{first} {last}" for first in range(4, 12) for last in range(4, 9)]
    lines = [
        line
        for line in translated(student_folder, [{"text": text} for text in numbers], "--raw")
        if line["translation"]
    ]
    assert len(lines) > 5
    sources, texts = ([line[key] for line in lines] for key in ("text", "translation"))
    assert nlls(student_folder, sources, texts, "--raw") == pytest.approx(
        [line["score"] for line in lines], abs=1e-5
    )


@pytest.mark.parametrize("text", ["", " \t", "\u3000"])
def test_empty_texts_are_errors_with_their_line(translated, nlls, student_folder: Path, text):
    with pytest.raises(InputError, match=r"in\.jsonl, line 2: \"text\" has 0 pieces"):
        translated(student_folder, [{"text": "4"}, {"text": text}], "--raw")
    with pytest.raises(InputError, match=r'line 1: "avoid" has an empty phrase'):
        translated(student_folder, [{"text": "4", "avoid": [text]}], "--raw")
    with pytest.raises(InputError, match=r'line 1: "constraints" has an empty phrase'):
        translated(student_folder, [{"text": "4", "constraints": [f"<s>{text}"]}], "--raw")
    with pytest.raises(InputError, match="source, line 2: 0 pieces"):
        nlls(student_folder, ["4", text], ["5", "6"], "--raw")


def run_folder(oracle: Oracle, folder: Path, direction: str | None) -> Path:
    """A model folder as a run leaves it: its target is always English."""
    folder.mkdir()
    languages = ("en", "cs") if direction == "backward" else ("cs", "en")
    oracle.copy_model(folder, languages=languages)
    if direction is not None:
        metrics = {"role": direction, "direction": direction}
        (folder / "metrics.json").write_text(json.dumps(metrics), encoding="utf-8")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("direction", ["forward", "backward"])
def test_the_model_folder_of_a_run_knows_its_vocabularies(
    translated, nlls, nmt_oracle: Oracle, tmp_path: Path, direction
):
    folder = run_folder(nmt_oracle, tmp_path / "run", direction)
    named = ["--spm-source", nmt_oracle.folder / "spm.cs.model"]
    named += ["--spm-target", nmt_oracle.folder / "spm.en.model"]
    lines = [{"text": source} for source, _ in nmt_oracle.sentences] + [nmt_oracle.line]
    assert translated(folder, lines, "--raw") == translated(
        nmt_oracle.folder / "model", lines, *named
    )
    sides = list(zip(*nmt_oracle.sentences, strict=True))
    assert nlls(folder, *sides, "--raw") == nlls(nmt_oracle.folder / "model", *sides, *named)


def test_a_folder_that_does_not_tell_its_vocabularies_is_an_error(translated, nmt_oracle, tmp_path):
    line = [{"text": "Muž spí."}]
    message = r"no SentencePiece models of its own: .*--spm-source.*copy its tokenizer\.json"
    with pytest.raises(InputError, match=message):
        translated(nmt_oracle.folder / "model", line, "--raw")
    folder = run_folder(nmt_oracle, tmp_path / "run", None)
    with pytest.raises(InputError, match=r"no metrics\.json that tells .*--spm-source"):
        translated(folder, line, "--raw")
    (folder / "metrics.json").write_text('["direction"]', encoding="utf-8")
    with pytest.raises(InputError, match=r"no metrics\.json that tells"):
        translated(folder, line, "--raw")


def words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


@pytest.mark.slow
def test_an_avoided_word_is_gone_and_a_wanted_one_is_whole(translated, nmt_oracle, tmp_path):
    folder = run_folder(nmt_oracle, tmp_path / "run", "forward")
    lines = [{"text": source} for source, _ in nmt_oracle.sentences]
    free = translated(folder, lines, "--raw")
    longest = [max(words(line["translation"]), key=len) for line in free]
    found = translated(
        folder,
        [
            line | {"avoid": [word.upper() if number % 2 else word]}
            for number, (line, word) in enumerate(zip(lines, longest, strict=True))
        ],
        *("--raw", "--nbest", "3"),
    )
    for line, word in zip(found, longest, strict=True):
        assert line["translations"]
        assert not any(word in words(text) for text in line["translations"])
    chosen = [line | {"constraints": [word]} for line, word in zip(lines, longest, strict=True)]
    for line, word in zip(translated(folder, chosen, "--raw"), longest, strict=True):
        assert word in words(line["translation"])
