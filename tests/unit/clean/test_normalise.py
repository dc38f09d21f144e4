import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacremoses import MosesPunctNormalizer

from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.stages.clean import normalise as module
from workflow_scripts.stages.clean.normalise import normalise

PUNCTUATION = "„“”‚‘’«»‹›–—―‐−…´'′″　（）：；？！％ \u00a0\u202f\u2009\t\r\x0b\u2028"
HIDDEN = "\u00ad\u200b\u200c\u200d\u2060\ufeff\u202e\u200f\ufe0f\x00\x07\x1b\x7f"
mixed = st.text(
    st.sampled_from("abZe\u030c０ＡěščŘ019.,-()%\"'" + PUNCTUATION + HIDDEN), max_size=20
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("„Ahoj,“ řekl.", '"Ahoj," řekl.'),
        ("‚Ahoj‘", "'Ahoj'"),
        ("«mot» « mot »", '"mot" "mot"'),
        ("don’t", "don't"),
        ("jedna – dvě — tři―čtyři", "jedna - dvě - tři - čtyři"),
        ("5−3, 1‐2, 3‑4", "5-3, 1-2, 3-4"),
        ("a tak…", "a tak..."),
        ("a\u00a0b\u2009c\u3000d\te\x0bf\u2028g", "a b c d e f g"),
        ("  a  \r\n", "a"),
        ("bez\u00admezer\u200b \u202erev\u202c \ufeffx", "bezmezer rev x"),
        ("a\x00b\x1bc\x7f", "abc"),
        ("Tom\u200c\u200d", "Tom"),
        ("e\u030c", "ě"),
        ("❤\ufe0f", "❤"),
        ("ahoj\x85světe", "ahoj světe"),
    ],
)
def test_punctuation_spaces_and_invisible_characters(text, expected):
    # « mot » has no-break spaces inside its marks, as French is set.
    assert normalise(text.replace("« mot »", "«\u00a0mot\u202f»")) == expected


@pytest.mark.parametrize(
    "text",
    [
        "file(s) :) 50 % 1 000 Kč; a : b",  # Moses would move these spaces
        'He said "no", she said `yes`.',  # and this comma
        "10:30, ½ l, 20 °C, § 5, 5 × 3 ÷ 2",
        "ﬁ ① ™ €",
        "mÃ¡ â\x80\x9eÅ™\x96",  # a wrongly read charset stays visible
        "می\u200cخواهم",  # here the joiner is spelling
        "क्\u200dष",
    ],
)
def test_what_is_no_unicode_punctuation_stays(text):
    assert normalise(text) == text


def test_numbers_keep_their_value_where_moses_changes_it():
    assert MosesPunctNormalizer("cs").normalize("1\u00a0000") == "1,000"
    assert normalise("1\u00a0000 1\u202f000") == "1 000 1 000"


@pytest.mark.slow
@given(mixed | st.text())
def test_the_shortcut_is_the_identity_on_what_it_skips(text):
    rules = " ".join(module._apply_rules(text).split())
    assert normalise(text) == rules


def marks_follow_their_letters(text):
    # An invisible character between a letter and its accent hides the accent from the key.
    return not re.search(r"[^\w\s][\u0300-\u036f]", text)


@given(mixed.filter(marks_follow_their_letters))
def test_the_dedup_key_is_coarser(text):
    assert letters_and_digits(normalise(text)) == letters_and_digits(text)


@given(mixed)
def test_the_result_is_stable_and_composed(text):
    once = normalise(text)
    assert normalise(once) == once
    assert unicodedata.is_normalized("NFC", once)
    assert once == once.strip() and "  " not in once
