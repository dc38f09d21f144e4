"""Sources that a backward model writes for references without one."""

from collections import Counter

import pytest

from tests.golden.inputs import arguments
from tests.tables import pair, write_table
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow, WrittenRow
from workflow_scripts.stages.dual_filter.pair_scores import Direction
from workflow_scripts.stages.generate.write_sources import (
    distinct_references,
    distinct_sources,
    main,
)

BEAM = {"method": "beam", "beam_size": 3}


def test_references_are_taken_once_and_normalised():
    texts = ["“Who?”", "who", "WHO!", "…", "Who are\u00a0you\u200b?", "٣", "!!"]
    rows = [pair(f"c:{number}", "", text) for number, text in enumerate(texts)]
    rejected = Counter()
    taken = list(distinct_references(rows, rejected))
    assert [(row["id"], row["reference"]) for row in taken] == [
        ("c:0", '"Who?"'),
        ("c:4", "Who are you?"),
        ("c:5", "٣"),
    ]
    assert rejected == {"duplicate": 2, "no_letters": 2}


def test_references_are_unescaped_where_clean_will_do_so():
    rows = [pair("c:0", "", "Tom&#39;s caf&eacute;"), pair("c:1", "", "Tom\u2019s caf\u00e9")]
    rejected = Counter()
    (taken,) = distinct_references(rows, rejected, unescapes=True)
    assert taken["reference"] == "Tom's caf\u00e9" and rejected == {"duplicate": 1}
    assert len(list(distinct_references(rows, rejected))) == 2


def test_equal_outputs_are_one_source_with_the_lowest_nll():
    outputs = [("uma  casa", 2.0), ("a casa", 0.75), ("uma casa", 1.5), ("\n", 0.5)]
    row = {"candidates": [{"text": text, "forward_nll": nll} for text, nll in outputs]}
    found = [(source["text"], source["backward_nll"]) for source in distinct_sources(row)]
    assert found == [("uma casa", 1.5), ("a casa", 0.75)]


@pytest.fixture(scope="module")
def model(nmt_oracle, tmp_path_factory):
    """One model in the place of both: what it makes of references is nonsense, and reproducible."""
    return nmt_oracle.copy_model(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module")
def texts(nmt_oracle):
    return [reference for _, reference in nmt_oracle.sentences]


def write(folder, model, texts, search=BEAM, batch_rows=64, further=False):
    """Write the sources of a shard of text, or further ones of the references of bitext."""
    folder.mkdir()
    rows = [pair(f"c:{number}", "", text) for number, text in enumerate(texts)]
    write_table(folder / "text.parquet", PairRow, rows)
    config = {"search": search, "precision": "fp32", "seed": 3}
    files = {"text": folder / "text.parquet", "output": folder / "written.parquet"}
    files |= {"backward": model} | ({} if further else {"forward": model})
    main(arguments(config, **files, device="cpu", batch_rows=batch_rows, threads=1))
    return files["output"]


@pytest.mark.slow
def test_each_reference_has_its_source_with_both_nlls(model, texts, tmp_path):
    path = write(tmp_path / "run", model, [*texts, texts[0].upper(), "slovo " * 300])
    rows = list(read_rows(path, WrittenRow))
    assert [row["id"] for row in rows] == [f"c:{number}" for number in range(len(texts))]
    assert all(len(row["sources"]) == 1 for row in rows)
    record = read_record(path)
    assert record["rejected"] == {"duplicate": 1, "no_source": 1}
    assert record["extra"] == {"written": len(texts), "unfinished": 1, "empty": 0}
    direction = Direction(model, "source", "reference", "cpu", "fp32")
    for row in rows:
        (source,) = row["sources"]
        assert source["backward_nll"] > 0
        (nll,) = direction.nlls([pair("c:0", source["text"], row["reference"])], 4096)
        assert source["forward_nll"] == pytest.approx(nll, abs=1e-5)


@pytest.mark.slow
def test_further_sources_of_bitext_have_a_row_for_each_reference(model, texts, tmp_path):
    given = [texts[0], texts[0].upper(), "slovo " * 300]
    path = write(tmp_path / "run", model, given, {**BEAM, "nbest": 3}, further=True)
    rows = list(read_rows(path, WrittenRow))
    assert [row["reference"] for row in rows] == given
    assert len(rows[0]["sources"]) > 1 and rows[1]["sources"] and not rows[2]["sources"]
    nlls = [source["backward_nll"] for source in rows[0]["sources"]]
    assert nlls == sorted(nlls)
    assert {source["forward_nll"] for row in rows for source in row["sources"]} == {None}
    assert read_record(path)["rejected"] == {}


@pytest.mark.slow
def test_samples_give_several_sources_whatever_the_batch(model, texts, tmp_path):
    search = {"method": "sample", "samples": 6, "k": 10}
    wide = list(read_rows(write(tmp_path / "wide", model, texts, search), WrittenRow))
    narrow = list(read_rows(write(tmp_path / "narrow", model, texts, search, 7), WrittenRow))
    told = [[source["text"] for source in row["sources"]] for row in wide]
    assert told == [[source["text"] for source in row["sources"]] for row in narrow]
    assert max(map(len, told)) > 1
    assert all(len(set(of_row)) == len(of_row) <= 6 for of_row in told)
