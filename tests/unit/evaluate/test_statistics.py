import json

import numpy as np
import pytest

from tests import tables
from tests.unit.filter.conftest import arguments, pair, write_table
from tests.unit.saved_classifier import save_classifier
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.rows import PairColumnsRow, PairValueRow, ScoredRow, TreesRow
from workflow_scripts.core.statistics.rank_correlation import spearman
from workflow_scripts.core.text.normalisation import words
from workflow_scripts.stages.evaluate.statistics import (
    Sample,
    bins,
    classifiers,
    main,
    spread,
    statistics,
)
from workflow_scripts.stages.filter import pair_stream

REFERENCES = ["The dog sees the cat.", "A man reads.", "Nobody came on that cold day."]
PARAPHRASES = [
    ("The dog is looking at the cat.", "A dog sees a cat."),
    ("A man is reading a a book.",),
    ("No one came that cold day.", "On that cold day nobody came.", "No man came."),
]


def rows():
    return [
        pair(f"c:{number}", rank, reference, paraphrase, overlap_3=rank / 4)
        for number, (reference, found) in enumerate(zip(REFERENCES, PARAPHRASES, strict=True))
        for rank, paraphrase in enumerate(found, 1)
    ]


ACCURACIES = {"accuracy": 0.5, "references": 0.5, "paraphrases": 0.5}
METRICS = {"validation": ACCURACIES, "validation_pairs": 5}


@pytest.fixture
def run(tmp_path):
    def run(pairs=100, trees=None, settings=None, documents=None, candidates=None, **columns):
        table = rows()
        scored = [
            tables.pair(f"c:{number}", reference=reference)
            | {
                "candidates": [
                    tables.candidate(text, 1, None)
                    for text in (candidates or {}).get(number, [reference])
                ]
            }
            for number, reference in enumerate(REFERENCES)
        ]
        options = {"scored": tmp_path / "scored"}
        write_table(options["scored"] / "0000.parquet", ScoredRow, scored)
        if trees is not None:
            write_table(tmp_path / "trees" / "0000.parquet", TreesRow, trees)
            options["trees"] = tmp_path / "trees"
        if documents is not None:
            options["documents"] = tmp_path / "documents.txt"
            options["documents"].write_bytes(documents)
        write_table(tmp_path / "pairs" / "0000.parquet", PairColumnsRow, table)
        for name, values in columns.items():
            column = [
                {"id": row["id"], "rank": row["rank"], "value": value}
                for row, value in zip(table, values, strict=True)
            ]
            write_table(tmp_path / name / "0000.parquet", PairValueRow, column)
            if name == "told":
                save_classifier(tmp_path / name, METRICS, REFERENCES)
        kinds = {name: "vectors" if name == "score" else "classifier" for name in columns}
        output = tmp_path / "statistics.json"
        main(
            arguments(
                {"pairs": pairs, "columns": kinds, "seed": 1, **(settings or {})},
                folder=tmp_path / "pairs",
                values=[f"{name}={tmp_path / name}" for name in columns],
                **options,
                shards=1,
                output=output,
            )
        )
        return json.loads(output.read_text(encoding="utf-8"))

    return run


def test_a_reference_counts_once_and_all_its_paraphrases(run):
    found = run()
    assert found["pairs"] == 6
    assert found["sides"]["references"]["sentences"] == 3
    assert found["sides"]["references"]["length"]["mean"] == pytest.approx(14 / 3, abs=1e-6)
    assert found["sides"]["paraphrases"]["length"]["count"] == 6
    assert found["columns"]["overlap_3"]["mean"] == pytest.approx((1 + 2 + 1 + 1 + 2 + 3) / 24)
    assert found["documents"] == 3
    # "the" twice among five words, once in three references; all words have three letters or more
    # but "A" and "on", which do not repeat.
    assert found["sides"]["references"]["repetition"]["unigrams"]["mean"] == pytest.approx(
        0.2 / 3, abs=1e-6
    )


def test_the_difference_is_to_a_candidate_at_random(run):
    """Wieting et al. (2017), 5.6.1, note 5; the selected paraphrases do not count."""
    same = run()
    assert same["difference"]["unigrams"] == {"entropy": 0.0, "repetition": 0.0}
    assert same["sides"]["candidates"]["sentences"] == 3
    few = run(candidates={0: ["dog dog"], 1: [], 2: ["dog"]})
    assert few["sides"]["candidates"]["sentences"] == 2
    expected = few["sides"]["references"]["entropy"]["unigrams"]
    assert few["difference"]["unigrams"]["entropy"] == pytest.approx(expected)
    two = {number: ["one", "two words"] for number in range(3)}
    lengths = {
        run(candidates=two, settings={"seed": seed})["sides"]["candidates"]["length"]["mean"]
        for seed in range(8)
    }
    assert len(lengths) > 1


def test_short_words_that_repeat_do_not_count(run):
    """Wieting et al. (2017), 5.6.1: words of at least three characters."""
    found = run()["sides"]["paraphrases"]["repetition"]
    # "the" twice among five long words of one; "a" of "A man is reading a a book" is short.
    assert found["unigrams"]["mean"] == pytest.approx(1 / 5 / 6, abs=1e-6)


def test_punctuation_counts_as_tokens_if_it_is_said(run):
    dropped, tokens = run(), run(settings={"punctuation": "tokens"})
    means = [each["sides"]["references"]["length"]["mean"] for each in (dropped, tokens)]
    assert means[1] == pytest.approx(means[0] + 1, abs=1e-6)  # the stops


def test_idf_is_of_other_documents_if_a_file_has_them(run):
    own = run()
    found = run(documents=b"The dog sees it.\n\nA man and a dog.\r\nCold\nthe end\n")
    assert found["documents"] == 4
    # of "the dog sees the cat", "a man reads" and "nobody came on that cold day"
    means = [(1 + 1 + 2 + 1 + 2) / 5, (2 + 2 + 2) / 3, 2.0]
    references = found["sides"]["references"]
    assert references["idf"]["mean"] == pytest.approx(np.mean(means), abs=1e-6)
    assert references["length"] == own["sides"]["references"]["length"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"good\n\xff\n", r"documents\.txt, line 2"),
        (b"x" * (1 << 21), r"documents\.txt, line 1: more than 1048576 bytes"),
        (b"...\n", r"documents\.txt: no line has a word; correct evaluate\.documents"),
    ],
)
def test_documents_that_are_none_are_refused(run, content, message):
    with pytest.raises(InputError, match=message):
        run(documents=content)


def test_scores_have_bins_and_classifiers_correlations(run, tmp_path):
    lengths = [7, 5, 7, 6, 6, 3]
    told = [each / 10 for each in lengths]
    found = run(score=[0.9, 0.2, None, 0.21, -0.5, 1.0], told=told)
    assert found["columns"]["score"]["count"] == 5
    assert [(each["to"], each["count"], each["mean"]) for each in found["bins"]["score"]] == [
        *((0.2, 2, 0.5), (0.4, 1, 0.25), (0.6, 0, None), (0.8, 0, None), (1.0, 2, 0.5))
    ]
    assert found["correlations"]["told"].keys() == {
        *("repetition_unigrams", "repetition_trigrams", "idf", "length")
    }
    # Of both sides, but for the reference that the classifier has learnt.
    classifier = save_classifier(tmp_path / "same", METRICS, REFERENCES)
    unknown = [each for each in REFERENCES if not classifier.has_learnt(each)]
    assert len(unknown) == 2
    sentences = list(map(words, unknown))
    both = [*classifier.probabilities(sentences), *told], [*map(len, sentences), *lengths]
    expected = spearman(*(np.array(side, np.float64) for side in both))
    assert found["correlations"]["told"]["length"] == pytest.approx(expected, abs=1e-6)


def test_a_classifier_without_a_test_has_its_validation():
    accuracies = {"accuracy": 0.7, "references": 0.6, "paraphrases": 0.8}
    metrics = {"validation": {"epoch": 2, **accuracies}, "validation_pairs": 50}
    assert classifiers({"old": metrics})["old"] == {
        **{"data": "validation", "pairs": 50, **accuracies, "negatives": None, "l2": None}
    }
    tested = metrics | {"test": accuracies | {"accuracy": 0.65}, "test_pairs": 40}
    tested |= {"negatives": "random", "l2": 0}
    found = classifiers({"new": tested})["new"]
    assert (found["data"], found["pairs"], found["accuracy"]) == ("test", 40, 0.65)
    assert (found["negatives"], found["l2"]) == ("random", 0)


def test_a_score_by_an_embedding_has_bins_as_one_by_word_vectors():
    columns = {name: np.array([0.1, 0.5], np.float32) for name in ("overlap_3", "s", "t")}
    sample = Sample(["a"], ["a", "b"], ["b"], columns, {})
    found = statistics(sample, {"s": "embedding", "t": "vectors"})
    assert found["bins"]["s"] == found["bins"]["t"]
    assert [each["count"] for each in found["bins"]["s"]] == [1, 0, 1, 0, 0]
    assert found["correlations"] == {}


CLAUSE, PHRASE = "(ROOT (S (NP (DT a) (NN b)) (VP (V c)) (. .)))", "(ROOT (NP (DT a) (NN b)))"


def trees():
    """The trees of `rows`: one sentence has none, and the second reference is not parsed."""
    parsed = [
        (True, CLAUSE, [CLAUSE.replace("(V c)", "(V c) (NP (NN d))"), PHRASE]),
        (False, None, []),
        (True, PHRASE, [None, CLAUSE, CLAUSE]),
    ]
    names = ("parsed", "reference", "paraphrases")
    return [
        {"id": f"c:{number}", "corpus": "c", **dict(zip(names, row, strict=True))}
        for number, row in enumerate(parsed)
    ]


def test_parse_entropy_is_of_the_top_two_levels_of_the_trees_that_there_are(run):
    sides = run(trees=trees())["sides"]
    # One of either shape; and three of four that agree above the words' own nodes.
    assert sides["references"]["parse_entropy"] == {
        **{"trees": 2, "entropy": pytest.approx(np.log(2), abs=1e-6)}
    }
    expected = -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert sides["paraphrases"]["parse_entropy"] == {
        **{"trees": 4, "entropy": pytest.approx(expected, abs=1e-6)}
    }


def test_without_trees_there_is_no_parse_entropy(run):
    assert [side["parse_entropy"] for side in run()["sides"].values()] == [None] * 3
    nothing = [{**row, "parsed": False, "reference": None, "paraphrases": []} for row in trees()]
    sides = run(trees=nothing)["sides"]
    for name in ("references", "paraphrases"):
        assert sides[name]["parse_entropy"] == {"trees": 0, "entropy": None}


@pytest.mark.parametrize("pairs", range(1, 7))
def test_parse_entropy_is_of_the_sampled_pairs(run, pairs):
    one_each = [
        {
            **row,
            "parsed": True,
            "reference": f"(R{row['id'][2:]} (X a))",
            "paraphrases": [f"(P (X{rank} a))" for rank, _ in enumerate(found)],
        }
        for row, found in zip(trees(), PARAPHRASES, strict=True)
    ]
    found = run(pairs=pairs, trees=one_each)["sides"]
    assert found["paraphrases"]["parse_entropy"]["trees"] == pairs
    assert found["references"]["parse_entropy"] == {
        "trees": found["references"]["sentences"],
        "entropy": pytest.approx(np.log(found["references"]["sentences"]), abs=1e-6),
    }


def test_a_sample_is_bounded_and_seeded(run, monkeypatch):
    few = run(pairs=3)
    assert few["pairs"] == 3
    assert few == run(pairs=3)
    # Some batches have none of the sample.
    monkeypatch.setattr(pair_stream, "BATCH", 1)
    assert few == run(pairs=3)


def test_nothing_at_all():
    nothing = np.empty(0, np.float32)
    found = statistics(
        Sample([], [], [], {"overlap_3": nothing, "s": nothing}, {}), {"s": "vectors"}
    )
    assert found["sides"]["paraphrases"]["length"] == {"count": 0, "mean": None, "deviation": None}
    assert found["difference"]["trigrams"] == {"entropy": 0.0, "repetition": None}
    assert spread(np.array([np.nan])) == {"count": 0, "mean": None, "deviation": None}
    assert [each["count"] for each in bins(nothing, nothing)] == [0] * 5
