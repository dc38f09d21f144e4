"""The same shard of every corpus -> one shard of clean pairs (ParaBank 2, 3.1).

Why equal pairs are in one shard: docs/architecture.md, "Shards".
"""

import hashlib
import re
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from workflow_scripts.core.command import command
from workflow_scripts.core.errors import InputError
from workflow_scripts.core.files.manifest import record_path, write_record
from workflow_scripts.core.files.rejected import compressed_lines, escaped, start_of
from workflow_scripts.core.files.rows import PairRow
from workflow_scripts.core.files.shard_frame import Input, Stream, Tally, write_shard
from workflow_scripts.core.statistics.frequency import most_frequent
from workflow_scripts.core.text.entities import REJECT, UNESCAPE, has_entities, unescaped
from workflow_scripts.core.text.normalisation import dedup_key
from workflow_scripts.plan.charset import codec, told_character
from workflow_scripts.stages.clean.language import confidence
from workflow_scripts.stages.clean.normalise import normalise

# Bounds text without blanks, which has few words however long it is.
CHARACTERS_PER_WORD = 10
# A shorter side counts as this long in the ratio: "Pili." is rightly "They were drinking."
RATIO_CHARACTERS = 10
# Characters that the log names.
_SHOWN = 20
_LETTER = re.compile(r"[^\W\d_]")
# Both pass a charset test of their code page, and both only come from a wrong decoding.
_DAMAGE = re.compile("[\x80-\x9f\N{REPLACEMENT CHARACTER}]")


def _fits(text: str, encoding: str) -> bool:
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return not _DAMAGE.search(text)


def outside(text: str, encoding: str) -> list[str]:
    """Return the distinct characters of `text` that its charset test does not let pass."""
    return sorted(character for character in set(text) if not _fits(character, encoding))


def charsets(config: dict[str, Any]) -> dict[str, str]:
    """Return Python's name of the charset of each side that has one.

    Raises:
        InputError: a charset is unknown.
    """
    return {side: codec(name, side) for side, name in config["charset"].items() if name}


class Rejects:
    """The list of the pairs that a shard left out, and the characters that did it.

    Attributes:
        characters: how many pairs each character outside its charset has cost, by the side.
    """

    def __init__(self, config: dict[str, Any], write: Callable[[str], Any]):
        """Write lines with `write`; `config` has the charsets."""
        self._charsets = charsets(config)
        self._write = write
        self.characters = {side: Counter[str]() for side in self._charsets}

    def add(self, row: PairRow, reason: str) -> None:
        """Write one pair: id, reason, characters, source, reference."""
        side, characters = reason.removeprefix("charset_"), list[str]()
        if reason.startswith("charset_"):
            text = row["source"] if side == "source" else row["reference"]
            characters = outside(text, self._charsets[side])
            self.characters[side].update(characters)
        cells = (
            escaped(row["id"]),
            reason,
            " ".join(map(told_character, characters)),
            start_of(row["source"]),
            start_of(row["reference"]),
        )
        self._write("\t".join(cells) + "\n")

    def frequencies(self) -> dict[str, dict[str, int]]:
        """Return `characters`, the most frequent first, and none of a side without any."""
        return {side: most_frequent(counts) for side, counts in self.characters.items() if counts}


class PairTest:
    """The tests that a normalised pair must pass by itself."""

    def __init__(self, config: dict[str, Any]):
        """Take the bounds from the stage's settings.

        Raises:
            InputError: a charset is unknown.
        """
        self._charsets = charsets(config)
        self._min_words: int = config["min_words"]
        self._max_words: int = config["max_words"]
        self._max_ratio: float = config["max_ratio"]
        self._rejects_entities = config.get("entities") == REJECT
        self._languages: dict[str, dict[str, Any]] = config.get("language_confidence", {})
        if self._languages:
            self._confidence = confidence()

    def reason(self, source: str, reference: str) -> str | None:
        """Return why the pair fails, or None.

        `charset_source`, `charset_reference`: a side has characters outside its charset, or traces
        of a wrong decoding; `no_letters`: a side without any; `too_short`, `too_long`: its words
        (split at blanks) or its characters; `ratio`: of the two sides' characters. If they are
        asked for, `entities_source`, `entities_reference`: a side has HTML entities;
        `language_source`, `language_reference`: a side is not likely in its language.
        """
        sides = {"source": source, "reference": reference}
        for side, text in sides.items():
            if self._rejects_entities and has_entities(text):
                return f"entities_{side}"
        for side, charset in self._charsets.items():
            if not _fits(sides[side], charset):
                return f"charset_{side}"
        if not all(_LETTER.search(text) for text in sides.values()):
            return "no_letters"
        words = [len(text.split()) for text in sides.values()]
        shorter, longer = sorted(map(len, sides.values()))
        if min(words) < self._min_words:
            return "too_short"
        if max(words) > self._max_words or longer > self._max_words * CHARACTERS_PER_WORD:
            return "too_long"
        if longer > self._max_ratio * max(shorter, RATIO_CHARACTERS):
            return "ratio"
        for side, asked in self._languages.items():
            if self._confidence(sides[side], asked["code"]) < asked["least"]:
                return f"language_{side}"
        return None


def clean_pairs(
    rows: Iterable[PairRow], config: dict[str, Any], unescapes: Counter[str] | None = None
) -> Iterator[tuple[PairRow, str | None]]:
    """Normalise pairs and judge them: each comes back with the reason to leave it out, or None.

    `unescapes` counts the sides in which HTML entities were unescaped.

    Besides the reasons of `PairTest`: `copy`, both sides have the same letters and digits;
    `duplicate`, an earlier pair that was kept has the same dedup key. Only the keys' 16-byte
    digests are held: some 100 bytes of memory per kept pair of the shard.
    """
    test = PairTest(config)
    seen: set[bytes] = set()
    for row in rows:
        if config.get("entities") == UNESCAPE:
            row = _without_entities(row, Counter() if unescapes is None else unescapes)
        source, reference = normalise(row["source"]), normalise(row["reference"])
        row = {**row, "source": source, "reference": reference}
        reason = test.reason(source, reference)
        if reason is None:
            key = dedup_key(source, reference)
            digest = hashlib.blake2b(key.encode("utf-8"), digest_size=16).digest()
            source_key, _, reference_key = key.partition("\t")
            if config["drop_copies"] and source_key == reference_key:
                reason = "copy"
            elif digest in seen:
                reason = "duplicate"
            else:
                seen.add(digest)
        yield row, reason


def _without_entities(row: PairRow, unescapes: Counter[str]) -> PairRow:
    source, reference = unescaped(row["source"]), unescaped(row["reference"])
    unescapes["source"] += source != row["source"]
    unescapes["reference"] += reference != row["reference"]
    return {**row, "source": source, "reference": reference}


def _rows_of(corpora: list[str], inputs: list[Input[PairRow]]) -> Iterator[PairRow]:
    """Yield the rows of one shard of every corpus, in order of priority."""
    for corpus, shard in zip(corpora, inputs, strict=True):
        for row in shard.rows().items:
            if row["corpus"] != corpus:
                raise InputError(
                    f"{shard.paths[0]}: pairs of corpus '{row['corpus']}' where '{corpus}' is "
                    "expected; --pairs must follow the order of clean.corpora"
                )
            yield row


def clean_shard(config: dict[str, Any], pairs: list[Path], output: Path, rejected: Path) -> None:
    """Clean one shard of every corpus into one file with its record.

    With `filter: False` only pairs without text on a side are left out (`empty`), as the papers
    leave out none (ParaNMT-50M, 3.1); the record counts the others that fail a test as `passed`.

    Args:
        pairs: a shard of each corpus, in the order of `config["corpora"]`.
        rejected: where the pairs that are left out are listed, below the folder of `output`. Its
            own record counts the characters outside the charsets; the shard's record names both.

    Raises:
        InputError: the pairs don't match `config["corpora"]`, are damaged, or a charset is
            unknown.
    """
    corpora: list[str] = config["corpora"]
    if len(corpora) != len(pairs):
        raise InputError(f"{len(pairs)} --pairs for the {len(corpora)} corpora {corpora}")
    counts = {corpus: Counter({"in": 0, "out": 0}) for corpus in corpora}
    tally = Tally(extra={"corpora": counts}, beside=[rejected, record_path(rejected)])
    unescapes = Counter({"source": 0, "reference": 0})
    if config.get("entities") == UNESCAPE:
        tally.extra["unescaped"] = unescapes
    filters, passed = config.get("filter", True), Counter[str]()
    if not filters:
        tally.extra["passed"] = passed

    def kept(rows: Iterator[PairRow]) -> Iterator[PairRow]:
        with compressed_lines(rejected) as lines:
            rejects = Rejects(config, lines)
            for row, reason in clean_pairs(rows, config, unescapes):
                if reason and not filters:
                    if row["source"] and row["reference"]:
                        passed[reason] += 1
                        reason = None
                    else:
                        reason = "empty"
                counts[row["corpus"]].update(("in", reason or "out"))
                if reason:
                    tally.rejected[reason] += 1
                    rejects.add(row, reason)
                else:
                    yield row
        # No rows: the record of the shard counts them.
        write_record(rejected, 0, 0, {}, extra={"characters": rejects.frequencies()})
        _tell(rejects, config, output.stem)

    rows = _rows_of(corpora, [Input(path, PairRow) for path in pairs])
    write_shard(Stream(rows), kept, output, PairRow, f"clean {output.stem}", tally)


def _tell(rejects: Rejects, config: dict[str, Any], shard: str) -> None:
    """Say on stderr which characters cost the most pairs."""
    for side, counts in rejects.frequencies().items():
        shown = islice(counts.items(), _SHOWN)
        most = ", ".join(f"{told_character(character)} {pairs:,}" for character, pairs in shown)
        print(
            f"clean {shard}: pairs left out for characters outside {config['charset'][side]} "
            f"({side}): {most}",
            file=sys.stderr,
            flush=True,
        )


main = command(clean_shard, __name__)
