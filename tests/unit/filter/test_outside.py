import gzip
import json
import re

import pytest

from tests.configs import changes, merged, refusals, run_on_testbed
from tests.unit.filter.conftest import arguments
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import MODEL_COLUMNS, PairColumnsRow, TrainingPairRow
from workflow_scripts.plan.catalogues.training_sets import training_sets
from workflow_scripts.stages.catalogue import run_layout
from workflow_scripts.stages.filter import columns, outside
from workflow_scripts.stages.filter.stage import Filter
from workflow_scripts.stages.filter.training_set import main as choose

BLOCK = {
    "name": "ppdb",
    "columns": {"reference": 0, "paraphrase": 1},
    "header": False,
    "max_line_bytes": 200,
}
LINES = [
    b"the dog",
    b" The old dog sees a cat . \tan old dog sees the cat",
    b"in order to\tto",
    b"",
]


@pytest.fixture
def written(tmp_path):
    """Compute the columns of a corpus; return its rows and its record."""

    def write(content, name="given.tsv", **more):
        path = tmp_path / name
        path.write_bytes(content)
        output = tmp_path / "out" / "0000.parquet"
        config = BLOCK | {"tsv": [str(path)]} | more
        outside.main(arguments(config, inputs="{}", output=output))
        return list(read_rows(output, PairColumnsRow)), read_record(output)

    return write


def test_pairs_have_the_columns_that_follow_from_their_texts(written):
    rows, record = written(b"\n".join(LINES))
    assert [row["id"] for row in rows] == ["ppdb:2", "ppdb:3"]
    assert rows[0]["reference"] == "The old dog sees a cat ."
    assert rows[1]["paraphrase"] == "to"
    assert [row["rank"] for row in rows] == [1, 1]
    assert (rows[0]["reference_words"], rows[0]["paraphrase_words"]) == (6, 6)
    assert rows[0]["overlap_1"] == pytest.approx(5 / 6)
    assert rows[1]["overlap_1"] == 1.0
    for row in rows:
        assert {row[column] for column in MODEL_COLUMNS} == {None}
    assert (record["rows_in"], record["rows_out"]) == (3, 2)
    assert record["rejected"] == {"columns": 1}


def test_bad_lines_are_counted_and_the_first_of_each_reason_is_named(written, capsys):
    bad = [b"caf\xe9\tcoffee", b"a\t ", b"x" * 300 + b"\ty", b"a\0b\tc", b"\xff\tb"]
    rows, record = written(b"\n".join([*bad, *LINES]))
    assert len(rows) == 2
    rejected = {"not_utf8": 2, "empty": 1, "too_long": 1, "nul": 1, "columns": 1}
    assert record["rejected"] == rejected
    said = capsys.readouterr().err
    assert "given.tsv, line 1 is left out (not_utf8), the first for this reason" in said
    assert "line 5 is left out" not in said


def test_columns_a_header_and_packed_files_are_as_the_block_says(written):
    lines = b"score\tone\tother\n5\tone side\tthe other\n"
    numbers = {"reference": 2, "paraphrase": 1}
    rows, _ = written(gzip.compress(lines), "given.tsv.gz", columns=numbers, header=True)
    assert [(row["reference"], row["paraphrase"]) for row in rows] == [("the other", "one side")]


def test_a_ranked_line_gives_a_pair_for_each_of_its_paraphrases(written):
    lines = b"0.1\ta dog\tone dog\tthe dog\n0.2\ta cat\n0.3\ta hen\tthe hen\t \tone hen\n"
    rows, record = written(lines, columns={"reference": 1, "paraphrase": 2}, ranked=True)
    assert [(row["id"], row["rank"], row["reference"], row["paraphrase"]) for row in rows] == [
        *(("ppdb:1", 1, "a dog", "one dog"), ("ppdb:1", 2, "a dog", "the dog")),
        *(("ppdb:3", 1, "a hen", "the hen"), ("ppdb:3", 2, "a hen", "one hen")),
    ]
    assert (record["rows_in"], record["rejected"]) == (6, {"columns": 1, "empty": 1})


def test_training_sets_of_the_references_that_corpora_share(written, tmp_path):
    """As Table 3 of ParaBank 2: of each corpus the same references, by several ranks."""
    numbers = [*range(60)]
    lines = {
        "lower": [f"dog {n} , hen .\tdogs {n}" for n in numbers[:50]],
        "lists": [f"Dog {n}, hen.\tA dog {n}.\tOne dog {n}.\tSome {n}." for n in numbers[10:]],
        "short": [f"DOG {n}, hen\tDog {n}" for n in reversed(numbers[20:55])],
    }
    # Of signs alone, which are no letters: another one in each.
    for text, sign in zip(lines.values(), ("...", "?!", "!!"), strict=True):
        text.append(f"{sign}\t{sign}{sign}")
    for name, text in lines.items():
        written("\n".join(text).encode(), f"{name}.tsv", ranked=name == "lists")
        (tmp_path / "out").rename(tmp_path / name)
    folders = {name: str(tmp_path / name) for name in lines}

    def chosen(name, others, **settings):
        config = {"system": name, "bounds": {}, "folds": None, "max_tokens": None, "seed": 1}
        output = tmp_path / "set" / "pairs.parquet"
        shared = json.dumps({folders[other]: 1 for other in others})
        given = arguments(
            {**config, "sample": None, "shared": [*lines], **settings},
            **{"folder": folders[name], "values": [], "shards": 1, "output": output},
        )
        choose([*given, "--shared", shared])
        rows = list(read_rows(output, TrainingPairRow))
        return [re.search(r"\d+", row["reference"])[0] for row in rows], rows, read_record(output)

    ids, _, record = chosen("lower", ["lists", "short"])
    assert ids == [str(number) for number in range(20, 50)]
    assert record["rejected"] == {"other_reference": 21}
    _, rows, record = chosen("lists", ["lower", "short"], ranks=[1, 3])
    assert (rows[0]["reference"], rows[0]["paraphrase"]) == ("A dog 20.", "Some 20.")
    assert (len(rows), record["rejected"]) == (30, {"other_reference": 61, "other_rank": 60})
    samples = [
        chosen(name, [other for other in lines if other != name], sample=10, ranks=1)[0]
        for name in lines
    ]
    assert sorted(samples[0]) == sorted(samples[1]) == sorted(samples[2])
    assert len(samples[0]) == 10
    written(b"a cow\tcows", "other.tsv")
    folders["short"] = str(tmp_path / "out")
    with pytest.raises(InputError, match=r"out: they have no reference in common"):
        chosen("lists", ["lower", "short"])


def test_punctuation_counts_as_in_the_pairs_of_systems(written):
    rows, _ = written(b"\n".join(LINES), punctuation="tokens")
    assert (rows[0]["reference_words"], rows[0]["paraphrase_words"]) == (7, 6)


def test_batches_make_no_difference(written, monkeypatch):
    lines = b"".join(b"a dog %d\tdog %d\n" % (number, number % 3) for number in range(20))
    whole = written(lines)
    for module in (columns, outside):
        monkeypatch.setattr(module, "BATCH", 3)
    assert written(lines) == whole


@pytest.mark.parametrize("content", [b"", b"\n".join([LINES[0]] * 3)])
def test_a_corpus_without_a_pair_is_an_error(written, content, tmp_path):
    with pytest.raises(InputError, match=r"outside\.ppdb: no pair in it"):
        written(content)
    assert not (tmp_path / "out" / "0000.parquet").exists()


# --- the run -----------------------------------------------------------------------------------


@pytest.fixture
def config(tmp_path):
    found = run_on_testbed()
    found["results"] = str(tmp_path / "results")
    found["data"] = str(tmp_path)
    (tmp_path / "ppdb.tsv").write_bytes(b"a dog\tthe dog\n")
    found["outside"] = {"ppdb": {"tsv": "ppdb.tsv"}, "unused": {"tsv": "absent.tsv"}}
    found["run"] |= {"outside": ["ppdb"], "training_sets": ["all"], "embeddings": ["word"]}
    found["training_sets"] = {"all": {}}
    return found


def test_its_training_sets_and_embeddings_stand_beside_the_systems(config):
    layout = run_layout(config)
    assert layout.upstream(("filter", "ppdb")) == []
    assert layout.shard_names("filter", "ppdb") == ["0000"]
    assert layout.upstream(("filter", "all-ppdb")) == [("filter", "ppdb")]
    assert ("embed", "word-all-ppdb-seed1") in layout.upstream(("embed", "sts"))
    assert layout.settings(("filter", "all-ppdb"))["system"] == "ppdb"
    assert layout.settings(("filter", "ppdb"))["columns"] == {"reference": 0, "paraphrase": 1}
    # Nothing of the systems' is another for that.
    plain = json.loads(json.dumps(config))
    del plain["outside"], plain["run"]["outside"]
    before = run_layout(plain)
    for unit in before.units():
        if unit not in (("embed", "sts"), ("release", None)):
            assert layout.folder(*unit) == before.folder(*unit)


def test_a_training_set_of_shared_references_follows_the_other_corpora(config, tmp_path):
    before = run_layout(config).folder("filter", "all-ppdb")
    config["training_sets"]["all"] = {"shared": ["parabank2", "ppdb"]}
    layout = run_layout(config)
    assert layout.upstream(("filter", "all-ppdb")) == [("filter", "ppdb"), ("filter", "parabank2")]
    assert set(layout.upstream(("filter", "all-parabank2"))) == {
        *(("filter", "parabank2"), ("filter", "ppdb"))
    }
    assert layout.folder("filter", "all-ppdb") != before


def test_it_follows_the_runs_punctuation(config):
    assert "punctuation" not in run_layout(config).settings(("filter", "ppdb"))
    config["evaluate"]["punctuation"] = "tokens"
    assert run_layout(config).settings(("filter", "ppdb"))["punctuation"] == "tokens"


def test_it_counts_by_its_content(config, tmp_path):
    folder = run_layout(config).folder("filter", "all-ppdb")
    (tmp_path / "other.tsv").write_bytes((tmp_path / "ppdb.tsv").read_bytes())
    config["outside"]["ppdb"]["tsv"] = "other.tsv"
    assert run_layout(config).folder("filter", "all-ppdb") == folder
    (tmp_path / "other.tsv").write_bytes(b"a cat\tthe cat\n")
    assert run_layout(config).folder("filter", "all-ppdb") != folder


def test_sets_by_columns_that_it_lacks_are_made_for_the_systems_alone_and_that_is_said(config):
    config["training_sets"]["all"] = {"bounds": {"translation_cost": [None, 1]}}
    assert list(training_sets(config)) == ["all-parabank2"]
    notes = list(Filter.notes(config))
    assert len(notes) == 1
    assert "training_sets.all: pairs from outside have no translation_cost, so" in notes[0]
    config["training_sets"]["all"] = {"grid": {"ranks": [1, [1, 5]]}}
    assert list(training_sets(config)) == ["all-parabank2-1", "all-parabank2-2"]
    assert "have no second paraphrase, so it is made without ppdb" in next(Filter.notes(config))
    config["outside"]["ppdb"]["ranked"] = True
    assert len(training_sets(config)) == 4
    assert not list(Filter.notes(config))
    config["training_sets"]["all"] = {"grid": {"bounds": {"overlap_1": [[0, 0.5], [0.5, 1]]}}}
    assert [name for name in training_sets(config) if "ppdb" in name] == [
        "all-ppdb-1",
        "all-ppdb-2",
    ]
    assert not list(Filter.notes(config))


REFUSED = refusals("""
run.outside: [pdb] => : 'pdb' is not in outside; did you mean 'ppdb'
outside.parabank2: {tsv: a} => : the name is taken in systems
outside.all: {tsv: a} => : the name is taken in training_sets
outside.ppdb: {tvs: a} => : unknown key 'tvs'
training_sets.all.systems: [pdb] => : 'pdb' is not among run.systems, nor among run.outside
training_sets.all: {systems: [ppdb], bounds: {sum: [null, 3]}} => .systems: 'ppdb' is from outside,
 and its pairs have no sum
training_sets.all: {systems: [ppdb], ranks: [1, 2]} => .systems: 'ppdb' is from outside,
 and its pairs have no second paraphrase
training_sets.all: {systems: [ppdb], corpora: [testbed]} => .systems: 'ppdb' is from outside,
 and its pairs have no corpus of the bitext
outside.ppdb.tsv: missing.tsv => :
outside.ppdb: {tsv: a, ranked: true, columns: {reference: 1, paraphrase: 0}} => .ranked: all columns
 from columns.paraphrase on are paraphrases
training_sets.all.shared: [ppdb, pdb] => : 'pdb' is not among run.systems, nor among run.outside
""")


@pytest.mark.parametrize(("change", "message"), REFUSED)
def test_what_can_not_be_is_told(config, change, message):
    with pytest.raises(InputError, match=re.escape(message)):
        run_layout(merged(config, changes(change)))
