"""The pairs that a rewriter learns from, is validated on and is judged by, from training sets.

Every pair of one reference goes into the same split, also where the reference has several ids: what
is held out shares neither a reference nor a paraphrase with what is trained on. What depends on all
pairs, the draw of the references, is found by passes over files, in memory for the references that
are held out alone; duplicates are found shard by shard. A pair and the same texts the other way
round are two pairs, of two references.
"""

import functools
import hashlib
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import shard_paths
from workflow_scripts.core.files.rows import PairRow, TrainingPairRow
from workflow_scripts.core.files.shard_frame import Input, Stream, Tally, write_shard
from workflow_scripts.core.seeding import fraction
from workflow_scripts.plan.catalogues.rewriters import DEV, TEST, TRAIN
from workflow_scripts.stages.corpus.spill import Spill
from workflow_scripts.stages.embed.evaluation import read_collected
from workflow_scripts.stages.embed.prepared import key
from workflow_scripts.stages.filter.sample import Place, last_distinct
from workflow_scripts.stages.rewrite.noising import damage

# Why a pair is left out.
IDENTICAL = "identical"  # but for case, punctuation and blanks
IN_EVALUATION = "in_evaluation"  # a side is in the data that the run tests on
BESIDE_HELD_OUT = "beside_held_out"  # it shares an id or a text with a held-out reference
DUPLICATE = "duplicate"  # the same pair came before, from another system for example
# References that are looked at for each one that is drawn: some share a text with another.
_SPARE = 2


class Pair(NamedTuple):
    """A pair of a training set."""

    id: str
    reference: str
    paraphrase: str


Passes = Callable[[], Iterable[Pair]]


@dataclass
class Group:
    """The ids of one reference, and the keys of its text and of its paraphrases."""

    ids: set[str] = field(default_factory=set)
    keys: set[int] = field(default_factory=set)

    def add(self, pair: Pair) -> None:
        """Add a pair of the reference."""
        self.ids.add(pair.id)
        self.keys.update((text_key(pair.reference), text_key(pair.paraphrase)))


@dataclass
class HeldOut:
    """The references that are kept out of training.

    Attributes:
        splits: `dev` or `test` by the key of a reference.
        beside: all ids and texts of these references: what shares one of them is not trained on.
    """

    splits: dict[int, str] = field(default_factory=dict)
    beside: Group = field(default_factory=Group)

    def split(self, pair: Pair) -> str | None:
        """Return the split of a pair; None if it must be left out."""
        reference = text_key(pair.reference)
        if split := self.splits.get(reference):
            return split
        known = pair.id in self.beside.ids or reference in self.beside.keys
        return None if known or text_key(pair.paraphrase) in self.beside.keys else TRAIN


# A reference stands in as many rows, mostly one after the other, as it has paraphrases.
@functools.lru_cache(maxsize=1 << 12)
def text_key(text: str) -> int:
    """Return the same number for texts with the same letters and digits."""
    return key(text)


def fault(pair: Pair, barred: set[int]) -> str | None:
    """Return why a pair is of no use by itself; None if it is of use.

    Args:
        pair: the pair.
        barred: keys of the sentences that the run tests on.
    """
    first, second = text_key(pair.reference), text_key(pair.paraphrase)
    if first == second:
        return IDENTICAL
    return IN_EVALUATION if first in barred or second in barred else None


def draw(passes: Passes, wanted: dict[str, int], seed: int) -> HeldOut:
    """Draw the references that are held out: exactly the number asked for of each split.

    A reference that shares an id or a text with one that is drawn before it is passed over.

    Args:
        passes: gives a new pass over all pairs that are of use.
        wanted: how many references of `dev` and `test`.
        seed: of the draw. The references of `test` do not depend on the number of `dev`.

    Raises:
        InputError: there are too few references, or none would be left to train on.
    """
    splits = [TEST] * wanted[TEST] + [DEV] * wanted[DEV]
    looked_at = _SPARE * len(splits)
    while True:
        last = last_distinct((_place(pair, seed) for pair in passes()), looked_at)
        groups: dict[Place, Group] = {}
        more = False
        for pair in passes():
            place = _place(pair, seed)
            if place <= last:
                groups.setdefault(place, Group()).add(pair)
            else:
                more = True
        held_out, places = HeldOut(), iter(sorted(groups))
        for split in splits:
            for place in places:
                group = groups[place]
                beside = held_out.beside
                if group.ids.isdisjoint(beside.ids) and group.keys.isdisjoint(beside.keys):
                    held_out.splits[int(place[1])] = split
                    beside.ids |= group.ids
                    beside.keys |= group.keys
                    break
        if len(held_out.splits) == len(splits):
            return held_out
        if not more:
            raise InputError(
                f"held_out asks for {wanted[DEV]:,} references for dev and {wanted[TEST]:,} for "
                f"test, and {len(held_out.splits):,} without a text in common can be drawn from "
                "the training sets: ask for fewer, or paraphrase more references"
            )
        looked_at *= 2


def _place(pair: Pair, seed: int) -> Place:
    reference = text_key(pair.reference)
    return fraction(seed, "held_out", reference), str(reference), 0


def directed(pair: Pair, split: str, write: list[str]) -> Iterator[PairRow]:
    """Yield the rows of a pair: what is read stands as the source, what is written as reference.

    The id is that of the reference, and a digest of both texts.
    """
    texts = {"paraphrase": pair.paraphrase, "reference": pair.reference}
    for side in write:
        written = texts[side]
        read = texts["reference" if side == "paraphrase" else "paraphrase"]
        digest = hashlib.blake2b(f"{read}\n{written}".encode(), digest_size=6).hexdigest()
        yield {"id": f"{pair.id}-{digest}", "source": read, "reference": written, "corpus": split}


def noisy(
    row: PairRow,
    copies: int,
    language: str,
    settings: Mapping[str, Any],
    seed: int,
    counts: Counter[str],
) -> Iterator[PairRow]:
    """Yield copies of a row with damage on what is read.

    What is written is never damaged: it is that of the row, or by the share `identity` the very
    text that is read, as it was before the damage.

    Args:
        row: `source` is read, `reference` is written.
        copies: how many; each has its own damage, and its number at the end of its id.
        language: the code of both sides.
        settings: the block `noise`.
        seed: of all draws. They depend on the row's id and the copy, not on other rows.
        counts: gets the damages by kind, and the rows without any as `clean`.
    """
    for copy in range(copies):
        keys = (row["id"], copy)
        read = damage(row["source"], language, settings, seed, *keys)
        counts.update([change.kind for change in read.damages] or ["clean"])
        same = fraction(seed, "identity", *keys) < settings["identity"]
        yield {
            "id": f"{row['id']}.{copy}",
            "source": read.text,
            "reference": row["source"] if same else row["reference"],
            "corpus": row["corpus"],
        }


def write_pairs(
    config: dict[str, Any], training_sets: list[Path], evaluation: Path, shards: int, output: Path
) -> None:
    """Make the pairs of a rewriter from training sets, as shards, each with its record.

    A record counts pairs of the training sets; `extra` has the rows, and the pairs and references
    of each split. A reference is in one shard, with all its pairs.

    Args:
        config: `write`, `held_out` (references of `dev` and `test`) and `seed`; with damage on
            what is read, also `noise` and `language`.
        training_sets: their files.
        evaluation: the table of sentences that the run tests on.

    Raises:
        InputError: a file is damaged, or there are too few references.
    """
    data_sets = read_collected(evaluation)
    barred = {key(text) for data_set in data_sets for pair in data_set.pairs for text in pair}
    trained, damage = 0, Counter[str]()
    with Spill(output, shards) as spill:
        read = Input(training_sets, TrainingPairRow).rows()
        for row in read.items:
            pair = Pair(row["id"], row["reference"], row["paraphrase"])
            shard = int(fraction(config["seed"], "shard", text_key(pair.reference)) * shards)
            spill.add(shard, pair)

        def pairs_of(shard: int) -> Iterator[Pair]:
            return (Pair(*row) for row in spill.rows(shard))

        def useful() -> Iterator[Pair]:
            every = (pair for shard in range(shards) for pair in pairs_of(shard))
            return (pair for pair in every if fault(pair, barred) is None)

        held_out = draw(useful, config["held_out"], config["seed"])
        for shard, path in enumerate(shard_paths(output, shards)):
            tally = Tally()
            work = Splits(config, barred, held_out, tally)
            write_shard(Stream(pairs_of(shard)), work, path, PairRow, f"pairs {path.stem}", tally)
            trained += tally.extra["pairs"].get(TRAIN, 0)
            damage.update(work.damage)
    if not trained:
        raise InputError(
            "no pair is left to train on: all are of held-out references, or share a text with "
            "them; lower held_out, or paraphrase more references"
        )
    if missing := [
        kind for kind in config.get("noise", {"weights": {}})["weights"] if not damage[kind]
    ]:
        print(
            f"warning: no sentence has a place for damage of the kinds {', '.join(missing)}; "
            "give them no weight in noise.weights",
            file=sys.stderr,
        )


class Splits:
    """The work on one shard: from pairs to rows of the splits; it counts what it leaves out."""

    def __init__(self, settings: dict[str, Any], barred: set[int], held_out: HeldOut, tally: Tally):
        self._settings, self._barred, self._held_out = settings, barred, held_out
        self._tally = tally
        self.damage = Counter[str]()

    def __call__(self, pairs: Iterator[Pair]) -> Iterator[PairRow]:
        """Yield the rows of a shard's pairs, without duplicates."""
        used, references = Counter[str](), set[tuple[str, int]]()
        seen: set[bytes] = set()
        rows = 0
        for pair in pairs:
            split = self._held_out.split(pair)
            reason = fault(pair, self._barred) or (BESIDE_HELD_OUT if split is None else None)
            keys = (text_key(pair.reference), text_key(pair.paraphrase))
            both = b"".join(text_hash.to_bytes(8, "little", signed=True) for text_hash in keys)
            if reason is None and both in seen:
                reason = DUPLICATE
            if split is None or reason is not None:
                self._tally.rejected[reason or BESIDE_HELD_OUT] += 1
                continue
            seen.add(both)
            used[split] += 1
            references.add((split, keys[0]))
            for row in directed(pair, split, self._settings["write"]):
                for noisy_row in self._noisy(row):
                    yield noisy_row
                    rows += 1
        self._tally.used = used.total()
        self._tally.extra = {
            "pairs": dict(used),
            "references": dict(Counter(split for split, _ in references)),
            "rows": rows,
            **({"damage": dict(self.damage)} if "noise" in self._settings else {}),
        }

    def _noisy(self, row: PairRow) -> Iterable[PairRow]:
        """Return a row as it is learnt from; what judges the rewriter stays as it is."""
        noise = self._settings.get("noise")
        if noise is None or row["corpus"] == TEST:
            return [row]
        copies = noise["copies"] if row["corpus"] == TRAIN else 1
        language, seed = self._settings["language"], self._settings["seed"]
        return noisy(row, copies, language, noise, seed, self.damage)


main = command(write_pairs, __name__)
