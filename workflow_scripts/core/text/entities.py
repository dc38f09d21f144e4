"""HTML entities in plain text: `&amp;`, `&#39;`, `&quot;`. Only whole ones with their semicolon."""

import html
import re

# What `clean.entities` asks for.
UNESCAPE, REJECT = "unescape", "reject"
_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
# `&amp;quot;` is an entity that was escaped once more.
_MOST = 3


def has_entities(text: str) -> bool:
    """Tell whether a text has an entity that HTML knows."""
    return any(html.unescape(entity) != entity for entity in _ENTITY.findall(text))


def unescaped(text: str) -> str:
    """Return a text with the characters that its entities stand for."""
    for _ in range(_MOST):
        plain = _ENTITY.sub(lambda match: html.unescape(match[0]), text)
        if plain == text:
            break
        text = plain
    return text
