import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.inputs import arguments
from tests.tables import write_table
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import PairRow, ReferenceRow
from workflow_scripts.stages.generate import references, sample_references
from workflow_scripts.stages.generate.sample_references import cutoff, place, sample

ROWS = [
    {"id": f"{corpus}:{line}", "corpus": corpus, "source": f"s{line}", "reference": f"r{line}"}
    for corpus, lines in [("a", 40), ("b", 25), ("c", 5)]
    for line in range(1, lines + 1)
]


def sampled(corpora, limit, rows=ROWS, seed=3):
    cutoffs = sample(lambda: rows, corpora, limit, seed)["cutoffs"]
    return {row["id"] for row in rows if not references.rejection(row, cutoffs, seed)}


def smallest(corpora, limit, seed=3):
    members = sorted(place(seed, row["id"]) for row in ROWS if row["corpus"] in corpora)
    return {identifier for _, identifier in members[:limit]}


@pytest.mark.slow
@given(st.lists(st.tuples(st.floats(0, 1, exclude_max=True), st.text(max_size=2)), min_size=1))
def test_cutoff_is_the_order_statistic(places):
    for limit in range(1, len(places) + 1):
        assert cutoff(lambda: places, limit) == sorted(places)[limit - 1]


def test_one_limit_over_all_corpora():
    assert sampled(["a", "b"], 20) == smallest(["a", "b"], 20)


def test_a_limit_per_corpus_leaves_others_whole():
    expected = smallest(["a"], 7) | smallest(["b"], 25)
    assert sampled(["a", "b"], {"a": 7}) == expected


def test_a_limit_of_0_takes_nothing_of_a_corpus():
    assert sampled(["a", "b"], {"a": 0, "b": 4}) == smallest(["b"], 4)
    with pytest.raises(InputError, match="limit leaves no reference"):
        sampled(["a", "b"], {"a": 0, "b": 0})


@pytest.mark.parametrize("limit", [None, 70, 1000, {"a": 40}, {"a": None, "b": 25}])
def test_no_effective_limit_takes_everything(limit):
    assert sampled(["a", "b", "c"], limit) == {row["id"] for row in ROWS}


def test_the_sample_is_nested_and_does_not_depend_on_the_order_of_rows():
    assert sampled(["a"], 10) < sampled(["a"], 11)
    assert sampled(["a"], 10) == sampled(["a"], 10, rows=ROWS[::-1])
    assert sampled(["a"], 10) != sampled(["a"], 10, seed=4)


def test_errors_name_the_corpus():
    with pytest.raises(InputError, match="no pair of d is left"):
        sampled(["a", "d"], 3)
    with pytest.raises(InputError, match="b is not among"):
        sampled(["a"], {"b": 3})


def test_the_command_lines(tmp_path):
    inputs = [tmp_path / "0000.parquet", tmp_path / "0001.parquet"]
    for shard, path in enumerate(inputs):
        write_table(path, PairRow, ROWS[shard::2])
    config = {"corpora": ["a", "b"], "limit": 12, "seed": 3}
    chosen, output = tmp_path / "sample.json", tmp_path / "out.parquet"
    sample_references.main(arguments(config, folder=tmp_path, shards=2, output=chosen))
    assert json.loads(chosen.read_text())["references"] == {"a": 40, "b": 25}

    def gather(config):
        references.main(arguments(config, sample=chosen, output=output, pairs=inputs))

    gather(config)
    written = list(read_rows(output, ReferenceRow))
    assert {row["id"] for row in written} == smallest(["a", "b"], 12)
    assert all(row in ROWS for row in written)
    record = read_record(output)
    assert (record["rows_in"], record["rows_out"]) == (70, 12)
    assert record["rejected"] == {"other_corpus": 5, "not_sampled": 53}
    with pytest.raises(InputError, match="another config"):
        gather(config | {"seed": 4})
