import hashlib
import json
import shutil

import pytest

from tests.stanza_package import FOLDER, LANGUAGE, PACKAGE
from tests.tables import pair, paraphrase, selected, write_table
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow, TreesRow
from workflow_scripts.stages.syntax import shard
from workflow_scripts.stages.syntax.shard import main, parse_rows

CONFIG = {"folder": str(FOLDER), "package": PACKAGE, "language": LANGUAGE, "share": 1.0, "seed": 1}


def row(number, reference, *texts):
    listed = [paraphrase(rank, text) for rank, text in enumerate(texts, 1)]
    return selected(pair(f"c:{number}", reference=reference), listed)


ROWS = [
    row(1, "The doctor bought the car.", "The car was bought by the doctor.", "He did."),
    row(2, "The dog slept."),
    row(3, "The boy saw a dog.", "  ", "The boy saw a dog."),
]


def marked(texts):
    """Stands in for a parser."""
    return [f"<{text}>" if text.strip() else None for text in texts]


def test_rows_of_trees():
    one, two, three = parse_rows(ROWS, marked, share=1.0, seed=1)
    assert one == {
        "id": "c:1",
        "corpus": "c",
        "parsed": True,
        "reference": "<The doctor bought the car.>",
        "paraphrases": ["<The car was bought by the doctor.>", "<He did.>"],
    }
    # Without paraphrases there is nothing to compare.
    nothing = {"corpus": "c", "parsed": False, "reference": None, "paraphrases": []}
    assert two == {"id": "c:2", **nothing}
    assert three["paraphrases"] == [None, "<The boy saw a dog.>"]


def test_each_distinct_text_is_parsed_once():
    asked = []

    def parse(texts):
        asked.extend(texts)
        return marked(texts)

    parse_rows([*ROWS, *ROWS], parse, share=1.0, seed=1)
    assert len(asked) == len(set(asked)) == 5


def test_share_is_drawn_by_id_whatever_the_shard_and_system():
    def drawn(rows, share=0.25, seed=1):
        return {found["id"] for found in parse_rows(rows, marked, share, seed) if found["parsed"]}

    rows = [row(number, "a", "b") for number in range(2000)]
    quarter = drawn(rows)
    assert 430 < len(quarter) < 570
    other = [row(number, "c", "d", "e") for number in range(1500, 2000)]
    assert drawn(other) == {name for name in quarter if int(name[2:]) >= 1500}
    assert quarter < drawn(rows, 0.5)
    assert quarter != drawn(rows, seed=2)


def write_input(folder):
    write_table(folder / "select" / "0000.parquet", ParaphrasesRow, ROWS)


def run_main(folder, /, *options, output="trees", **changes):
    path = folder / output / "0000.parquet"
    arguments = ["--config", json.dumps({**CONFIG, **changes}), "--device", "cpu"]
    arguments += ["--paraphrases", str(folder / "select" / "0000.parquet"), "--output", str(path)]
    main([*arguments, *options])
    return path


def test_the_parser_s_files_may_get_other_rights_once_they_are_read(tmp_path, monkeypatch):
    folder = tmp_path / "package"
    shutil.copytree(FOLDER, folder)
    write_input(tmp_path)
    model = folder / "resources.json"
    inputs = {str(model): hashlib.sha256(model.read_bytes()).hexdigest()}

    def parse_stream(*arguments):
        model.chmod(0o444)
        return stream(*arguments)

    stream = shard.parse_stream
    monkeypatch.setattr(shard, "parse_stream", parse_stream)
    path = run_main(tmp_path, "--inputs", json.dumps(inputs), folder=str(folder))
    assert read_record(path)["rows_out"] == 3


def test_command(tmp_path, parser):
    write_input(tmp_path)
    path = run_main(tmp_path)
    assert list(read_rows(path, TreesRow)) == parse_rows(ROWS, parser.parse, 1.0, 1)
    record = read_record(path)
    assert (record["rows_in"], record["rows_out"], record["rejected"]) == (3, 3, {})
    assert record["extra"] == {"parsed": 2, "sentences": 6, "without_tree": 1}
    assert "stanza" in record["tools"]


@pytest.mark.slow
def test_windows_and_batches_change_nothing(tmp_path, monkeypatch):
    write_input(tmp_path)
    whole = run_main(tmp_path).read_bytes()
    monkeypatch.setattr(shard, "WINDOW", 1)
    assert run_main(tmp_path, "--batch-sentences", "1", output="again").read_bytes() == whole
