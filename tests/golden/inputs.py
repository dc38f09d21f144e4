"""What the inputs of several stages are made of."""

import json
from pathlib import Path
from typing import Any

from tests import tables
from tests.e2e import micro
from tests.tables import candidate
from tests.tables import write_table as write_table
from workflow_scripts.core.files.parquet import read_rows

Row = dict[str, Any]

# References of the testbed, each with paraphrases that mean the same or not, in this order.
TESTBED = [
    ("The doctor bought the car.", "The car was bought by the doctor.", "The doctor bought a car."),
    ("Yesterday, the boy saw a dog.", "The boy saw a dog yesterday."),
    ("The teacher sent the doctor a letter.", "The teacher sent a letter to the doctor.", "No."),
    ("The dog did not sleep.", "The dog didn't sleep."),
    ("The book was really great.",),
]


def table(path: Path, kind: str) -> list[Row]:
    return list(read_rows(path, kind))


def counts(record: Path) -> Row:
    """Return a record without what depends on the file format and on installed versions."""
    content = json.loads(record.read_text(encoding="utf-8"))
    return {key: content[key] for key in content.keys() - {"files", "tools", "sha256"}}


def pairs(corpus: str, count: int | None = None) -> list[Row]:
    """Return micro pairs as rows of the `pairs` schema."""
    return [
        {"id": f"{corpus}:{line}", "source": source, "reference": reference, "corpus": corpus}
        for line, (source, reference) in enumerate(micro.bitext()[corpus][:count], 1)
    ]


def arguments(config: Any = None, **options: Any) -> list[str]:
    """Spell a stage's command line."""
    words = ["--config", json.dumps(config)] if config is not None else []
    for name, value in options.items():
        values = value if isinstance(value, list) else [value]
        words += [f"--{name.replace('_', '-')}", *map(str, values)]
    return words


def scored() -> list[Row]:
    """Return rows of the `scored` schema with numbers that binary fractions hold exactly."""
    texts = [row["reference"] for row in pairs("train", 40)]
    rows = []
    for number, row in enumerate(pairs("held_out", 8)):
        found = [
            candidate(
                texts[(5 * number + index) % len(texts)],
                forward=0.5 + index / 16,
                backward=0.25 + ((7 * index + number) % 12) / 16,
                count=1 + index % 3,
            )
            for index in range(12)
        ]
        found.sort(key=lambda each: (each["sum"], each["text"]))
        rows.append({**row, "candidates": found})
    return rows


def selected() -> list[Row]:
    """Return rows of the `paraphrases` schema, of the micro bitext and of the testbed."""
    rows = [
        (row, [each["reference"] for each in pairs("train", 40)[5 * number :][:2]])
        for number, row in enumerate(pairs("held_out", 6))
    ]
    rows += [
        (tables.pair(f"testbed:{number}", "", reference), texts)
        for number, (reference, *texts) in enumerate(TESTBED, 1)
    ]
    return [
        {
            **tables.selected(row, [chosen(rank, text) for rank, text in enumerate(texts, 1)]),
            **{"candidates": 12, "kept": 9},
            "reason": "" if len(texts) == 2 else "above_threshold 3",
        }
        for row, texts in rows
    ]


def chosen(rank: int, text: str) -> Row:
    return tables.paraphrase(rank, text, backward=rank / 4, cluster=rank, variant="v")
