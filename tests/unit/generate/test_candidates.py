import hashlib
import json
import shutil
from collections import deque

import pytest

from tests.golden.inputs import arguments
from tests.tables import pair, write_frequencies, write_table
from workflow_scripts.core.files.manifest import read_record
from workflow_scripts.core.files.parquet import read_rows
from workflow_scripts.core.files.rows import CandidatesRow, PairRow, ReferenceRow, WrittenRow
from workflow_scripts.nmt import int8
from workflow_scripts.nmt.vocabulary import SYMBOLS, Vocabulary
from workflow_scripts.stages.generate import candidates
from workflow_scripts.stages.generate.candidates import (
    Job,
    assemble,
    check,
    completes,
    held_out_references,
    main,
    open_job,
    with_results,
)
from workflow_scripts.stages.generate.constraint_words import plain_words, words_of
from workflow_scripts.stages.generate.constraints import ConstraintSet, constraint_sets
from workflow_scripts.stages.generate.decoding import Decoding, Request
from workflow_scripts.stages.generate.pool import Reading
from workflow_scripts.stages.subword.segmenter import Segmenter

CONSTRAINTS = {"kind": "negative", "choose": "random", "sets": 3, "fraction": [0.2, 0.5]}
CONFIG = {
    "system": "few",
    "search": {"method": "sample", "k": 10, "samples": 8, "temperature": 1.0},
    "constraints": CONSTRAINTS,
    "precision": "fp32",
    "seed": 5,
}


@pytest.fixture(scope="session")
def model(nmt_oracle, tmp_path_factory):
    return nmt_oracle.copy_model(tmp_path_factory.mktemp("forward"))


@pytest.fixture(scope="session")
def sentences(nmt_oracle):
    """Pairs of sentences of our own that the model knows the words of."""
    return nmt_oracle.sentences


def run_main(folder, model, pairs, config=CONFIG, batch_rows=64, idf=None, inputs=None, more=()):
    folder.mkdir()
    rows = [pair(f"c:{number}", *texts) for number, *texts in pairs]
    write_table(folder / "references.parquet", ReferenceRow, rows)
    output = folder / "candidates.parquet"
    files = {"references": folder / "references.parquet", "model": model, "output": output}
    files |= ({"idf": idf} if idf else {}) | ({"inputs": json.dumps(inputs)} if inputs else {})
    device = {"device": "cpu", "batch_rows": batch_rows, "threads": 1}
    main([*arguments(config, **files, **device), *map(str, more)])
    return output


@pytest.fixture(scope="module")
def generated(model, sentences, tmp_path_factory):
    pairs = [(number, *pair) for number, pair in enumerate(sentences)]
    return run_main(tmp_path_factory.mktemp("run") / "all", model, pairs)


def test_a_prefix_of_the_model_stands_before_what_it_reads(model, sentences, tmp_path):
    source, reference = sentences[0]
    first, _, rest = source.partition(" ")
    with_prefix = shutil.copytree(model, tmp_path / "model")
    (with_prefix / "rewriter.json").write_text(json.dumps({"prefix": f"{first} "}))
    whole, prefixed = (
        run_main(tmp_path / name, folder, [(0, text, reference)])
        for name, folder, text in (("whole", model, source), ("prefixed", with_prefix, rest))
    )
    (row,), (other,) = (read_rows(path, CandidatesRow) for path in (whole, prefixed))
    assert row["candidates"]
    texts = [(one["text"], one["forward_nll"]) for one in row["candidates"]]
    assert texts == [(one["text"], one["forward_nll"]) for one in other["candidates"]]


@pytest.mark.slow
def test_candidates_hold_no_forbidden_phrase_and_add_up(generated, model, sentences):
    segmenter = Segmenter(model / "reference.model")
    rows = list(read_rows(generated, CandidatesRow))
    assert [row["reference"] for row in rows] == [reference for _, reference in sentences]
    forbidden = 0
    for row in rows:
        sets = constraint_sets(row["reference"], row["id"], CONSTRAINTS, 5, segmenter.pieces)
        assert row["sets"] == [
            {"set": number, "variant": "few", "avoid": constraints.avoid, "want": []}
            for number, constraints in enumerate(sets)
        ]
        assert len(row["candidates"]) + row["dropped"] == 3 * 8
        for candidate in row["candidates"]:
            assert candidate["text"] and candidate["forward_nll"] > 0
            assert candidate["variant"] == "few"
            # The model writes words in their Viterbi pieces only, so none comes back respelt.
            spellings = sets[candidate["set"]].spellings
            assert not spellings & {word.text for word in words_of(candidate["text"])}
            forbidden += len(spellings)
    assert forbidden > 100
    record = read_record(generated)
    assert (record["rows_in"], record["rows_out"]) == (4, 4)
    assert record["extra"]["candidates"] == sum(len(row["candidates"]) for row in rows)
    assert record["extra"]["blocked"] == sum(row["blocked"] for row in rows)


@pytest.mark.slow
@pytest.mark.skipif(not int8.can_compute(), reason="this torch has no products of 8-bit numbers")
def test_in_8_bits_samples_are_as_many_and_repeat(generated, model, sentences, tmp_path):
    pairs = [(number, *pair) for number, pair in enumerate(sentences)]
    config = CONFIG | {"precision": "int8"}
    found = run_main(tmp_path / "one", model, pairs, config)
    assert found.read_bytes() == run_main(tmp_path / "two", model, pairs, config).read_bytes()
    assert found.read_bytes() != generated.read_bytes()
    for row in read_rows(found, CandidatesRow):
        assert len(row["candidates"]) + row["dropped"] == 3 * 8
        assert all(0 < each["forward_nll"] < 20 for each in row["candidates"])


@pytest.mark.slow
def test_results_do_not_depend_on_sharding_or_batches(generated, model, sentences, tmp_path):
    pairs = [(number, *pair) for number, pair in enumerate(sentences)][::-2]
    other = run_main(tmp_path / "other", model, pairs, batch_rows=10)
    whole = {row["id"]: row for row in read_rows(generated, CandidatesRow)}
    rows = list(read_rows(other, CandidatesRow))
    assert [row["id"] for row in rows] == ["c:3", "c:1"]
    for row in rows:
        expected = whole[row["id"]]
        texts = [candidate["text"] for candidate in expected["candidates"]]
        assert [candidate["text"] for candidate in row["candidates"]] == texts
        assert [found["forward_nll"] for found in row["candidates"]] == pytest.approx(
            [found["forward_nll"] for found in expected["candidates"]], abs=1e-4
        )


def test_truncation_and_spared_words_are_those_of_the_configuration(model, sentences, tmp_path):
    pairs = [(number, *pair) for number, pair in enumerate(sentences)]
    # So little is left that every step takes the most probable token.
    search = {"method": "sample", "k": None, "top_p": 0.001, "samples": 3, "temperature": 3.0}
    words = sorted({word.text.lower() for _, text in sentences for word in words_of(text)})
    constraints = {**CONSTRAINTS, "fraction": [1.0, 1.0], "spare": {"words": words[1:]}}
    config = CONFIG | {"search": search, "constraints": constraints}
    rows = list(read_rows(run_main(tmp_path / "run", model, pairs, config), CandidatesRow))
    for row in rows:
        assert {word.lower() for each in row["sets"] for word in each["avoid"]} <= {words[0]}
        for number in range(3):
            texts = {each["text"] for each in row["candidates"] if each["set"] == number}
            assert len(texts) <= 1
    assert any(row["candidates"] for row in rows)
    assert any(each["avoid"] for row in rows for each in row["sets"])


@pytest.mark.slow
def test_names_of_the_source_are_spared(model, sentences, tmp_path):
    source, reference = sentences[0]
    first = words_of(reference)[0].text
    config = CONFIG | {
        "constraints": {**CONSTRAINTS, "fraction": [1.0, 1.0], "spare": {"capitalised": "inside"}}
    }
    pairs = [(1, source, reference), (2, f"{source} {first}", reference)]
    without, named = read_rows(run_main(tmp_path / "run", model, pairs, config), CandidatesRow)
    assert all(first in each["avoid"] for each in without["sets"])
    assert not any(first in each["avoid"] for each in named["sets"])


@pytest.mark.slow
def test_without_constraints_and_with_an_unreadable_source(model, sentences, tmp_path):
    pairs = [(1, *sentences[0]), (2, "slovo " * 200, "A word."), (3, *sentences[1])]
    config = CONFIG | {"constraints": None}
    rows = list(read_rows(run_main(tmp_path / "run", model, pairs, config), CandidatesRow))
    free = {"set": 0, "variant": "few", "avoid": [], "want": []}
    assert [row["sets"] for row in rows] == [[free]] * 3
    assert rows[1]["candidates"] == [] and rows[1]["dropped"] == 8
    assert rows[0]["candidates"] and rows[2]["candidates"]


@pytest.mark.slow
def test_a_beam_gives_its_nbest_list_best_first(model, sentences, tmp_path):
    pairs = [(1, *sentences[0]), (2, "slovo " * 200, "A word."), (3, *sentences[1])]
    search = {"method": "beam", "beam_size": 6, "nbest": 4}
    config = CONFIG | {"constraints": None, "search": search}
    output = run_main(tmp_path / "run", model, pairs, config)
    rows = list(read_rows(output, CandidatesRow))
    assert [len(row["candidates"]) for row in rows] == [4, 0, 4]
    assert [row["dropped"] for row in rows] == [0, 1, 0]
    for row in (rows[0], rows[2]):
        assert [found["sample"] for found in row["candidates"]] == [0, 1, 2, 3]
        nlls = [found["forward_nll"] for found in row["candidates"]]
        assert nlls == sorted(nlls)
        assert len({found["text"] for found in row["candidates"]}) > 1
    assert read_record(output)["extra"]["unfinished"] == 1

    single = config | {"search": {"method": "beam", "beam_size": 6}}
    (best, *_) = read_rows(run_main(tmp_path / "best", model, pairs[:1], single), CandidatesRow)
    # Fewer sentences at once may round sums otherwise.
    first = rows[0]["candidates"][0]
    expected = first | {"forward_nll": pytest.approx(first["forward_nll"], abs=1e-5)}
    assert best["candidates"] == [expected]


VARIANTS = {
    "free": None,
    "want": {"kind": "positive", "choose": {"highest": 1}},
    "want_all": {"kind": "positive", "choose": {"lowest": 9}},
    "avoid": {"kind": "negative", "choose": {"highest": 1, "lowest": 1}, "inflect": True},
    "start": {"kind": "negative", "choose": {"first": 2}},
    "pair": {"kind": "pair", "choose": {"highest": 2}},
}


@pytest.fixture(scope="module")
def constrained(nmt_oracle, model, sentences, tmp_path_factory):
    folder = tmp_path_factory.mktemp("constrained")
    known = sorted({word for _, text in sentences for word in plain_words(words_of(text))})
    frequencies = {word: 3 + len(word) for word in known}
    idf = write_frequencies(folder / "idf.parquet", frequencies, 1 << 12)
    words = folder / "words.txt"
    words.write_text(nmt_oracle.word_list, encoding="utf-8")
    config = CONFIG | {
        "search": {"method": "beam", "beam_size": 8},
        "constraints": {
            "language": "en",
            "idf": {"bounds": [1.0, 17.0], "min_references": 1, "exempt": []},
            "pairs": {"list": str(words)},
            "variants": VARIANTS,
        },
    }
    pairs = [(number, *pair) for number, pair in enumerate(sentences)]
    # A source that can't be read, and one whose few pieces leave no room for all words.
    pairs += [(8, "slovo " * 200, sentences[0][1]), (9, "Muž.", sentences[0][1])]
    return run_main(folder / "run", model, pairs, config, idf=idf)


@pytest.mark.slow
def test_the_user_s_files_may_get_other_rights_once_they_are_read(
    model, sentences, tmp_path, monkeypatch
):
    file = tmp_path / "words.txt"
    file.write_text("old aged\n", encoding="utf-8")
    inputs = {str(file): hashlib.sha256(file.read_bytes()).hexdigest()}

    def generate(*given):
        file.chmod(0o444)
        return made(*given)

    made = candidates.generate
    monkeypatch.setattr(candidates, "generate", generate)
    pairs = [(number, *pair) for number, pair in enumerate(sentences[:2])]
    path = run_main(tmp_path / "run", model, pairs, inputs=inputs)
    assert read_record(path)["rows_out"] == 2


@pytest.mark.slow
def test_candidates_meet_the_constraints_of_their_variant(constrained):
    rows = list(read_rows(constrained, CandidatesRow))
    assert [row["id"] for row in rows] == [f"c:{number}" for number in (0, 1, 2, 3, 8, 9)]
    found = set()
    for row in rows:
        for candidate in row["candidates"]:
            constraints = row["sets"][candidate["set"]]
            assert constraints["variant"] == candidate["variant"]
            words = {word.text for word in words_of(candidate["text"])}
            assert words >= set(constraints["want"])
            lowered = {word.lower() for word in words}
            avoid = [word for word in constraints["avoid"] if not word.startswith("<s>")]
            assert not lowered & set(avoid)
            if candidate["variant"] == "start":
                start = constraints["avoid"][0].removeprefix("<s> ")
                assert not candidate["text"].lower().startswith(f"{start.lower()} ")
            found.add(candidate["variant"])
    assert found == VARIANTS.keys()


def test_unmet_words_and_skipped_variants_are_counted(constrained):
    *rows, unreadable, crowded = read_rows(constrained, CandidatesRow)
    assert [row["unmet"] for row in rows] == [0] * 4
    assert unreadable["candidates"] == []
    assert unreadable["dropped"] == len(unreadable["sets"])
    assert unreadable["unmet"] == sum(len(each["want"]) for each in unreadable["sets"])
    assert crowded["unmet"] > 0
    assert "want_all" not in {each["variant"] for each in crowded["candidates"]}
    rows += [unreadable, crowded]
    extra = read_record(constrained)["extra"]
    assert extra["unmet"] == sum(row["unmet"] for row in rows)
    variants = [{each["variant"] for each in row["sets"]} for row in rows]
    assert extra["skipped"] == sum(len(VARIANTS) - len(each) for each in variants)
    assert extra["searches"] <= sum(len(row["sets"]) for row in rows)


POOL = {key: value for key, value in CONFIG.items() if key != "search"} | {
    "searches": {
        "beam": {"method": "beam", "beam_size": 6, "nbest": 4},
        "samples": {"method": "sample", "k": 10, "samples": 3},
    },
    "constraints": {**CONSTRAINTS, "searches": ["samples"]},
    "sources": {"human": True, "written": 1},
}


def pool_of(folder, model, sentences, config=POOL, batch_rows=64):
    """Return the pool of each reference; the source of the next one is its written source."""
    texts = [source for source, _ in sentences]
    written = [
        {"id": f"c:{number}", "reference": reference, "corpus": "c"}
        | {"sources": [{"text": text, "backward_nll": 1.0} for text in (source, other)]}
        for number, ((source, reference), other) in enumerate(
            zip(sentences, [*texts[1:], texts[0]], strict=True)
        )
    ]
    table = write_table(folder.with_suffix(".parquet"), WrittenRow, written)
    pairs = [(number, *pair) for number, pair in enumerate(sentences)]
    more = ["--sources", table] if "sources" in config else []
    return list(
        read_rows(run_main(folder, model, pairs, config, batch_rows, more=more), CandidatesRow)
    )


def of(rows, *variants):
    """Return the candidates of these variants, but for the numbers of their sets."""
    return [
        [
            (
                each["variant"],
                each["sample"],
                each["text"],
                pytest.approx(each["forward_nll"], abs=1e-4),
            )
            for each in row["candidates"]
            if each["variant"] in variants
        ]
        for row in rows
    ]


@pytest.mark.slow
def test_searches_and_sources_of_a_pool_change_nothing_for_each_other(model, sentences, tmp_path):
    pool = pool_of(tmp_path / "pool", model, sentences)
    everything = ("beam", "beam/1", "samples", "samples/1")
    assert all(all(of(pool, variant)) for variant in everything)
    assert of(pool, "samples") != of(pool, "samples/1")
    for row, (other, _) in zip(pool, [*sentences[1:], sentences[0]], strict=True):
        assert {(each["variant"], each["source"]) for each in row["candidates"]} == {
            (name, other if name.endswith("/1") else None) for name in everything
        }
        assert [bool(each["avoid"]) for each in row["sets"]] == [False] * 2 + [True] * 6
    alone = {**POOL, "searches": {"samples": POOL["searches"]["samples"]}}
    assert of(pool_of(tmp_path / "alone", model, sentences, alone, 20), *everything) == of(
        pool, "samples", "samples/1"
    )
    bitext = {key: value for key, value in POOL.items() if key != "sources"}
    assert of(pool_of(tmp_path / "bitext", model, sentences, bitext), *everything) == of(
        pool, "beam", "samples"
    )
    # A search without a name, of the same source, finds the same where nothing is drawn.
    beam = CONFIG | {"search": POOL["searches"]["beam"], "constraints": None, "system": "beam"}
    assert of(pool_of(tmp_path / "beam", model, sentences, beam), "beam") == of(pool, "beam")


@pytest.mark.slow
def test_variants_of_a_pool_name_what_each_search_finds_of_each_source(model, sentences, tmp_path):
    start = {"kind": "negative", "choose": {"first": 2}}
    constraints = {"language": "en", "variants": {"free": None, "start": start}}
    pool = pool_of(tmp_path / "pool", model, sentences, {**POOL, "constraints": constraints})
    free = pool_of(tmp_path / "free", model, sentences, {**POOL, "constraints": None})
    for row, alone, (other, _) in zip(pool, free, [*sentences[1:], sentences[0]], strict=True):
        found = {(each["variant"], each["source"]) for each in row["candidates"]}
        assert found == {(name, source) for name in ("free", "start") for source in (None, other)}
        texts = {each["text"] for each in row["candidates"] if each["variant"] == "free"}
        assert texts == {each["text"] for each in alone["candidates"]}


def rewritten(folder, model, pairs, references="all", more=()):
    """Generate with the model as a rewriter, which reads the reference."""
    config = CONFIG | {"rewriter": {"name": "plain", "references": references}}
    return run_main(folder, model, pairs, config, more=more)


@pytest.mark.slow
def test_a_rewriter_reads_the_reference_whatever_the_source(model, sentences, tmp_path):
    read = [source for source, _ in sentences[:3]]
    plain = [(number, text, text) for number, text in enumerate(read)]
    expected = list(read_rows(run_main(tmp_path / "forward", model, plain), CandidatesRow))
    strange = [(number, "nobody reads this", text) for number, text in enumerate(read)]
    found = list(read_rows(rewritten(tmp_path / "rewriter", model, strange), CandidatesRow))
    assert any(row["candidates"] for row in found)
    assert [row["candidates"] for row in found] == [row["candidates"] for row in expected]
    # The words are those of the sentence that is read, and the source stays for what follows.
    assert [row["sets"] for row in found] == [row["sets"] for row in expected]
    assert {row["source"] for row in found} == {"nobody reads this"}


@pytest.mark.slow
def test_a_rewriter_is_judged_by_the_references_that_it_holds_out(model, sentences, tmp_path):
    pairs = [(number, *texts) for number, texts in enumerate(sentences[:4])]
    splits = [("c:0", "train"), ("c:1", "test"), ("c:1", "test"), ("c:2", "dev"), ("d-d:3", "test")]
    shard = tmp_path / "pairs" / "0000.parquet"
    rows = [
        pair(f"{name}-{number:012x}") | {"corpus": split}
        for number, (name, split) in enumerate(splits)
    ]
    write_table(shard, PairRow, rows)
    assert held_out_references([shard]) == {"c:1", "d-d:3"}
    more = ["--held-out", shard.parent, "--held-out-shards", 1]
    path = rewritten(tmp_path / "run", model, pairs, "held_out", more)
    assert [row["id"] for row in read_rows(path, CandidatesRow)] == ["c:1"]
    record = read_record(path)
    assert (record["rows_in"], record["rows_out"]) == (4, 1)
    assert record["rejected"] == {"not_held_out": 3}


def test_equal_constraints_share_a_search_where_nothing_is_drawn():
    sets = [
        ConstraintSet([], [], frozenset(), frozenset({("▁a", "b")}), [], "x"),
        ConstraintSet([], [], frozenset(), frozenset(), [("▁a",)], "y"),
        ConstraintSet([], [], frozenset(), frozenset({("▁a", "b")}), [], "z"),
    ]
    job = open_job(READING, sets, [5], VOCABULARY, share=True)
    assert job.places == [0, 1, 0]
    assert [(each.avoid, each.wanted) for each in job.requests] == [([(5, 7)], []), ([], [(5,)])]
    job = open_job(READING, sets, [5], VOCABULARY, share=False)
    assert job.places == [0, 1, 2]
    assert [each.set for each in job.requests] == [0, 1, 2]


def test_a_forbidden_part_of_a_wanted_phrase_is_overruled():
    phrases = frozenset({("▁a",), ("b",), ("▁b",)})
    sets = [ConstraintSet([], [], frozenset(), phrases, [("▁a", "b")])]
    job = open_job(READING, sets, [5], VOCABULARY, share=True)
    assert job.requests[0].avoid == [(6,)]
    assert job.overruled == 2


def test_jobs_come_in_order_with_their_results_also_without_any():
    def job(name, searches):
        return Job(name, [], [Request(name, n, [], []) for n in range(searches)], [], 0)

    jobs = [job("a", 0), job("b", 2), job("c", 0), job("d", 1), job("e", 0)]
    pending = deque()

    def decodings():
        for each in jobs:
            pending.append(each)
            yield from (Decoding([[n]], [0.0], 0) for n in range(len(each.requests)))

    found = [(job.reading, len(results)) for job, results in with_results(pending, decodings())]
    assert found == [("a", 0), ("b", 2), ("c", 0), ("d", 1), ("e", 0)]


class Letters:
    """One piece per letter; the first carries the blank's mark."""

    def pieces(self, text):
        return ["▁" + text[0], *text[1:]]

    phrase = pieces

    def text(self, pieces):
        return "".join(pieces).replace("▁", " ").strip()


VOCABULARY = Vocabulary([*SYMBOLS, "▁", "▁a", "▁b", "b", "▁ab"])


ROW = {"id": "c:1", "source": "s", "reference": "ab a", "corpus": "c"}
READING = Reading(ROW, "s", "v", "c:1")


def assembled(outputs, avoid):
    config = {"sets": 1, "fraction": [0.5, 0.5]}
    for seed in range(20):  # until the word drawn is "ab"
        sets = constraint_sets("ab a", "c:1", config, seed, Letters().pieces)
        if sets[0].avoid == ["ab"]:
            break
    job = Job(READING, sets, [Request("c:1", 0, [5], avoid)], [0], 0)
    found = Decoding(outputs, [0.5] * len(outputs), 2)
    return assemble(job, [found], VOCABULARY, Letters())


def test_empty_and_unfinished_samples_are_dropped_and_respelt_words_counted():
    row, counts = assembled([[4], [], [8], [6]], [(5, 7)])
    assert [(found["sample"], found["text"]) for found in row["candidates"]] == [
        (2, "ab"),
        (3, "b"),
    ]
    assert row["dropped"] == 4
    expected = {"candidates": 2, "unfinished": 2, "empty": 2, "respelt": 1, "blocked": 0}
    assert counts == expected | {"unmet": 0, "overruled": 0, "searches": 1}


def test_a_missing_word_is_a_fault():
    request = Request("c:1", 0, [5], [], [(5,)])
    check([4, 5], request, VOCABULARY)
    check([5, 8], request, VOCABULARY)
    with pytest.raises(RuntimeError, match="wanted phrase"):
        check([5, 7], request, VOCABULARY)


def test_a_completed_phrase_is_a_fault():
    with pytest.raises(RuntimeError, match="forbidden phrase"):
        assembled([[6, 5, 7]], [(5, 7)])
    assert completes([1, 23, 4], [(23, 4)])
    assert not completes([1, 23, 4], [(3, 4), (2,), (23,) * 2])
