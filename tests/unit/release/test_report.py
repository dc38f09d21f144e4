import json
import re
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

from tests.unit.release.sts_example import QUOTED
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.schema import defaults
from workflow_scripts.core.tables import read_rows
from workflow_scripts.evaluate.statistics import Sample, statistics
from workflow_scripts.release import report
from workflow_scripts.release.report import main, matrix, named_path, sample_references

MODEL, TRAINING = defaults("embedding_model"), defaults("embedding_training")
BINS = ("forward", "backward", "sum")
LANGUAGES = {"source": "cs", "reference": "en"}
VOID = {"meta", "br", "img", "hr", "input", "link"}


def arguments(run, systems=None):
    systems = systems or run.systems
    found = ["--config", json.dumps(run.config)]
    found += ["--manifests", *map(str, run.manifests)]
    found += ["--measures", *(f"{system}={run.measures(system)}" for system in systems)]
    found += ["--statistics", *(f"{system}={run.statistics(system)}" for system in systems)]
    found += ["--models", *(f"{role}={run.model(role)}" for role in ("forward", "backward"))]
    found += ["--selected", *(f"{system}={run.folder('select', system)}" for system in systems)]
    return [*found, "--shards", "2"]


def write_report(run, output, more=(), **options):
    main([*arguments(run, **options), *more, "--output", str(output)])
    return output.read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def page(run, tmp_path_factory):
    return write_report(run, tmp_path_factory.mktemp("report") / "report.html")


class Reader(HTMLParser):
    """Collects what the tests ask of a page, and its faults of nesting."""

    def __init__(self, page):
        super().__init__()
        self.open, self.faults, self.tags, self.ids, self.references = [], [], [], [], []
        self.text = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "data", "action", "srcset"):
                self.references.append(value)
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attributes):
        self.handle_starttag(tag, attributes)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append((tag, self.getpos()))

    def handle_data(self, data):
        self.text.append(data)


@pytest.fixture(scope="module")
def reader(page):
    return Reader(page)


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


def test_hostile_references_are_shown_as_they_are(run, tmp_path, monkeypatch):
    monkeypatch.setattr(report, "SAMPLE", 1000)
    reader = Reader(write_report(run, tmp_path / "report.html"))
    assert reader.faults == []
    assert set(run.hostile) <= set(reader.text)


def test_the_same_bytes_again(page, run, tmp_path):
    assert write_report(run, tmp_path / "again.html") == page
    assert not re.search(r"20\d\d-\d\d-\d\d", page)


def test_all_parts(page, reader, run):
    for section in ("overview", "stages", "models", "scores", "diversity", "quality", "references"):
        assert section in reader.ids
    assert page.count("<svg") == 2 + len(run.systems) + 1
    assert "threshold 3.5" in page
    assert "too_long 340, empty 12, not_utf8 3" in page
    assert page.count("<article>") == 50
    assert "lower is better" in page


def test_seen_and_held_out_are_marked(page):
    seen, held_out = page.count('class="badge seen"'), page.count('class="badge held_out"')
    assert seen + held_out == 50
    assert f"Seen references: {seen}" in page
    assert f"Held-out references: {held_out}" in page
    for badge, corpus in re.findall(r'class="badge (\w+)">.*?</span> (\w+):\d+', page):
        assert (badge == "held_out") == (corpus == "news_held_out")


def test_figures_are_those_of_the_measures(page, run):
    for system in run.systems:
        groups = json.loads(run.measures(system).read_text())["groups"]
        for group in groups.values():
            for rank in group["ranks"]:
                assert f">{rank['one_minus_bleu']:.2f} " in page
                assert f">{rank['pieces']['intersection_over_union']:.2f}<" in page


def test_statistics_of_every_system(page, run):
    for system in run.systems:
        found = json.loads(run.statistics(system).read_text())
        for side in found["sides"].values():
            assert f">{side['entropy']['trigrams']:.2f}<" in page
        assert f">{found['correlations']['told']['length']:.2f}<".replace("-", "\u2212") in page
        assert f"{system}: pairs by score" in page


def test_measures_by_length_of_the_reference(page, run):
    part = page[page.index("By length of the reference") :]
    part = part[: part.index("</table>")]
    for heading in ("0 to 5", "6 to 10", "11 to 20", "21 to 40", "over 40"):
        assert f">{heading}</th>" in part
    for system in run.systems:
        for each in json.loads(run.measures(system).read_text())["groups"]["all"]["by_length"]:
            assert f">{each['references']}</td>" in part
            for rank in (each["ranks"][0], each["ranks"][-1]):
                if rank["pairs"]:
                    assert f">{rank['one_minus_bleu']:.2f}</td>" in part


SETTINGS = [
    {"name": "word", "model": MODEL, "training": TRAINING | {"mega_batch": 20}},
    {"name": "trigram", "model": MODEL | {"encoders": ["trigram"]}, "training": TRAINING},
]


@pytest.fixture(scope="module")
def embeddings(run, embedded, tmp_path_factory):
    config = {**run.config, "quoted": QUOTED, "embeddings": SETTINGS}
    output = tmp_path_factory.mktemp("embeddings") / "report.html"
    page = write_report(replace(run, config=config), output, more=embedded)
    reader = Reader(page)
    assert reader.faults == [] and "embeddings" in reader.ids
    return page[page.index('id="embeddings"') :].split("</section>")[0]


def captioned(page, caption):
    page = page[page.index(caption) :]
    return page[: page.index("</table>")]


def cells(row):
    """The text of a row's cells."""
    found = re.findall(r"<t[hd][^>]*>(.*?)</t[hd]>", row)
    return [re.sub(r"<[^>]*>", "", each) for each in found]


def rows_of(table):
    return [cells(row) for row in re.findall(r"<tr>(.*?)</tr>", table)]


def test_embeddings_by_training_set(embeddings):
    head, below, first, second, overlap = rows_of(captioned(embeddings, "cost (as ParaBank 2"))
    assert head == ["training set", "system", "chosen by", "pairs", "word", "trigram"]
    assert below == ["untrained", "trained"] * 2
    said = "rank 1 to 2; sum ≤ 3.5; part 1 of 2 by translation_cost"
    assert first == [
        *("cost-beam-1", "beam", said, "1,200", "40.0 ± 0.0", "65.0 ± 7.1", "40.0", "90.0")
    ]
    assert second[3:] == ["1,201", "40.0", "50.0", "", ""]
    assert overlap == ["word overlap", "", "", "", "", "60.0", "", "60.0"]
    assert rows_of(captioned(embeddings, "The embeddings"))[1][:2] == ["word", "word"]
    assert "20 x 100" in embeddings
    assert "Data sets: 4, with 6,616 pairs" in embeddings
    assert "these are missing: 2013.headlines, 2013.OnWN" in embeddings


def test_embeddings_by_data_set_with_quoted_figures(embeddings):
    table = rows_of(captioned(embeddings, "Years of SemEval"))
    assert table[0] == ["embedding", "training set", "2012", "2013", "sick.test", "mean"]
    assert table[1] == ["word overlap", "", "60.0", "60.0", "60.0", "60.0"]
    assert table[2][3:] == ["60.0 ± 14.1", "70.0 ± 0.0", "65.0 ± 7.1"]
    assert table[-2] == ["Theirs", "quoted: Doe 2020, Table 1", "66.6", "", "77.7", ""]


def test_gains_with_their_intervals(embeddings):
    row = rows_of(captioned(embeddings, "Mean Pearson's r x 100 of the trained"))[1]
    expected = ["20.0 15.0 to 25.1", "\u22125.0 \u221210.0 to 25.1"]
    assert row == ["word", "cost-beam-1", "1", *expected]


def test_differences_between_training_sets_with_their_intervals(embeddings):
    first, second = rows_of(captioned(embeddings, "Mean Pearson's r x 100 of the embedding"))[1:]
    assert first == ["word", "cost-beam-1", "cost-beam-2", "\u221215.0 \u221220.1 to 1.0"]
    assert second[:3] == ["word", "cost-beam-1", "all-beam"]


def test_no_embeddings_no_section(page, reader):
    assert "embeddings" not in reader.ids
    assert "Word overlap" not in page and "quoted" not in page.split("</style>")[1]


def test_parse_entropies_are_those_of_the_statistics(page, run, tmp_path):
    sides = json.loads(run.statistics("parabank2").read_text())["sides"]
    for side in (each["parse_entropy"] for each in sides.values()):
        assert side["trees"] > 1
        shown = f'{side["entropy"]:.2f} <span class="interval">{side["trees"]} trees</span>'
        assert f'<td class="number">{shown}</td>' in page
    unparsed = write_report(run, tmp_path / "report.html", systems=["beam"])
    assert " trees</span>" not in unparsed


def test_tree_edit_distances_are_those_of_the_measures(page, run, tmp_path):
    groups = json.loads(run.measures("parabank2").read_text())["groups"]
    for group in groups.values():
        for rank in group["syntax"]["ranks"]:
            interval = rank["interval"]
            shown = f'{rank["tree_edit_distance"]:.2f} <span class="interval">'
            assert f">{shown}{interval['low']:.2f} to {interval['high']:.2f}<" in page
        assert f">{group['syntax']['without_trees']}<" in page
    for pair in groups["all"]["syntax"]["between"]:
        ranks = f"<td>{pair['first']}, {pair['second']}</td>"
        assert f'{ranks}<td class="number">{pair["tree_edit_distance"]:.2f}</td>' in page
    unparsed = write_report(run, tmp_path / "report.html", systems=["beam"])
    assert "Tree edit distance" not in unparsed


def test_between_ranks():
    pair = {"pairs": 4, "one_minus_bleu": 60.0, "words": {"intersection_over_union": 30.0}}
    group = {"between": [{"first": 1, "second": 2, **pair}]}
    assert matrix(group, 2) == [[None, 60.0], [30.0, None]]
    assert matrix({"between": [{"first": 1, "second": 2, "pairs": 0}]}, 2) == [[None] * 2] * 2


def test_one_system_without_testbed(run, tmp_path):
    reader = Reader(write_report(run, tmp_path / "report.html", systems=["beam"]))
    assert "quality" not in reader.ids
    assert reader.faults == []


def test_a_run_without_paraphrases_threshold_curve_and_bleu():
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
            "ranks": [rank | counts],
            "by_length": [
                {"from": 0, "to": None, "references": 3, "references_by_paraphrases": [3, 0]}
                | {"ranks": [rank | counts]}
            ],
            "difference": None,
            "between": [],
            "testbed": None,
            "syntax": None,
            "scores": scores,
        }
    model = {"parameters": 5, "validation_perplexity": 3.0, "bleu": None, "curve": []}
    row = {"id": "x:1", "source": "s", "reference": "r", "corpus": "x", "paraphrases": []}
    config = {"title": "T", "name": "n", "licence": "l", "languages": LANGUAGES, "systems": {}}
    stage = {"label": "corpus", "stage": "corpus", "name": "corpus/v1", "config": {}, "tools": {}}
    stage |= {"rows_in": 0, "rows_out": 0, "rejected": {}, "counts": {}}
    nothing = np.empty(0, np.float32)
    kinds = {"score": "vectors", "told": "classifier"}
    empty = Sample([], [], dict.fromkeys(("overlap_3", *kinds), nothing))
    page = report.report(
        config,
        [stage],
        {"s": measures},
        {"s": statistics(empty, kinds)},
        {"forward": model},
        {"s": [row | {"reason": "none 1"}]},
    )
    reader = Reader(page)
    assert reader.faults == []
    assert page.count("<svg") == 1
    assert "no threshold" in page
    assert "Between ranks" not in page
    assert "none 1" in page


def test_sample_is_seeded_and_independent_of_system_and_order(run):
    samples = {}
    for system in run.systems:
        shards = sorted(run.folder("select", system).glob("*.parquet"))
        samples[system] = [row["id"] for row in sample_references(shards, seed=1)]
        assert [row["id"] for row in sample_references(shards[::-1], seed=1)] == samples[system]
        assert [row["id"] for row in sample_references(shards, seed=2)] != samples[system]
    assert samples["parabank2"] == samples["beam"]
    assert len(set(samples["beam"])) == 50
    rows = [row for path in shards for row in read_rows(path, "paraphrases")]
    assert set(samples["beam"]) < {row["id"] for row in rows}


def test_bad_input(run, tmp_path):
    with pytest.raises(InputError, match="'beam' is not of the form name=path"):
        named_path("beam")
    shard = run.folder("select", "beam") / "0001.parquet"
    content = shard.read_bytes()
    shard.write_bytes(content + b"\0")
    try:
        with pytest.raises(InputError, match="differs from what its stage wrote"):
            write_report(run, tmp_path / "report.html")
    finally:
        shard.write_bytes(content)
    assert not (tmp_path / "report.html").exists()
