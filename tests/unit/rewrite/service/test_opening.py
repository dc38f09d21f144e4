"""A run's systems choose words; a folder tells its language and templates; who has an encoder."""

import argparse
import json
import shutil
from pathlib import Path

import pytest

from tests.configs import run_on_testbed
from tests.tables import write_frequencies
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.stages.rewrite.opening import add_options, encoder_for, open_rewriter, sets_of
from workflow_scripts.stages.rewrite.requests import Request, RequestError
from workflow_scripts.stages.rewrite.syntax_templates import Template, prefixed, write_table

SENTENCE = "The old man was repairing his bicycle in front of the house."
NOWHERE = Path("nowhere")


def opened(folder, *options):
    parser = argparse.ArgumentParser()
    add_options(parser)
    return open_rewriter(parser.parse_args(["--model", str(folder), "--no-meaning", *options]))


@pytest.fixture
def systems(folder, tmp_path):
    """Make the constraint sets of a system of the testbed's run, whose words are counted."""
    counts = {"repairing": 8, "bicycle": 6, "house": 200, "old": 300}
    table = write_frequencies(tmp_path / "idf.parquet", counts, 100_000)

    def of(system, idf=table):
        return sets_of(NOWHERE, run_on_testbed(), folder / "reference.model", idf, system)

    return of


def test_a_system_of_the_run_chooses_words(systems):
    sets = systems("parabank2")(SENTENCE, "1", "")
    assert len(sets) == 5
    words = {word.strip(".").lower() for word in SENTENCE.split()}
    assert {word.lower() for chosen in sets for word in chosen.avoid} <= words


@pytest.mark.parametrize(
    ("variant", "avoid", "want"),
    [("s01", ["bicycle"], []), ("s02", ["repairing"], []), ("s32", ["<s> The"], [])],
)
def test_a_variant_chooses_words(systems, variant, avoid, want):
    (chosen,) = systems(f"parabank:{variant}")(SENTENCE, "1", "")
    assert (chosen.avoid, chosen.want, chosen.variant) == (avoid, want, variant)


def test_who_can_not_choose_is_told(systems):
    for system, message in [
        ("parabanc", "did you mean 'parabank'"),
        ("parabank:s99", "parabank has no variant 's99'"),
        ("paranmt:s01", "paranmt has no variants; leave ':s01' out"),
    ]:
        with pytest.raises(RequestError, match=message):
            systems(system)
    with pytest.raises(RequestError, match="nowhere has counted none"):
        systems("parabank:s01", idf=None)


def test_a_folder_tells_language_and_templates(folder, tmp_path):
    copy = tmp_path / "with-templates"
    shutil.copytree(folder, copy)
    (copy / "rewriter.json").write_text(json.dumps({"language": "cs"}))
    templates = ["(S (NP) (VP) (.))", "(SQ (VBZ) (NP) (VP) (.))"]
    write_table(
        copy / "templates.tsv", [Template(template, 9, "An example.") for template in templates]
    )
    (copy / "model.json").unlink()
    write_record(copy / "model", 0, 0, {}, files=list(copy.iterdir()))
    rewriter = opened(copy)
    assert rewriter.language == "cs"
    assert rewriter.templates == templates
    assert opened(copy, "--language", "en").language == "en"
    free = rewriter.plan(Request("pes")).source
    assert free == rewriter._source.encode(prefixed(None, "pes"))
    (copy / "rewriter.json").write_text(json.dumps({"language": "cs", "templates": {"most": 2}}))
    (copy / "model.json").unlink()
    (copy / "templates.tsv").unlink()
    with pytest.raises(InputError, match=r"templates\.tsv is missing"):
        opened(copy)
    assert opened(folder).templates == []
    assert opened(folder).language is None


@pytest.mark.parametrize(
    ("noise", "options", "copies"),
    [
        (None, [], False),
        (None, ["--copies"], True),
        ({"identity": 0}, [], False),
        ({"identity": 0.5}, [], True),
        ({"identity": 1}, [], True),
    ],
)
def test_a_rewriter_that_repairs_may_write_what_it_reads(folder, tmp_path, noise, options, copies):
    copy = tmp_path / "with-noise"
    shutil.copytree(folder, copy)
    (copy / "rewriter.json").write_text(json.dumps({"language": "cs", "noise": noise}))
    (copy / "model.json").unlink()
    write_record(copy / "model", 0, 0, {}, files=list(copy.iterdir()))
    assert opened(copy, *options).settings.copies is copies


def test_who_has_no_encoder_is_told(capsys):
    assert encoder_for("cs") is None
    assert "no meaning scores: the encoder knows English (en) only, not cs" in (
        capsys.readouterr().err
    )
