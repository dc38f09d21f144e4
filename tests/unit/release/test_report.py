import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

from tests.tables import pair, selected, write_table
from tests.unit.made_up_run import write_manifest
from tests.unit.pages import Reader
from workflow_scripts.core.files.atomic import write_json, write_text
from workflow_scripts.core.files.manifest import write_record
from workflow_scripts.core.files.rows import ParaphrasesRow
from workflow_scripts.core.report.finished_run import FinishedRun
from workflow_scripts.core.report.rendering import environment
from workflow_scripts.plan.schema import defaults
from workflow_scripts.stages.evaluate.gain import Gain
from workflow_scripts.stages.evaluate.statistics import Sample, statistics
from workflow_scripts.stages.release import sections
from workflow_scripts.stages.release.report import main, report
from workflow_scripts.stages.release.sections import system_overview

MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")
BINS = ("forward", "backward", "sum")
LANGUAGES = {"source": "cs", "reference": "en"}


@pytest.fixture(scope="module")
def write_report(release, release_without, run):
    """Write the report of the run, of some systems and with some units more; return its text."""

    def write(output, embedded=(), systems=None, **changes):
        declared = release if embedded else release_without
        arguments = replace(run, **changes).arguments(systems=systems, more=embedded)
        arguments += ["--rows", json.dumps(declared.rows())]
        main([*arguments, "--sections", *declared.page_sections(), "--output", str(output)])
        return output.read_text(encoding="utf-8")

    return write


@pytest.fixture(scope="module")
def page(write_report, tmp_path_factory):
    return write_report(tmp_path_factory.mktemp("report") / "report.html")


@pytest.fixture(scope="module")
def reader(page):
    return Reader(page)


def test_a_run_of_pairs_from_outside_alone_has_a_page_without_counts_of_systems(tmp_path):
    told = {"title": "Pairs", "name": "pairs", "languages": LANGUAGES, "licence": "unknown"}
    functions = ("overview", "stages", "configuration")
    names = [f"{sections.__name__}:{function}" for function in functions]
    page = report(FinishedRun({**told, "quoted": {}}, [], {}), names)
    assert "Paraloom run <strong>pairs</strong>: paraphrases (en) from outside. Licence" in page
    assert re.findall('<h2 id="(.*?)"', page) == ["configuration"]


@pytest.mark.slow
def test_well_formed(reader):
    assert reader.faults == []
    assert reader.open == []
    assert len(reader.ids) == len(set(reader.ids))


def test_self_contained(page, reader):
    assert reader.references  # of the sections and inside the plots
    assert all(each.startswith("#") for each in reader.references)
    assert {each.removeprefix("#") for each in reader.references} <= set(reader.ids)
    assert not {"script", "link", "img", "iframe", "object", "embed"} & set(reader.tags)
    assert not re.search(r"@import|url\((?!#)", page)


def test_text_is_escaped(page, run):
    # A title, a reference and a configuration value try to break out.
    assert "<h1>Paraphrases of &lt;news&gt;: a &#39;test&#39;</h1>" in page
    assert "&lt;/script&gt;&lt;b&gt;not bold" in page
    assert "<b>" not in page
    assert "<script" not in page.lower()


def test_all_parts(page, run):
    assert page.count("<svg") == 2 + len(run.systems) + 1
    assert "threshold 3.5" in page
    assert "too_long 340, empty 12, not_utf8 3" in page
    assert page.count("<article>") == 12
    assert "lower is better" in page
    assert not re.search(r"20\d\d-\d\d-\d\d", page)  # the same bytes again


def test_sections_come_in_the_order_of_their_places(reader):
    assert [each for each in reader.ids if not each.startswith(("curve", "scores-", "ranks"))] == [
        *("references", "cost_and_gain", "overview", "stages", "models", "candidates", "scores"),
        *("diversity", "statistics", "quality", "papers", "configuration"),
    ]


@pytest.mark.slow
def test_embeddings_have_a_section_where_there_are_some(
    page, reader, write_report, embedded, tmp_path
):
    assert "embeddings" not in reader.ids
    assert "Word overlap" not in page and "STS by data set" not in page
    other = Reader(write_report(tmp_path / "report.html", embedded=embedded))
    assert other.faults == []
    place = other.ids.index("embeddings")
    assert other.ids[place - 1 : place + 2] == ["statistics", "embeddings", "quality"]
    assert "#embeddings" in other.references


@pytest.mark.slow
def test_one_system_without_testbed(write_report, tmp_path):
    reader = Reader(write_report(tmp_path / "report.html", systems=["beam"]))
    assert "quality" not in reader.ids
    assert reader.faults == []


@pytest.mark.slow
def test_a_run_without_paraphrases_threshold_curve_and_bleu(write_report, tmp_path):
    measures = {
        "config": {"best": 1, "groups": {"seen": ["x"]}},
        "threshold": {"keep": None, "max_sum": None, "kept": 4},
        "groups": {},
    }
    rank = dict.fromkeys(("one_minus_bleu", "mean_sum", "interval"))
    counts = {"rank": 1, "listed": 0, "repeated": 0, "copies": 0}
    scores = {"candidates": 4, "pruned": 0, "width": 0.1, **dict.fromkeys(BINS, [0] * 101)}
    for name in ("all", "seen"):
        measures["groups"][name] = {
            "references": 3,
            "references_by_paraphrases": [3, 0],
            "gain": Gain("en").result(10, 1),
            "ranks": [rank | counts],
            "by_length": [
                {"from": 0, "to": None, "references": 3, "references_by_paraphrases": [3, 0]}
                | {"ranks": [rank | counts]}
            ],
            "exact_lengths": [
                {"length": 5, "references": 0, "references_by_paraphrases": [0, 0], "drawn": 0}
                | {"ranks": [rank | counts | {"modified_bleu": None}]}
            ],
            "difference": None,
            "between": [],
            "testbed": None,
            "syntax": None,
            "scores": scores,
        }
    write_json(tmp_path / "evaluate/s/v1-0123456789ab/measures.json", measures)
    nothing = np.empty(0, np.float32)
    kinds = {"score": "vectors", "told": "classifier"}
    columns = dict.fromkeys(("overlap_3", *kinds), nothing)
    empty = Sample([], [], [], columns, {"told": nothing})
    write_json(tmp_path / "evaluate/s/v1-0123456789ab/statistics.json", statistics(empty, kinds))
    model = {"parameters": 5, "validation_perplexity": 3.0, "bleu": None}
    write_json(tmp_path / "train/forward/v1-0123456789ab/metrics.json", model)
    curve = tmp_path / "train/forward/v1-0123456789ab/learning_curve.tsv"
    write_text(curve, "updates\ttrain_perplexity\tvalidation_perplexity\n")
    row = selected(pair("x:1"), []) | {"candidates": 4, "kept": 4, "reason": "none 1"}
    write_table(tmp_path / "select/s/v1-0123456789ab/0000.parquet", ParaphrasesRow, [row])
    evaluated = {"evaluation": ["measures.json"], "counting": ["statistics.json"]}
    units = {}
    for stage, instance, config, parts in (
        ("corpus", "x", {}, {}),
        ("subword", "main", {"train": ["x"]}, {}),
        ("generate", "references", {"corpora": ["x"]}, {}),
        ("train", "forward", {}, {"model": ["metrics.json", "learning_curve.tsv"]}),
        ("select", "s", {}, {}),
        ("evaluate", "s", {"groups": {}}, evaluated),
    ):
        folder = tmp_path / stage / instance / "v1-0123456789ab"
        for name, files in parts.items():
            write_record(folder / name, 0, 0, {}, files=[folder / file for file in files])
        shards = int(stage == "select")
        units[f"{stage}/{instance}"] = write_manifest(
            tmp_path, stage, instance, config, shards=shards, parts=parts
        )
    config = {"title": "T", "name": "n", "licence": "l", "languages": LANGUAGES, "seed": 1}
    config["systems"] = {"s": {"select": {"best": 1}}}
    page = write_report(tmp_path / "report.html", units=units, config=config)
    reader = Reader(page)
    assert reader.faults == []
    assert page.count("<svg") == 1
    assert "no threshold" in page
    assert "Between ranks" not in page
    assert "none 1" in page


@pytest.mark.parametrize(
    ("keep", "bound", "told"),
    [
        ({"probability": 0.5}, ([], [0.5]), "probability ≥ 0.500"),
        ({"probability_quantile": 0.1}, ([], [0.75]), "probability ≥ 0.750 (quantile 0.1)"),
        (
            {"max_sum": 3.5, "precision": 0.75},
            ([7, 14], [0.4, 0.6, 0.8]),
            "≤ 3.500, probability ≥ 0.400 (to 7 words), 0.600 (to 14 words), 0.800 (above) "
            "(precision 0.75 on the judge's labels)",
        ),
    ],
)
def test_the_bound_of_a_judge_is_told(keep, bound, told):
    scores = {"candidates": 10, "pruned": 1}
    measures = {
        "groups": {"all": {"references": 2, "references_by_paraphrases": [0, 2], "scores": scores}},
        "threshold": {
            **{"keep": keep, "max_sum": keep.get("max_sum"), "kept": 8},
            "probability": {"ends": bound[0], "least": bound[1], "judged": 8, "kept": 4},
        },
    }
    one = system_overview("s", measures)
    assert one["kept"] == 4
    shown = {"tiles": [], "overviews": [one], "groups": {}, "most_paraphrases": 0}
    template = environment(Path(sections.__file__).with_name("templates"))
    page = template.get_template("overview.html.j2").render(shown)
    cells = re.findall(r'<td class="number wrapped">(.*?)</td>', page, re.S)
    assert [" ".join(unescape(cell).split()) for cell in cells] == [told]
