"""Hostile input: lines of every kind that breaks programs, in files whose names break shells.

python -m tests.e2e.hostile [--lines 100000] [--references N]

It sends the lines through the whole pipeline and prints the counts of each stage. It fails if a
line is lost, or if a command in a line, a name or a value was executed.
"""

import argparse
import gzip
import io
import json
import random
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import zstandard

from tests import odd_lines
from tests.configs import changes
from tests.e2e import micro
from tests.e2e.pipeline import Pipeline
from workflow_scripts.stages.corpus import importer
from workflow_scripts.stages.corpus.importer import REJECTED as REJECTED_LINES

# A program that executes one of these commands leaves a file of this name behind.
CANARY = "EXECUTED"
COMMANDS = (
    f"$(touch {CANARY})",
    f"`touch {CANARY}`",
    f"; touch {CANARY} #",
    f"' ; touch {CANARY} ; '",
    f'" ; touch {CANARY} ; "',
    f"| touch {CANARY} &",
    f"&& touch {CANARY} ||",
    f"{{__import__('os').system('touch {CANARY}')}}",
    f"!!python/object/apply:os.system ['touch {CANARY}']",
)
FOLDER = f"bi text $(touch {CANARY}) ; ' \" ` & | < > * ? [a] ~ # ! \\ %s žluť"
MAX_LINE_BYTES = 20_000
LONGEST = 20  # lines of a megabyte: each costs as much as ten thousand others


def _spread(character: str, sentence: str) -> str:
    """Return the sentence with one more character after each of its characters."""
    return "".join(f"{each}{character}" for each in sentence)


def _between(*characters: str) -> Callable[[random.Random, str], str]:
    """Make a kind: the sentence with one of some strings before it, after it and between words."""

    def line(chance: random.Random, sentence: str) -> str:
        parts = [sentence] if chance.random() < 0.5 else sentence.split()
        return "".join(f"{chance.choice(characters)}{part}" for part in [*parts, ""])

    return line


def _alone(*texts: str) -> Callable[[random.Random, str], str]:
    """Make a kind: only one of some strings."""
    return lambda chance, sentence: chance.choice(texts)


def _bytes(*damage: bytes) -> Callable[[random.Random, str], bytes]:
    """Make a kind: the sentence with some bytes inside."""

    def line(chance: random.Random, sentence: str) -> bytes:
        text = sentence.encode("utf-8")
        place = chance.randrange(len(text) + 1)
        return text[:place] + chance.choice(damage) + text[place:]

    return line


# The kinds of lines by name: functions of a random generator and a harmless sentence.
KINDS: dict[str, Callable[[random.Random, str], str | bytes]] = {
    "plain": lambda chance, sentence: sentence,
    # Not text. The corpus stage rejects these.
    "invalid_utf8": _bytes(
        b"\xff\xfe", b"\xc3\x28", b"\xc0\xaf", b"\xe2\x82", b"\x80", b"\xf5\x80"
    ),
    "surrogate": _bytes(b"\xed\xa0\x80", b"\xed\xbf\xbf", b"\xed\xa0\xbd\xed\xb8\x80"),
    "nul": _bytes(b"\0", b"\0\0\0"),
    "empty": _alone("", " ", "\t", "\r", " \u00a0\u3000 ", "\x0b\x0c", "\u2028\u2029\x85"),
    "megabyte": lambda chance, sentence: sentence * (1_000_000 // len(sentence) + 1),
    # Characters that look like others, or are invisible.
    "byte_order_mark": _between("\ufeff"),
    "right_to_left": _between("\u202e", "\u202d", "\u2066", "\u200f", "שלום", "مرحبا"),
    "zero_width": _between("\u200b", "\u200c", "\u200d", "\u2060", "\u00ad", "\u180e"),
    "only_invisible": _alone("\u200b", "\u200b \u2060", "\u00ad", "\ufe0f", "\u202e\u202c"),
    "line_breaks": _between(
        "\r", "\x0b", "\x0c", "\x1c", "\x1d", "\x1e", "\x85", "\u2028", "\u2029"
    ),
    "controls": _between(*map(chr, [*range(1, 9), *range(14, 28), 127, 128, 159])),
    "tabs": _between("\t", "\t\t"),
    "spaces": _between("\u00a0", "\u3000", "\u2009", "   ", "\u205f", "\u1680"),
    "combining": lambda chance, sentence: _spread("\u0301" * chance.randint(1, 9), sentence),
    "lone_combining": _alone("\u0301", "\u0301\u0308\u0327 \u20dd", "\u093f"),
    "decomposed": _between("e\u0301", "a\u030a", "\u1112\u1161\u11ab"),
    "folding": _between("ß", "İ", "ﬁ", "ŉ", "ΐ", "ſ", "Ω", "ａ", "①", "Ⅷ", "㎏", "\ufdfa"),
    "private": _between("\ue000", "\U000f0000", "\U0010fffd", "\ufffe", "\uffff", "\U0010ffff"),
    "replacement": _between("\ufffd", "Ã©", "â€œ", "Å¾"),
    "emoji": _between("😀", "👨‍👩‍👧‍👦", "🏳️‍🌈", "🇨🇿", "👍🏽", "❤️", "🫠"),
    "scripts": _between("世界", "こんにちは", "สวัสดี", "नमस्ते", "Привет", "𝕳𝖊𝖑𝖑𝖔", "𓀀"),
    # Text that a program may execute or interpret.
    "spm_mark": _between("▁", "▁▁", " ▁ ", "▁slovo▁"),
    "control_symbols": _between(
        "<s>", "</s>", "<unk>", "<pad>", " <s> ", "<0x0A>", " ⁇ ", "<pad91>"
    ),
    "only_symbols": _alone("<s>", "</s>", "<unk>", "<pad>", "▁", "<s> </s>", " ⁇ "),
    "quotes": _between('"', "'", '""', "''", "«", "“", '\\"', "`"),
    "backslashes": _between("\\", "\\n", "\\t", "\\0", "\\u0000", "\\x00", "\\\\"),
    "json": _between('{"text": "', "}", "[1, 2", '\\u0000", "a": null}', "NaN", "null"),
    "yaml": _between("- &a *a", "? : |", "---", "{a: !!binary x}", "%TAG", ">-"),
    "shell": lambda chance, sentence: f"{sentence} {chance.choice(COMMANDS)}",
    "markup": _between("<script>alert(1)</script>", "<!--", "&lt;", "&#0;", "]]>", "</td>"),
    "formats": _between(
        "{wildcards}", "{", "}", "{0}", "%s", "%n", "${HOME}", "{{ x }}", "{input:q}"
    ),
    "formulas": _alone(
        "=1+1", "+1", "-1", "@SUM(A1)", "1e999", "-inf", "nan", "NULL", "None", "0x1"
    ),
    # What programs that read tables take for a missing value, a number or a comment.
    "odd": lambda chance, sentence: f"{chance.choice(odd_lines.FIELDS)} {sentence}",
    "odd_alone": _alone(*(text for text in odd_lines.FIELDS if text.strip())),
    "paths": _between("../../etc/passwd", "/dev/zero", "C:\\CON", "~", "*", "http://[::1"),
    # Shapes.
    "punctuation": _alone("?!...", "—", '"', "'''", ".", "\\", "§", "…", "((((", "%"),
    "digits": _alone("0", "12 345,67", "٣٤٥", "²³", "1" * 300, "0.1.2.3"),
    "long_word": lambda chance, sentence: chance.choice("aěß漢") * chance.randint(300, 4000),
    "many_words": lambda chance, sentence: " ".join([sentence] * chance.randint(20, 90)),
    "single": lambda chance, sentence: chance.choice(sentence.replace(" ", "")),
}
# The reason why the corpus stage rejects all lines of a kind; it accepts all other kinds.
REJECTED = {
    **{"invalid_utf8": "not_utf8", "surrogate": "not_utf8", "nul": "nul", "empty": "empty"},
    "megabyte": "too_long",
}


def pairs(count: int, seed: int) -> Iterator[tuple[str, bytes, bytes]]:
    """Yield pairs with their kind; one side or both are hostile, all kinds equally often."""
    longest = 0
    names = [name for name in KINDS if name != "megabyte"]
    for index in range(count):
        chance = random.Random(f"{seed} {index}")
        kind = names[index % len(names)]
        if longest < LONGEST and index % max(1, count // LONGEST) == 0:
            kind, longest = "megabyte", longest + 1
        # With its number in the text no pair is a duplicate.
        meaning = micro.pair(chance.randrange(micro.MEANINGS))
        sentences = [f"{each.removesuffix('.')} {index}." for each in meaning]
        made = [KINDS[kind](chance, sentence) for sentence in sentences]
        source, reference = (
            each.encode("utf-8") if isinstance(each, str) else each for each in made
        )
        plain_source, plain_reference = (each.encode("utf-8") for each in sentences)
        side = chance.randrange(3)
        yield (kind, source if side else plain_source, reference if side < 2 else plain_reference)


def write_corpora(folder: Path, lines: int) -> dict[str, int]:
    """Write the hostile corpora and a harmless one; return the number of lines of each.

    `text`: two parallel files, one with a byte order mark, with both kinds of line ends and none
    at the end; `table`: a gzipped TSV file with a header, in which some lines have too many or too
    few columns; `train`: harmless pairs; `rough`: hostile pairs that the models are trained on.
    """
    micro.write_bitext(folder)
    sizes = {"rough": lines // 20, "table": lines // 3}
    sizes["text"] = lines - sum(sizes.values())
    for seed, name in enumerate(("text", "rough")):
        rows = list(pairs(sizes[name], seed))
        chance = random.Random(name)
        for side, code in ((1, "cs"), (2, "en")):
            ends = [chance.choice((b"\n", b"\n", b"\r\n")) for _ in rows]
            content = b"".join(row[side] + end for row, end in zip(rows, ends, strict=True))
            (folder / f"{name}.{code}").write_bytes(b"\xef\xbb\xbf" + content)
    with gzip.open(folder / "table.tsv.gz", "wb", compresslevel=1) as table:
        table.write(b"id\tsource\treference")
        for index, (_, source, reference) in enumerate(pairs(sizes["table"], 7)):
            table.write(b"\n" + b"\t".join([str(index).encode(), source, reference]))
    return sizes


CHANGES = """
results: re sults
run:
  name: hostile
  corpora: [train, rough, text, table]
  rewriters: []  # its vocabulary is too small for so many characters
corpora.table: {tsv: table.tsv.gz, columns: {source: 1, reference: 2}, header: true}
languages: {source: {charset: null}, reference: {charset: null}}
clean: {max_words: 1000, max_ratio: 1000.0}
subword: {model_type: bpe, vocab_size: {source: 500, reference: 500}, coverage: 0.999, samples: 0}
train.corpora: [train, rough]
models.micro.max_updates: 60
generate.corpora: [text, table]
systems.micro: {search: {samples: 2}, constraints: {sets: 1}}
evaluate.ratings: null  # those of the micro run are of its own references
"""


def config(data: Path, references: int | None) -> dict[str, Any]:
    """Return the run's configuration; lines of any charset and length get to the models."""
    text = " ".join(COMMANDS)
    hostile = {
        "corpora": {name: micro.text_corpus(name) for name in ("text", "rough")},
        "clean": {"max_line_bytes": MAX_LINE_BYTES},
        "generate": {"limit": references and dict.fromkeys(("text", "table"), references)},
        "release": {
            "title": f"{text} <script>alert(1)</script> \"' {{x}} %s ---\n# title",
            "licence": f"{text}: [x",
        },
    }
    return micro.merged(micro.merged(micro.config(data), changes(CHANGES)), hostile)


# --- what became of the lines ----------------------------------------------------------------


def identities(folder: Path) -> list[int]:
    """Return the numbers of a corpus' lines that became pairs or were rejected."""
    numbers = [
        int(identity.partition(":")[2])
        for path in folder.glob("[0-9]*.parquet")
        for identity in pq.read_table(path, columns=["id"])["id"].to_pylist()
    ]
    return numbers + [int(line.split("\t")[1]) for line in text_lines(folder / REJECTED_LINES)]


def text_lines(path: Path) -> list[str]:
    """Return the lines of a zstd-compressed text file."""
    with path.open("rb") as file:
        raw = zstandard.ZstdDecompressor().stream_reader(file)
        return list(io.TextIOWrapper(raw, encoding="utf-8", newline="\n"))


def import_table(path: Path, output: Path) -> list[str]:
    """Import a TSV file of two columns; return the lines that say what was rejected."""
    block = {"tsv": [str(path)], "columns": {"source": 0, "reference": 1}}
    config = {"name": "a", "block": block, "shards": 1, "max_line_bytes": 99, "seed": 1}
    importer.main(["--config", json.dumps(config), "--output", str(output)])
    return text_lines(output / REJECTED_LINES)


def check_corpora(pipeline: Pipeline, sizes: dict[str, int]) -> None:
    """Check that each line is once a pair or once rejected, for the right reason."""
    for name, size in sizes.items():
        first = 2 if name == "table" else 1  # line 1 is a header
        found = sorted(identities(pipeline.unit(f"corpus.{name}")))
        assert found == list(range(first, size + first)), name
        manifest = pipeline.manifest(f"corpus.{name}")
        assert manifest["rows_in"] == size
        if name != "table":
            seed = ("text", "rough").index(name)
            kinds = Counter(kind for kind, _, _ in pairs(size, seed))
            expected: Counter[str] = Counter()
            for kind, reason in REJECTED.items():
                expected[reason] += kinds[kind]
            assert manifest["rejected"] == dict(expected), name


def check_flow(pipeline: Pipeline) -> None:
    """Check that each stage reads as many rows as the stage before wrote."""
    manifests = {name: pipeline.manifest(name) for name in pipeline.units()}
    for name, manifest in manifests.items():
        rejected = sum(manifest["rejected"].values())
        assert manifest["rows_in"] == manifest["rows_out"] + rejected, name
    corpora = [name for name in manifests if name.startswith("corpus.")]
    assert manifests["clean"]["rows_in"] == sum(manifests[each]["rows_out"] for each in corpora)
    flow = [
        *("clean", "generate.references", "generate.micro", "score.micro", "select.micro"),
        "release",
    ]
    for before, after in pairwise(flow):
        assert manifests[after]["rows_in"] == manifests[before]["rows_out"], after


def check_release(pipeline: Pipeline) -> None:
    """Check that both files of the release have the same content, with all its characters."""
    folder = pipeline.unit("release") / "micro"
    table = pq.read_table(folder / "paraphrases.parquet").to_pylist()
    header, *lines = (
        line.removesuffix("\n").split("\t") for line in text_lines(folder / "paraphrases.tsv.zst")
    )
    assert len(table) == len(lines) == pipeline.manifest("release")["rows_out"]
    assert {len(line) for line in lines} == {len(header)}
    escapes = (("\\\\", "\\"), ("\\t", "\t"), ("\\n", "\n"), ("\\r", "\r"))
    for row, line in zip(table, lines, strict=True):
        reference = row["reference"]
        for escaped, character in escapes:
            reference = reference.replace(character, escaped)
        assert line[:2] == [row["id"], reference]
    report = (pipeline.unit("release") / "report.html").read_text(encoding="utf-8")
    assert "<script>alert" not in report


def executed(*folders: Path) -> list[Path]:
    """Return the files that show that a command of the input was executed."""
    return [path for folder in folders for path in folder.rglob(f"*{CANARY}*") if path.is_file()]


def run(folder: Path, lines: int, references: int | None) -> Pipeline:
    """Send hostile lines through the pipeline and check the output of each stage."""
    data = folder / FOLDER
    sizes = write_corpora(data, lines)
    pipeline = Pipeline(folder / "work", config(data, references))
    pipeline.run()
    check_corpora(pipeline, sizes)
    check_flow(pipeline)
    check_release(pipeline)
    assert not executed(folder, Path.cwd())
    return pipeline


def main() -> None:
    """Run it and print the counts of each stage."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--lines", type=int, default=100_000)
    parser.add_argument("--references", type=int, help="of each corpus; default: all")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        pipeline = run(Path(folder), arguments.lines, arguments.references)
        print("| unit | rows in | rows out | rejected |\n|---|---|---|---|")
        for name in pipeline.units():
            manifest = pipeline.manifest(name)
            reasons = ", ".join(f"{count:,} {why}" for why, count in manifest["rejected"].items())
            print(f"| {name} | {manifest['rows_in']:,} | {manifest['rows_out']:,} | {reasons} |")
        extra = [
            json.dumps(part.get("extra", {}))
            for name in ("generate.micro", "score.micro", "select.micro")
            for part in pipeline.manifest(name)["parts"].values()
        ]
        print("\n".join(extra))


if __name__ == "__main__":
    main()
