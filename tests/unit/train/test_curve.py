import xml.etree.ElementTree as ElementTree

import pytest

from workflow_scripts.stages.train.curve import (
    COLUMNS,
    curve,
    plot,
    read_metrics,
    write_plot,
    write_table,
)

METRICS = (
    "1\tconverged=False\tepoch=0\tlearning-rate=0.001\tperplexity-train=90.5\tperplexity-val=40.0\n"
    "2\tconverged=False\tepoch=1\tlearning-rate=0.0005\tperplexity-train=20.0\tperplexity-val=9.25\n"
    "3\tconverged=True\tepoch=2\tlearning-rate=0.0001\tperplexity-train=9.0\tperplexity-val=12.5\n"
)


def rows(tmp_path) -> list[dict]:
    path = tmp_path / "metrics"
    path.write_text(METRICS)
    return curve(read_metrics(path), checkpoint_updates=100, updates=250)


def test_the_last_checkpoint_may_come_early(tmp_path):
    assert [row["updates"] for row in rows(tmp_path)] == [100, 200, 250]
    assert rows(tmp_path)[1] == {
        "checkpoint": 2,
        "updates": 200,
        "epoch": 1,
        "learning_rate": 0.0005,
        "train_perplexity": 20.0,
        "validation_perplexity": 9.25,
    }


def test_the_table_has_a_header_and_a_line_per_checkpoint(tmp_path):
    write_table(tmp_path / "curve.tsv", rows(tmp_path))
    lines = [line.split("\t") for line in (tmp_path / "curve.tsv").read_text().splitlines()]
    assert tuple(lines[0]) == COLUMNS
    assert lines[2] == ["2", "200", "1", "0.0005", "20", "9.25"]
    assert len(lines) == 4


def test_counts_are_written_in_full(tmp_path):
    row = dict.fromkeys(COLUMNS, 0.0001234567) | {"checkpoint": 1, "updates": 1234567, "epoch": 1}
    write_table(tmp_path / "curve.tsv", [row])
    cells = (tmp_path / "curve.tsv").read_text().splitlines()[1].split("\t")
    assert cells[:4] == ["1", "1234567", "1", "0.000123457"]


def test_the_plot_shows_both_curves_and_marks_the_best_checkpoint(tmp_path):
    axes = plot(rows(tmp_path), "forward model").axes[0]
    training, validation, best = axes.get_lines()
    assert list(training.get_ydata()) == [90.5, 20.0, 9.0]
    assert list(validation.get_ydata()) == [40.0, 9.25, 12.5]
    assert (list(best.get_xdata()), list(best.get_ydata())) == ([200], [9.25])
    # It says nothing of dropout, which some models are trained without.
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["training", "validation"]
    assert axes.get_xlabel() == "updates"
    assert "perplexity" in axes.get_ylabel()


@pytest.mark.slow
def test_the_plot_is_an_svg_and_the_same_bytes_each_time(tmp_path):
    for name in ("one.svg", "two.svg"):
        write_plot(tmp_path / name, rows(tmp_path), "forward model")
    content = (tmp_path / "one.svg").read_bytes()
    assert content == (tmp_path / "two.svg").read_bytes()
    assert ElementTree.fromstring(content).tag.endswith("svg")


def test_a_model_trained_elsewhere_has_an_empty_curve(tmp_path):
    write_table(tmp_path / "curve.tsv", [])
    write_plot(tmp_path / "curve.svg", [], "forward model")
    assert (tmp_path / "curve.tsv").read_text() == "\t".join(COLUMNS) + "\n"
    assert b"updates" in (tmp_path / "curve.svg").read_bytes()
