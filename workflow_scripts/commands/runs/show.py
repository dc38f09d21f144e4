"""Some references of a finished run with their paraphrases, for a terminal."""

import heapq
import textwrap
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import verify
from workflow_scripts.core.seeding import fraction
from workflow_scripts.plan.catalogues.written_sources import SOURCES, TEXT, written_corpora
from workflow_scripts.plan.run.run_folders import link_name, read_config
from workflow_scripts.stages.corpus.report import written

# Letters in a line, as many as a terminal has.
WIDTH = 80
_INDENT = "  "
Paraphrases = list[dict[str, Any]]


def show(run: Path, examples: int, seed: int) -> str:
    """Return references, drawn by a seed, each with its paraphrases by every system.

    References without a paraphrase by any system are not drawn. Memory does not grow with the run.

    Args:
        run: its folder.
        examples: how many references at most.
        seed: the same seed and release give the same references.

    Raises:
        InputError: there is no such run, it is not finished, it has no system, or a file of its
            release is damaged.
    """
    config = read_config(run)
    systems = config["run"]["systems"]
    if not (run / "release" / "manifest.json").exists():
        raise InputError(f"{run}: the run is not finished; see paraloom status")
    if not systems:
        raise InputError(
            f"{run}: no system of the run, no paraphrases; see paraloom release summary"
        )
    files = {system: run / "release" / system / "paraphrases.parquet" for system in systems}
    total = max(verify(path)["rows_out"] for path in files.values())

    def place(identifier: str) -> float:
        return fraction(seed, "show", identifier)

    first = [heapq.nsmallest(examples, _paraphrased(path), place) for path in files.values()]
    drawn = heapq.nsmallest(examples, dict.fromkeys(chain(*first)), place)
    references: dict[str, str] = {}
    paraphrases: dict[str, dict[str, Paraphrases]] = {identifier: {} for identifier in drawn}
    for system, path in files.items():
        for row in _rows(path, drawn):
            references[row["id"]] = row["reference"]
            paraphrases[row["id"]][system] = row["paraphrases"]
    last = (
        f"{len(drawn):,} of {total:,} references, drawn among those that have paraphrases. The "
        "numbers are sums of both NLLs: lower is better"
    )
    scored = any(
        one["probability"] is not None
        for of_reference in paraphrases.values()
        for listed in of_reference.values()
        for one in listed
    )
    last += "; and the judge's probability: higher is better." if scored else "."
    entries = [_entry(references[name], paraphrases[name], systems, scored) for name in drawn]
    blocks = {system: config["systems"][system] for system in systems}
    forward = [
        name
        for name, block in blocks.items()
        if block["select"]["method"] == "nbest"
        and "score" not in block["select"]
        and "merge" not in block
    ]
    if forward:
        last += f" The order of {', '.join(forward)} is that of the forward NLLs alone."
    merges = [name for name, block in blocks.items() if "merge" in block]
    if merges:
        last += f" {', '.join(merges)}: merged from other runs, whose sums can't be compared."
    judged = [name for name in systems if _by_judge(blocks[name]["select"])]
    if judged:
        last += f" The order of {', '.join(judged)} is that of a judge."
    texts = [last, *(_written(run, name) for name in written_corpora(config))]
    return "\n\n".join([*entries, *(textwrap.fill(text, WIDTH) for text in texts)])


def _written(run: Path, corpus: str) -> str:
    """Return what is to be known of a corpus whose sources a model wrote."""
    folders = [
        run / link_name("corpus", f"{corpus}{TEXT}"),
        run / link_name("corpus", corpus),
        run / link_name("generate", f"{corpus}{SOURCES}"),
    ]
    found = written(corpus, *folders)
    why = ", ".join(f"{reason} {count:,}" for reason, count in found.reasons.items())
    return (
        f"{corpus} is no human bitext, its source: {found.source}. References written: "
        f"{found.written:,}; left out: {found.left_out:,}{f' ({why})' if why else ''}."
    )


def _by_judge(select: dict[str, Any]) -> bool:
    """Tell whether the probability of a judge ranks the paraphrases of a system."""
    return select["method"] == "judged" or select.get("score") == "judge"


def _paraphrased(path: Path) -> Iterator[str]:
    """Yield the ids of references that have a paraphrase."""
    for batch in pq.ParquetFile(path).iter_batches(columns=["id", "paraphrases"]):
        any_there = pc.greater(pc.list_value_length(batch.column("paraphrases")), 0)
        yield from batch.column("id").filter(any_there).to_pylist()


def _rows(path: Path, ids: list[str]) -> Iterator[dict[str, Any]]:
    chosen = pa.array(ids, pa.string())
    for batch in pq.ParquetFile(path).iter_batches():
        yield from batch.filter(pc.is_in(batch.column("id"), value_set=chosen)).to_pylist()


def _entry(
    reference: str, paraphrases: dict[str, Paraphrases], systems: list[str], judged: bool
) -> str:
    """Return a reference, and below it a line for each paraphrase, the best first.

    With `judged` there is a column of probabilities.
    """
    none: dict[str, Any] = {"text": "(none)", "score": None, "probability": None}
    names = max(map(len, systems))
    lines = textwrap.wrap(reference, WIDTH) or [reference]
    for system in systems:
        name = system
        for paraphrase in paraphrases.get(system) or [none]:
            figures = [paraphrase["score"], *([paraphrase["probability"]] if judged else [])]
            shown = ("" if figure is None else f"{figure:.2f}" for figure in figures)
            start = "  ".join([f"{_INDENT}{name:{names}}", *(f"{each:>5}" for each in shown), ""])
            lines += textwrap.wrap(
                paraphrase["text"], WIDTH, initial_indent=start, subsequent_indent=" " * len(start)
            )
            name = ""
    return "\n".join(lines)
