import json
import shutil
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.tables import candidate, pair, write_table
from tests.unit.nmt.test_shortlist import write as write_with_shortlist
from workflow_scripts.core.files.manifest import read_record, write_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import CandidatesRow, ScoredRow
from workflow_scripts.nmt.divergence import Compared, Group, compared
from workflow_scripts.nmt.loaders import load_model
from workflow_scripts.nmt.scoring import score
from workflow_scripts.stages.score import shard
from workflow_scripts.stages.score.shard import (
    best_of_sources,
    distinct,
    main,
    ranked,
    score_rows,
    thinned,
    with_backward,
)
from workflow_scripts.stages.select.shard import select
from workflow_scripts.stages.subword.segmenter import Segmenter


def sampled(text, forward, variant="v", source=None):
    candidate = {"set": 0, "sample": 0, "variant": variant, "text": text, "forward_nll": forward}
    return candidate | {"source": source}


def test_distinct_keeps_the_lowest_nll_all_variants_and_counts():
    given = [("x", 2.0, "b"), ("y", 1.0), ("x", 1.5, "c"), ("x", 1.5, "a"), ("x", 0.5, "b/1", "w")]
    merged = distinct(sampled(*each) for each in given)
    assert [tuple(found.values()) for found in merged] == [
        ("x", 1.5, None, None, 3, "b c a", None, None, None),
        ("y", 1.0, None, None, 1, "v", None, None, None),
        ("x", 0.5, None, None, 1, "b/1", "w", None, None),
    ]


def left(given, most, language):
    """The numbers of the candidates that are left; all else of the row stays."""
    row = pair("c:1", reference="that man") | {"candidates": [sampled(*each) for each in given]}
    fewer = thinned(row, most, language)
    assert fewer == row | {"candidates": fewer["candidates"]}
    return [row["candidates"].index(each) for each in fewer["candidates"]]


@pytest.mark.parametrize(
    ("most", "given", "expected"),
    [
        (1, [("He left.", 0.5), ("he Left", 0.4), ("He has left!", 0.6), ("It ran.", 0.7)], [1, 3]),
        (
            1,
            [("A cat saw a dog.", 0.5), ("The dog saw the cat.", 0.2), ("A cat ran.", 0.9)],
            [1, 2],
        ),
        (1, [("It is.", 0.5), ("It is not.", 0.4), ("Is it?", 0.3), ("Was he?", 0.2)], [1, 2, 3]),
        (2, [("A cat", 0.3), ("My cat", 0.5), ("The cat!", 0.2), ("It", 0.1)], [0, 2, 3]),
        # Of the words of "A man" and the reference, "that man", a third is common; here all are.
        (1, [("A man", 0.5), ("That man", 1.1)], [1]),
        (1, [("A man", 0.5), ("That man", 1.2)], [0]),
        # Of equal ones the smaller text; all samples of it, and no other source of it.
        (1, [("The man", 0.5), ("A man", 0.5), ("A man", 0.9, "b")], [1, 2]),
        (1, [("A man", 0.5, "v", "w"), ("A man", 0.5), ("The man", 0.4, "v", "u")], [2]),
        (2, [("A man", 0.5, "v", "w"), ("A man", 0.6, "v", "u"), ("A man", 0.5)], [2]),
    ],
)
def test_of_each_content_the_likeliest_are_left(most, given, expected):
    assert left(given, most, "en") == expected


def test_of_other_languages_case_and_marks_are_no_content():
    assert left([("O gato", 0.5), ("o gato!", 0.4), ("Um gato", 0.6)], 1, "pt") == [1, 2]
    assert left([], 1, "pt") == []


def test_of_each_content_what_is_pruned_takes_no_place():
    row = pair("c:1", reference="that man")
    row |= {"candidates": [sampled("A man", 0.5), sampled("That man", 1.1)]}
    assert thinned(row, 1, "en", 1.0)["candidates"] == row["candidates"][:1]
    assert thinned(row, 1, "en", 1.1)["candidates"] == row["candidates"][1:]
    assert thinned(row, 1, "en", 0.4)["candidates"] == row["candidates"][1:]


def test_a_text_keeps_the_source_that_gives_the_lowest_sum_and_all_variants():
    found = [
        candidate("x", 1.0, 2.0, variant="b"),
        candidate("x", 2.0, 0.5, variant="b/1", source="w", count=2),
        candidate("x", 0.5, None, variant="b/2", source="u"),
        candidate("y", 3.0, None, variant="b"),
        candidate("y", 2.5, None, variant="b/1", source="w"),
        candidate("z", 1.0, 1.0, variant="b"),
        candidate("z", 1.0, 1.0, variant="b/1", source="w"),
    ]
    assert best_of_sources(found) == [
        candidate("x", 2.0, 0.5, variant="b b/1 b/2", source="w", count=4),
        candidate("y", 2.5, None, variant="b b/1", source="w", count=2),
        candidate("z", 1.0, 1.0, variant="b b/1", count=2),
    ]


def test_a_candidate_is_scored_against_the_sources_that_gave_it_alone(monkeypatch):
    asked = []

    def compared_texts(model, texts, read, write, batch_tokens, shortlist):
        asked.extend(texts)
        nlls = {"s": 3.0, "w": 1.0, "u": 2.0}
        return [Compared(nlls[source], -1.0, nlls[source] / 8) for _, source, _ in texts]

    monkeypatch.setattr(shard, "compared_texts", compared_texts)
    as_it_is = SimpleNamespace(pieces=str, ids=str)
    model = SimpleNamespace(source_ids=str, target_vocab=as_it_is)
    given = [("x", 0.5, "b"), ("x", 1.0, "b/1", "w"), ("y", 0.5, "b"), ("z", 0.5, "b/2", "u")]
    row = pair("c:1") | {"candidates": [sampled(*each) for each in given]}
    (scored,) = score_rows([row], model, as_it_is, as_it_is, None, 100)
    assert asked == [("r", "s", "x"), ("r", "w", "x"), ("r", "s", "y"), ("r", "u", "z")]
    names = ("text", "sum", "source", "lost", "divergence")
    assert [tuple(each[name] for name in names) for each in scored["candidates"]] == [
        ("x", 2.0, "w", -1.0, 0.125),
        ("z", 2.5, "u", -1.0, 0.25),
        ("y", 3.5, None, -1.0, 0.375),
    ]


def test_sums_are_rounded_as_they_are_stored_and_never_below_the_forward_nll():
    found = Compared(1e-12, 0.1, 1 / 3)
    scored = with_backward({"forward_nll": float(np.float32(0.1))}, found)
    assert scored["sum"] == scored["forward_nll"] == float(np.float32(scored["sum"]))
    assert (scored["lost"], scored["divergence"]) == tuple(map(float, np.float32(found[1:])))


def test_ranked_puts_missing_sums_last_and_breaks_ties_by_text():
    candidates = [
        {"text": text, "sum": total}
        for text, total in [("d", None), ("c", 0.5), ("b", 0.5), ("e", 0.0), ("a", None)]
    ]
    assert [found["text"] for found in ranked(candidates)] == ["e", "b", "c", "a", "d"]


nlls = st.floats(0, 5, width=32)


@pytest.mark.slow
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(
        st.tuples(st.lists(st.sampled_from("abcd"), min_size=1, max_size=4), nlls, nlls),
        max_size=12,
    ),
    st.floats(0.5, 4),
    st.floats(0, 2),
)
def test_pruned_or_not_the_selection_is_the_same(monkeypatch, drawn, max_sum, margin):
    backward = {" ".join(words): nll for words, _, nll in drawn}
    segmenter = SimpleNamespace(pieces=str.split)
    vocabulary = SimpleNamespace(ids=lambda pieces: pieces)
    model = SimpleNamespace(source_ids=vocabulary.ids, target_vocab=vocabulary)
    monkeypatch.setattr(
        shard,
        "compared_texts",
        lambda model, texts, *_, shortlist: [
            Compared(backward[text], 0.0, 0.0) for *_, text in texts
        ],
    )
    row = {
        "id": "c:1",
        "source": "z",
        "reference": "a b",
        "corpus": "c",
        "candidates": [sampled(" ".join(words), forward) for words, forward, _ in drawn],
    }
    config = {"method": "cluster", "clusters": 3, "best": 3}
    selections = []
    for prune_above in (None, max_sum + margin):
        (scored,) = score_rows([row], model, segmenter, segmenter, prune_above, 100)
        assert all(
            (found["sum"] is None)
            == (prune_above is not None and found["forward_nll"] > prune_above)
            for found in scored["candidates"]
        )
        selections.append(select(scored, config, max_sum, str.split))
    assert selections[0] == selections[1]


@pytest.fixture(scope="module")
def backward_model(nmt_oracle, tmp_path_factory):
    """The oracle's model used as a backward one: its source side plays the references."""
    return nmt_oracle.copy_model(tmp_path_factory.mktemp("backward"), languages=("en", "cs"))


@pytest.mark.slow
def test_main_scores_every_text_with_the_backward_model(tmp_path, backward_model):
    rows = [
        (
            "A man rides a bike.",
            "Muž na kole jede.",
            [("Muž jede na kole.", 1.0), ("Muž na kole.", 3.0), ("Muž jede na kole.", 0.5)],
        ),
        ("Two dogs run.", "Dva psi běží.", []),
        ("A dog sleeps.", "spí " * 200, [("pes " * 200, 0.5), ("Pes spí.", 2.0)]),
    ]
    candidates = tmp_path / "candidates.parquet"
    none = {"sets": [], "dropped": 0, "blocked": 0, "unmet": 0}
    generated = [
        pair(f"c:{number}", *texts) | none | {"candidates": [sampled(*each) for each in found]}
        for number, (*texts, found) in enumerate(rows)
    ]
    write_table(candidates, CandidatesRow, generated)

    def run_main(name, prune_above, **more):
        output = tmp_path / name
        config = json.dumps({"prune_above": prune_above, "precision": "fp32", **more})
        files = ["--candidates", candidates, "--model", backward_model, "--output", output]
        main(["--config", config, *map(str, files), "--device", "cpu", "--batch-tokens", "64"])
        return output

    output = run_main("0000.parquet", 2.5)
    assert output.read_bytes() == run_main("again.parquet", 2.5).read_bytes()
    scored = list(read_rows(output, ScoredRow))
    assert [(c["text"], c["count"]) for c in scored[0]["candidates"]] == [
        ("Muž jede na kole.", 2),
        ("Muž na kole.", 1),
    ]
    first, pruned = scored[0]["candidates"]
    assert first["forward_nll"] == 0.5
    names = ("backward_nll", "sum", "lost", "divergence")
    assert [pruned[name] for name in names] == [None] * 4
    assert scored[1]["candidates"] == []
    assert [c["text"] for c in scored[2]["candidates"]] == ["Pes spí.", "pes " * 200]
    assert scored[2]["candidates"][1]["sum"] == np.inf
    # Its reference can't be read.
    both = [(c["lost"], c["divergence"]) for c in scored[2]["candidates"]]
    assert both == [(None, None)] * 2

    model = load_model(backward_model, "cpu", "fp32")
    references = Segmenter(backward_model / "reference.model")
    sources = Segmenter(backward_model / "source.model")
    for row, text in [(scored[0], "Muž jede na kole."), (scored[2], "Pes spí.")]:
        both = (
            model.source_vocab.ids(references.pieces(text)),
            model.target_vocab.ids(sources.pieces(row["source"])),
        )
        expected = next(iter(score(model, [both])))
        assert row["candidates"][0]["backward_nll"] == pytest.approx(expected, abs=1e-5)
        total = row["candidates"][0]["forward_nll"] + expected
        assert row["candidates"][0]["sum"] == pytest.approx(total, abs=1e-5)
    ids = [
        model.source_vocab.ids(references.pieces(text))
        for text in (scored[0]["reference"], first["text"])
    ]
    target = model.target_vocab.ids(sources.pieces(scored[0]["source"]))
    [[expected]] = compared(model, [Group(target, ids[0], ids[1:])])
    assert (first["lost"], first["divergence"]) == pytest.approx(expected[1:], abs=1e-4)
    assert first["divergence"] > 0.01
    record = read_record(output)
    assert record["extra"] == {"candidates": 5, "distinct": 4, "pruned": 1, "unreadable": 1}

    generated[0]["candidates"].append(sampled("muž na kole jede", 0.9))
    generated[0]["candidates"].append(sampled("muž jede na kole", 0.6))
    write_table(candidates, CandidatesRow, generated)
    thin = run_main("thin.parquet", 2.5, of_each_content=1, language="en")
    assert list(read_rows(thin, ScoredRow)) == scored
    assert read_record(thin)["extra"] == record["extra"] | {"near_doubles": 2}

    everything = list(read_rows(run_main("all.parquet", None), ScoredRow))
    assert [c["backward_nll"] is None for row in everything for c in row["candidates"]] == [
        False
    ] * 6


def test_scores_keep_to_the_shortlist_where_it_is_asked_for_and_there(tmp_path):
    row = pair("c:1", "9 10", "5 6") | {"sets": [], "dropped": 0, "blocked": 0, "unmet": 0}
    candidates = tmp_path / "candidates.parquet"
    write_table(candidates, CandidatesRow, [row | {"candidates": [sampled("7 8", 1.0)]}])
    found = []
    for number, (block, has) in enumerate(
        [({}, True), ({"shortlist": True}, False), ({"shortlist": True}, True)]
    ):
        model = write_with_shortlist(tmp_path / f"{number}")
        if not has:
            next(model.glob("lex*.bin")).unlink()
        for side in ("source", "reference"):
            shutil.copy(model / "vocab.xxyy.spm", model / f"{side}.model")
        write_record(model / "model", 0, 0, {}, files=sorted(model.iterdir()))
        output = tmp_path / f"{number}.parquet"
        config = json.dumps({"prune_above": None, "precision": "fp32", **block})
        files = ["--candidates", candidates, "--model", model, "--output", output]
        main(["--config", config, *map(str, files), "--device", "cpu"])
        [scored] = read_rows(output, ScoredRow)
        found.append(scored["candidates"])
    everything, lacking, restricted = found
    assert everything == lacking
    assert restricted[0]["backward_nll"] < everything[0]["backward_nll"]
