"""Paraphrases that several runs selected, merged by reference."""

import json
from collections import Counter

import pytest

from tests.tables import pair, paraphrase, selected, write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import sha256, verify
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import ParaphrasesRow, ScoredRow
from workflow_scripts.core.files.seal import sealed
from workflow_scripts.core.files.shard_frame import Tally
from workflow_scripts.stages.score import merge
from workflow_scripts.stages.score.merge import Selected, id_of, key_of, merged, shard_of


def row(corpus, number, reference, *texts):
    found = [paraphrase(rank, text, backward=0.25) for rank, text in enumerate(texts, 1)]
    return selected(pair(f"{corpus}:{number}", f"{corpus} {number}", reference), found)


def merge_all(*found):
    tally = Tally(extra=Counter())
    rows = list(merged((Selected(*each) for each in found), tally))
    return rows, tally


def texts(one):
    return [each["text"] for each in one["candidates"]]


def test_references_that_differ_in_case_and_punctuation_are_one():
    rows, tally = merge_all(
        ("cs", row("czeng", 1, "The old man.", "An old man.")),
        ("fr", row("giga", 7, "the old man", "A man of age.")),
        ("fr", row("giga", 8, "The young man.", "A boy.")),
    )
    assert [each["reference"] for each in rows] == ["The old man.", "The young man."]
    assert [each["source"] for each in rows] == ["czeng 1", "giga 8"]
    assert [each["corpus"] for each in rows] == ["cs:czeng fr:giga", "fr:giga"]
    assert tally.rejected == {"same_reference": 1}
    assert tally.extra == {"paraphrases": 3, "distinct": 3}


def test_ranks_take_turns_and_equal_paraphrases_count_once_with_the_tags_of_all():
    (one,), tally = merge_all(
        ("cs", row("czeng", 1, "R", "a", "b", "c")),
        ("fr", row("giga", 1, "r", "x", "A!", "y")),
    )
    assert texts(one) == ["a", "x", "b", "c", "y"]
    assert one["candidates"][0]["variant"] == "cs:czeng fr:giga"
    assert one["candidates"][1]["variant"] == "fr:giga"
    assert [each["count"] for each in one["candidates"]] == [2, 1, 1, 1, 1]
    assert tally.extra == {"paraphrases": 6, "distinct": 5}
    assert {(each["lost"], each["divergence"]) for each in one["candidates"]} == {(None, None)}


def test_an_equal_paraphrase_keeps_the_figures_of_its_best_rank():
    first, second = row("c", 1, "R", "p", "same"), row("d", 1, "R", "same")
    first["paraphrases"][1]["forward_nll"] = 9.0
    second["paraphrases"][0]["forward_nll"] = 1.0
    (one,), _ = merge_all(("a", first), ("b", second))
    (same,) = [each for each in one["candidates"] if each["text"] == "same"]
    assert same["forward_nll"] == 1.0
    assert same["variant"] == "b:d a:c"


def test_a_reference_twice_in_one_run_is_one_and_its_corpus_is_told_once():
    (one,), tally = merge_all(("cs", row("czeng", 1, "R", "a")), ("cs", row("czeng", 2, "R.", "b")))
    assert one["corpus"] == "cs:czeng"
    assert texts(one) == ["a", "b"]
    assert tally.rejected == {"same_reference": 1}


def test_texts_without_letters_equal_only_themselves():
    assert key_of("?!") != key_of("...")
    rows, _ = merge_all(("a", row("c", 1, "?!", "x")), ("a", row("c", 2, "...", "y")))
    assert len(rows) == 2


def test_a_reference_without_paraphrases_stays():
    (one,), _ = merge_all(("a", row("c", 1, "R")))
    assert one["candidates"] == []


def test_ids_follow_from_the_reference_and_shards_from_ids():
    assert id_of("The old man.") == id_of("the OLD man") != id_of("The old men.")
    found = Counter(shard_of(id_of(f"reference {number}"), 4) for number in range(400))
    assert {*found} == {0, 1, 2, 3}
    assert min(found.values()) > 60


# --- the command -----------------------------------------------------------------------------


def write_run(folder, shards):
    """Write the folder of a select stage, with its manifest."""
    folder.mkdir(parents=True)
    parts = {}
    for number, rows in enumerate(shards):
        path = folder / f"{number:04d}.parquet"
        write_table(path, ParaphrasesRow, rows)
        parts[path.stem] = verify(path)
    total = sum(map(len, shards))
    manifest = {"parts": parts, "rows_in": total, "rows_out": total, "rejected": {}}
    (folder / "manifest.json").write_text(json.dumps(sealed(manifest)), encoding="utf-8")
    return folder


@pytest.fixture
def runs(tmp_path):
    czech = [row("czeng", number, f"Reference {number}", f"cs {number}") for number in range(40)]
    french = [
        row("giga", number, f"reference {number}!", f"fr {number}") for number in range(20, 60)
    ]
    return {
        "cs": (write_run(tmp_path / "cs", [czech[:15], czech[15:]]), 2),
        "fr": (write_run(tmp_path / "fr", [french]), 1),
    }


def settings(runs, shards):
    blocks = [
        {"name": name, "folder": str(folder), "shards": count}
        for name, (folder, count) in runs.items()
    ]
    return {"runs": blocks, "shards": shards}


def run_merge(runs, output, shard, shards, **inputs):
    arguments = ["--config", json.dumps(settings(runs, shards)), "--inputs", json.dumps(inputs)]
    merge.main([*arguments, "--shard", str(shard), "--output", str(output)])
    return verify(output)


@pytest.mark.slow
def test_shards_hold_all_rows_of_all_runs_once(runs, tmp_path):
    records, rows = [], []
    for shard in range(3):
        path = tmp_path / f"{shard:04d}.parquet"
        records.append(run_merge(runs, path, shard, 3))
        rows += read_rows(path, ScoredRow)
    assert sum(record["rows_in"] for record in records) == 80
    assert sum(record["rows_out"] for record in records) == 60 == len({each["id"] for each in rows})
    assert sum(record["rejected"].get("same_reference", 0) for record in records) == 20
    assert sum(record["extra"]["paraphrases"] for record in records) == 80
    assert sum(len(each["candidates"]) for each in rows) == 80


@pytest.mark.slow
def test_the_shards_of_the_other_runs_do_not_matter(runs, tmp_path):
    (folder, count), french = runs["cs"], runs["fr"]
    rows = [
        each
        for n in range(count)
        for each in read_rows(folder / f"{n:04d}.parquet", ParaphrasesRow)
    ]
    other = {"cs": (write_run(tmp_path / "other", [rows]), 1), "fr": french}
    for name, each in (("a", runs), ("b", other)):
        (tmp_path / name).mkdir()
        run_merge(each, tmp_path / name / "0000.parquet", 0, 1)
    assert sha256(tmp_path / "a" / "0000.parquet") == sha256(tmp_path / "b" / "0000.parquet")


def test_a_shard_that_was_made_again_is_refused(runs, tmp_path):
    folder, _ = runs["fr"]
    path = folder / "0000.parquet"
    write_table(path, ParaphrasesRow, [row("giga", 1, "Another", "text")])
    with pytest.raises(InputError, match=r"is not the one in manifest\.json beside it"):
        merge.merge_shard(settings(runs, 1), 0, tmp_path / "0000.parquet")


def test_a_manifest_that_changed_since_the_plan_is_refused(runs, tmp_path):
    manifest = str(runs["fr"][0] / "manifest.json")
    with pytest.raises(InputError, match="changed since the run was planned"):
        run_merge(runs, tmp_path / "0000.parquet", 0, 1, **{manifest: "0" * 64})
