"""The candidates of a system that merges other runs: what these have selected (docs/systems.md).

References that differ only in case, punctuation and blanks are one, and so are paraphrases of one
reference. Each paraphrase is tagged with where it comes from. A shard of a merge has the
references whose hash says so, whatever shards the other runs had, so each job reads all of theirs.
"""

import hashlib
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.atomic import atomic_path
from workflow_scripts.core.files.input_files import unchanged
from workflow_scripts.core.files.manifest import (
    read_manifest,
    read_record,
    shard_paths,
    write_record,
)
from workflow_scripts.core.files.rows import Paraphrase, ParaphrasesRow, ScoredCandidate, ScoredRow
from workflow_scripts.core.files.shard_frame import Input, Stream, Tally, write_shard
from workflow_scripts.core.text.normalisation import letters_and_digits
from workflow_scripts.plan.catalogues.merged_runs import PIECES, PIECES_RECORD
from workflow_scripts.plan.catalogues.merges import AND, OF
from workflow_scripts.stages.subword.segmenter import Segmenter

# Why a row of another run is no row of the merge: its reference was there before.
SAME_REFERENCE = "same_reference"
COLUMNS = ["source", "reference", "corpus", "paraphrases"]


class Selected(NamedTuple):
    """A reference of another run with its paraphrases; `run` is the run's name in the merge."""

    run: str
    row: ParaphrasesRow


class Listed(NamedTuple):
    """A paraphrase of a reference, and where it comes from."""

    tag: str
    paraphrase: Paraphrase


def key_of(text: str) -> str:
    """Return what equal texts have in common; a text of punctuation alone equals only itself."""
    return letters_and_digits(text) or text


def id_of(reference: str) -> str:
    """Return the id of a reference, which is the same in every merge."""
    return hashlib.sha256(key_of(reference).encode("utf-8")).hexdigest()[:20]


def shard_of(identifier: str, shards: int) -> int:
    """Return the shard of a reference by its id."""
    return int(identifier[:12], 16) % shards


def joined(tags: Iterable[str]) -> str:
    """Return several tags as one, each once, in their order."""
    return AND.join(dict.fromkeys(tags))


def candidates(listed: list[Listed]) -> list[ScoredCandidate]:
    """Return the distinct paraphrases of one reference, in the order of the merge.

    The first ones of all runs come first, in the order of the runs, then the second ones, and so
    on: NLLs of different models can't be compared. Equal paraphrases count as the first of them,
    with its NLLs and the tags of all.
    """
    groups: dict[str, list[Listed]] = {}
    for paraphrase in sorted(listed, key=lambda paraphrase: paraphrase.paraphrase["rank"]):
        groups.setdefault(key_of(paraphrase.paraphrase["text"]), []).append(paraphrase)
    return [_candidate(group) for group in groups.values()]


def _candidate(group: list[Listed]) -> ScoredCandidate:
    first = group[0].paraphrase
    return {
        "text": first["text"],
        "forward_nll": first["forward_nll"],
        "backward_nll": first["backward_nll"],
        "sum": first["sum"],
        "count": len(group),
        "variant": joined(paraphrase.tag for paraphrase in group),
        # A selected paraphrase does not tell these, and it is not scored again.
        "source": None,
        "lost": None,
        "divergence": None,
    }


def merged(references: Iterable[Selected], tally: Tally) -> Iterator[ScoredRow]:
    """Yield each reference once, with the paraphrases of all runs as its candidates.

    The text of a reference and its source are those of the first run that has it; its corpus is
    the tags of all. Memory holds all that is given.

    Args:
        references: references of all runs, run by run.
        tally: gets the counts, in a Counter: `paraphrases` that were read, and how many of them
            are `distinct`.
    """
    rows: dict[str, list[Selected]] = {}
    for selected in references:
        rows.setdefault(id_of(selected.row["reference"]), []).append(selected)
    for identifier, group in rows.items():
        listed = [
            Listed(tag_of(selected), paraphrase)
            for selected in group
            for paraphrase in selected.row["paraphrases"]
        ]
        distinct = candidates(listed)
        first = group[0].row
        tally.rejected[SAME_REFERENCE] += len(group) - 1
        tally.extra["paraphrases"] += len(listed)
        tally.extra["distinct"] += len(distinct)
        yield {
            "id": identifier,
            "source": first["source"],
            "reference": first["reference"],
            "corpus": joined(map(tag_of, group)),
            "candidates": distinct,
        }


def tag_of(selected: Selected) -> str:
    """Return where a row comes from: the name of its run, and its corpus there."""
    return f"{selected.run}{OF}{selected.row['corpus']}"


def _selected(block: dict[str, Any]) -> list[Path]:
    """Return the shards of another run, as its manifest knows them.

    Raises:
        InputError: a shard was made again since.
    """
    folder = Path(block["folder"])
    parts = read_manifest(folder / "manifest.json")["parts"]
    paths = shard_paths(folder, block["shards"])
    for path in paths:
        if read_record(path)["files"] != parts[path.stem]["files"]:
            raise InputError(
                f"{path} is not the one in manifest.json beside it; start that run again, then "
                "this one"
            )
    return paths


def merge_shard(config: dict[str, Any], shard: int, output: Path) -> None:
    """Write one shard of a merge, of the `scored` schema, with its record.

    Raises:
        InputError: a file of another run is missing or damaged.
    """
    inputs = {block["name"]: Input(_selected(block), ParaphrasesRow) for block in config["runs"]}

    def own() -> Iterator[Selected]:
        for name, shards in inputs.items():
            for row in shards.rows(COLUMNS).items:
                if shard_of(id_of(row["reference"]), config["shards"]) == shard:
                    yield Selected(name, row)

    tally = Tally(extra=Counter())
    write_shard(
        Stream(own(), size=lambda _: 1),
        lambda references: merged(references, tally),
        output,
        ScoredRow,
        "merge",
        tally,
    )


def copy_pieces(config: dict[str, Any], output: Path) -> None:
    """Write the vocabulary by which the pieces of the merge are counted: that of its first run."""
    with atomic_path(output) as temporary:
        shutil.copyfile(Path(config["pieces"]) / PIECES, temporary)
        Segmenter(temporary)
    write_record(output.with_name(PIECES_RECORD), 0, 0, {}, files=[output])


def write_merged(
    config: dict[str, Any], inputs: dict[str, str], output: Path, shard: int | None = None
) -> None:
    """Write one shard of what other runs have selected, or the vocabulary of the first of them.

    Args:
        output: the shard or the vocabulary.
        shard: its number; None for the vocabulary.
    """
    with unchanged(inputs):
        if shard is None:
            copy_pieces(config, output)
        else:
            merge_shard(config, shard, output)


main = command(write_merged, __name__)
