"""The end of a message about a name that nobody knows.

The Snakefile and all stages import this module: only the standard library.
"""

import difflib


def suggestion(key: str, known: list[str], called: str = "keys") -> str:
    """Return the end of a message about an unknown key: the closest known key, or all."""
    close = difflib.get_close_matches(key, known, n=1)
    if close:
        return f"; did you mean '{close[0]}'?"
    return f"; known {called}: {', '.join(sorted(known))}"
