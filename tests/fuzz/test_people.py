"""What people judge, and what they said: pairs to rate, ratings, labels, right answers."""

import contextlib
import io
import json

from hypothesis import example, given
from hypothesis import strategies as st

from tests.fuzz.cases import (
    decoded,
    figures,
    file,
    fuzz,
    known,
    lines_of,
    number,
    outcome,
    simple_table,
    tables,
    texts,
    words,
)
from workflow_scripts.apps.annotate import items
from workflow_scripts.apps.annotate.answer_files import export
from workflow_scripts.apps.annotate.items import of_file
from workflow_scripts.apps.annotate.modes import Answer
from workflow_scripts.apps.annotate.store import Judged
from workflow_scripts.stages.evaluate.answers import measure, read_answers, read_paraphrases
from workflow_scripts.stages.judge import ratings
from workflow_scripts.stages.judge.rated_pairs import LABEL_COLUMNS, read_labels
from workflow_scripts.stages.judge.rated_pairs import read_ratings as read_rated_pairs
from workflow_scripts.stages.judge.rating_file import COLUMNS, OWN_COLUMNS, read_ratings

names = st.sampled_from(["a", "a", "b"])
scores = st.sampled_from(["101", "", "0", "2.5", "100", "99", " 3", "1e1"])
nlls = st.sampled_from(["", "0", "0.25", "1e2", "7"])
sentences = st.sampled_from(["A b."] * 5 + ["C."])
PAIRS = {
    **{"id": names, "reference": sentences, "paraphrase": words, "source": words},
    **{"system": st.sampled_from(["a", "b a", "b"]), "forward_nll": nlls, "backward_nll": nlls},
    "paraphrase_score": st.sampled_from(["0.1", "1", "", "0.2"]),
}
RATINGS = {
    **{"worker_id_anon": names, "ref_id": names, "ref_len": st.just("9"), "candidate": words},
    **{"sys_id": st.sampled_from(["0", "1", "1 2"]), "NLL": figures, "human_score": scores},
    **{"gm": st.sampled_from(["0", "1", "2", "2.0"]), "source": words, "ref_sent": words},
    "backward_nll": figures,
}
LABELS = {
    **dict.fromkeys(LABEL_COLUMNS[:3], words),
    **dict.fromkeys(LABEL_COLUMNS[3:5], st.one_of(figures, figures, st.just("-2"))),
    "label": st.sampled_from(["G", "acceptable", "Bad", "a "]),
}
MARKS = {"good": 1.0, "g": 1.0, "acceptable": 0.5, "a": 0.5, "bad": 0.0, "b": 0.0}


def rows_or_none(content, required, more, made):
    """Return what is made of each row, simply; None where one is wrong, or there is none."""
    rows = simple_table(content, required, more)
    try:
        return [made(row) for row in rows or ()] or None
    except ValueError:
        return None


def refuse(wrong):
    if wrong:
        raise ValueError


def pair(row):
    systems = row.get("system", "pairs").split()
    refuse(not systems or "0" in systems or "\r" in "".join(row[name] for name in items.REQUIRED))
    refuse("\r" in row.get("source", ""))
    refuse(not all(row[name].strip() for name in items.REQUIRED))
    numbers = [known(row.get(name, "")) for name in items.OPTIONAL[2:]]
    reference = row["reference"], row.get("source", "")
    return row["id"], reference, row["paraphrase"], systems, numbers


def merged(pairs):
    """Return the pairs once each, each number from the first line that has it.

    None where an id stands for two references or sources, or a pair has two numbers of a kind.
    """
    found, references, told = {}, {}, {}
    for identity, reference, paraphrase, systems, numbers in pairs or ():
        if references.setdefault(identity, reference) != reference:
            return None
        for place, value in enumerate(numbers):
            at = identity, paraphrase, place
            if value is not None and told.setdefault(at, value) != value:
                return None
        named, _ = found.setdefault((identity, paraphrase), ([], [None] * len(numbers)))
        named.extend(each for each in dict.fromkeys(systems) if each not in named)
        found[identity, paraphrase] = (
            named,
            [told.get((identity, paraphrase, place)) for place in range(len(numbers))],
        )
    return found or None


@fuzz()
@given(st.one_of(tables(PAIRS, least=4), tables(PAIRS), texts))
@example(b"id\treference\tparaphrase\tforward_nll\na\tA b.\ta\t\na\tA b.\ta\t7\n")
def test_pairs_to_rate(tmp_path_factory, content):
    with file(tmp_path_factory.getbasetemp(), "pairs.tsv", content) as path:
        found = outcome(path, lambda: of_file(path, None, 1))
    if found is not None:
        found = {
            (each.reference, each.paraphrase): (
                list(dict.fromkeys(each.systems)),
                [each.forward_nll, each.backward_nll, each.paraphrase_score],
            )
            for each in found.items
        }
    assert found == merged(rows_or_none(content, items.REQUIRED, items.OPTIONAL, pair))


def nlls_of(column, count):
    """Return the numbers of a column, None where one is unknown."""
    column = [None] * count if column is None else column.tolist()
    return [None if each != each else each for each in column]


answers = st.tuples(
    *(st.integers(1, 3), st.sampled_from([None, 0.0, 0.25, 99.5, 100.0])),
    *(st.integers(0, 2), st.sampled_from("GAB"), st.booleans()),
)


@fuzz(0.5)
@given(tables(PAIRS), st.sampled_from(["similarity", "labels"]), st.lists(answers, min_size=1))
def test_what_is_exported_is_read_again(tmp_path_factory, content, mode, said):
    folder = tmp_path_factory.getbasetemp()
    with file(folder, "pairs.tsv", content) as path:
        material = outcome(path, lambda: of_file(path, None, 1))
    if material is None:
        return
    references = {each.id: each for each in material.references}
    judged = [
        Judged(
            person,
            references[item.reference],
            None if control and mode == "similarity" else item,
            Answer(score, grammar, label),
        )
        for item, (person, score, grammar, label, control) in zip(
            material.items, said, strict=False
        )
    ]
    with file(folder, "answers.tsv", b"") as path:
        assert export(path, mode, judged) == len(judged)
        if mode == "similarity":
            found = [
                (int(each.annotator), each.paraphrase, each.systems, each.score, each.grammar)
                for each in read_ratings(path)
            ]
            nlls = [(each.nll, each.backward_nll) for each in read_ratings(path)]
        else:
            examples = read_labels(path)
            found = [*zip(examples.pairs.paraphrases, examples.target, strict=True)]
            columns = examples.pairs.forward_nll, examples.pairs.backward_nll
            nlls = [*zip(*(nlls_of(column, len(found)) for column in columns), strict=True)]
    # Each NLL stands in its own column.
    assert nlls == [
        (each.item.forward_nll, each.item.backward_nll) if each.item else (None, None)
        for each in judged
    ]
    if mode == "labels":
        targets = {"G": 1.0, "A": 0.5, "B": 0.0}
        assert found == [(each.item.paraphrase, targets[each.answer.label]) for each in judged]
        return
    assert found == [
        (
            each.annotator,
            each.item.paraphrase if each.item else each.reference.text,
            tuple(dict.fromkeys(each.item.systems)) if each.item else ("0",),
            each.answer.score,
            each.answer.grammar,
        )
        for each in judged
    ]


def rating(row):
    systems = tuple(dict.fromkeys(row["sys_id"].split()))
    texts_of = [row[name] for name in ("worker_id_anon", "ref_id", "ref_len", "candidate")]
    score, gm, nll = (known(row.get(name, "")) for name in ("human_score", "gm", "NLL"))
    backward = known(row.get("backward_nll", ""))
    refuse(not systems or not all(text.strip() for text in texts_of) or gm not in (0, 1, 2))
    refuse(score is not None and not 0 <= score <= 100)
    nll, backward = (None if each is None or each < 0 else each for each in (nll, backward))
    return (*texts_of, systems, score, gm, nll, backward, row.get("ref_sent") or None)


def simple_ratings(content):
    required = [name for name in COLUMNS if name != "NLL"]
    rows = rows_or_none(content, required, ("NLL", *OWN_COLUMNS), rating)
    return (
        rows if rows and len({row[1:3] for row in rows}) == len({row[1] for row in rows}) else None
    )


@fuzz()
@given(st.one_of(tables(RATINGS, least=8), tables(RATINGS), texts))
def test_ratings(tmp_path_factory, content):
    with file(tmp_path_factory.getbasetemp(), "ratings.tsv", content) as path:
        found = outcome(path, lambda: read_ratings(path))
    if found is not None:
        found = [
            (
                *(each.annotator, each.reference, each.length, each.paraphrase, each.systems),
                *(each.score, each.grammar, each.nll, each.backward_nll, each.reference_text),
            )
            for each in found
        ]
    assert found == simple_ratings(content)


def ratings_of(**changes):
    """Return a file of one rating."""
    row = dict.fromkeys(COLUMNS, "1") | changes
    return "".join("\t".join(each) + "\n" for each in (row, row.values())).encode()


@fuzz(0.25)
@given(tables(RATINGS))
@example(ratings_of(ref_len="9" * 5000))
@example(ratings_of(sys_id="9" * 5000))
def test_figures_of_ratings(tmp_path_factory, content):
    folder = tmp_path_factory.getbasetemp()
    rows = simple_ratings(content)
    with file(folder, "ratings.tsv", content) as path, file(folder, "d.json", b"") as details:
        given = ["--ratings", str(path), "--keep-all-annotators", "--details", str(details)]
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            ended = outcome(path, lambda: ratings.main(given) or True)
        told = details.read_text()
    assert "NaN" not in printed.getvalue() + told
    assert "Infinity" not in printed.getvalue() + told
    if rows is None or all(row[4] == ("0",) for row in rows):
        assert ended is None
        return
    found = json.loads(printed.getvalue())
    assert found.keys() == {system for row in rows for system in row[4]} - {"0"}
    for system, figures_of in found.items():
        pairs = {}
        for row in rows:
            if system in row[4]:
                pairs.setdefault((row[1], row[3]), []).append(row)
        clean = sum(all(row[6] == 2 for row in of_pair) for of_pair in pairs.values())
        assert abs(figures_of["grammatical"] - 100 * clean / len(pairs)) < 1e-9


@fuzz(0.5)
@given(tables(RATINGS), st.one_of(tables({"ref_id": names, "ref_sent": words}), texts))
def test_pairs_of_ratings(tmp_path_factory, content, told):
    folder = tmp_path_factory.getbasetemp()
    with file(folder, "r.tsv", content) as path, file(folder, "r.tsv", told) as other:
        # Either file may be the one that is refused.
        found = outcome(folder, lambda: read_rated_pairs(path, other, 80))
    rows = simple_ratings(content)
    sentences = rows_or_none(told, ("ref_id", "ref_sent"), (), lambda row: row)
    if rows is None or sentences is None:
        assert found is None
        return
    if len({(row["ref_id"], row["ref_sent"]) for row in sentences}) != len(
        {row["ref_id"] for row in sentences}
    ):
        assert found is None  # a reference with two texts
        return
    sentences = {row["ref_id"]: row["ref_sent"] for row in sentences}
    rows = [row for row in rows if row[5] is not None and "0" not in row[4]]
    if not rows or not all(sentences.get(row[1], "").strip() for row in rows):
        assert found is None
        return
    pairs = list(dict.fromkeys((sentences[row[1]], row[3], row[1]) for row in rows))
    got = zip(found.pairs.references, found.pairs.paraphrases, strict=True)
    assert [*got] == [each[:2] for each in pairs]
    assert all(0 < each < 1 for each in found.target)


def label(row):
    mark = MARKS.get(row["label"].strip().lower())
    numbers = [known(row[name]) for name in LABEL_COLUMNS[3:5]]
    refuse(mark is None or not row["reference"].strip() or not row["paraphrase"].strip())
    refuse(any(each is not None and each < 0 and each != -1 for each in numbers))
    return row["source"], row["reference"], row["paraphrase"], mark, *numbers


@fuzz()
@given(st.one_of(tables(LABELS, least=5), tables(LABELS), texts))
def test_labels(tmp_path_factory, content):
    with file(tmp_path_factory.getbasetemp(), "labels.tsv", content) as path:
        found = outcome(path, lambda: read_labels(path))
    rows = rows_or_none(content, LABEL_COLUMNS, (), label)
    if rows is None:
        assert found is None
        return
    pairs = found.pairs
    assert [
        *zip(pairs.sources, pairs.references, pairs.paraphrases, found.target, strict=True)
    ] == [row[:4] for row in rows]
    for place, column in enumerate((pairs.forward_nll, pairs.backward_nll), start=4):
        wanted = [None if row[place] in (None, -1) else row[place] for row in rows]
        assert nlls_of(column, len(rows)) == wanted


ANSWERS = {"1": names, "2": words, "3": st.sampled_from(["1", "0", "2.5", "-1"])}
PARAPHRASES = {"1": names, "2": st.sampled_from(["1", "2", "01"]), "3": words}


def three(columns):
    """Generate tables of three columns without a header, whose order is that of their names."""
    cell = st.one_of(*columns.values())
    right = st.tuples(*columns.values())
    odd = st.tuples(cell, st.one_of(cell, st.sampled_from(["9" * 5000, "0", "1_0", "²"])), cell)
    row = st.one_of(right, right, right, odd).map("\t".join)
    return st.lists(row, max_size=6).map(lambda rows: "".join(f"{r}\n" for r in rows).encode())


def in_threes(content):
    lines = decoded(lines_of(content))
    rows = [line.split("\t") for line in lines or ()]
    wrong = lines is None or "\0" in "".join(lines)
    if wrong or any(len(row) != 3 or not all(cell.strip() for cell in row) for row in rows):
        return None
    return rows


def key(text):
    return " ".join("".join(c for c in text.lower() if c not in PUNCTUATION).split())


PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"


@fuzz()
@given(st.one_of(three(ANSWERS), texts), st.one_of(three(PARAPHRASES), texts))
@example(b"a\tx\t1\n", b"a\t%s\tx\n" % (b"9" * 5000))
@example(b"a\tx\t1e308\na\ty\t1e308\n", b"a\t1\tx\n")
def test_right_answers(tmp_path_factory, content, given_paraphrases):
    folder = tmp_path_factory.getbasetemp()
    with file(folder, "a.tsv", content) as path:
        found = outcome(path, lambda: read_answers(path))
    wanted, written = {}, {}
    for prompt, answer, weight in in_threes(content) or ():
        value = number(weight)
        twice = written.setdefault((prompt, answer), value) != value
        if value is None or not 0 <= value <= 1e100 or not key(answer) or twice:
            wanted = {}
            break
        wanted.setdefault(prompt, {})[key(answer)] = value
    assert found == (wanted or None)
    if found is None:
        return
    with file(folder, "p.tsv", given_paraphrases) as path:
        ranked = outcome(path, lambda: read_paraphrases(path, found))
    rows = in_threes(given_paraphrases)
    right = rows is not None and all(
        row[0] in found and set(row[1]) <= set("0123456789") and row[1].strip("0") for row in rows
    )
    assert (ranked is not None) >= (right and all(len(row[1]) < 10 for row in rows))
    if ranked is not None:
        assert right
        json.dumps(measure(found, ranked), allow_nan=False)
