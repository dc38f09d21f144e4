"""English text to the tokens of the Penn Treebank, and back."""

import re
from itertools import pairwise

_TOKEN = re.compile(r"can(?=not\b)|n't\b|'(?:s|ll|re|m)\b|\w+?(?=n't\b)|[\w-]+|\S", re.IGNORECASE)
# Tokens that are written without a blank before them.
_JOINED = frozenset({"n't", "'s", "'", "'ll", "'re", "'m", ",", ".", "?"})


def written(tokens: list[str]) -> str:
    """Join tokens as English is written: "ca n't" -> "can't", "can not" -> "cannot"."""
    text = tokens[0]
    for previous, token in pairwise(tokens):
        joined = token in _JOINED or (token == "not" and previous.lower() == "can")
        text += token if joined else " " + token
    return text


def tokenised(text: str) -> list[str] | None:
    """Split a sentence into lower-case tokens; None if `written` would not give it back."""
    text = " ".join(text.lower().split())
    tokens = _TOKEN.findall(text)
    return tokens if tokens and written(tokens) == text else None
