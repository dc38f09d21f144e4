"""The release of a rewriter: a folder that is whole, described, and loads."""

import json
import subprocess

import pytest
import yaml

from tests.golden.inputs import arguments, pairs, write_table
from tests.golden.rewrite import rewriter_model
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.manifest import main as write_manifest
from workflow_scripts.core.manifest import write_record
from workflow_scripts.nmt import translate
from workflow_scripts.rewrite import export, measure
from workflow_scripts.rewrite.results import read_paraphrases

ABOUT = {
    **{"name": "plain", "language": "en", "systems": ["parabank2"], "write": ["paraphrase"]},
    **{"training_sets": ["all-parabank2"], "subword": "own", "licence": "CC BY 4.0; mine"},
    "inputs": {"corpora": {"news": "CC BY 4.0", "web_|_own": None}, "models": {"forward": "mit"}},
    **{"pairs": {"train": 1234, "dev": 5, "test": 6}, "references": {"train": 600, "test": 3}},
    "left_out": {"identical": 7},
}
METRICS = {
    **{"role": "plain", "direction": "forward", "parameters": 7654321, "updates": 40},
    **{"validation_perplexity": 3.25, "bleu": None},
}


def link(run, name, folder, **unit):
    """Finish a unit's folder, and link it as a run does."""
    given = {"stage": "rewrite", "instance": name, "version": 1, "config": {}, "name": name} | unit
    records = ["model"] if (folder / "model.json").exists() else ["paraphrases"]
    words = ["--unit", json.dumps(given), "--folder", str(folder), "--records", *records]
    write_manifest([*words, "--output", str(folder / "manifest.json")])
    (run / f"rewrite.{name}").symlink_to(folder)


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("run")
    model = rewriter_model(folder / "model")
    for name, content in (("rewriter.json", ABOUT), ("metrics.json", METRICS)):
        (model / name).write_text(json.dumps(content), encoding="utf-8")
    files = [path for path in sorted(model.iterdir()) if path.name != "model.json"]
    write_record(model / "model", 0, 0, {}, files=files)
    rows = [
        {"id": f"c:{number}-x", "source": row["reference"], "reference": "A | b.", "corpus": "test"}
        for number, row in enumerate(pairs("dev", 3))
    ]
    write_table(folder / "0000.parquet", "pairs", rows)
    settings = {"beam": 2, "bootstrap": 10, "language": "sv", "testbed": False, "seed": 1}
    output = folder / "measured" / "paraphrases.jsonl"
    measure.main(
        arguments(settings, model=model, folder=folder, shards=1, device="cpu", output=output)
    )
    run = folder / "runs"
    run.mkdir()
    link(run, "plain", model)
    link(run, "plain-measures", folder / "measured")
    return run


@pytest.fixture(scope="module")
def released(run_folder, tmp_path_factory):
    output = tmp_path_factory.mktemp("released") / "made" / "plain"
    words = ["--run", str(run_folder), "--rewriter", "plain", "--output", str(output)]
    export.main(words)
    return output


def test_the_released_folder_paraphrases_by_our_command(released, run_folder, tmp_path):
    measured = list(read_paraphrases(run_folder / "rewrite.plain-measures"))
    lines = [json.dumps({"text": each["text"]}) + "\n" for each in measured]
    (tmp_path / "in.jsonl").write_text("".join(lines), encoding="utf-8")
    files = ["--input", str(tmp_path / "in.jsonl"), "--output", str(tmp_path / "out.jsonl")]
    options = ["--raw", "--beam-size", "2", "--device", "cpu"]
    translate.main(["--model", str(released), *options, *files])
    text = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    found = [json.loads(line)["translation"] for line in text.splitlines()]
    assert found == [each["beam"] for each in measured]


def test_checksums_hold_for_every_file(released):
    found = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"], cwd=released, capture_output=True, text=True, check=True
    )
    checked = {line.partition(": ")[0] for line in found.stdout.splitlines()}
    assert checked == {path.name for path in released.iterdir()} - {"SHA256SUMS"}
    assert {"params.best", "rewriter.json", "README.md", "source.model"} <= checked


def test_the_card_says_what_it_is_of_and_how_good(released):
    text = (released / "README.md").read_text(encoding="utf-8")
    _, matter, body = text.split("---\n", 2)
    assert yaml.safe_load(matter) == {
        "license": "other",
        "license_name": "CC BY 4.0; mine",
        "language": ["en"],
        "pipeline_tag": "text-generation",
        "tags": ["paraphrase", "paraphrasing", "sockeye", "paraloom"],
    }
    for said in ("7,654,321", "| training | 1,234 | 600 |", "`identical` 7", "3.250"):
        assert said in body
    assert "| corpus web\\_\\|\\_own | not stated |" in body
    assert "| forward model | mit |" in body
    measures = json.loads((released / "measures.json").read_text(encoding="utf-8"))
    assert f"| {measures['beam']['one_minus_bleu']['value']:.1f} (" in body
    rows = [line for line in body.splitlines() if line.startswith("|")]
    assert all(row.replace("\\|", "").count("|") in (3, 4, 8) for row in rows)


def test_nothing_is_overwritten(released, run_folder):
    before = sorted((path.name, path.read_bytes()) for path in released.iterdir())
    with pytest.raises(InputError, match="is there already"):
        export.export(run_folder, "plain", released)
    assert sorted((path.name, path.read_bytes()) for path in released.iterdir()) == before


def test_a_rewriter_that_is_not_there_or_not_finished_is_refused(run_folder, tmp_path):
    with pytest.raises(InputError, match="has no rewriter plane; it has plain"):
        export.export(run_folder, "plane", tmp_path / "out")
    (tmp_path / "run" / "rewrite.half").mkdir(parents=True)
    with pytest.raises(InputError, match="is not finished"):
        export.export(tmp_path / "run", "half", tmp_path / "out")
    with pytest.raises(InputError, match="it has none"):
        export.export(tmp_path, "plain", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_damaged_file_is_refused_and_nothing_is_left(run_folder, tmp_path):
    vocabulary = run_folder / "rewrite.plain" / "vocab.src.0.json"
    content = vocabulary.read_bytes()
    vocabulary.write_bytes(content + b" ")
    try:
        with pytest.raises(InputError, match="differs from what its stage wrote"):
            export.export(run_folder, "plain", tmp_path / "out")
    finally:
        vocabulary.write_bytes(content)
    assert not list(tmp_path.iterdir())
