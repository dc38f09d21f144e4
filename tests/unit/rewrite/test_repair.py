"""What counts as repaired and as kept, by hand; the corrector; the measurement as a whole."""

import csv
import json

import pytest

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.section import sections
from workflow_scripts.stages.rewrite.corrector import Corrector, corrects
from workflow_scripts.stages.rewrite.noising import Damage
from workflow_scripts.stages.rewrite.repair import (
    ALL,
    CORRECTOR,
    EXAMPLES,
    LISTED,
    NONE,
    NOTHING,
    REWRITER,
    examples,
    figures,
    items,
    read_misspellings,
    repair,
)
from workflow_scripts.stages.rewrite.report import repair_table
from workflow_scripts.stages.rewrite.restoration import Outcome, restoration
from workflow_scripts.testbed.checker import Checker
from workflow_scripts.testbed.noise import clean

KINDS = ("omit", "double", "drop", "verb")


def test_what_is_kept_and_repaired():
    before = "The old man is reading a book."
    typed = (Damage("omit", 1, "old", "od"),)
    assert restoration(before, typed, before) == Outcome(1, 1, 6, 6, True)
    assert restoration(before, typed, "The od man is reading a book.") == Outcome(1, 0, 6, 6, False)
    # A synonym is no repair; what it stands beside is kept.
    assert restoration(before, typed, "The aged man is reading a book.").repaired == 0
    assert restoration(before, typed, "The old man reads a book.") == Outcome(1, 1, 6, 4, False)
    # Case and punctuation belong to a word.
    assert restoration(before, typed, "the old man is reading a book") == Outcome(1, 1, 6, 4, False)
    # Another order: what stands along a longest common subsequence is kept.
    assert restoration(before, typed, "A book is the old man reading.").kept == 1
    assert restoration(before, typed, "") == Outcome(1, 0, 6, 0, False)
    assert restoration(before, (), before) == Outcome(0, 0, 7, 7, True)


def test_a_dropped_word_is_repaired_where_it_stood():
    before, dropped = "The top of the table of it.", (Damage("drop", 2, "of", ""),)
    assert restoration(before, dropped, "The top the table of it.").repaired == 0
    assert restoration(before, dropped, "The top of the table of it.").repaired == 1


def test_a_doubled_word_must_stand_once():
    before = "The old man sleeps."
    doubled = (Damage("double", 3, "sleeps.", "sleeps sleeps."),)
    assert restoration(before, doubled, "The old man sleeps sleeps.") == Outcome(1, 0, 3, 3, False)
    assert restoration(before, doubled, before) == Outcome(1, 1, 3, 3, True)
    assert restoration(before, doubled, "The old man naps.").repaired == 0
    first = (Damage("double", 0, "The", "The The"),)
    assert restoration(before, first, "The the old man sleeps.").repaired == 0
    # What stood there twice before the damage may stand there twice.
    before, third = "Nous nous lavons.", (Damage("double", 1, "nous", "nous nous"),)
    assert restoration(before, third, before) == Outcome(1, 1, 2, 2, True)
    assert restoration(before, third, "Nous nous nous lavons.").repaired == 0


@pytest.mark.slow
def test_the_corrector_writes_known_words_and_leaves_names():
    corrector = Corrector("en")
    assert corrector.correct("Teh attonrey paid, (purchsaed) Jhon 3 recieevd2.") == (
        "The attorney paid, (purchased) Jhon 3 recieevd2."
    )
    assert corrector.correct("  a  b ") == "  a  b "
    assert corrector.correct("zzqxzzqxzzqx") == "zzqxzzqxzzqx"
    # Letters without end are no word, and searched in no time.
    assert corrector.correct("x" * 100_000) == "x" * 100_000
    assert corrector.correct("internationalizatoin") == "internationalization"
    assert corrects("pt") and not corrects("cs")


def held_out(count=40):
    return [(f"t:{i}", clean(1, i, 1)[0].reference) for i in range(500_000, 500_000 + count)]


def test_items_have_each_kind_once_and_do_not_depend_on_others():
    sentences = held_out()
    all_items = list(items(sentences, "en", KINDS, 1))
    assert [item.undamaged for item in all_items if item.kind == NONE] == [
        text for _, text in sentences
    ]
    assert all(item.text == item.undamaged for item in all_items if item.kind == NONE)
    assert len({(item.id, item.kind) for item in all_items}) == len(all_items)
    assert {item.kind for item in all_items} == {NONE, *KINDS}
    alone = [item for one in reversed(sentences) for item in items([one], "en", KINDS, 1)]
    assert sorted(alone) == sorted(all_items)


def test_figures_of_methods_that_are_known():
    done = list(items(held_out(), "en", KINDS, 1))
    outputs = {
        "perfect": [item.undamaged for item in done],
        NOTHING: [item.text for item in done],
        "half": [item.undamaged if int(item.id[-1]) % 2 else item.text for item in done],
        "mute": ["" for _ in done],
    }
    by_method = figures(done, outputs, Checker(), 200, 1)
    for kind in (*KINDS, ALL, NONE):
        perfect, nothing, mute = (by_method[name][kind] for name in ("perfect", NOTHING, "mute"))
        assert all(perfect[name]["value"] == 100.0 for name in ("kept", "exact", "same_meaning"))
        assert nothing["kept"] == {"value": 100.0, "low": 100.0, "high": 100.0}
        assert mute["kept"]["value"] == mute["exact"]["value"] == 0.0
        if kind != NONE:
            assert perfect["repaired"]["value"] == 100.0
            assert nothing["repaired"]["value"] == nothing["exact"]["value"] == 0.0
            assert nothing["same_meaning"]["value"] == 0.0
        else:
            assert nothing["repaired"] is None and nothing["exact"]["value"] == 100.0
    half = by_method["half"][ALL]["repaired"]
    assert half["low"] < half["value"] < half["high"] and half["value"] == pytest.approx(50, abs=8)
    damaged = sum(item.kind != NONE for item in done)
    assert by_method["half"][ALL]["sentences"] == damaged
    assert figures(done, outputs, None, 50, 1)[NOTHING][ALL]["same_meaning"] is None


def test_examples_are_drawn_whether_repaired_or_not():
    done = list(items(held_out(), "en", KINDS, 1))
    shown = examples(done, [f"output {place}" for place in range(len(done))], 1)
    assert len(shown) == EXAMPLES
    assert {example["kind"] for example in shown} == set(KINDS)
    for example in shown:
        place = int(example["paraphrase"].removeprefix("output "))
        assert done[place].text == example["original"]
        assert done[place].undamaged == example["undamaged"]
    assert shown == examples(done, [f"output {place}" for place in range(len(done))], 1)


def test_misspellings_of_a_list(tmp_path):
    path = tmp_path / "list.txt"
    path.write_text("teh->the\nhte->the\nfro->for, from\nalot->a lot\nrecieve->receive\n")
    listed = read_misspellings(path)
    assert listed == {"the": ["teh", "hte"], "receive": ["recieve"]}
    made_up = list(items([("a", "The men receive it."), ("b", "No word.")], "en", (), 1, listed))
    assert [item.kind for item in made_up] == [NONE, LISTED, NONE]
    assert made_up[1].text in {"Teh men receive it.", "Hte men receive it.", "The men recieve it."}
    assert restoration(made_up[1].undamaged, made_up[1].damages, made_up[1].text).repaired == 0
    messages = {"teh the\n": "line 1: it is not of the form", "a->b c\n": "no line"}
    for content, message in messages.items():
        path.write_text(content)
        with pytest.raises(InputError, match=message):
            read_misspellings(path)


@pytest.mark.slow
def test_the_measurement_writes_figures_sentences_and_their_record(tmp_path):
    config = {"kinds": KINDS, "language": "en", "testbed": True, "bootstrap": 50, "seed": 1}
    output = tmp_path / "sentences.tsv"
    repair(config, held_out(), lambda texts: [text.upper() for text in texts], None, output)
    verify(output)
    content = json.loads((tmp_path / "repair.json").read_text())
    assert set(content["methods"]) == {REWRITER, NOTHING, CORRECTOR}
    assert content["held_out"] == 40 and len(content["examples"]) == EXAMPLES
    assert content["methods"][CORRECTOR]["omit"]["repaired"]["value"] > 30
    assert content["methods"][CORRECTOR]["verb"]["repaired"]["value"] == 0
    with output.open(newline="", encoding="utf-8") as stream:
        rows = list(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE))
    assert all(row["rewriter"] == row["damaged"].upper() for row in rows)
    marked = [int(row["corrector_repaired"]) for row in rows if row["kind"] == "omit"]
    share = content["methods"][CORRECTOR]["omit"]["repaired"]["value"]
    assert 100 * sum(marked) / len(marked) == pytest.approx(share, abs=1e-5)
    assert {row["corrector_repaired"] for row in rows if row["kind"] == NONE} == {""}


@pytest.mark.slow
def test_the_report_and_the_table_have_every_method_and_kind(tmp_path):
    config = {"kinds": KINDS, "language": "en", "testbed": True, "bootstrap": 50, "seed": 1}
    repair(config, held_out(), list, None, tmp_path / "sentences.tsv")
    units = [("rewrite", "plain"), ("rewrite", "plain-repair")]
    run = FinishedRun({}, [(unit, tmp_path) for unit in units])
    [section] = sections(["workflow_scripts.stages.rewrite.report:repair"], run)
    table = repair_table(run).frame()
    assert list(table)[:4] == ["rewriter", "method", "kind", "sentences"]
    rows = {(row["method"], row["kind"]): row for row in table.to_dict("records")}
    expected = {
        (method, kind) for method in (REWRITER, NOTHING, CORRECTOR) for kind in (NONE, *KINDS, ALL)
    }
    assert set(rows) == expected
    assert rows[NOTHING, "drop"]["kept_low"] == 100.0
    assert rows[NOTHING, NONE]["repaired_value"] is None
    for method, kind in expected:
        assert f'<th scope="row">{kind}</th><td>{method}</td>' in section.html


def test_a_language_without_a_corrector_is_measured_without(tmp_path):
    config = {"kinds": ("omit",), "language": "cs", "testbed": False, "bootstrap": 50, "seed": 1}
    repair(config, [("a", "Stavíme nový dům.")], list, None, tmp_path / "sentences.tsv")
    content = json.loads((tmp_path / "repair.json").read_text())
    assert set(content["methods"]) == {REWRITER, NOTHING}


def test_sentences_without_a_place_for_damage_are_refused(tmp_path):
    config = {"kinds": ("verb",), "language": "en", "testbed": False, "bootstrap": 9, "seed": 1}
    with pytest.raises(InputError, match="none of the 1 held-out sentences has a place"):
        repair(config, [("a", "Yes!")], list, None, tmp_path / "sentences.tsv")
