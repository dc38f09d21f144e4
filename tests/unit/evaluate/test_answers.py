import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from workflow_scripts.core.errors import InputError
from workflow_scripts.stages.evaluate.answers import key, main, measure

ANSWERS = """\
i see it\tEu vejo isso.\t0.5
i see it\tEu o vejo!\t0.3
i see it\teu  estou  vendo\t0.2
go away\tVá embora!\t1
go away\tSai daqui\t3
not asked\tSim\t1
"""
PARAPHRASES = """\
i see it\t1\teu vejo isso
i see it\t2\tVejo isso
i see it\t3\tEU VEJO, ISSO
i see it\t4\tEu estou vendo...
go away\t1\tembora
go away\t2\tsai daqui?
"""


@pytest.fixture
def printed(tmp_path, capsys):
    def printed(answers=ANSWERS, paraphrases=PARAPHRASES):
        (tmp_path / "a.tsv").write_bytes(answers.encode("utf-8", "surrogateescape"))
        (tmp_path / "p.tsv").write_text(paraphrases, encoding="utf-8")
        paths = [str(tmp_path / name) for name in ("a.tsv", "p.tsv")]
        main(["--answers", paths[0], "--paraphrases", paths[1]])
        return json.loads(capsys.readouterr().out)

    return printed


def test_a_worked_example(printed):
    # i see it: three distinct ones, two right (the third repeats the first), of weight 0.7.
    # go away: two, one right of weight 3 of 4. not asked: nothing.
    first = 2 * (2 / 3) * 0.7 / (2 / 3 + 0.7)
    second = 2 * 0.5 * 0.75 / 1.25
    assert printed() == {
        "precision": pytest.approx(3 / 5),
        "weighted_recall": pytest.approx((0.7 + 3) / (1 + 4 + 1)),
        "weighted_macro_f1": pytest.approx((first + second) / 3),
        "distinct_right": pytest.approx(3 / 3),
        "by_rank": {
            "1": {"share": 0.5, "right": 1, "paraphrases": 2},
            "2": {"share": 0.5, "right": 1, "paraphrases": 2},
            "3": {"share": 1.0, "right": 1, "paraphrases": 1},
            "4": {"share": 1.0, "right": 1, "paraphrases": 1},
        },
    }


def test_the_example_of_the_page(printed):
    page = Path("docs/evaluate.md").read_text(encoding="utf-8")
    example = page[page.index("$ cat A.tsv") :].split("```")[0]
    _, answers, paraphrases, command = example.split("$ ")
    _, *lines = command.splitlines()
    found = printed(*(text.partition("\n")[2] for text in (answers, paraphrases)))
    assert lines == [json.dumps(found)]


def test_the_order_of_lines_does_not_matter(printed):
    def turned(text):
        return "".join(reversed(text.splitlines(keepends=True)))

    found, expected = printed(turned(ANSWERS), turned(PARAPHRASES)), printed()
    assert found.pop("by_rank") == expected.pop("by_rank")
    assert found == pytest.approx(expected, abs=1e-12)


def test_case_punctuation_and_blanks_do_not_count():
    assert key("  Don't   STOP -- now! ") == key("dont stop now") == "dont stop now"
    assert key("É você?") == "é você"
    assert key("don’t") != key("dont")  # ASCII punctuation alone, as in the shared task


def test_of_equal_answers_the_last_weight_counts(printed):
    found = printed("p\tOne.\t5\np\tone\t1\np\ttwo\t1\n", "p\t1\tone\n")
    assert found["weighted_recall"] == 0.5
    again = printed("p\tOne.\t5\np\tone\t1\np\ttwo\t1\np\tone\t1.0\n", "p\t1\tone\n")
    assert again == found


def test_weights_of_zero_and_no_paraphrases_give_zeros(printed):
    figures = ("precision", "weighted_recall", "weighted_macro_f1", "distinct_right")
    found = printed("p\tone\t0\n", "p\t1\tone\n")
    assert [found[name] for name in figures] == [1, 0, 0, 1]
    found = printed(paraphrases="")
    assert [found[name] for name in figures] == [0, 0, 0, 0]
    assert found["by_rank"] == {}
    assert measure({}, {})["precision"] is None


ANSWER = ("a.tsv", 3, "p\tone\t1\np\ttwo\t1\n{}\np\tthree\t1\n", "p\t1\tone\n")
PARAPHRASE = ("p.tsv", 2, "p\tone\t1\n", "p\t1\tone\n{}\n")


@pytest.mark.parametrize(
    ("where", "line", "message"),
    [
        (ANSWER, "p\tone", "2 columns; it needs 3, with tabs between: prompt, answer, weight"),
        (ANSWER, "p\tone\t1\t2", "4 columns"),
        (ANSWER, "", "1 columns"),
        (ANSWER, "p\tone\tmuch", "weight 'much' is no number"),
        (ANSWER, "p\tone\tnan", "weight 'nan' is no number"),
        (ANSWER, "p\tone\tinf", "weight 'inf' is no number"),
        (ANSWER, "p\tone\t1e999", "weight '1e999' is too great"),
        (ANSWER, "p\tone\t-0.5", "weight -0.5 is negative"),
        (ANSWER, "p\t \t1", "the answer is empty"),
        (ANSWER, "p\t?!\t1", "the answer is empty but for punctuation"),
        (ANSWER, "\tone\t1", "the prompt is empty"),
        (ANSWER, "p\tone\t0.5", "weight 0.5 of an answer that has 1.0 in line 1; correct one of"),
        (ANSWER, "p\tone\t", "the weight is empty"),
        (PARAPHRASE, "p\t1", "2 columns; it needs 3, with tabs between: prompt, rank, paraphrase"),
        (PARAPHRASE, "q\t1\tone", "no answers are given for the prompt 'q'"),
        (PARAPHRASE, "p\t0\tone", "rank '0' must be 1, 2 or so on"),
        (PARAPHRASE, "p\t1.0\tone", "rank '1.0' must be"),
        (PARAPHRASE, "p\t²\tone", "rank '²' must be"),
        (PARAPHRASE, "p\t1\t", "the paraphrase is empty"),
    ],
)
def test_bad_lines_are_errors_with_file_and_line(printed, where, line, message):
    file, number, answers, paraphrases = where
    with pytest.raises(InputError, match=rf"{file}, line {number}: .*") as error:
        printed(answers.format(line), paraphrases.format(line))
    assert message in str(error.value)


def test_a_file_without_answers_and_one_that_is_not_utf8_are_errors(printed):
    with pytest.raises(InputError, match="has no line"):
        printed("", "")
    with pytest.raises(InputError, match="line 1 is not UTF-8"):
        printed("p\t\udcff\t1\n")


WORDS = st.sampled_from(["a", "b", "c", "d", "e"])


@pytest.mark.slow
@given(
    answers=st.dictionaries(
        st.sampled_from("pqr"), st.dictionaries(WORDS, st.floats(0, 5), min_size=1), min_size=1
    ),
    given=st.lists(st.tuples(st.sampled_from("pqr"), st.integers(1, 3), WORDS)),
)
def test_figures_are_shares_and_follow_from_each_other(answers, given):
    paraphrases = {}
    for prompt, rank, text in given:
        if prompt in answers:
            paraphrases.setdefault(prompt, []).append((rank, text))
    found = measure(answers, paraphrases)
    for name in ("precision", "weighted_recall", "weighted_macro_f1"):
        assert 0 <= found[name] <= 1 + 1e-12
    right = {(p, text) for p, rows in paraphrases.items() for _, text in rows if text in answers[p]}
    assert found["distinct_right"] == len(right) / len(answers)
    listed = sum(each["paraphrases"] for each in found["by_rank"].values())
    assert listed == sum(map(len, paraphrases.values()))
    # Every right answer given once, and nothing else: all is right.
    everything = {p: [(1, text) for text in each] for p, each in answers.items()}
    best = measure(answers, everything)
    assert best["precision"] == 1
    if all(sum(each.values()) > 0 for each in answers.values()):
        assert best["weighted_macro_f1"] == pytest.approx(1)
