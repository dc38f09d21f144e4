"""Pairs get the template of what is written in front of what is read."""

import pytest

from tests.golden.inputs import arguments, write_table
from tests.stanza_package import FOLDER, LANGUAGE, PACKAGE
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record, shard_paths
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow, TreesRow
from workflow_scripts.stages.rewrite import parses, template_pairs
from workflow_scripts.stages.rewrite.syntax_templates import prefixed, read_table
from workflow_scripts.stages.rewrite.template_pairs import Parsed, joined, swapped, with_template

S = "(ROOT (S (NP (PRP I)) (VP (VBP run)) (. .)))"
SQ = "(ROOT (SQ (VBP do) (NP (PRP I)) (VP (VB run)) (. ?)))"
CUT = {S: "(S (NP) (VP) (.))", SQ: "(SQ (VBP) (NP) (VP) (.))"}
SETTINGS = {"swap": True, "free": 0.1, "equal": 0, "seed": 1}


def identifier(number):
    """Two pairs are of each reference, in the same one of two shards."""
    return f"c:{number // 4}{'ab'[number % 2]}-{number}"


def pair(number, corpus="train"):
    return {
        "id": identifier(number),
        "source": f"Read {number}.",
        "reference": f"Written {number}.",
        "corpus": corpus,
    }


def trees(number, read=SQ, written=S):
    row = {"id": identifier(number), "corpus": "train", "parsed": True}
    return {**row, "reference": written, "paraphrases": [read]}


def parsed(number, corpus="train"):
    return Parsed(pair(number, corpus), own=CUT[SQ], wanted=CUT[S])


def test_pairs_without_a_tree_or_of_one_template_are_left_out():
    rows = [pair(number) for number in range(4)]
    cut = [trees(0), trees(1, read=S), trees(2, read=None), trees(3, written=None)]
    results = list(joined(rows, cut))
    assert results == [parsed(0), Parsed(pair(1), CUT[S], CUT[S]), None, None]
    assert [result.equal for result in results[:2]] == [False, True]


@pytest.mark.slow
def test_a_share_of_the_equal_templates_is_kept_to_learn_from(tmp_path):
    every = write(tmp_path / "all", many=600, equal=1.0)
    some = write(tmp_path / "some", many=600, equal=0.5)
    none = write(tmp_path / "none", many=600, equal=0.0)
    ids = [{row["id"] for row in rows} for rows in (none, some, every)]
    assert ids[0] < ids[1] < ids[2]
    assert 50 < len(ids[1]) - len(ids[0]) < 110
    # 200 of the 600 pairs have equal templates, 40 of them are held out and leave.
    assert (len(ids[0]), len(ids[2])) == (400, 560)
    added = [row for row in every if row["id"] not in ids[0]]
    assert {row["corpus"] for row in added} == {"train"}
    assert all(row["source"].startswith((prefixed(CUT[S], ""), ")) ")) for row in added)
    record = read_record(tmp_path / "some" / "out" / "templates.tsv")
    assert record["extra"]["left_out"] == {"equal_templates": 600 - len(some)}


def test_trees_of_other_pairs_are_refused():
    with pytest.raises(InputError, match="trees of pair c:0b-1 stand where those of c:0a-0"):
        list(joined([pair(0)], [trees(1)]))


@pytest.mark.slow
def test_half_of_the_pairs_are_exchanged_and_templates_go_with_them():
    results = [swapped(parsed(number), seed=1) for number in range(1000)]
    turned = [result for result in results if result.row["source"].startswith("Written")]
    assert 440 < len(turned) < 560
    for result in results:
        way = ("Written", "Read") if result in turned else ("Read", "Written")
        assert result.row["source"].startswith(way[0])
        assert result.row["reference"].startswith(way[1])
        assert result.wanted == (CUT[SQ] if result in turned else CUT[S])
        assert result.own == (CUT[S] if result in turned else CUT[SQ])
    assert results[::-1] == [swapped(parsed(number), seed=1) for number in reversed(range(1000))]
    assert results != [swapped(parsed(number), seed=2) for number in range(1000)]


def test_some_training_pairs_are_read_without_a_template():
    read = [with_template(parsed(number), 0.2, seed=1) for number in range(1000)]
    free = [row for row in read if row["source"].startswith(")) Read")]
    assert 150 < len(free) < 250
    assert {row["source"] for row in read if row not in free} == {
        prefixed(CUT[S], row["source"].partition(")) ")[2]) for row in read if row not in free
    }
    assert all(row["reference"].startswith("Written") for row in read)
    for split in ("dev", "test"):
        held = [with_template(parsed(number, split), 0.9, 1) for number in range(50)]
        assert not any(row["source"].startswith("))") for row in held)


SPLITS = ["test", *["train"] * 4, "dev", *["train"] * 4]


def write(folder, many=60, splits=SPLITS, **settings):
    """Write pairs and trees in two shards, and what is made of them."""
    for name, kind in (("pairs", PairRow), ("trees", TreesRow)):
        for shard, path in enumerate(shard_paths(folder / name, 2)):
            path.parent.mkdir(exist_ok=True, parents=True)
            numbers = range(shard, many, 2)
            if name == "pairs":
                rows = [pair(number, splits[number % len(splits)]) for number in numbers]
            else:
                rows = [trees(number, read=S if number % 3 == 0 else SQ) for number in numbers]
            write_table(path, kind, rows)
    output = folder / "out"
    inputs = {"pairs": folder / "pairs", "trees": folder / "trees", "shards": 2}
    template_pairs.main(arguments(SETTINGS | settings, **inputs, output=output))
    return [row for path in shard_paths(output, 2) for row in read_rows(path, PairRow)]


@pytest.mark.slow
def test_shards_and_the_table_are_written_with_their_records(tmp_path):
    rows = write(tmp_path)
    assert len(rows) == 40
    records = [read_record(path) for path in shard_paths(tmp_path / "out", 2)]
    assert [record["rejected"] for record in records] == [{"equal_templates": 10}] * 2
    assert sum(record["extra"]["rows"]["train"] for record in records) == 32
    counted = read_table(tmp_path / "out" / "templates.tsv")
    # Targets of training alone are counted, those that are read without a template among them.
    assert sum(template.count for template in counted) == 32
    assert {template.template for template in counted} == set(CUT.values())
    record = read_record(tmp_path / "out" / "templates.tsv")
    assert record["extra"] == {
        **{"templates": 2, "labels": 6, "rows": {"train": 32, "test": 4, "dev": 4}},
        **{"references": {"train": 26, "test": 4, "dev": 4}, "left_out": {"equal_templates": 20}},
    }
    first = (tmp_path / "out" / "templates.tsv").read_bytes()
    write(tmp_path)
    assert (tmp_path / "out" / "templates.tsv").read_bytes() == first


@pytest.mark.slow
def test_without_exchange_each_pair_is_learnt_as_it_stands(tmp_path):
    rows = write(tmp_path, swap=False, free=0.0)
    assert all(row["reference"].startswith("Written") for row in rows)
    (only,) = read_table(tmp_path / "out" / "templates.tsv")
    assert only.template == CUT[S]
    assert only.count == 32


def test_nothing_to_learn_is_an_error(tmp_path):
    with pytest.raises(InputError, match="no pair is left to learn templates from"):
        write(tmp_path, splits=["dev"])


def test_nothing_to_validate_on_is_an_error(tmp_path):
    with pytest.raises(InputError, match=r"no pair is left to validate on.*raise held_out\.dev"):
        write(tmp_path, splits=["train"])


TEXTS = ["The doctor bought the car.", "The car was bought by the doctor.", "  "]


def test_both_texts_of_a_pair_are_parsed_once():
    asked = []

    def parse(texts):
        asked.extend(texts)
        return [f"<{text}>" if text.strip() else None for text in texts]

    rows = [
        {**pair(number), "source": TEXTS[0], "reference": TEXTS[number % 2 + 1]}
        for number in range(4)
    ]
    results = parses.parse_pairs(rows, parse)
    assert sorted(asked) == sorted(TEXTS)
    assert [result["paraphrases"] for result in results] == [[f"<{TEXTS[0]}>"]] * 4
    assert [result["reference"] for result in results] == [f"<{TEXTS[1]}>", None] * 2
    assert [result["id"] for result in results] == [row["id"] for row in rows]


def test_a_shard_is_parsed_by_the_parser_of_the_configuration(tmp_path):
    rows = [{**pair(1), "source": TEXTS[0], "reference": "Did the doctor buy the car?"}]
    path = write_table(tmp_path / "0000.parquet", PairRow, rows)
    config = {"folder": str(FOLDER), "package": PACKAGE, "language": LANGUAGE}
    output = tmp_path / "trees" / "0000.parquet"
    output.parent.mkdir()
    options = {"inputs": "{}", "device": "cpu", "pairs": path, "output": output}
    parses.main(arguments(config, **options))
    (result,) = joined(rows, read_rows(output, TreesRow))
    assert (result.own, result.wanted) == ("(S (NP) (VP) (.))", "(SQ (VBD) (NP) (VP) (.))")
    assert read_record(output)["extra"] == {"sentences": 2, "without_tree": 0}
