import csv
import io
import math
import re
import subprocess
import sys
from pathlib import Path

import datasets
import pandas
import pyarrow.parquet as pq
import pytest
import zstandard
from hypothesis import given
from hypothesis import strategies as st

from tests.golden.inputs import arguments
from tests.odd_lines import ESCAPED, FIELDS
from tests.tables import pair, paraphrase, selected, write_table
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.stages.release import export
from workflow_scripts.stages.release.export import escape, header, main, tsv_line

ROOT = Path(__file__).resolve().parents[3]
LANGUAGES = {"source": "cs", "reference": "en"}
HOSTILE = [*FIELDS, *ESCAPED, "emoji 👩‍👩‍👧 and ž", "مرحبا بالعالم"]


def row(identifier, reference, *texts):
    found = [paraphrase(rank, text, cluster=rank) for rank, text in enumerate(texts, 1)]
    return selected(pair(identifier, "zdroj", reference), found)


ROWS = [
    row("c:1", "A plain reference.", "A simple reference.", "A reference, plain."),
    row("c:2", "None found."),
    *(row(f"h:{number}", text, text + "!", text) for number, text in enumerate(HOSTILE)),
]


def write_shards(folder, shards):
    for number, rows in enumerate(shards):
        path = folder / f"{number:04d}.parquet"
        write_table(path, ParaphrasesRow, rows)


@pytest.fixture
def released(tmp_path):
    write_shards(tmp_path / "select", [ROWS[:3], ROWS[3:]])
    return run_export(tmp_path, "release")


def run_export(folder, name, best=3, shards=2, **more):
    config = {"best": best, "languages": LANGUAGES, **more}
    main(arguments(config, folder=folder / "select", shards=shards, output=folder / name))
    return folder / name


def text_of(path):
    return zstandard.ZstdDecompressor().stream_reader(path.open("rb")).read().decode()


def unescape(field):
    # As PostgreSQL reads it, written independently of `escape`.
    out, characters = [], iter(field)
    for character in characters:
        if character == "\\":
            character = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}[next(characters)]
        out.append(character)
    return "".join(out)


def test_a_line_by_hand():
    unscored = row("c:1", "a\tb", "x b", "y")
    unscored["paraphrases"][1] = paraphrase(2, "y", backward=None)
    words = "\t1\t1\t\t0\t1\t"
    start = "c:1\ta\\tb\tx b\t1.2500"
    assert tsv_line(unscored, 3, "en") == f"{start}\ty\t\t\t" + "\t\t\t" + words
    assert tsv_line(unscored, 1, "en") == f"{start}\t\t1\t0"
    unscored["paraphrases"][1] = paraphrase(2, "y", backward=math.inf)
    assert tsv_line(unscored, 2, "en").endswith("\ty\tinf\t\t\t1\t1\t0\t1")
    unscored["paraphrases"][1] = paraphrase(2, "y", probability=0.5)
    assert tsv_line(unscored, 3, "en").endswith(f"\ty\t1.2500\t\t\t\t0.5000\t{words}")
    assert header(2) == (
        "id\treference\tparaphrase_1\tscore_1\tparaphrase_2\tscore_2\tprobability_1\tprobability_2"
        "\tnew_words_1\tnew_words_2\tlost_words_1\tlost_words_2"
    )


def test_each_row_says_whether_a_model_wrote_its_source(tmp_path):
    write_shards(tmp_path / "select", [ROWS[:2], [row("h:1", "A text.")]])
    run_export(tmp_path, "release", best=2, written_sources={"h": "written by back"})
    marks = ["bitext", "bitext", "written by back"]
    table = pq.read_table(tmp_path / "release" / "paraphrases.parquet")
    assert table.column("source").to_pylist() == marks
    lines = text_of(tmp_path / "release" / "paraphrases.tsv.zst").splitlines()
    cells = [line.split("\t") for line in lines]
    assert cells[0] == [*header(2).split("\t"), "source"]
    assert [of_line[-1] for of_line in cells[1:]] == marks
    assert {*map(len, cells)} == {len(cells[0])}


def test_the_page_describes_every_field():
    page = (ROOT / "docs" / "release.md").read_text(encoding="utf-8")
    fields = page.partition("`paraphrases.parquet`: ")[2].partition("\n\n")[0]
    found = re.findall(r"`(\w+)`", fields.partition(", best first, of ")[2].partition(";")[0])
    assert found == [*export.PARAPHRASE_FIELDS]


def test_tsv_round_trip(released):
    lines = text_of(released / "paraphrases.tsv.zst").split("\n")
    assert lines[0] == header(3)
    assert lines.pop() == ""
    for line, expected in zip(lines[1:], ROWS, strict=True):
        fields = [unescape(field) for field in line.split("\t")]
        assert len(fields) == len(header(3).split("\t"))
        assert fields[:2] == [expected["id"], expected["reference"]]
        found = [
            (text, score) for text, score in zip(fields[2:8:2], fields[3:8:2], strict=True) if text
        ]
        assert found == [(each["text"], "1.2500") for each in expected["paraphrases"]]


def test_csv_readers_see_the_same_fields(released):
    text = text_of(released / "paraphrases.tsv.zst")
    rows = list(csv.reader(io.StringIO(text, newline=""), delimiter="\t", quoting=csv.QUOTE_NONE))
    assert {len(fields) for fields in rows} == {len(header(3).split("\t"))}
    assert len(rows) == len(ROWS) + 1
    frame = pandas.read_csv(
        released / "paraphrases.tsv.zst",
        sep="\t",
        quoting=csv.QUOTE_NONE,
        keep_default_na=False,
        na_values={
            f"{name}_{rank}": [""]
            for name in ("score", *export.LATER_FIGURES)
            for rank in range(1, 4)
        },
    )
    assert frame["score_1"].dtype == frame["score_3"].dtype == float
    assert frame["probability_1"].dtype == frame["probability_3"].dtype == float
    assert set(frame["score_1"].dropna()) == {1.25}
    assert [unescape(text) for text in frame["reference"]] == [row["reference"] for row in ROWS]


def test_datasets_reads_the_parquet(released, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    corpus = datasets.load_dataset(
        "parquet",
        data_files=str(released / "paraphrases.parquet"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    assert corpus.column_names == ["id", "reference", "paraphrases"]
    for found, expected in zip(corpus, ROWS, strict=True):
        assert (found["id"], found["reference"]) == (expected["id"], expected["reference"])
        assert [each["text"] for each in found["paraphrases"]] == [
            each["text"] for each in expected["paraphrases"]
        ]
        for each in found["paraphrases"]:
            assert (each["score"], each["forward_nll"], each["backward_nll"]) == (1.25, 0.5, 0.75)


def test_record_speaks_for_both_files(released):
    record = verify(released / "paraphrases.parquet")
    assert record["files"].keys() == {"paraphrases.tsv.zst", "paraphrases.parquet"}
    assert record["rows_out"] == len(ROWS)
    assert record["extra"]["paraphrases"] == 2 + 2 * len(HOSTILE)


def test_paraphrases_beyond_best_stay_out(tmp_path):
    write_shards(tmp_path / "select", [ROWS])
    folder = run_export(tmp_path, "release", best=1, shards=1)
    table = pq.read_table(folder / "paraphrases.parquet").to_pylist()
    assert max(len(row["paraphrases"]) for row in table) == 1
    assert text_of(folder / "paraphrases.tsv.zst").startswith(header(1) + "\n")


def test_several_row_groups(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "GROUP_ROWS", 4)
    write_shards(tmp_path / "select", [ROWS])
    folder = run_export(tmp_path, "release", shards=1)
    parquet = pq.ParquetFile(folder / "paraphrases.parquet")
    assert parquet.num_row_groups == -(-len(ROWS) // 4)
    assert parquet.read().column("id").to_pylist() == [row["id"] for row in ROWS]


@given(st.text())
def test_escaping_is_reversible_and_leaves_no_separator(text):
    escaped = escape(text)
    assert not {"\t", "\n", "\r"} & set(escaped)
    assert unescape(escaped) == text


@pytest.mark.rest
@pytest.mark.slow
def test_memory_is_flat(tmp_path):
    # Four times the rows need hardly more memory at the peak.
    program = (
        "import re, sys\n"
        "from workflow_scripts.stages.release.export import main\n"
        "main(sys.argv[1:])\n"
        "status = open('/proc/self/status').read()\n"
        "print(re.search(r'VmHWM:\\s+(\\d+) kB', status)[1])\n"
    )
    peaks = []
    for rows in (10_000, 40_000):
        folder = tmp_path / str(rows)
        write_shards(
            folder / "select",
            [[row(f"c:{n}", f"reference {n} " * 4, f"text {n} " * 4) for n in range(rows)]],
        )
        files = {"folder": folder / "select", "output": folder / "release"}
        words = arguments({"best": 5, "languages": LANGUAGES}, shards=1, **files)
        command = [sys.executable, "-c", program, *words]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout))
    assert peaks[1] < peaks[0] * 1.25


# --- a merge of runs -----------------------------------------------------------------------------


@pytest.fixture
def merged(tmp_path):
    both, alone = row("m:1", "Of both.", "One.", "Two."), row("m:2", "Of one.")
    both["corpus"], alone["corpus"] = "cz:captions fr:captions", "fr:tatoeba"
    for each, tags in zip(
        both["paraphrases"], ("cz:captions", "fr:captions cz:captions"), strict=True
    ):
        each["variant"] = tags
    write_shards(tmp_path / "select", [[both, alone]])
    runs = [{"name": "cz", "source": "cs"}, {"name": "fr", "source": "fr"}]
    return run_export(tmp_path, "release", shards=1, runs=runs)


def source(run, language, corpus):
    return {"run": run, "language": language, "corpus": corpus}


def test_a_merge_tells_the_sources_of_references_and_paraphrases(merged):
    both, alone = pq.read_table(merged / "paraphrases.parquet").to_pylist()
    captions = [source("cz", "cs", "captions"), source("fr", "fr", "captions")]
    assert both["sources"] == captions
    first, second = both["paraphrases"]
    assert first["sources"] == captions[:1]
    assert second["sources"] == captions[::-1]
    assert alone["sources"] == [source("fr", "fr", "tatoeba")]
    assert alone["paraphrases"] == []


def test_the_columns_of_sources_come_last_in_the_tsv_of_a_merge(merged):
    names, both, alone = (
        line.split("\t") for line in text_of(merged / "paraphrases.tsv.zst").splitlines()
    )
    assert names == [*header(3).split("\t"), "sources", "sources_1", "sources_2", "sources_3"]
    told = dict(zip(names, both, strict=True))
    assert told["sources"] == "cz:captions fr:captions"
    assert [told[f"sources_{rank}"] for rank in (1, 2, 3)] == [
        "cz:captions",
        "fr:captions cz:captions",
        "",
    ]
    assert [told[f"paraphrase_{rank}"] for rank in (1, 2, 3)] == ["One.", "Two.", ""]
    assert alone[2:] == [*[""] * 15, "fr:tatoeba", "", "", ""]
