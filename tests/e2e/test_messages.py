"""What the user sees on the terminal when the configuration or the input is wrong."""

import json
import os

import pytest
import yaml
import zstandard

from tests.e2e import micro
from tests.e2e.pipeline import Pipeline

pytestmark = pytest.mark.e2e


@pytest.fixture
def data(tmp_path):
    return micro.write_bitext(tmp_path / "data")


@pytest.fixture
def pipeline(data, tmp_path):
    return Pipeline(tmp_path / "work", micro.config(data))


def changed(pipeline, changes):
    return pipeline.with_config(micro.merged(pipeline.config, changes))


def unharmed(output: str) -> str:
    """Return the output, in which no Python of ours shows."""
    assert "Traceback" not in output
    assert "workflow_scripts/" not in output
    return output


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {"systems": {"micro": {"select": {"kepe": {"quantile": 0.5}}}}},
            "systems.micro.select: unknown key 'kepe'; did you mean 'keep'?",
        ),
        ({"shard": {"early": 2}}, "the top level: unknown key 'shard'; did you mean 'shards'?"),
        ({"models": {"micro": {"heads": "two"}}}, "models.micro.heads: 'two' is not of type"),
        (
            {"run": {"corpora": ["train", "heldout"]}},
            "run.corpora: 'heldout' is not in corpora; did you mean 'held_out'?",
        ),
    ],
)
def test_wrong_configuration_is_named_by_its_key(pipeline, changes, expected):
    output = unharmed(changed(pipeline, changes).fail())
    assert expected in output
    assert not (pipeline.folder / "results").exists()


@pytest.mark.rest
def test_fifo_is_named_with_its_key_and_nobody_waits(pipeline, data):
    (data / "dev.en").unlink()
    os.mkfifo(data / "dev.en")
    output = unharmed(pipeline.fail())
    assert f"corpora.dev.reference: {data}/dev.en is not a file but a FIFO" in output


@pytest.mark.rest
def test_aliases_of_aliases_are_refused_and_nobody_waits(pipeline):
    levels = [f"[{', '.join([f'*l{level}'] * 10)}]" for level in range(9)]
    bomb = "".join(f"  l{n}: &l{n} {each}\n" for n, each in enumerate(["[x, x]", *levels]))
    text = yaml.safe_dump({**pipeline.config, "columns": {}})
    pipeline.config_file.write_text(text.replace("columns: {}", f"columns:\n{bomb}"), "utf-8")
    output = unharmed(pipeline.fail())
    assert "configuration: it stands for more than 5,000,000 values, by aliases" in output


@pytest.mark.rest
def test_missing_file_is_named_with_its_key_before_anything_runs(pipeline, data):
    (data / "dev.en").unlink()
    output = unharmed(pipeline.fail())
    assert f"corpora.dev.reference: {data}/dev.en: No such file or directory" in output
    assert not (pipeline.folder / "results" / "corpus").exists()


@pytest.mark.rest
def test_missing_model_folder_is_named_with_its_key(pipeline, tmp_path):
    own = {key: str(tmp_path / key) for key in ("folder", "source_model", "reference_model")}
    changes = {"models": {"own": own}, "train": {"models": {"forward": "own"}}}
    output = unharmed(changed(pipeline, changes).fail())
    assert f"models.own: {tmp_path}/folder/config: No such file or directory" in output


@pytest.mark.rest
def test_unequal_line_counts_stop_the_run_with_both_counts(pipeline, data):
    lines = (data / "train.en").read_text(encoding="utf-8").splitlines()
    micro.write_lines(data / "train.en", lines[:-3])
    output = pipeline.fail("corpus")
    assert "Traceback" not in output
    (message,) = {line for line in output.splitlines() if line.startswith("error: ")}
    assert f"{data}/train.cs" in message and f"{data}/train.en" in message
    assert "420" in message and "417" in message
    assert not list((pipeline.folder / "results" / "corpus" / "train").rglob("*.parquet"))


@pytest.mark.rest
@pytest.mark.parametrize("content", [b"", b"\n\n   \n"])
def test_empty_corpus_stops_the_run(pipeline, data, content):
    for side in ("cs", "en"):
        (data / f"dev.{side}").write_bytes(content)
    output = pipeline.fail("corpus")
    assert "Traceback" not in output
    assert "error: corpora.dev: no pair in it" in output


@pytest.mark.rest
def test_bad_lines_are_rejected_with_file_and_line_and_counted(pipeline, data):
    source, reference = data / "train.cs", data / "train.en"
    sources, references = (path.read_bytes().split(b"\n") for path in (source, reference))
    sources[6] = "Každý žák".encode("iso8859-2")
    references[9] = b"A nul\0 byte."
    references[11] = b"  "
    source.write_bytes(b"\n".join(sources))
    reference.write_bytes(b"\n".join(references))
    pipeline.run("corpus")

    folder = pipeline.unit("corpus.train")
    rejected = zstandard.decompress((folder / "rejected.tsv.zst").read_bytes(), 1 << 20)
    lines = [line.split("\t") for line in rejected.decode("utf-8").splitlines()]
    assert [line[:3] for line in lines] == [
        [str(source), "7", "not_utf8"],
        [str(reference), "10", "nul"],
        [str(reference), "12", "empty"],
    ]
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert manifest["rejected"] == {"not_utf8": 1, "nul": 1, "empty": 1}
    assert (manifest["rows_in"], manifest["rows_out"]) == (420, 417)


@pytest.mark.rest
def test_vocabulary_too_large_says_the_largest_possible(pipeline):
    changes = {"subword": {"vocab_size": {"reference": 5000}}}
    output = changed(pipeline, changes).fail("subword")
    assert "Traceback" not in output
    assert "subword.vocab_size 5000 is too large for the training text" in output
