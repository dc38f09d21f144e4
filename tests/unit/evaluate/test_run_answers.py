import json

import pytest

from tests.tables import pair, paraphrase, selected, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.stages.evaluate.answers import measure
from workflow_scripts.stages.evaluate.run_answers import figures, main, normalised


def row(source, reference, *texts):
    listed = [paraphrase(rank, text) for rank, text in enumerate(texts, 1)]
    return selected(pair("c:1", source, reference), listed)


def test_a_prompt_is_a_source_or_a_reference():
    answers = {"fonte": {"one": 1.0}, "Ref": {"two": 1.0}, "elsewhere": {"three": 1.0}}
    rows = [row("fonte", "x", "One!", "other"), row("y", "Ref", "two"), row("y", "z", "three")]
    found = figures(answers, rows)
    assert (found["prompts"], found["found"]) == (3, 2)
    assert found["precision"] == pytest.approx(2 / 3)
    assert found["by_rank"]["1"] == {"share": 1.0, "right": 2, "paraphrases": 2}


def test_rows_of_one_prompt_are_one_list_and_one_without_paraphrases_counts():
    answers = {"s": {"one": 1.0, "two": 3.0}, "t": {"three": 1.0}}
    rows = [row("s", "a", "one", "no"), row("s", "b", "One", "two"), row("t", "c")]
    found = figures(answers, rows)
    assert found == {
        **{"prompts": 2, "found": 2},
        **measure(answers, {"s": [(1, "one"), (2, "no"), (1, "one"), (2, "two")]}),
    }
    assert (found["precision"], found["distinct_right"]) == (2 / 3, 1.0)


def test_texts_are_brought_to_the_form_of_the_run():
    given = {"It’s\u00a0his.": {"its his": 1.0}, "It's his.": {"isn’t": 2.0, "isn't": 3.0}}
    assert normalised(given) == {"It's his.": {"its his": 1.0, "isnt": 3.0}}


@pytest.fixture
def written(tmp_path):
    """Write one shard and a file of answers; return the arguments and the output."""
    path = tmp_path / "select" / "0000.parquet"
    write_table(path, ParaphrasesRow, [row("fonte", "ref", "one")])

    def written(lines, inputs=None):
        (tmp_path / "a.tsv").write_text(lines, encoding="utf-8")
        output = tmp_path / "answers.json"
        options = {"answers": tmp_path / "a.tsv", "folder": path.parent, "shards": 1}
        options |= {"inputs": json.dumps(inputs or {}), "output": output}
        main([str(word) for name, value in options.items() for word in (f"--{name}", value)])
        return output

    return written


def test_the_command_writes_the_figures_with_their_record(written):
    output = written("fonte\tone\t1\n")
    assert json.loads(output.read_text())["weighted_macro_f1"] == 1
    assert read_record(output.with_name("answering.json"))


def test_prompts_that_the_run_has_not_are_warned_of(written, capsys):
    found = json.loads(written("Fonte\tone\t1\n").read_text())
    assert (found["found"], found["precision"], found["by_rank"]) == (0, None, {})
    assert "none of the 1 prompts of" in capsys.readouterr().err


def test_a_file_that_has_changed_since_the_start_is_refused(written, tmp_path):
    with pytest.raises(InputError, match=r"a\.tsv"):
        written("fonte\tone\t1\n", {str(tmp_path / "a.tsv"): "0" * 64})
    assert not (tmp_path / "answers.json").exists()
