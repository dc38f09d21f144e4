"""The release of a rewriter: a folder that is whole, described, and loads."""

import json
import shutil
import subprocess

import pytest
import yaml

from tests.configs import run_on_testbed
from tests.golden.inputs import arguments, pairs, write_table
from tests.golden.rewrite import rewriter_model
from tests.stanza_package import FOLDER as STANZA_FOLDER
from tests.unit.nmt.marian_files import write_npz
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import main as write_manifest
from workflow_scripts.core.files.manifest import verify, write_record
from workflow_scripts.core.files.model_folder import HUGGING_FACE_MORE, MARIAN_NPZ
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.nmt import translate
from workflow_scripts.plan.catalogues.rewriters import KINDS
from workflow_scripts.stages.catalogue import linked_layout
from workflow_scripts.stages.rewrite import export_rewriter, measure
from workflow_scripts.stages.rewrite.results import CONTROL_SETTINGS, read_about, read_paraphrases

ABOUT = {
    **{"name": "plain", "language": "en", "systems": ["parabank2"], "write": ["paraphrase"]},
    **{"training_sets": ["all-parabank2"], "subword": "own", "noise": None},
    # What was told when it was trained.
    **{"licence": "unknown", "inputs": {"corpora": {"testbed": None}, "models": {}}},
    **{"pairs": {"train": 1234, "dev": 5, "test": 6}, "references": {"train": 600, "test": 3}},
    "left_out": {"identical": 7},
}
METRICS = {
    **{"role": "plain", "direction": "forward", "parameters": 7654321, "updates": 40},
    **{"validation_perplexity": 3.25, "bleu": None},
}


def configuration(**changes):
    """Return the configuration of a run with the rewriter, as it is now."""
    config = run_on_testbed()
    config["run"]["rewriters"] = ["plain"]
    config["rewriters"] = {"plain": {"training_sets": ["all"], "model": "testbed"} | changes}
    config["corpora"]["testbed"]["licence"] = "CC BY_|_4.0"
    return config


def write_config(run, config):
    (run / "config.yaml").write_text(yaml.safe_dump(config), encoding="utf-8")


def link(run, name, folder, **unit):
    """Finish a unit's folder, and link it as a run does."""
    settings = {
        "stage": "rewrite",
        "instance": name,
        "version": 1,
        "config": {},
        "name": name,
    } | unit
    kinds = ("model", "paraphrases", "sentences", "answers")
    records = [kind for kind in kinds if (folder / f"{kind}.json").exists()]
    words = ["--unit", json.dumps(settings), "--folder", str(folder), "--records", *records]
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
    write_table(folder / "0000.parquet", PairRow, rows)
    settings = {"beam": 2, "bootstrap": 10, "language": "sv", "testbed": False, "seed": 1}
    output = folder / "measured" / "paraphrases.jsonl"
    measure.main(
        arguments(settings, model=model, folder=folder, shards=1, device="cpu", output=output)
    )
    run = folder / "runs"
    run.mkdir()
    write_config(run, configuration())
    link(run, "plain", model)
    link(run, "plain-measures", folder / "measured")
    return run


@pytest.fixture(scope="module")
def released(run_folder, tmp_path_factory):
    output = tmp_path_factory.mktemp("released") / "made" / "plain"
    words = ["--run", str(run_folder), "--rewriter", "plain", "--output", str(output)]
    export_rewriter.main(words)
    return output


@pytest.mark.slow
def test_a_run_may_be_given_by_its_name(run_folder, tmp_path, monkeypatch):
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "mine").symlink_to(run_folder)
    monkeypatch.chdir(tmp_path)
    words = ["--run", "mine", "--rewriter", "plain", "--output", "released", "--licence", "mit"]
    export_rewriter.main(words)
    assert (tmp_path / "released" / "SHA256SUMS").is_file()
    # The licence that is given is that of all its files.
    assert "\nlicense: mit\n" in (tmp_path / "released" / "README.md").read_text(encoding="utf-8")
    assert read_about(tmp_path / "released")["licence"] == "mit"


@pytest.mark.slow
def test_the_released_folder_paraphrases_by_our_command(released, run_folder, tmp_path):
    measured = list(read_paraphrases(run_folder / "rewrite.plain-measures"))
    lines = [json.dumps({"text": row["text"]}) + "\n" for row in measured]
    (tmp_path / "in.jsonl").write_text("".join(lines), encoding="utf-8")
    files = ["--input", str(tmp_path / "in.jsonl"), "--output", str(tmp_path / "out.jsonl")]
    options = ["--raw", "--beam-size", "2", "--device", "cpu"]
    translate.main(["--model", str(released), *options, *files])
    text = (tmp_path / "out.jsonl").read_text(encoding="utf-8")
    translations = [json.loads(line)["translation"] for line in text.splitlines()]
    assert translations == [row["beam"] for row in measured]


def test_checksums_hold_for_every_file(released):
    process = subprocess.run(
        ["sha256sum", "-c", "SHA256SUMS"], cwd=released, capture_output=True, text=True, check=True
    )
    checked = {line.partition(": ")[0] for line in process.stdout.splitlines()}
    assert checked == {path.name for path in released.iterdir()} - {"SHA256SUMS"}
    assert {"params.best", "rewriter.json", "README.md", "source.model"} <= checked


def test_the_card_says_what_it_is_of_and_how_good(released):
    text = (released / "README.md").read_text(encoding="utf-8")
    _, matter, body = text.split("---\n", 2)
    assert yaml.safe_load(matter) == {
        "license": "other",
        "license_name": "CC BY_|_4.0; cc0-1.0",
        "language": ["en"],
        "pipeline_tag": "text-generation",
        "tags": ["paraphrase", "paraphrasing", "sockeye", "paraloom"],
    }
    for said in ("7,654,321", "| training | 1,234 | 600 |", "`identical` 7", "3.250"):
        assert said in body
    assert "| corpus testbed | CC BY\\_\\|\\_4.0 |" in body
    assert "| corpus testbed_held_out | cc0-1.0 |" in body
    assert "from scratch" in body
    measures = json.loads((released / "measures.json").read_text(encoding="utf-8"))
    assert f"| {measures['beam']['one_minus_bleu']['value']:.1f} (" in body
    rows = [line for line in body.splitlines() if line.startswith("|")]
    assert all(row.replace("\\|", "").count("|") in (3, 4, 8) for row in rows)


def test_licences_are_those_of_the_configuration_and_not_of_the_training(released):
    about = read_about(released)
    assert about["licence"] == "CC BY_|_4.0; cc0-1.0"
    assert about["inputs"]["corpora"]["testbed"] == "CC BY_|_4.0"
    assert about["pairs"] == ABOUT["pairs"]
    verify(released / "model.json")


def copied(run_folder, folder, config):
    run = folder / "runs"
    shutil.copytree(run_folder, run, symlinks=True)
    write_config(run, config)
    return run


def told_anew(run_folder, folder, config, about):
    """Copy a run, as if its rewriter said this of itself."""
    run, model = copied(run_folder, folder, config), folder / "model"
    shutil.copytree(run_folder / "rewrite.plain", model)
    files = [model / name for name in verify(model / "model.json")["files"]]
    (model / "rewriter.json").write_text(json.dumps(about), encoding="utf-8")
    write_record(model / "model", 0, 0, {}, files=files)
    return relinked(run, model)


def relinked(run, model):
    (run / "rewrite.plain").unlink()
    link(run, "plain", model)
    return run


def test_the_card_of_a_model_that_went_on_says_from_which(run_folder, tmp_path):
    config = configuration(continued={"from": "forward", "max_updates": 100})
    del config["rewriters"]["plain"]["model"]
    facts = export_rewriter.facts_of_run(copied(run_folder, tmp_path, config), "plain")
    assert facts["continued"] == {"from": "forward", "model": "testbed"}
    measures = json.loads((run_folder / "rewrite.plain-measures" / "measures.json").read_text())
    parts = (METRICS | {"kind": MARIAN_NPZ}, measures, [], "mit")
    text = export_rewriter.card(ABOUT | facts, *parts)
    assert "went on training `testbed`, the forward translation model of the run (trained" in text
    assert "from scratch" not in text
    assert "sockeye" not in text
    finished = facts | {"inputs": {"corpora": {}, "models": {"forward": "cc-by-sa-4.0"}}}
    assert "of the run (cc-by-sa-4.0)" in export_rewriter.card(ABOUT | finished, *parts)


def test_the_card_of_a_finished_model_says_so_and_what_it_reads(run_folder, tmp_path):
    config = configuration(model="student_pt_en", prefix="say: ")
    run = copied(run_folder, tmp_path, config)
    about = ABOUT | linked_layout(run).settings(("rewrite", "plain"))["about"]
    measures = json.loads((run / "rewrite.plain-measures" / "measures.json").read_text())
    metrics = {"parameters": 7654321, "kind": HUGGING_FACE_MORE}
    text = export_rewriter.card(about, metrics, measures, [], about["licence"])
    assert "the pairs were made" not in text
    assert "It is the finished model `student_pt_en`, which Paraloom" in text
    assert "did not train: 7,654,321 parameters.\nIt reads `say: ` in front of every" in text
    assert yaml.safe_load(text.split("---\n")[1])["tags"][2:] == ["paraloom"]
    assert not [word for word in ("from scratch", "perplexity", "## Data") if word in text]
    run = told_anew(run_folder, tmp_path / "again", config, about | {"training_sets": []})
    with pytest.raises(InputError, match=r"not measured has no card; name training sets in"):
        export_rewriter.export(run, "plain", tmp_path / "released")


@pytest.mark.slow
def test_a_model_of_marian_is_released_as_one_that_our_command_reads(run_folder, tmp_path):
    run = copied(run_folder, tmp_path, configuration())
    model = write_npz(tmp_path / "model")
    for name in ("source.model", "reference.model"):
        shutil.copy(model / "vocab.xxyy.spm", model / name)
    facts = (("rewriter.json", ABOUT), ("metrics.json", METRICS | {"kind": MARIAN_NPZ}))
    for name, content in facts:
        (model / name).write_text(json.dumps(content), encoding="utf-8")
    write_record(model / "model", 0, 0, {}, files=sorted(model.iterdir()))
    relinked(run, model)
    output = tmp_path / "out"
    export_rewriter.export(run, "plain", output)
    text = (output / "README.md").read_text(encoding="utf-8")
    assert yaml.safe_load(text.split("---\n")[1])["tags"][2] == "marian"
    lines = tmp_path / "in.jsonl"
    lines.write_text('{"text": "4 5"}\n', encoding="utf-8")
    translations = []
    for folder in (model, output):
        answers = tmp_path / f"{folder.name}.jsonl"
        words = ["--raw", "--device", "cpu", "--input", str(lines), "--output", str(answers)]
        translate.main(["--model", str(folder), *words])
        translations.append(json.loads(answers.read_text(encoding="utf-8"))["translation"])
    assert translations[0] == translations[1] != ""


@pytest.mark.slow
def test_the_card_of_a_rewriter_with_noise_has_its_repair(run_folder, tmp_path):
    noise = {"clean": 0.25, "identity": 1, "weights": dict.fromkeys(KINDS, 1.0)}
    config = configuration(noise={"clean": 0.25})
    run = told_anew(run_folder, tmp_path, config, ABOUT | {"noise": noise})
    (run / "rewrite.plain-repair").symlink_to(tmp_path / "repair")
    with pytest.raises(InputError, match="plain-repair is not finished"):
        export_rewriter.export(run, "plain", tmp_path / "out")
    (run / "rewrite.plain-repair").unlink()
    repaired = tmp_path / "repair" / "repair.json"
    repaired.parent.mkdir()
    share = {"value": 62.5, "low": 50.0, "high": 75.0}
    figures = {"sentences": 1234, "repaired": share, "kept": share, "exact": share}
    content = {"methods": {"rewriter": {"none": figures | {"repaired": None}, "omit": figures}}}
    repaired.write_text(json.dumps(content), encoding="utf-8")
    write_record(repaired.with_name("sentences.tsv"), 0, 0, {}, files=[repaired])
    link(run, "plain-repair", repaired.parent)
    export_rewriter.export(run, "plain", tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    assert "| omit | rewriter | 1,234 | 62.5 (50.0 to 75.0) | 62.5 (50.0 to 75.0) |" in text
    assert ": a model that repairs sentences (en)" in text
    assert "writes a paraphrase of it" not in text
    assert "- paraphrase\n" not in text
    assert f"({', '.join(KINDS)}; 25 % of the" in text
    assert (
        "In 100 % of the examples it learnt to write the very sentence without its damage.\n"
        in text
    )
    assert "from scratch on damaged sentences;" in text
    assert "Of each pair it read, damaged, and wrote, whole, the reference.\n" in text
    assert (tmp_path / "out" / "repair.json").read_bytes() == repaired.read_bytes()


def with_templates(run_folder, tmp_path, of_templates):
    """Copy a run, as if its rewriter had templates; `of_templates`: what it says of them."""
    config = configuration(templates={})
    config["evaluate"]["syntax"] = {
        **{"folder": str(STANZA_FOLDER), "package": "default", "levels": 3, "share": 1.0}
    }
    return told_anew(run_folder, tmp_path, config, ABOUT | {"templates": of_templates})


@pytest.mark.slow
def test_a_rewriter_with_templates_is_released_with_how_they_are_met(run_folder, tmp_path):
    run = with_templates(run_folder, tmp_path, {"count": 7, "examples": 1234, "equal": 0})
    with pytest.raises(InputError, match=r"plain-control is not there; run the stage rewrite"):
        export_rewriter.export(run, "plain", tmp_path / "out")
    share = {"met": 62.5, "met_interval": {"low": 50.0, "high": 75.0}}
    share |= {"met_best": 80.0, "met_best_interval": {"low": 70.0, "high": 90.0}}
    figures = {**share, "answers": 1234, "distinct": 11.75, "cosine": 0.5, "exact": None}
    content = {"beam_size": 5, "settings": {"frequent": figures}, "templates": [], "examples": []}
    controlled = tmp_path / "control"
    controlled.mkdir()
    (controlled / "control.json").write_text(json.dumps(content), encoding="utf-8")
    write_record(controlled / "answers.tsv", 0, 0, {}, files=[controlled / "control.json"])
    link(run, "plain-control", controlled)
    export_rewriter.export(run, "plain", tmp_path / "out")
    text = (tmp_path / "out" / "README.md").read_text(encoding="utf-8")
    row = "| 1,234 | 62.5 (50.0 to 75.0) | 80.0 (70.0 to 90.0) | 0.500 | – | 11.8 |"
    assert f"| {CONTROL_SETTINGS['frequent']} {row}" in text
    copy = tmp_path / "out" / "control.json"
    assert copy.read_bytes() == (controlled / "control.json").read_bytes()
    assert "  control.json" in (tmp_path / "out" / "SHA256SUMS").read_text(encoding="utf-8")


def test_a_rewriter_with_templates_of_an_earlier_version_is_refused(run_folder, tmp_path):
    run = with_templates(run_folder, tmp_path, {"count": 7, "pairs": 1234})
    with pytest.raises(InputError, match=r"an earlier version, .*; run the stage rewrite again"):
        export_rewriter.export(run, "plain", tmp_path / "out")


def test_nothing_is_overwritten(released, run_folder):
    before = sorted((path.name, path.read_bytes()) for path in released.iterdir())
    with pytest.raises(InputError, match="is there already"):
        export_rewriter.export(run_folder, "plain", released)
    assert sorted((path.name, path.read_bytes()) for path in released.iterdir()) == before


def test_a_rewriter_that_is_not_there_or_not_finished_is_refused(run_folder, tmp_path):
    with pytest.raises(InputError, match="has no rewriter plane; it has plain"):
        export_rewriter.export(run_folder, "plane", tmp_path / "out")
    (tmp_path / "run" / "rewrite.half").mkdir(parents=True)
    with pytest.raises(InputError, match="is not finished"):
        export_rewriter.export(tmp_path / "run", "half", tmp_path / "out")
    with pytest.raises(InputError, match="it has none"):
        export_rewriter.export(tmp_path, "plain", tmp_path / "out")
    (tmp_path / "run" / "rewrite.begun").symlink_to(tmp_path / "not made yet")
    with pytest.raises(InputError, match="begun is not finished"):
        export_rewriter.export(tmp_path / "run", "begun", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_damaged_file_is_refused_and_nothing_is_left(run_folder, tmp_path):
    vocabulary = run_folder / "rewrite.plain" / "vocab.src.0.json"
    content = vocabulary.read_bytes()
    vocabulary.write_bytes(content + b" ")
    try:
        with pytest.raises(InputError, match="differs from what its stage wrote"):
            export_rewriter.export(run_folder, "plain", tmp_path / "out")
    finally:
        vocabulary.write_bytes(content)
    assert not list(tmp_path.iterdir())
