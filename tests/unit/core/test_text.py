import subprocess
import sys

import numpy as np
import pytest

from workflow_scripts.core.cli import run
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.seeding import fraction, generator
from workflow_scripts.core.text.normalisation import dedup_key, letters_and_digits, words


def test_dedup_key_is_coarser_than_case_punctuation_and_spacing():
    assert dedup_key("Ahoj, světe!", "Hello – world") == dedup_key("AHOJ  SVĚTE", "hello world.")
    assert dedup_key("a", "b") != dedup_key("ab", "")
    assert dedup_key("1 000", "x") == dedup_key("1.000", "x")
    assert dedup_key("ře\u030c", "Ａ") == dedup_key("řě", "a")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("कमल", "कमाल"),  # Hindi: lotus, wonder
        ("क्षमा", "कषमा"),  # with and without a virama
        ("फ़न", "फन"),  # a nukta
        ("మల", "మాల"),  # Telugu
        ("มา", "ม้า"),  # Thai: come, horse
        ("ປ່າ", "ປ້າ"),  # Lao: forest, aunt
    ],
)
def test_words_that_differ_in_a_mark_that_spells_are_different(one, other):
    assert letters_and_digits(one) != letters_and_digits(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("İstanbul", "istanbul"),
        ("за\u0301мок", "замок"),  # Russian stress
        ("x\u030c", "x"),
        ("كِتَاب", "كتاب"),  # Arabic vowel points
        ("שָׁלוֹם", "שלום"),  # Hebrew points
        ("क\ufe00", "क"),
        ("a\u034fb", "ab"),
        ("का", "का।"),
    ],
)
def test_accents_points_and_invisible_marks_make_no_difference(one, other):
    assert letters_and_digits(one) == letters_and_digits(other)


def test_words_are_those_of_the_measures():
    assert words('He said: "Don\'t GO-there…"') == ["he", "said", "dont", "gothere…"]


def test_seeding_is_per_item_and_stable():
    first = generator(1, "constraints", "c:1", 0).random(3)
    assert np.array_equal(first, generator(1, "constraints", "c:1", 0).random(3))
    assert not np.array_equal(first, generator(1, "constraints", "c:1", 1).random(3))
    assert not np.array_equal(first, generator(2, "constraints", "c:1", 0).random(3))
    # Fixed values: they must not change from one release or platform to the next.
    assert fraction(1, "a", 2) == 0.9934762410984443
    # Keys are not glued together.
    assert fraction(1, "a", "b") != fraction(1, "ab")


def test_fractions_are_uniform():
    values = np.array([fraction(7, "item", item) for item in range(20_000)])
    counts, _ = np.histogram(values, bins=20, range=(0, 1))
    # Chi-square with 19 degrees of freedom: 43.8 is its 99.9 % quantile.
    assert ((counts - 1000) ** 2 / 1000).sum() < 43.8


def test_input_error_is_a_message_without_traceback(capsys):
    def main():
        raise InputError("a.txt: line 3 is not UTF-8")

    with pytest.raises(SystemExit) as stop:
        run(main)
    assert stop.value.code == 2
    assert capsys.readouterr().err == "error: a.txt: line 3 is not UTF-8\n"


def test_what_the_snakefile_imports_needs_only_snakemake(tmp_path):
    """A user may have nothing but Snakemake and conda."""
    code = (
        "import sys, workflow_scripts.plan.layout, workflow_scripts.plan.run.run_folders;"
        "heavy = {'numpy', 'pyarrow', 'torch', 'pandas', 'sentencepiece', 'tokenizers'};"
        "heavy &= set(sys.modules);"
        "assert not heavy, heavy"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
