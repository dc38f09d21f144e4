"""What mtdata's index says about a corpus: its URL, and what each of its files holds.

Nothing else is taken from mtdata: Paraloom itself downloads, verifies and reads the files. So a
corpus that was found by its id is pinned like any other, and later versions of the index change
nothing.
"""

from typing import Any

from mtdata.entry import Entry
from mtdata.iso.bcp47 import bcp47

from workflow_scripts.core.errors import InputError

_PLAIN = {"txt", "raw"}
_COMPRESSED = {"gz", "bz2", "xz"}


def find(identity: str) -> Entry:
    """Return the entry of an id such as `Statmt-europarl-10-deu-eng`; this needs no network.

    Raises:
        InputError: the index has no such id.
    """
    # Importing it reads, and the first time builds, the index of 290,000 corpora: 20 seconds.
    from mtdata.entry import DatasetId
    from mtdata.index import INDEX

    entry = INDEX.entries.get(DatasetId.parse(identity))
    if entry is None:
        raise InputError(f"mtdata: no corpus {identity}; `mtdata list -id -l cs-en` shows its ids")
    return entry


def _sides(entry: Entry, source: str, reference: str) -> list[int]:
    """Return which of the two sides of an entry is the source, and which is the reference."""
    codes = [tag.lang for tag in entry.did.langs]
    wanted = [bcp47(source).lang, bcp47(reference).lang]
    if sorted(codes) != sorted(wanted):
        raise InputError(
            f"mtdata {entry.did}: its languages are {' and '.join(codes)}, and not those of the "
            f"configuration, {' and '.join(wanted)}"
        )
    if codes[0] == codes[1]:
        raise InputError(
            f"mtdata {entry.did}: both sides are {codes[0]}, so which is the source can't be told; "
            "download it, and give the files as source and reference"
        )
    return [codes.index(code) for code in wanted]


def _unsupported(entry: Entry, what: str) -> InputError:
    return InputError(
        f"mtdata {entry.did}: {what} can't be read; plain text and TSV can. Convert it, and give "
        "the files as source and reference"
    )


def block_of(entry: Entry, source: str, reference: str) -> dict[str, Any]:
    """Return the block of a corpus in the config, without its hashes.

    Returns:
        `url`, and `source` and `reference`, or `tsv` and `columns`. In the paths `{0}` stands for
        the name of the first file that will be downloaded, `{1}` for that of the second. Names of
        members may be patterns.

    Raises:
        InputError: the languages are others, or the corpus stage can't read the format.
    """
    first, second = _sides(entry, source, reference)
    if isinstance(entry.url, tuple | list):
        if len(entry.url) != 2 or (entry.in_ext or "txt") not in _PLAIN or entry.is_archive:
            raise _unsupported(entry, f"{len(entry.url)} files of {entry.in_ext or entry.ext}")
        sides = ("{0}", "{1}")
        return {"url": list(entry.url), "source": sides[first], "reference": sides[second]}
    block: dict[str, Any] = {"url": entry.url}
    columns = entry.cols or (0, 1)
    if entry.is_archive:
        paths = [f"{{0}}/{path}" for path in entry.in_paths]
        if entry.in_ext in _PLAIN and len(paths) == 2:
            return {**block, "source": paths[first], "reference": paths[second]}
        if entry.in_ext != "tsv":
            raise _unsupported(entry, f"an archive of {entry.in_ext}")
        block["tsv"] = paths
    elif entry.ext in {"tsv", *(f"tsv.{suffix}" for suffix in _COMPRESSED)}:
        block["tsv"] = "{0}"
    else:
        raise _unsupported(entry, entry.ext)
    return {**block, "columns": {"source": columns[first], "reference": columns[second]}}
