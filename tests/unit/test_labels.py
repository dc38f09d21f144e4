"""The labelled paraphrases are as their card says."""

import re

import pytest

from tests import labels
from workflow_scripts.nmt import int8
from workflow_scripts.stages.clean.normalise import normalise

SIDES = ("source", "reference", "paraphrase")
CARD = (labels.FOLDER / "README.md").read_text(encoding="utf-8")
INSTRUCTION = (labels.FOLDER / "instruction.md").read_text(encoding="utf-8")


def test_the_card_has_the_tables_that_the_check_prints():
    missing = [line for line in [*labels.check(), *labels.scale()] if line not in CARD]
    assert not missing


def test_the_card_describes_each_column_and_the_instruction_each_word():
    described = re.findall(r"(?m)^\| (`.*?`) \|", CARD)
    assert [name.strip("` ") for cell in described for name in cell.split(",")] == [*labels.COLUMNS]
    named = re.findall(r"(?m)^\| (\w+) \|", INSTRUCTION)
    words = {*labels.LABELS, *labels.FAULTS, "label", "fault"} - {"none"}
    assert set(named) == words


def test_what_the_backward_model_compares_is_that_of_a_run():
    # The tables are of a CPU with VNNI. Without it 8 bits are coarser, and fp32 is nearer to them.
    # 8-bit products depend a little on what else is in the batch.
    vnni = int8.largest_input() == int8.LARGEST
    for language, name in labels.LANGUAGES.items():
        rows = labels.table(name)
        cleaned = [row | {side: normalise(row[side]) for side in SIDES} for row in rows]
        changed = [place for place, row in enumerate(rows) if row != cleaned[place]]
        places = [*changed[:6], *range(0, 60, 6)]
        asked = [cleaned[place] for place in places]
        found = labels.compared_rows(language, asked, "int8" if vnni else "fp32")
        others = [
            (place, each)
            for place, each in zip(places, found, strict=True)
            if [float(rows[place][name]) for name in ("lost", "divergence")]
            != pytest.approx([each.lost, each.divergence], abs=0.5, rel=0.1)
        ]
        assert len(others) <= (0 if vnni else 1), others


def test_a_row_that_is_not_as_it_should_be_is_found(monkeypatch, tmp_path):
    for path in labels.FOLDER.iterdir():
        text = path.read_text(encoding="utf-8")
        if path.name == "portuguese.tsv":
            text = text.replace("\tbad\tform", "\tbad\tforms", 1)
        (tmp_path / path.name).write_text(text, encoding="utf-8")
    monkeypatch.setattr(labels, "FOLDER", tmp_path)
    with pytest.raises(SystemExit, match=r"portuguese\.tsv.*'forms'"):
        [*labels.check()]


def test_lists_hide_system_and_score_and_the_answers_go_back_to_their_items(tmp_path):
    items = [
        labels.Item(f"pud-en-{group}", "Fonte.", f"Reference {group}.", text, {"kind": "pud"})
        for group in range(30)
        for text in (f"One {group}.", f"Two {group}.", f"Three {group}.", f"Four {group}.")
    ]
    labels.write_lists("en", items, tmp_path, "seed")
    folder = tmp_path / "lists"
    lists = sorted(folder.glob("en-*.txt"))
    for path in lists:
        text = path.read_text(encoding="utf-8")
        assert "pud" not in text
        numbers = re.findall(r"(?m)^(\d+)\t", text)
        answers = "".join(f"{number}\tbad\tsense\n" for number in numbers)
        path.with_suffix(".answers.tsv").write_text(answers, encoding="utf-8")
    found = labels.verdicts(tmp_path, "en")
    assert len(lists) == 2
    assert sorted(item["paraphrase"] for item, _ in found) == sorted(i.paraphrase for i in items)
    broken = lists[0].with_suffix(".answers.tsv")
    broken.write_text(broken.read_text("utf-8").replace("bad\tsense", "good\tsense", 1), "utf-8")
    with pytest.raises(SystemExit, match="is no answer"):
        labels.verdicts(tmp_path, "en")
