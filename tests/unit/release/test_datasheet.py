import json
import os
import re
from dataclasses import replace
from functools import reduce

import datasets
import pytest
import yaml
from huggingface_hub import DatasetCard

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import read_manifest
from workflow_scripts.core.version import commit, version
from workflow_scripts.stages.catalogue import STAGES
from workflow_scripts.stages.release import export, report
from workflow_scripts.stages.release.datasheet import licence_fields, main, size_category

ROWS = {stage.name: stage.row for stage in STAGES if stage.released}


def write_datasheet(run, output, system="parabank2", **changes):
    config = {**run.system_config(system), **changes}
    arguments = replace(run, config=config).arguments(systems=[system])
    main([*arguments, "--rows", json.dumps(ROWS), "--output", str(output)])
    return output.read_text()


@pytest.fixture
def text(run, tmp_path):
    return write_datasheet(run, tmp_path / "README.md")


def table(text, heading):
    """The first table below a heading, as lists of cells; without its ruler."""
    lines = text.split(f"## {heading}\n", 1)[1].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split("|")])
    return [rows[0], *rows[2:]]


def places(config, before=()):
    """Where each key of a configuration stands, those inside others too."""
    for key, value in config.items():
        yield (*before, key)
        if isinstance(value, dict):
            yield from places(value, (*before, key))


@pytest.mark.parametrize(
    ("command", "needed"),
    [
        (main, {"title", "languages.reference", "languages.source", "block", "best", "seed"}),
        (report.main, {"title"}),
    ],
)
def test_each_key_that_is_left_out_is_told_or_not_asked_for(run, tmp_path, command, needed):
    config = run.system_config("beam")
    _, _, *arguments = run.arguments(systems=["beam"])
    arguments += ["--rows", json.dumps(ROWS)]
    if command is report.main:
        arguments += ["--sections", "workflow_scripts.stages.release.sections:configuration"]
    path, told = tmp_path / "config.json", set()
    for *above, key in places(config):
        lacking = json.loads(json.dumps(config))
        del reduce(dict.__getitem__, above, lacking)[key]
        path.write_text(json.dumps(lacking), encoding="utf-8")
        try:
            command([*arguments, "--config", f"@{path}", "--output", str(tmp_path / "made")])
        except InputError as error:
            place = ".".join([*above, key])
            assert str(error) == f"{path}: the key '{place}' is missing; put it in"
            told.add(place)
    assert told >= needed


def test_front_matter(text):
    front = yaml.safe_load(text.split("---\n")[1])
    assert front["license"] == "cc-by-4.0"
    assert front["pretty_name"] == "Paraphrases of <news>: a 'test'"
    assert front["language"] == ["en"]
    assert front["size_categories"] == ["n<1K"]
    assert front["configs"][0]["data_files"] == [{"split": "train", "path": "paraphrases.parquet"}]
    assert DatasetCard(text).data.to_dict()["license"] == "cc-by-4.0"
    assert "machine-written-sources" not in front["tags"]
    assert "no person wrote" not in text


@pytest.mark.parametrize(("human", "place"), [(True, "beside"), (False, "in place of")])
def test_sources_that_a_model_wrote_for_the_system_are_told(run, tmp_path, human, place):
    sources = {"human": human, "written": 2, "mark": "written by back_model"}
    text = write_datasheet(run, tmp_path / "README.md", sources=sources)
    assert "machine-written-sources" in yaml.safe_load(text.split("---\n")[1])["tags"]
    assert f"up to 2 sources are written by back_model, {place} that of its pair" in text


def test_a_merge_tells_which_runs_have_sources_that_a_model_wrote(run, tmp_path):
    one = {"run": "a", "system": "s", "source": "cs", "unit": "select/s/v1", "licence": None}
    sources = {"human": True, "written": 2, "mark": "written by back"}
    runs = [{**one, "name": "a"}, {**one, "name": "b", "sources": sources}]
    plain = write_datasheet(run, tmp_path / "README.md", runs=runs[:1])
    assert "machine-written-sources" not in yaml.safe_load(plain.split("---\n")[1])["tags"]
    text = write_datasheet(run, tmp_path / "README.md", runs=runs)
    assert "machine-written-sources" in yaml.safe_load(text.split("---\n")[1])["tags"]
    assert "| b | a | s | cs; up to 2 sources written by back, beside that of the pair |" in text


@pytest.mark.parametrize(
    ("licences", "told"),
    [
        ([None, None], []),
        (["MIT", "CC-BY-4.0"], []),
        (["CC-BY-NC-4.0", "MIT"], ["The licence of this model forbids it, ", " as well: forward."]),
        ([None, "cc-by-nc-4.0"], ["of this model forbids it", "as well: backward."]),
        (["cc-by-nc-4.0"] * 2, ["The licences of these models forbid it", "forward, backward."]),
    ],
)
def test_licences_of_models_that_forbid_commerce_are_told(run, tmp_path, licences, told):
    models = [
        {"role": role, "name": "x", "origin": "folder x", "licence": licence, "trained_on": []}
        for role, licence in zip(("forward", "backward"), licences, strict=True)
    ]
    text = write_datasheet(run, tmp_path / "README.md", models=models)
    assert ("**No commercial use.**" in text) == bool(told)
    assert all(part in text for part in told)
    for role, licence in zip(("forward", "backward"), licences, strict=True):
        assert f"| {role} | folder x | {licence or 'not known'} | none of" in text


def test_stages_with_reasons(text):
    rows = {row[0]: row[1:] for row in table(text, "How it was made")}
    assert rows["corpus / news"] == [
        "pairs",
        "21,000",
        "20,645",
        "too_long 340, empty 12, not_utf8 3",
    ]
    assert rows["clean"][3] == "duplicate 901, ratio 230, copy 17"
    assert "train / forward" in rows
    assert "select / parabank2" in rows
    assert "select / beam" not in rows


def test_every_table_is_whole(text):
    # Lines of one table have the same number of cells.
    widths = []
    for line in [*text.splitlines(), ""]:
        if line.startswith("|"):
            widths.append(line.count("|"))
        else:
            assert len(set(widths)) <= 1, line
            widths = []


def test_counts_of_paraphrases_add_up(text):
    counts = [int(row[1]) for row in table(text, "How many")[1:]]
    assert sum(counts) == 120
    total = sum(number * count for number, count in enumerate(counts))
    assert f"{total} paraphrases of 120 sentences" in text


def test_direction_of_the_score_licence_and_models(text):
    assert "negative log-likelihood: lower is better" in text
    assert "`cc-by-4.0`, as the makers of this run set it" in text
    assert "| forward | 1,234,567 | 1,200 | 2.174 | 31.25 |" in text
    assert "sum of both NLLs at most 3.5000" in text
    assert "nrefs:1|" not in text  # would end its table cell


@pytest.mark.slow
def test_quality_only_where_it_is_known(run, text, tmp_path):
    assert "## How good" in text
    assert [row[0] for row in table(text, "How good")[1:]] == ["all", "held-out"]
    assert "## How good" not in write_datasheet(run, tmp_path / "beam.md", system="beam")


@pytest.mark.slow
def test_versions_days_and_commit(text, run, tmp_path, monkeypatch):
    provenance = text.split("## Provenance\n")[1]
    assert f"Made by Paraloom {version()}" in provenance
    assert (commit() is None) == (", commit " not in provenance)
    rows = {row[0]: row[1:] for row in table(text, "Provenance")[1:]}
    manifest = read_manifest(run.folder("select", "parabank2") / "manifest.json")
    tools = "; ".join(f"{tool} {', '.join(each)}" for tool, each in manifest["tools"].items())
    assert rows[f"`{manifest['name']}`"] == [str(manifest["version"]), tools]
    assert tools
    for name, folder in run.units_of(systems=["parabank2"]).items():
        # The days of the described stages count, whenever the datasheet is made.
        os.utime(folder / "manifest.json", (0, 86400 if name == "clean" else 3 * 86400))
    again = write_datasheet(run, tmp_path / "again.md")
    assert "The stages were made between 1970-01-02 and 1970-01-04. (Days in UTC.)" in again
    monkeypatch.setenv("SOURCE_DATE_EPOCH", "86400")
    again = write_datasheet(run, tmp_path / "again.md")
    assert "All stages were made on 1970-01-02. (Days in UTC.)" in again


@pytest.mark.slow
def test_the_configuration_is_one_block_of_yaml(run, tmp_path):
    assert "## Configuration" not in write_datasheet(run, tmp_path / "without.md")
    config = {"run": {"name": "a"}, "release": {"title": "```\n# no heading\n````"}}
    text = write_datasheet(run, tmp_path / "README.md", configuration=config)
    (block,) = re.findall(r"(?s)\n`````yaml\n(.*?)`````\n", text)
    assert yaml.safe_load(block) == config


def test_a_title_stays_on_its_line(run, tmp_path):
    text = write_datasheet(run, tmp_path / "README.md", title="One\n---\nlicense: mit")
    assert yaml.safe_load(text.split("---\n")[1])["license"] == "cc-by-4.0"
    assert "# One --- license: mit" in text.splitlines()


@pytest.mark.parametrize(
    ("title", "line"),
    [
        ("<script>alert(1)</script>", r"# \<script\>alert(1)\</script\>"),
        ("![x](https://a.b/c.png) [y](z)", r"# !\[x\](https://a.b/c.png) \[y\](z)"),
        ("`a` *b* _c_ ~~d~~ # &amp; $e$", r"# \`a\` \*b\* \_c\_ \~\~d\~\~ \# \&amp; \$e\$"),
        ("a\\ | b {c}", r"# a\\ \| b \{c\}"),
        ("Paraphrases of my_run: 'new', 100 - 2.5", "# Paraphrases of my_run: 'new', 100 - 2.5"),
    ],
)
def test_a_title_is_text_and_no_markdown(run, tmp_path, title, line):
    text = write_datasheet(run, tmp_path / "README.md", title=title)
    assert line in text.splitlines()
    assert yaml.safe_load(text.split("---\n")[1])["pretty_name"] == title


@pytest.mark.parametrize(
    ("licence", "shown"),
    [
        ("my `own`\n\n# x", "``my `own` # x``"),
        ("a` <b> `c", "``a` <b> `c``"),
        ("```", "```` ``` ````"),
    ],
)
def test_a_licence_is_code_whatever_it_holds(run, tmp_path, licence, shown):
    text = write_datasheet(run, tmp_path / "README.md", licence=licence)
    assert f"{shown}, as the makers of this run set it" in text


def test_the_released_folder_loads_by_its_card(run, tmp_path, monkeypatch):
    monkeypatch.setattr(datasets.config, "HF_HUB_OFFLINE", True)
    folder = tmp_path / "release"
    shards = sorted(run.folder("select", "parabank2").glob("*.parquet"))
    export.export(shards, folder, best=5, language="en")
    write_datasheet(run, folder / "README.md")
    corpus = datasets.load_dataset(str(folder), split="train", cache_dir=str(tmp_path / "cache"))
    assert len(corpus) == 120
    assert corpus.column_names == ["id", "reference", "paraphrases"]


@pytest.mark.parametrize(
    ("licence", "fields"),
    [
        ("cc0-1.0", {"license": "cc0-1.0"}),
        ("unknown", {"license": "unknown"}),
        (
            "Open Subtitles, research only",
            {"license": "other", "license_name": "Open Subtitles, research only"},
        ),
    ],
)
def test_licences(licence, fields):
    assert licence_fields(licence) == fields


@pytest.mark.parametrize(
    ("rows", "name"),
    [(0, "n<1K"), (999, "n<1K"), (1000, "1K<n<10K"), (10**8, "100M<n<1B"), (10**9, "n>1B")],
)
def test_sizes(rows, name):
    assert size_category(rows) == name


@pytest.mark.slow
def test_tree_edit_distances(text, run, tmp_path):
    groups = json.loads(run.measures("parabank2").read_text())["groups"]
    rank = groups["held_out"]["syntax"]["ranks"][1]
    (row,) = re.findall(r"Tree edit distance .*?\n(\| held-out .*?)\n", text, re.S)
    low, high = (f"{rank['interval'][end]:.2f}" for end in ("low", "high"))
    cells = [cell.strip() for cell in row.strip("|").split("|")]
    assert cells[2] == f"{rank['tree_edit_distance']:.2f} ({low} to {high})"
    assert "Tree edit distance" not in write_datasheet(run, tmp_path / "beam.md", "beam")
