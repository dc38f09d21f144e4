"""Paths and names of the user's files that the workflow can handle.

The Snakefile imports this module: only the standard library.
"""

import re
from urllib.parse import unquote, urlsplit

NO_BRACES = "Snakemake takes braces for wildcards; rename the file or folder"


def file_name(url: str) -> str:
    """Return the name under which what a URL gives is kept: its last part, made harmless."""
    name = unquote(urlsplit(url).path).rpartition("/")[2]
    return re.sub(r"[^A-Za-z0-9._-]", "_", name).lstrip(".-") or "file"


def holds_wildcards(path: str) -> bool:
    """Tell whether Snakemake would see wildcards, or the beginning of one, in a path."""
    return "{" in path or "}" in path
