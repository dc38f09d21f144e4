"""Put the template of what is written in front of what is read, in the pairs of a rewriter.

Pairs whose texts have the same template are left out, since nothing about syntax is to be learnt
from them, and input and target are swapped at random (Iyyer et al., 2018, as the corpus of
ParaNMT-50M was used). The templates of the targets are counted.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import shard_paths, write_record
from workflow_scripts.core.files.rows import PairRow, TreesRow
from workflow_scripts.core.files.shard_frame import Input, Stream, Tally, write_shard
from workflow_scripts.core.seeding import fraction
from workflow_scripts.plan.catalogues.rewriters import DEV, TRAIN, reference_id
from workflow_scripts.stages.rewrite import syntax_templates

# Why a pair is left out.
WITHOUT_TREE = "without_tree"  # the parser finds no tree for one of its texts
EQUAL_TEMPLATES = "equal_templates"


@dataclass(frozen=True, slots=True)
class Parsed:
    """A pair with templates.

    Attributes:
        row: its `source` is read, its `reference` is written.
        own: template of the source.
        wanted: template of the reference.
    """

    row: PairRow
    own: str
    wanted: str

    @property
    def equal(self) -> bool:
        """Whether both texts have the same template."""
        return self.own == self.wanted


def joined(pairs: Iterable[PairRow], trees: Iterable[TreesRow]) -> Iterator[Parsed | None]:
    """Yield each pair with its templates; None where a text has no tree.

    Args:
        pairs: of a shard.
        trees: of the same shard, as `rewrite.parses` writes them.

    Raises:
        InputError: the two are not of the same pairs.
    """
    for row, parsed in zip(pairs, trees, strict=True):
        if row["id"] != parsed["id"]:
            raise InputError(
                f"the trees of pair {parsed['id']} stand where those of {row['id']} should: they "
                "are of other pairs; make both again"
            )
        read, written = parsed["paraphrases"][0], parsed["reference"]
        if read is None or written is None:
            yield None
        else:
            yield Parsed(row, *map(syntax_templates.template_of, (read, written)))


def swapped(pair: Parsed, seed: int) -> Parsed:
    """Return the pair, or with probability 1/2, drawn by its id, the pair with sides exchanged."""
    if fraction(seed, "template swap", pair.row["id"]) >= 0.5:
        return pair
    row: PairRow = {
        **pair.row,
        "source": pair.row["reference"],
        "reference": pair.row["source"],
    }
    return Parsed(row, own=pair.wanted, wanted=pair.own)


def with_template(pair: Parsed, free: float, seed: int) -> PairRow:
    """Return the pair with the wanted template in front of what is read.

    Args:
        pair: to learn from, or to validate on.
        free: share of the training pairs that are read without a template, drawn by their ids.
        seed: of the draw.
    """
    left = pair.row["corpus"] == TRAIN and fraction(seed, "no template", pair.row["id"]) < free
    source = syntax_templates.prefixed(None if left else pair.wanted, pair.row["source"])
    return {**pair.row, "source": source}


class Shard:
    """The work on one shard of pairs; it counts what it leaves out, and the templates.

    Args:
        trees: of the same shard.
        settings: see `write_pairs`.
        tally: of the shard.
        count: of the templates of all shards; those of the training's targets are added.
    """

    def __init__(
        self,
        trees: Iterable[TreesRow],
        settings: dict[str, Any],
        tally: Tally,
        count: syntax_templates.Count,
    ):
        self._trees, self._settings, self._tally, self._count = trees, settings, tally, count

    def __call__(self, pairs: Iterator[PairRow]) -> Iterator[PairRow]:
        """Yield the pairs that are learnt from, with templates."""
        seed = self._settings["seed"]
        splits: Counter[str] = Counter()
        references: set[tuple[str, str]] = set()
        for pair in joined(pairs, self._trees):
            if pair is None:
                self._tally.rejected[WITHOUT_TREE] += 1
                continue
            if pair.equal and not self._is_kept(pair):
                self._tally.rejected[EQUAL_TEMPLATES] += 1
                continue
            chosen = swapped(pair, seed) if self._settings["swap"] else pair
            row = chosen.row
            splits[row["corpus"]] += 1
            references.add((row["corpus"], reference_id(row["id"])))
            if row["corpus"] == TRAIN:
                drawn = fraction(seed, "template example", row["id"])
                self._count.add(chosen.wanted, row["reference"], drawn)
            yield with_template(chosen, self._settings["free"], seed)
        self._tally.extra = {
            "rows": dict(splits),
            "references": dict(Counter(split for split, _ in references)),
        }

    def _is_kept(self, pair: Parsed) -> bool:
        """Return whether a pair of equal templates is kept: one to learn from may be.

        Both directions of a pair have the same fate.
        """
        if pair.row["corpus"] != TRAIN:
            return False
        reference = reference_id(pair.row["id"])
        both = sorted((pair.row["source"], pair.row["reference"]))
        drawn = fraction(self._settings["seed"], "equal templates", reference, *both)
        return drawn < self._settings["equal"]


def write_pairs(
    config: dict[str, Any], pairs: Path, trees: Path, shards: int, output: Path
) -> None:
    """Put templates in front of what a rewriter reads, and count them in a table.

    The record of the table counts what all shards have: `rows` and `references` of each split, and
    the rows that are `left_out`, by reason.

    Args:
        config: `swap`: whether sides are exchanged at random; `free`; `seed`; `equal`: the share
            of the training pairs of equal templates that is kept.
        pairs: the folder of the shards of pairs.
        trees: the folder of the shards of their trees.
        output: the folder to write: shards of pairs with templates, and the table, with their
            records.

    Raises:
        InputError: a file is damaged, or no pair is left to train on or to validate on.
    """
    count = syntax_templates.Count()
    splits, references, left_out = Counter[str](), Counter[str](), Counter[str]()
    for path, parsed in zip(shard_paths(pairs, shards), shard_paths(trees, shards), strict=True):
        tally = Tally()
        rows = Input(parsed, TreesRow).rows()
        work = Shard(rows.items, config, tally, count)
        stream: Stream[PairRow] = Input(path, PairRow).rows()
        name = f"templates {path.stem}"
        write_shard(stream, work, output / path.name, PairRow, name, tally)
        splits.update(tally.extra["rows"])
        references.update(tally.extra["references"])
        left_out.update(tally.rejected)
    if not splits[TRAIN]:
        raise InputError(
            "no pair is left to learn templates from: the texts of all pairs have the same top two "
            "levels, or no tree; paraphrase more references, or take another parser"
        )
    if not splits[DEV]:
        raise InputError(
            "no pair is left to validate on: the texts of all held-out pairs have the same top two "
            "levels, or no tree; raise held_out.dev"
        )
    templates = count.templates()
    syntax_templates.write_table(output / syntax_templates.TABLE, templates)
    extra = {
        "templates": len(templates),
        "labels": len(syntax_templates.known_labels(templates)),
        "rows": dict(splits),
        "references": dict(references),
        "left_out": dict(left_out),
    }
    write_record(output / syntax_templates.TABLE, len(count), len(count), {}, extra)


main = command(write_pairs, __name__)
