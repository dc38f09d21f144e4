"""Unicode punctuation, spaces and invisible characters brought to one form (ParaBank 2, 3.1)."""

import re
import unicodedata
from itertools import chain

import regex
from sacremoses import MosesPunctNormalizer

# The rules of Moses for Unicode punctuation alone. Its others rewrite what is no Unicode
# punctuation: "file(s)" to "file (s)", the Czech "50 %" (fifty per cent) to "50%" (a
# fifty-per-cent ...), "1 000" to "1,000" (in Czech: one), British quotation marks to American.
_MOSES = [
    (re.compile(pattern), replacement)
    for pattern, replacement in chain(
        MosesPunctNormalizer.REPLACE_UNICODE_PUNCTUATION,
        MosesPunctNormalizer.NORMALIZE_UNICODE,
        MosesPunctNormalizer.FRENCH_QUOTES,
    )
]
# What Moses has no rule for, in terms of what it has one for.
_TO_MOSES = str.maketrans(
    {
        "\N{NARROW NO-BREAK SPACE}": "\N{NO-BREAK SPACE}",
        "\N{HYPHEN}": "-",
        "\N{NON-BREAKING HYPHEN}": "-",
        "\N{FIGURE DASH}": "-",
        "\N{MINUS SIGN}": "-",
        "\N{HORIZONTAL BAR}": "\N{EM DASH}",
        "\N{SINGLE HIGH-REVERSED-9 QUOTATION MARK}": "'",
        "\N{SINGLE LEFT-POINTING ANGLE QUOTATION MARK}": "'",
        "\N{SINGLE RIGHT-POINTING ANGLE QUOTATION MARK}": "'",
        "\N{PRIME}": "'",
        "\N{DOUBLE HIGH-REVERSED-9 QUOTATION MARK}": '"',
        "\N{DOUBLE PRIME}": '"',
    }
)
# Controls and format characters (zero-width spaces, soft hyphens, marks of direction) and
# variation selectors. Not the C1 controls: in text they are the trace of a wrongly read charset,
# and the charset test must see them (all but U+0085, which is white space). Not white space, and
# no joiners after non-Latin letters, which many scripts need for spelling.
_INVISIBLE = regex.compile(
    r"""(?V1)[[\p{Cc}\p{Cf}\p{Variation_Selector}]--[\s\x1c-\x1f\x80-\x9f\u200c\u200d]]
    | (?<![[\p{L}\p{M}]--[\p{Latin}\p{Inherited}]])[\u200c\u200d]""",
    regex.VERBOSE,
)
# Printable ASCII and the letters from U+00C0 to U+017F (composed, hence NFC) stay as they are,
# but for the apostrophes doubled to a quotation mark. The rules, twenty times as slow as this
# search, are for the few lines that it finds.
_NEEDS_RULES = re.compile(r"[^ -~À-ſ\s]|''")


def _apply_rules(text: str) -> str:
    text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text)).translate(_TO_MOSES)
    for pattern, replacement in _MOSES:
        text = pattern.sub(replacement, text)
    return unicodedata.normalize("NFC", text)


def normalise(text: str) -> str:
    """Return `text` with plain punctuation, single spaces and no invisible characters, in NFC."""
    if _NEEDS_RULES.search(text):
        text = _apply_rules(text)
    return " ".join(text.split())
